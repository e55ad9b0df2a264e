// braid settlement migrate as programs (C6): writers, a reader and the migrator are processes of their own; the migrator and the writers are killed with
// SIGKILL at random moments and started again. The oracle is outside: what a writer has acknowledged must be there in the end, and the reader never misses one.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';

import { generator, newSeed } from '../lib/random.mjs';
import { binary, startServer } from '../lib/server.mjs';

const seed = newSeed();
const random = generator(seed);
let server;
before(async () => (server = await startServer()));
after(() => server.stop());

/** A process `braid settlement migrate …`; `done` resolves to { code, signal, stdout, stderr }. */
function start(database, ...args) {
  const child = spawn(binary, ['settlement', 'migrate', ...args, '--store', server.uri, '--db', database]);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const done = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr })));
  return { child, done };
}

/** Runs to the end and gives its JSON; an error if it fails. */
async function run(database, ...args) {
  const { code, stdout, stderr } = await start(database, ...args, '--json').done;
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

/** Started again after each of `kills` kills, then left to end. */
async function runKilled(database, kills, ...args) {
  for (let i = 0; i < kills; ++i) {
    const { child, done } = start(database, ...args);
    const timer = setTimeout(() => child.kill('SIGKILL'), 20 + random.below(250));
    const { code, signal, stderr } = await done;
    clearTimeout(timer);
    assert.ok(signal === 'SIGKILL' || code === 0, stderr);
  }
  return run(database, ...args);
}

/** A writer that is killed now and then and started again. */
class Writer {
  acknowledged = []; // [first, last, phase] of batches
  kills = 0;
  #stopping = false;
  #child;
  constructor(database) {
    this.ended = this.#loop(database);
  }
  async #loop(database) {
    while (!this.#stopping) {
      const { child, done } = start(database, 'write', '--rate', '1500', '--commit', '20', '--acknowledge');
      this.#child = child;
      createInterface({ input: child.stdout }).on('line', (line) => {
        const match = line.match(/^(\d+) (\d+) (\w+)$/);
        if (match) this.acknowledged.push([Number(match[1]), Number(match[2]), match[3]]);
      });
      const { code, signal, stderr } = await done;
      if (signal === 'SIGKILL') ++this.kills;
      else assert.ok(code === 0 || (this.#stopping && signal === 'SIGTERM'), stderr); // SIGTERM may come before the program knows of it
    }
  }
  kill() {
    this.#child.kill('SIGKILL');
  }
  async stop() {
    this.#stopping = true;
    this.#child.kill('SIGTERM');
    await this.ended;
  }
}

/** Resolves once the writer has acknowledged something in a phase. */
async function acknowledgedIn(writer, phase) {
  const end = Date.now() + 20_000;
  while (!writer.acknowledged.some(([, , p]) => p === phase)) {
    assert.ok(Date.now() < end, `nothing was written in the phase ${phase}`);
    await sleep(20);
  }
}

test('a migration under load, with kills of everybody', { timeout: 120_000 }, async (t) => {
  t.diagnostic(`BRAID_SEED=${seed}`);
  const database = 'load';
  await run(database, 'generate', '--outputs', '3000', '--cross', '5');
  const reader = start(database, 'follow', '--json');
  const writers = [new Writer(database), new Writer(database)];
  await acknowledgedIn(writers[0], 'none');
  const killer = setInterval(() => writers[random.below(2)].kill(), 400);

  await runKilled(database, 2, 'run', '--batch', '200');
  await runKilled(database, 1, 'switch');
  await acknowledgedIn(writers[0], 'switched');
  assert.equal((await run(database, 'status')).reads, 'chains');
  await runKilled(database, 1, 'rollback');
  assert.equal((await run(database, 'status')).reads, 'old_table');
  await acknowledgedIn(writers[1], 'rolled_back');
  await runKilled(database, 2, 'run', '--batch', '200');
  await runKilled(database, 1, 'switch');
  await runKilled(database, 1, 'drop', '--yes');
  await acknowledgedIn(writers[0], 'dropped');
  await acknowledgedIn(writers[1], 'dropped');

  clearInterval(killer);
  await Promise.all(writers.map((writer) => writer.stop()));
  assert.ok(writers[0].kills + writers[1].kills > 0);
  // The next write brings in what a killed writer left on its way.
  await run(database, 'write', '--outputs', '1');
  reader.child.kill('SIGTERM');
  const followed = await reader.done;
  assert.equal(followed.code, 0, followed.stderr);
  assert.equal(JSON.parse(followed.stdout).gaps, 0);

  const all = await run(database, 'follow', '--once');
  assert.deepEqual([all.ok, all.gaps, all.outputs], [true, 0, all.output_seq]);
  const owners = new Map();
  for (const [first, last] of writers.flatMap((writer) => writer.acknowledged)) {
    assert.ok(last <= all.output_seq, `output ${last} was acknowledged and is lost`);
    for (let sequence = first; sequence <= last; ++sequence) {
      assert.ok(!owners.has(sequence), `output ${sequence} was acknowledged twice`);
      owners.set(sequence, true);
    }
  }
  const verify = spawn(binary, ['settlement', 'verify', '--store', server.uri, '--db', database, '--json']);
  assert.equal(await new Promise((resolve) => verify.once('close', resolve)), 0);
  const status = await run(database, 'status');
  assert.deepEqual([status.phase, status.old_table_exists, status.mirrored_seq], ['dropped', false, status.output_seq]);
});

test('outputs with sequences of their own may be sent again', async () => {
  const database = 'lines';
  const lines = Array.from({ length: 50 }, (_, i) => JSON.stringify({ output_seq: 1 + i, input: { n: i }, order_update: { order_id: i, user_id: 1, symbol_id: i % 3, status: 'NEW' } }));
  const send = async (text) => {
    const { child, done } = start(database, 'write', '--file', '-', '--commit', '7', '--json');
    child.stdin.end(text);
    return done;
  };
  assert.equal(JSON.parse((await send(`${lines.slice(0, 30).join('\n')}\n`)).stdout).duplicates, 0);
  await run(database, 'run');
  assert.equal(JSON.parse((await send(`${lines.join('\n')}\n`)).stdout).duplicates, 30);
  await run(database, 'switch');
  await run(database, 'drop', '--yes');
  assert.equal(JSON.parse((await send(`${lines.join('\n')}\n`)).stdout).duplicates, 50);
  const { code, stderr } = await send('{"output_seq": 51}\n');
  assert.equal(code, 1);
  assert.match(stderr, /line 1 :: caused by :: input is missing/);
});

test('differences are named, and a drop asks', async () => {
  const database = 'damage';
  await run(database, 'generate', '--outputs', '200');
  await run(database, 'start');
  const client = await new MongoClient(server.uri).connect();
  try {
    const old = client.db(database).collection('engine_output_log_single');
    const record = await old.findOne({ _id: 77 }, { promoteLongs: false });
    await old.updateOne({ _id: 77 }, { $set: { created_at: 1n } });
    await run(database, 'run'); // created_at is not part of the contents
    await run(database, 'rollback');
    await old.deleteOne({ _id: 77 });
    const { code, stderr } = await start(database, 'run').done;
    assert.equal(code, 1);
    assert.match(stderr, /output 78 of the old table: expected prev_hash/);
    await old.insertOne(record);
    await run(database, 'run');
  } finally {
    await client.close();
  }
  const refused = await start(database, 'drop').done;
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /--yes/);
  const early = await start(database, 'drop', '--yes').done;
  assert.equal(early.code, 1);
  assert.match(early.stderr, /after the switch/);
});
