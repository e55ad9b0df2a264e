// Documents of a growing chain over the shards: no shard gets more than its share, at no time (D7).
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { serve } from '../lib/fixture.mjs';
import { generator } from '../lib/random.mjs';
import { importEpochs, Source } from './explorer_model.mjs';

const shards = 8;
const seed = 7; // the placement of a chain is always the same
const f = await serve(['--shards', String(shards)]);
// Nothing may move in between: the keys alone place the documents.
await f.admin.command({ balancerStop: 1 });

async function spread(name) {
  const rows = await f.client.db('explorer').collection(name).aggregate([{ $collStats: { count: {} } }]).toArray();
  return rows.map(({ count }) => Number(count));
}
const total = (counts) => counts.reduce((a, b) => a + b, 0);
const skew = (counts) => Math.max(...counts) / (total(counts) / shards);

test('max/mean of every collection, of all documents and of each quarter as it is added', async () => {
  const source = new Source(generator(seed), { accounts: 20_000, miners: 8000, blocks: 10, transactions: 8 });
  const chain = source.chain(1600);
  const names = ['blocks', 'transactions', 'block_transactions', 'blocks_in_order', 'account_transactions', 'miner_blocks', 'miners'];
  let before = Object.fromEntries(names.map((name) => [name, Array(shards).fill(0)]));
  const worst = {};
  for (let i = 0; i < chain.length; i += 400) {
    await importEpochs(['--store', f.server.uri, '--db', 'explorer'], chain.slice(i, i + 400));
    const now = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await spread(name)])));
    for (const name of names) {
      const added = now[name].map((count, shard) => count - before[name][shard]);
      worst[name] = Math.max(worst[name] ?? 0, skew(added));
    }
    before = now;
  }
  const said = names.map((name) => `${name} ${skew(before[name]).toFixed(3)} of ${total(before[name])}, a quarter at most ${worst[name].toFixed(3)}`).join('; ');
  console.log(`explorer spread on ${shards} shards, max/mean: ${said}`);
  for (const name of names) {
    assert.ok(total(before[name]) > 3000, `${name}: ${before[name].join(' ')}`);
    assert.ok(skew(before[name]) <= 1.2, `${name}: ${before[name].join(' ')}`);
    assert.ok(worst[name] <= 1.2, said);
  }
});
