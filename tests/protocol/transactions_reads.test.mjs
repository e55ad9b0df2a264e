// What transactions and sessions read: one's own writes, one's own snapshot, the same state over several collections, and what one wrote before.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Long, MongoClient, Timestamp } from 'mongodb';
import { all, fails, fill, serve, times } from '../lib/fixture.mjs';
import { RawSession } from '../lib/session.mjs';

const f = await serve(['--shards', '3']);
const eq = assert.deepEqual;
const documents = times(20, (_id) => ({ _id, g: _id % 4, n: _id * 10, tags: [`t${_id % 3}`] }));

async function fresh(name, sharded) {
  const c = await fill(f.db, name, []);
  if (sharded) await f.admin.command({ shardCollection: `test.${name}`, key: { _id: 'hashed' } });
  await c.createIndexes([{ key: { n: 1 } }, { key: { g: 1, n: -1 } }, { key: { tags: 1 } }]);
  await c.insertMany(documents);
  return c;
}
/** Runs in a transaction, which is aborted in the end. */
async function inTransaction(run, options = {}) {
  const session = f.client.startSession();
  try {
    session.startTransaction(options);
    await run(session);
    await session.abortTransaction();
  } finally {
    await session.endSession();
  }
}

for (const [kind, sharded] of [['an unsharded', false], ['a sharded', true]]) {
  test(`one's own writes are read in ${kind} collection: scans, indexes, sorts, counts, distinct, aggregates`, async () => {
    const c = await fresh('own', sharded);
    await inTransaction(async (session) => {
      const o = { session };
      await c.insertMany([{ _id: 100, g: 9, n: 5, tags: ['new'] }, { _id: 101, g: 0, n: 1000, tags: ['t0', 'new'] }], o);
      await c.updateOne({ _id: 3 }, { $set: { n: 2000, g: 9 } }, o);
      await c.updateMany({ g: 1 }, { $inc: { n: 1 } }, o);
      await c.deleteMany({ g: 2 }, o);
      await c.replaceOne({ _id: 7 }, { g: 3, n: -1, tags: [] }, o);
      const model = new Map(documents.map((d) => [d._id, { ...d }]));
      model.set(100, { _id: 100, g: 9, n: 5, tags: ['new'] }).set(101, { _id: 101, g: 0, n: 1000, tags: ['t0', 'new'] });
      Object.assign(model.get(3), { n: 2000, g: 9 });
      for (const d of model.values()) if (d.g === 1) d.n += 1;
      for (const d of [...model.values()]) if (d.g === 2) model.delete(d._id);
      model.set(7, { _id: 7, g: 3, n: -1, tags: [] });
      const rows = [...model.values()];
      const byId = (list) => [...list].sort((a, b) => a._id - b._id);

      eq(byId(await c.find({}, o).toArray()), byId(rows));
      for (const id of [2, 3, 7, 19, 100, 101, 555]) eq(await c.findOne({ _id: id }, o), model.get(id) ?? null);
      const where = [[{ n: { $gte: 50, $lt: 500 } }, (d) => d.n >= 50 && d.n < 500], [{ g: 9 }, (d) => d.g === 9], [{ tags: 'new' }, (d) => d.tags.includes('new')], [{ g: { $in: [0, 2, 9] }, n: { $gt: 4 } }, (d) => [0, 2, 9].includes(d.g) && d.n > 4]];
      for (const [filter, holds] of where) {
        const expected = rows.filter(holds);
        for (const hint of [undefined, { n: 1 }, { $natural: 1 }]) {
          eq(byId(await c.find(filter, { ...o, ...(hint && { hint }) }).toArray()), byId(expected));
        }
        eq(await c.countDocuments(filter, o), expected.length);
        eq((await c.distinct('g', filter, o)).sort(), [...new Set(expected.map((d) => d.g))].sort());
        eq((await c.find(filter, o).sort({ n: 1 }).toArray()).map((d) => d.n), expected.map((d) => d.n).sort((a, b) => a - b));
        eq((await c.find(filter, o).sort({ n: -1 }).skip(1).limit(3).toArray()).map((d) => d.n), expected.map((d) => d.n).sort((a, b) => b - a).slice(1, 4));
      }
      const sums = new Map();
      for (const d of rows) sums.set(d.g, (sums.get(d.g) ?? 0) + d.n);
      eq(await c.aggregate([{ $group: { _id: '$g', n: { $sum: '$n' } } }, { $sort: { _id: 1 } }], o).toArray(), [...sums].sort(([a], [b]) => a - b).map(([_id, n]) => ({ _id, n })));
      eq(await c.findOneAndUpdate({ _id: 100 }, { $inc: { n: 1 } }, { ...o, returnDocument: 'after' }), { _id: 100, g: 9, n: 6, tags: ['new'] });
      eq((await c.find({ n: 6 }, { ...o, hint: { n: 1 } }).toArray()).map((d) => d._id), [100]);
    });
    eq(await all(c), documents);
    eq((await f.db.command({ validate: 'own' })).valid, true);
  });
}

