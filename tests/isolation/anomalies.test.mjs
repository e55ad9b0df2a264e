// The classic anomalies as scripts over two connections, on collections that lie on one shard and on several: which cannot happen, and write skew, which can.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { MongoClient } from 'mongodb';
import { all, fails, serve, times } from '../lib/fixture.mjs';

const { server, client, db, admin } = await serve(['--shards', '3']);
const other = await new MongoClient(server.uri).connect();
after(() => other.close());
const eq = assert.deepEqual;
await admin.command({ balancerStop: 1 });

/** A transaction on a connection; its methods are those of the collections, with the session. */
function begin(on, ...names) {
  const session = on.startSession();
  session.startTransaction();
  const bind = (name) => {
    const c = on.db('test').collection(name);
    return {
      all: (filter = {}, options = {}) => c.find(filter, { sort: { _id: 1 }, ...options, session }).toArray(),
      value: async (_id) => (await c.findOne({ _id }, { session }))?.v,
      count: (filter = {}) => c.countDocuments(filter, { session }),
      set: (_id, v) => c.updateOne({ _id }, { $set: { v } }, { session }),
      insert: (document) => c.insertOne(document, { session }),
      remove: (_id) => c.deleteOne({ _id }, { session }),
      updateMany: (filter, update) => c.updateMany(filter, update, { session }),
      deleteMany: (filter) => c.deleteMany(filter, { session }),
      aggregate: (pipeline) => c.aggregate(pipeline, { session }).toArray(),
      distinct: (field, filter = {}) => c.distinct(field, filter, { session }),
      take: (filter, update, options) => c.findOneAndUpdate(filter, update, { ...options, session }),
    };
  };
  return {
    ...Object.fromEntries(names.map((name) => [name, bind(name)])),
    commit: async () => { await session.commitTransaction(); await session.endSession(); },
    abort: async () => { await session.abortTransaction(); await session.endSession(); },
  };
}

/** The write lost against another transaction: the whole may be tried again. */
async function conflicts(promise) {
  const error = await fails(promise, 112);
  assert.ok(error.hasErrorLabel('TransientTransactionError'), String(error));
}

