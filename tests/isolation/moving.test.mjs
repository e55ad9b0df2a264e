// While chunks move, a statement over many documents meets each of them once, inside a transaction and outside.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve, times } from '../lib/fixture.mjs';

const { client, db, admin } = await serve(['--shards', '3']);
const eq = assert.deepEqual;
const documents = 150;
const rounds = 120;

test('updateMany changes each document once while its chunk moves', async () => {
  await admin.command({ balancerStop: 1 });
  await admin.command({ shardCollection: 'test.c', key: { k: 1 } });
  for (const k of [50, 100]) await admin.command({ split: 'test.c', middle: { k } });
  const c = db.collection('c');
  await c.insertMany(times(documents, (_id) => ({ _id, k: _id, n: 0 })));
  let over = false;
  let moves = 0;
  const mover = async () => {
    for (; !over; ++moves) await admin.command({ moveChunk: 'test.c', find: { k: (moves % 3) * 50 }, to: `shard${(moves + (moves % 2)) % 3}` });
  };
  const writer = async () => {
    try {
      for (let n = 0; n < rounds; ++n) {
        eq(await c.updateMany({}, { $inc: { n: 1 } }).then(({ matchedCount, modifiedCount }) => [matchedCount, modifiedCount]), [documents, documents]);
        eq((await c.find({ n: { $ne: n + 1 } }).toArray()), []);
      }
      // In a transaction: it gives up if a chunk of it moved meanwhile, and is run again.
      await client.withSession((session) => session.withTransaction(async () => {
        eq((await c.updateMany({ n: rounds }, { $inc: { n: 1 } }, { session })).modifiedCount, documents);
        over = over || moves > 0; // long enough: let it come to its end
      }));
    } finally {
      over = true;
    }
  };
  await Promise.all([mover(), writer()]);
  eq(await c.countDocuments({ n: rounds + 1 }), documents);
  assert.ok(moves > 10, `${moves} moves`);
});