test('others do not see it before the commit, and it does not see others', async () => {
  const c = await fresh('snapshot', true);
  await inTransaction(async (session) => {
    eq(await c.countDocuments({}, { session }), 20);
    await c.insertOne({ _id: 'other', g: 1 });
    await c.updateOne({ _id: 1 }, { $set: { n: -5 } });
    await c.deleteOne({ _id: 2 });
    eq(await c.find({}, { session }).sort({ _id: 1 }).toArray(), documents);
    eq(await c.find({ n: -5 }, { session, hint: { n: 1 } }).toArray(), []);
    await c.insertOne({ _id: 'mine' }, { session });
    eq(await c.findOne({ _id: 'mine' }), null);
  });
});

test('getMore in a transaction: the cursor is the transaction’s', async () => {
  await fresh('cursors', false);
  const a = await RawSession.open(f.server.uri);
  const id = (reply) => Long.fromValue(reply.cursor.id);
  const more = (cursor, fields = {}) => ({ getMore: cursor, collection: 'cursors', ...fields });
  const first = await a.start({ find: 'cursors', sort: { _id: 1 }, batchSize: 5 });
  eq((await a.next({ insert: 'cursors', documents: [{ _id: 99 }] })).n, 1);
  const second = await a.next(more(id(first), { batchSize: 10 }));
  eq(second.cursor.nextBatch.map((d) => d._id), times(10, (i) => 5 + i));
  // A cursor of another transaction, of another session, of none.
  const plain = await a.plain({ find: 'cursors', batchSize: 2 });
  const b = await RawSession.open(f.server.uri);
  eq((await b.plain(more(id(first)))).code, 50738);
  eq((await a.plain(more(id(first)))).code, 50740);
  eq((await b.start({ find: 'cursors', batchSize: 2 })).ok, 1);
  eq((await b.next(more(id(first)))).code, 50738);
  eq((await b.next({ find: 'cursors' })).code, 251);
  const last = await a.next(more(id(second)));
  eq([last.cursor.nextBatch.length, last.cursor.id], [5, 0]);
  eq((await a.next({ find: 'cursors' })).cursor.firstBatch.length, 21);
  // An error of a getMore ends the transaction, too.
  eq((await a.next(more(id(plain)))).code, 50739);
  eq((await a.next({ find: 'cursors' })).code, 251);
  eq((await a.plain(more(id(plain)))).ok, 1);
  // With the transaction its cursors end.
  for (const end of ['commit', 'abort']) {
    const open = await a.start({ find: 'cursors', batchSize: 2 });
    eq((await a[end]()).ok, 1);
    eq((await a.plain(more(id(open)))).code, 43);
    const kept = await a.start({ find: 'cursors', batchSize: 2 });
    eq((await a.next({ killCursors: 'cursors', cursors: [id(kept)] })).cursorsKilled.length, 1);
    eq((await a.next(more(id(kept)))).code, 43);
    eq((await a.next({ find: 'cursors' })).errorLabels, ['TransientTransactionError']);
  }
  a.close();
  b.close();
});

test('a cursor of a transaction over many batches sees what was there when it began', async () => {
  const c = await fill(f.db, 'batches', times(2000, (_id) => ({ _id })));
  await inTransaction(async (session) => {
    const cursor = c.find({}, { session, batchSize: 100 });
    const seen = [];
    for await (const d of cursor) {
      seen.push(d._id);
      if (d._id % 250 === 0) await c.insertOne({ _id: d._id + 0.5 }, { session });
    }
    eq(seen.filter(Number.isInteger), times(2000, (i) => i));
    eq(await c.countDocuments({}, { session }), 2008);
  });
});