for (const [kind, key] of [['on one shard', null], ['sharded by _id', { _id: 'hashed' }], ['sharded by another field', { k: 'hashed' }]]) {
  describe(`collections ${kind}`, () => {
    let name;
    let c;
    let made = 0;
    /** A new collection of documents { _id: 0.., k, g, v: 0 }. */
    const fresh = async (n = 2) => {
      name = `c${made++}_${key ? Object.keys(key)[0] : 'plain'}`;
      c = db.collection(name);
      await c.createIndex({ g: 1, v: 1 });
      if (key) await admin.command({ shardCollection: `test.${name}`, key });
      await c.insertMany(times(n, (_id) => ({ _id, k: _id, g: 'a', v: 0 })));
    };
    const start = (on = client) => {
      const { [name]: own, commit, abort } = begin(on, name);
      return { ...own, commit, abort };
    };
    const values = async (on = c) => (await all(on)).map(({ v }) => v);
    /** Every chunk goes to another shard, and its documents with it. */
    const moveAll = async () => {
      if (!key) return;
      const { uuid } = await client.db('config').collection('collections').findOne({ _id: `test.${name}` });
      for (const { min, max, shard } of await client.db('config').collection('chunks').find({ uuid }).toArray()) {
        await admin.command({ moveChunk: `test.${name}`, bounds: [min, max], to: `shard${(Number(shard.slice(5)) + 1) % 3}` });
      }
    };

    test('G0, dirty write: who writes second loses at once', async () => {
      await fresh();
      const [t1, t2] = [start(), start(other)];
      await t1.set(0, 1);
      await conflicts(t2.set(0, 2));
      await t1.set(1, 1);
      await t1.commit();
      eq(await values(), [1, 1]);
    });

    test('G1a, dirty read: what is aborted was never there', async () => {
      await fresh();
      const t1 = start();
      await t1.set(0, 7);
      await t1.insert({ _id: 9, k: 9, g: 'a', v: 7 });
      await t1.remove(1);
      const t2 = start(other);
      for (const seen of [t2, { all: (f) => all(other.db('test').collection(name), f), count: (f) => other.db('test').collection(name).countDocuments(f) }]) {
        eq((await seen.all()).map(({ _id, v }) => [_id, v]), [[0, 0], [1, 0]]);
        eq((await seen.all({ g: 'a', v: { $gte: 1 } })).length, 0);
        eq(await seen.count({ g: 'a' }), 2);
      }
      await t1.abort();
      eq(await t2.count(), 2);
      await t2.commit();
      eq(await values(), [0, 0]);
    });

    test('G1b, intermediate read: only the last of several writes is ever seen', async () => {
      await fresh();
      const t1 = start();
      await t1.set(0, 101);
      eq(await values(), [0, 0]);
      await t1.set(0, 11);
      eq(await values(), [0, 0]);
      await t1.commit();
      eq(await values(), [11, 0]);
    });

    test('G1c, circular information flow: neither sees the other', async () => {
      await fresh();
      const [t1, t2] = [start(), start(other)];
      await t1.set(0, 1);
      await t2.set(1, 2);
      eq([await t1.value(1), await t2.value(0)], [0, 0]);
      await t1.commit();
      eq(await t2.value(0), 0);
      await t2.commit();
      eq(await values(), [1, 2]);
    });

    test('non-repeatable read: a transaction reads one state, whatever others commit and move', async () => {
      await fresh();
      const t1 = start();
      eq(await t1.value(0), 0);
      await c.updateOne({ _id: 0 }, { $set: { v: 5, k: 77 } });
      await c.deleteOne({ _id: 1 });
      await moveAll();
      eq([await t1.value(0), await t1.value(1)], [0, 0]);
      eq((await t1.all({ k: 1 })).length, 1);
      eq((await t1.all({ k: 77 })).length, 0);
      await t1.commit();
      eq(await values(), [5]);
    });

    test('read skew: two documents are of one moment', async () => {
      await fresh();
      const t1 = start();
      eq(await t1.value(0), 0);
      const t2 = start(other);
      await t2.set(0, 12);
      await t2.set(1, 18);
      await t2.commit();
      await moveAll();
      eq(await t1.value(1), 0);
      eq((await t1.all({ g: 'a', v: { $gt: 0 } }, { hint: { g: 1, v: 1 } })).length, 0);
      await conflicts(t1.set(1, 1));
      eq(await values(), [12, 18]);
    });

    test('lost update: who read before another\'s commit cannot write after it', async () => {
      await fresh();
      const [t1, t2] = [start(), start(other)];
      const [seen1, seen2] = [await t1.value(0), await t2.value(0)];
      await t1.set(0, seen1 + 1);
      await t1.commit();
      await conflicts(t2.set(0, seen2 + 1));
      eq(await values(), [1, 0]);

      const t3 = start();
      eq(await t3.value(0), 1);
      await c.updateOne({ _id: 0 }, { $inc: { v: 1 } });
      await conflicts(t3.take({ _id: 0 }, { $inc: { v: 1 } }));
      const t4 = start();
      await t4.value(0);
      await c.deleteOne({ _id: 0 });
      await conflicts(t4.remove(0));
      const t5 = start();
      eq(await t5.value(0), undefined);
      await c.insertOne({ _id: 0, k: 0, g: 'a', v: 3 });
      await conflicts(t5.insert({ _id: 0, k: 0, g: 'a', v: 4 }));
      eq(await values(), [3, 0]);
    });

    test('lost update: a document that was changed and changed back has been changed', async () => {
      await fresh();
      const t1 = start();
      eq([await t1.value(0), await t1.value(1)], [0, 0]);
      await c.updateMany({}, { $set: { v: 2 } });
      await c.updateOne({ _id: 0 }, { $set: { v: 0 } });
      await conflicts(t1.set(0, 5));
      const t2 = start();
      eq(await t2.value(7), undefined);
      await c.insertOne({ _id: 7, k: 7, g: 'a', v: 0 });
      await c.deleteOne({ _id: 7 });
      await conflicts(t2.insert({ _id: 7, k: 7, g: 'a', v: 1 }));
      eq(await values(), [0, 2]);
    });

    test('lost update: a document that was removed since cannot be put back', async () => {
      await fresh();
      const t1 = start();
      eq(await t1.value(1), 0);
      await c.deleteOne({ _id: 1 });
      await conflicts(t1.insert({ _id: 1, k: 1, g: 'a', v: 1 }));
      const t2 = start();
      eq(await t2.value(0), 0);
      await c.deleteOne({ _id: 0 });
      await conflicts(t2.insert({ _id: 0, k: 50, g: 'a', v: 1 })); // another shard, maybe
      eq(await values(), []);
    });

    test('a plain write waits for a transaction, and then goes on from what it left', async () => {
      await fresh();
      const t1 = start();
      await t1.set(0, 10);
      let done = false;
      const waiting = other.db('test').collection(name).updateOne({ _id: 0 }, { $inc: { v: 1 } }).then((result) => { done = true; return result; });
      eq(await values(), [0, 0]);
      await t1.set(1, 10);
      assert.equal(done, false);
      await t1.commit();
      eq((await waiting).modifiedCount, 1);
      eq(await values(), [11, 10]);
    });

    test('nobody waits in a circle: a plain write for a transaction, a change of the collection for the write, the transaction for the change', { timeout: 60000 }, async () => {
      await fresh();
      const running = async (test) => (await admin.command({ currentOp: 1 })).inprog.some((op) => test(op.command ?? {}));
      const t1 = start();
      await t1.set(0, 10);
      const waiting = other.db('test').collection(name).updateOne({ _id: 0 }, { $inc: { v: 1 } });
      while (!(await running((command) => command.update === name))); // it is there, and cannot end
      let built = false;
      const build = other.db('test').collection(name).createIndex({ v: 1 }).finally(() => { built = true; });
      while (!built && !(await running((command) => command.createIndexes === name)));
      // The index may have come before the transaction's end, which fails then.
      const ended = await t1.set(1, 10).then(() => t1.commit()).then(() => true, (error) => { assert.ok(error.hasErrorLabel('TransientTransactionError'), String(error)); return false; });
      eq((await waiting).modifiedCount, 1);
      await build;
      eq(await values(), ended ? [11, 10] : [1, 0]);
    });

    test('write skew happens: each reads what the other writes, and both commit', async () => {
      await fresh();
      const [t1, t2] = [start(), start(other)];
      // "At least one of the two must stay 0", checked by both and broken by both.
      eq([await t1.count({ v: 0 }), await t2.count({ v: 0 })], [2, 2]);
      await t1.set(0, 1);
      await t2.set(1, 1);
      await t1.commit();
      await t2.commit();
      eq(await values(), [1, 1]);
    });

    test('write skew is avoided by writing to what was read', async () => {
      await fresh();
      const [t1, t2] = [start(), start(other)];
      eq([await t1.count({ v: 0 }), await t2.count({ v: 0 })], [2, 2]);
      await t1.updateMany({ v: 0 }, { $inc: { checked: 1 } });
      await conflicts(t2.updateMany({ v: 0 }, { $inc: { checked: 1 } }));
      await t1.commit();
    });

    test('phantoms: queries, index scans, counts and groups of a snapshot stay what they were', async () => {
      await fresh(10);
      const t1 = start();
      const look = async () => [
        (await t1.all()).map(({ _id }) => _id),
        (await t1.all({ g: 'a', v: { $gte: 0 } }, { hint: { g: 1, v: 1 }, projection: { _id: 1 } })).map(({ _id }) => _id),
        (await t1.all({ _id: { $gte: 5 } }, { batchSize: 2 })).map(({ _id }) => _id),
        await t1.count(),
        await t1.count({ g: 'a' }),
        await t1.aggregate([{ $group: { _id: '$g', n: { $sum: 1 }, v: { $sum: '$v' } } }, { $sort: { _id: 1 } }]),
        (await t1.distinct('k')).sort((a, b) => a - b),
        (await t1.all({}, { sort: { v: -1, _id: 1 }, limit: 3 })).map(({ _id }) => _id),
      ];
      const before = await look();
      eq(before.slice(3, 5), [10, 10]);
      await c.insertMany(times(5, (i) => ({ _id: 100 + i, k: 100 + i, g: 'a', v: 9 })));
      eq(await look(), before);
      await c.deleteMany({ _id: { $lt: 3 } });
      await c.updateMany({ _id: { $gt: 7 } }, { $set: { g: 'b', v: 3, k: 999 } });
      eq(await look(), before);
      await moveAll();
      await c.createIndex({ k: 1, v: 1 });
      eq(await look(), before);
      eq((await t1.all({ k: 4 })).length, 1);
      await t1.commit();
      eq((await all(c)).length, 12);
    });

    test('phantoms: a statement of a transaction changes what its snapshot has, and its own', async () => {
      await fresh(4);
      const t1 = start();
      eq(await t1.count({ g: 'a' }), 4);
      await c.insertOne({ _id: 50, k: 50, g: 'a', v: 0 });
      await t1.insert({ _id: 60, k: 60, g: 'a', v: 0 });
      eq((await t1.updateMany({ g: 'a' }, { $set: { v: 8 } })).matchedCount, 5);
      eq(await t1.count({ v: 8 }), 5);
      eq((await t1.all({ g: 'a', v: 8 }, { hint: { g: 1, v: 1 } })).length, 5);
      await t1.commit();
      eq(await values(), [8, 8, 8, 8, 0, 8]);
    });

    test('a unique key is one transaction\'s only', async () => {
      await fresh();
      await c.createIndex({ u: 1 }, { unique: true, partialFilterExpression: { u: { $exists: true } } });
      const [t1, t2] = [start(), start(other)];
      eq(await t2.count(), 2);
      await t1.insert({ _id: 10, k: 10, u: 'x' });
      await conflicts(t2.insert({ _id: 11, k: 11, u: 'x' }));
      const t3 = start(other);
      eq(await t3.count(), 2);
      await t1.commit();
      await conflicts(t3.insert({ _id: 11, k: 11, u: 'x' }));
      await fails(start(other).insert({ _id: 11, k: 11, u: 'x' }), 11000);
      eq(await c.countDocuments({ u: 'x' }), 1);
    });

    test('a commit is seen as a whole: sums over two documents never change', async () => {
      await fresh();
      let over = false;
      const writer = async () => {
        for (let i = 1; i <= 100; ++i) {
          const t = start();
          await t.set(0, i);
          await t.set(1, -i);
          await t.commit();
        }
        over = true;
      };
      const reader = async () => {
        const theirs = other.db('test').collection(name);
        while (!over) {
          eq((await values(theirs)).reduce((a, b) => a + b), 0);
          eq(await theirs.aggregate([{ $group: { _id: null, sum: { $sum: '$v' } } }]).toArray(), [{ _id: null, sum: 0 }]);
          eq((await theirs.find({ g: 'a' }, { hint: { g: 1, v: 1 } }).toArray()).reduce((sum, { v }) => sum + v, 0), 0);
        }
      };
      await Promise.all([writer(), reader()]);
    });
  });
}

test('a snapshot session reads one moment of several collections', async () => {
  await Promise.all(['s1', 's2'].map((name) => db.collection(name).insertOne({ _id: 0, v: 0 })));
  await admin.command({ shardCollection: 'test.s2', key: { _id: 1 } });
  const session = other.startSession({ snapshot: true });
  const read = async (name) => (await other.db('test').collection(name).findOne({ _id: 0 }, { session })).v;
  eq(await read('s1'), 0);
  const t = begin(client, 's1', 's2');
  await t.s1.set(0, 1);
  await t.s2.set(0, 1);
  await t.commit();
  eq([await read('s2'), await read('s1')], [0, 0]);
  eq(await other.db('test').collection('s2').countDocuments({ v: 0 }, { session }), 1);
  await session.endSession();
});
