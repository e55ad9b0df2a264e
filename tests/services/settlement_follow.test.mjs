// Views that follow the log: `follow`, `ingest --follow` and what `stats` says of them, on one server (C8).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';

import { start } from '../lib/program.mjs';
import { startServer } from '../lib/server.mjs';
import { Model, expectModel, generate, settlementJson, textFrom } from './settlement_model.mjs';

let server;
let client;
let where;
const model = new Model();
before(async () => {
  server = await startServer();
  client = await new MongoClient(server.uri).connect();
  where = ['--store', server.uri];
});
after(async () => {
  await client?.close();
  await server?.stop();
});

async function outputs(count) {
  const lines = await generate('--outputs', String(count), '--first', String(model.outputSeq + 1), '--symbols', '4', '--cross', '10', '--users', '50');
  model.add(lines);
  return textFrom(lines);
}
const settlement = (action, args, input = undefined) => start(['settlement', action, ...where, ...args], input).ended;
const behind = async () => (await settlementJson(['stats', ...where])).views.map((view) => view.behind);

test('a log without views, then views that are behind, then views that are not', async () => {
  const plain = await settlementJson(['ingest', ...where, '-'], await outputs(400));
  assert.equal(plain.views, undefined);
  assert.deepEqual((await settlementJson(['stats', ...where])).views, []);
  const followed = await settlementJson(['follow', ...where, '--once']);
  const { records, output_seq } = await settlementJson(['stats', ...where]);
  assert.deepEqual([followed.ok, followed.applied_records, followed.failures, followed.damage], [true, records, 0, []]);
  assert.deepEqual(followed.views, ['balances', 'trades', 'orders'].map((view) => ({ view, collection: view, generation: 1, applied_seq: output_seq, records, behind: 0 })));
  await settlementJson(['ingest', ...where, '-'], await outputs(300));
  const more = (await settlementJson(['stats', ...where])).records - records;
  assert.ok(more >= 300);
  assert.deepEqual(await behind(), [more, more, more]);
  await settlementJson(['recover', ...where, '--rebuild']);
  const { stdout } = await settlement('stats', []);
  assert.match(stdout, /^orders \(orders, generation 2\): up to output 700, 0 records behind$/m);
});

test('ingest --follow ends when the views have everything', async () => {
  const all = await settlementJson(['ingest', ...where, '--follow', '--view-writers', '2', '-'], await outputs(500));
  assert.deepEqual([all.accepted, ...all.views.map((view) => [view.behind, view.applied_seq])], [500, [0, 1200], [0, 1200], [0, 1200]]);
  const { stderr } = await settlement('ingest', ['--follow', '-'], await outputs(100));
  assert.match(stderr, /^balances \(balances, generation 2\): up to output 1300, 0 records behind$/m);
  for (const options of [['--view-writers', '2'], ['--follow', '--view-writers', '65'], ['--follow', '--view-writers', '0']]) {
    assert.notEqual((await settlement('ingest', [...options, '-'], '')).status, 0, options.join(' '));
  }
});

test('two processes follow while others ingest, until they are told to end', async () => {
  const followers = [4, 16].map((workers) => start(['settlement', 'follow', ...where, '--workers', String(workers), '--json']));
  for (let i = 0; i < 4; ++i) await settlementJson(['ingest', ...where, '--batch', '20', '-'], await outputs(200));
  for (const deadline = Date.now() + 30_000; (await behind()).some((count) => count > 0); await sleep(20)) assert.ok(Date.now() < deadline);
  // SIGUSR1 has no meaning here; a terminal that closes (SIGHUP) ends it as SIGTERM does.
  for (const { child } of followers) child.kill('SIGUSR1');
  followers.forEach(({ child }, i) => child.kill(i % 2 === 0 ? 'SIGTERM' : 'SIGHUP'));
  for (const { ended } of followers) {
    const { status, stdout, stderr } = await ended;
    assert.equal(status, 0, stderr);
    const { ok, failures, views } = JSON.parse(stdout);
    assert.deepEqual([ok, failures, views.map((view) => view.behind)], [true, 0, [0, 0, 0]]);
  }
  await expectModel(where, model);
});

test('a damaged symbol is named, and the others are followed to their ends', async () => {
  const log = client.db('settlement').collection('engine_output_log');
  await settlementJson(['ingest', ...where, '-'], await outputs(200));
  const [segment] = await log.find({ symbol_id: 2 }).sort({ last_seq: -1 }).limit(1).toArray();
  const data = Buffer.from(segment.data.buffer);
  data[50] ^= 1; // in the first record's hash
  await log.updateOne({ _id: segment._id }, { $set: { data } });
  const { status, stdout, stderr } = await settlement('follow', ['--once', '--json']);
  assert.equal(status, 1);
  const { ok, damage, views } = JSON.parse(stdout);
  assert.deepEqual([ok, damage.map(({ symbol_id, output_seq }) => [symbol_id, output_seq])], [false, [[2, Number(segment.first_seq)]]]);
  assert.match(stderr, new RegExp(`symbol 2 is applied up to the output before ${segment.first_seq}`));
  assert.deepEqual(views.map((view) => view.behind), [segment.count, segment.count, segment.count].map(Number));
});