test('snapshot sessions read one state over several collections', async () => {
  const [a, b] = [await fresh('snap1', false), await fresh('snap2', true)];
  const session = f.client.startSession({ snapshot: true });
  eq(await a.countDocuments({}, { session }), 20);
  await a.insertOne({ _id: 'later', n: 1 });
  await b.deleteMany({});
  eq(await b.countDocuments({}, { session }), 20);
  eq(await b.find({}, { session }).sort({ _id: 1 }).toArray(), documents);
  eq((await a.distinct('_id', {}, { session })).length, 20);
  eq((await b.aggregate([{ $group: { _id: null, n: { $sum: '$n' } } }], { session }).toArray())[0].n, 1900);
  const cursor = b.find({}, { session, batchSize: 3 });
  eq((await cursor.toArray()).length, 20);
  eq(await b.countDocuments({}), 0);
  await session.endSession();
  // Its first read may be of any kind, and tells the time.
  const raw = await RawSession.open(f.server.uri);
  const level = 'snapshot';
  const found = await raw.plain({ find: 'snap1', readConcern: { level } });
  const distinct = await raw.plain({ distinct: 'snap1', key: '_id', readConcern: { level } });
  const aggregate = await raw.plain({ aggregate: 'snap1', pipeline: [], cursor: {}, readConcern: { level } });
  const stamps = [found.cursor.atClusterTime, distinct.atClusterTime, aggregate.cursor.atClusterTime];
  assert.ok(stamps.every((stamp) => stamp instanceof Timestamp));
  await a.deleteMany({});
  eq((await raw.plain({ find: 'snap1', readConcern: { level, atClusterTime: stamps[0] } })).cursor.firstBatch.length, 21);
  eq((await raw.plain({ distinct: 'snap1', key: '_id', readConcern: { level, atClusterTime: stamps[1] } })).values.length, 21);
  // A state that was never told, or is gone.
  eq((await raw.plain({ find: 'snap1', readConcern: { level, atClusterTime: new Timestamp({ t: 1, i: 1 }) } })).code, 239);
  eq((await raw.plain({ find: 'snap1', readConcern: { level: 'local', atClusterTime: stamps[0] } })).code, 72);
  eq((await raw.plain({ find: 'snap1', readConcern: { level, atClusterTime: stamps[0], afterClusterTime: stamps[0] } })).code, 72);
  raw.close();
});

test('a snapshot session writes nothing and lists nothing (72)', async () => {
  const c = await fresh('snapno', false);
  const session = f.client.startSession({ snapshot: true });
  for (const run of [
    () => c.insertOne({ _id: 'x' }, { session }),
    () => c.updateOne({ _id: 1 }, { $set: { n: 0 } }, { session }),
    () => c.deleteOne({ _id: 1 }, { session }),
    () => c.findOneAndUpdate({ _id: 1 }, { $set: { n: 0 } }, { session }),
    () => c.bulkWrite([{ insertOne: { document: { _id: 'y' } } }], { session }),
    () => f.db.createCollection('snapmade', { session }),
    () => c.createIndex({ q: 1 }, { session }),
    () => f.db.listCollections({}, { session }).toArray(),
    () => c.listIndexes({ session }).toArray(),
    () => f.admin.command({ listDatabases: 1 }, { session }),
  ]) await fails(run(), 72, /snapshot/);
  await session.endSession();
  eq(await all(c), documents);
});

test('causal consistency: what one session wrote, another that knows its time reads', async () => {
  const c = await fill(f.db, 'causal', []);
  const other = await new MongoClient(f.server.uri).connect();
  const writer = f.client.startSession({ causalConsistency: true });
  const reader = other.startSession({ causalConsistency: true });
  for (let i = 0; i < 50; ++i) {
    await c.insertOne({ _id: i }, { session: writer });
    assert.ok(writer.operationTime instanceof Timestamp && writer.clusterTime);
    reader.advanceOperationTime(writer.operationTime);
    reader.advanceClusterTime(writer.clusterTime);
    eq(await other.db('test').collection('causal').findOne({ _id: i }, { session: reader, readConcern: { level: 'majority' } }), { _id: i });
    assert.ok(reader.operationTime.greaterThanOrEqual(writer.operationTime));
  }
  // A time grows with every write, also of transactions.
  const before = writer.operationTime;
  await writer.withTransaction(() => c.insertOne({ _id: 'txn' }, { session: writer }));
  assert.ok(writer.operationTime.greaterThan(before));
  await writer.endSession();
  await reader.endSession();
  await other.close();
});
