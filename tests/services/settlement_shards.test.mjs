// The settlement log with its collections spread over shards (C1): the same commands, each symbol's segments on one shard.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { MongoClient } from 'mongodb';

import { startServer } from '../lib/server.mjs';
import { generate, settlementJson, textFrom } from './settlement_model.mjs';

const keys = { engine_output_log: { symbol_id: 'hashed' }, trades: { symbol_id: 'hashed' }, balances: { user_id: 'hashed' }, orders: { _id: 'hashed' } };

let server;
let client;
before(async () => {
  server = await startServer(['--shards', '4']);
  client = await new MongoClient(server.uri).connect();
});
after(async () => {
  await client?.close();
  await server?.stop();
});

async function expectWhole(where, database, records) {
  const verified = await settlementJson(['verify', ...where]);
  assert.deepEqual([verified.ok, verified.records], [true, records]);
  const { ok, check } = await settlementJson(['recover', '--check', ...where]);
  assert.deepEqual([ok, check.ok], [true, true]);
  const log = client.db(database).collection('engine_output_log');
  const spread = await log.aggregate([{ $collStats: { count: {} } }]).toArray();
  assert.ok(spread.filter(({ count }) => count > 0).length > 1, JSON.stringify(spread));
  for (const symbol_id of await log.distinct('symbol_id')) {
    const { queryPlanner } = await client.db(database).command({ explain: { find: 'engine_output_log', filter: { symbol_id }, sort: { symbol_id: 1, last_seq: 1 } }, verbosity: 'queryPlanner' });
    assert.equal(queryPlanner.winningPlan.stage, 'SINGLE_SHARD');
  }
}

test('collections that are sharded before the first output', async () => {
  const where = ['--store', server.uri, '-d', 'early'];
  const admin = client.db('admin');
  for (const [collection, key] of Object.entries(keys)) await admin.command({ shardCollection: `early.${collection}`, key });
  const lines = await generate('--outputs', '3000', '--symbols', '16', '--cross', '5');
  const { accepted } = await settlementJson(['ingest', '--follow', ...where, '-'], textFrom(lines));
  assert.equal(accepted, lines.length);
  const { records } = await settlementJson(['stats', ...where]);
  await expectWhole(where, 'early', records);
});

test('a log that is sharded while it has outputs', async () => {
  const where = ['--store', server.uri, '-d', 'late'];
  const lines = await generate('--outputs', '3000', '--symbols', '16', '--cross', '5');
  await settlementJson(['ingest', ...where, '-'], textFrom(lines.slice(0, 1500)));
  await client.db('late').collection('engine_output_log').createIndex({ symbol_id: 'hashed' });
  const admin = client.db('admin');
  await admin.command({ shardCollection: 'late.engine_output_log', key: keys.engine_output_log });
  const config = client.db('config');
  const { primary } = await config.collection('databases').findOne({ _id: 'late' });
  const other = await config.collection('shards').findOne({ _id: { $ne: primary } });
  // The balancer would do it by and by; one symbol is moved at once.
  const { symbol_id } = JSON.parse(lines[0]);
  await admin.command({ split: 'late.engine_output_log', find: { symbol_id } });
  await admin.command({ moveChunk: 'late.engine_output_log', find: { symbol_id }, to: other._id });
  await settlementJson(['ingest', ...where, '-'], textFrom(lines));
  const { records } = await settlementJson(['stats', ...where]);
  await expectWhole(where, 'late', records);
});
