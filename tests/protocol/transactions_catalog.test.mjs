// Transactions beside changes of collections: made inside, built on, split, moved and dropped outside. A transaction commits whole and right, or gets a transient error;
// builds and moves wait for the documents that it has changed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { all, fails, fill, serve, times } from '../lib/fixture.mjs';

const f = await serve(['--shards', '3', '--transaction-lifetime', '10']);
const eq = assert.deepEqual;
await f.admin.command({ balancerStop: 1 });
await f.admin.command({ enableSharding: 'test', primaryShard: 'shard0' });

async function drop(...names) {
  for (const name of names) await f.db.collection(name).drop();
}
async function checkWhole(name) {
  const { valid, errors, nrecords } = await f.db.command({ validate: name, full: true });
  eq([valid, errors], [true, []]);
  eq(nrecords, await f.db.collection(name).countDocuments({}));
}
const names = async () => (await f.db.listCollections({}, { nameOnly: true }).toArray()).map((c) => c.name);
/** A session with an open transaction, and its commit, which gives true or the label that it failed with. */
function begin() {
  const session = f.client.startSession();
  session.startTransaction();
  return {
    session,
    async commit() {
      try {
        await session.commitTransaction();
        return true;
      } catch (error) {
        assert.ok(error.hasErrorLabel('TransientTransactionError'), String(error));
        return false;
      } finally {
        await session.endSession();
      }
    },
    async abort() {
      await session.abortTransaction();
      await session.endSession();
    },
  };
}
const pause = (millis) => new Promise((resolve) => { setTimeout(resolve, millis); });
const isTransient = (error) => {
  assert.ok(error.hasErrorLabel?.('TransientTransactionError'), String(error));
  return false;
};

test('collections and indexes made inside are there with the commit, and not before', async () => {
  await drop('made', 'implied', 'chosen');
  const t = begin();
  const { session } = t;
  await f.db.createCollection('made', { session });
  await f.db.collection('made').createIndex({ k: 1 }, { unique: true, session });
  await f.db.collection('made').insertOne({ _id: 1, k: 1 }, { session });
  await f.db.collection('implied').insertMany([{ _id: 1 }, { _id: 2 }], { session });
  await f.db.collection('chosen').updateOne({ _id: 5 }, { $set: { a: 1 } }, { upsert: true, session });
  eq(await f.db.collection('made').find({ k: 1 }, { session, hint: { k: 1 } }).toArray(), [{ _id: 1, k: 1 }]);
  eq(await f.db.collection('implied').countDocuments({}, { session }), 2);
  assert.ok(!(await names()).some((name) => ['made', 'implied', 'chosen'].includes(name)));
  eq(await f.db.collection('made').countDocuments({}), 0);
  eq(await t.commit(), true);
  for (const name of ['made', 'implied', 'chosen']) {
    assert.ok((await names()).includes(name));
    await checkWhole(name);
  }
  eq((await f.db.collection('made').indexes()).map((index) => [index.name, index.unique ?? false]), [['_id_', false], ['k_1', true]]);
  await fails(f.db.collection('made').insertOne({ k: 1 }), 11000);
  eq(await all(f.db.collection('chosen')), [{ _id: 5, a: 1 }]);
});

test('an aborted transaction leaves no collection behind', async () => {
  await drop('gone', 'gone2');
  const t = begin();
  await f.db.createCollection('gone', { session: t.session });
  await f.db.collection('gone').createIndex({ a: 1 }, { session: t.session });
  await f.db.collection('gone2').insertOne({ _id: 1 }, { session: t.session });
  await t.abort();
  assert.ok(!(await names()).some((name) => name.startsWith('gone')));
  await f.db.createCollection('gone');
  await checkWhole('gone');
  eq((await f.db.collection('gone').indexes()).length, 1);
});

test('a collection that is there already, and an index on one that has documents, are refused', async () => {
  const c = await fill(f.db, 'full', [{ _id: 1, a: 1 }]);
  for (const [run, code] of [
    [(session) => f.db.createCollection('full', { session }), 48],
    [(session) => c.createIndex({ a: 1 }, { session }), 263],
  ]) {
    const session = f.client.startSession();
    session.startTransaction();
    const error = await fails(run(session), code);
    eq(error.hasErrorLabel('TransientTransactionError'), false);
    await session.endSession();
  }
  // One that is there is there.
  await c.createIndex({ a: 1 });
  const t = begin();
  await c.createIndex({ a: 1 }, { session: t.session });
  eq(await t.commit(), true);
});

test('two transactions make the same collection, or one does and a plain writer: nothing is lost', async () => {
  await drop('twice');
  const [a, b] = [begin(), begin()];
  await f.db.collection('twice').insertOne({ _id: 'a' }, { session: a.session });
  await f.db.collection('twice').insertOne({ _id: 'b' }, { session: b.session });
  const committed = [await a.commit(), await b.commit()];
  eq(committed[0], true);
  eq((await all(f.db.collection('twice'))).map((d) => d._id), committed[1] ? ['a', 'b'] : ['a']);
  await checkWhole('twice');

  await drop('twice');
  const c = begin();
  await f.db.collection('twice').insertOne({ _id: 'c' }, { session: c.session });
  await f.db.collection('twice').insertOne({ _id: 'plain' });
  const done = await c.commit();
  eq((await all(f.db.collection('twice'))).map((d) => d._id), done ? ['c', 'plain'] : ['plain']);
  await checkWhole('twice');
});

test('an index that is built while a transaction is open has all of its entries', async () => {
  for (const options of [{}, { unique: true }]) {
    const c = await fill(f.db, 'indexed', times(500, (_id) => ({ _id, k: _id })));
    const t = begin();
    await c.insertOne({ _id: 1000, k: 1000 }, { session: t.session });
    await c.updateOne({ _id: 1 }, { $set: { k: -1 } }, { session: t.session });
    await c.deleteOne({ _id: 2 }, { session: t.session });
    const built = c.createIndex({ k: 1 }, options);
    await pause(100);
    const done = await t.commit();
    await built;
    eq(await c.countDocuments({ k: { $gte: -10 } }, { hint: { k: 1 } }), 500);
    eq(await c.countDocuments({ k: 1000 }, { hint: { k: 1 } }), done ? 1 : 0);
    await checkWhole('indexed');
  }
});

test('a collection that is dropped, or made anew, takes no writes of an older transaction', async () => {
  for (const anew of [false, true]) {
    const c = await fill(f.db, 'dropped', [{ _id: 1 }]);
    const t = begin();
    await c.insertOne({ _id: 2 }, { session: t.session });
    await c.drop();
    if (anew) await f.db.createCollection('dropped');
    eq(await t.commit(), false);
    eq(await c.countDocuments({}), 0);
    eq((await names()).includes('dropped'), anew);
  }
});

test('a collection that gets its name after the snapshot is not used: neither what it has nor what it lacks fits the rest', async () => {
  await fill(f.db, 'other', [{ _id: 1 }]);
  const renamed = async () => {
    await fill(f.db, 'shown', [{ _id: 1 }]);
    await fill(f.db, 'built', [{ _id: 1 }, { _id: 2 }]);
    return () => f.db.collection('built').rename('shown', { dropTarget: true });
  };
  const uses = [
    (session) => f.db.collection('shown').insertOne({ _id: 2 }, { session }),
    (session) => f.db.collection('shown').updateOne({ _id: 2 }, { $set: { a: 1 } }, { session }),
    (session) => f.db.collection('shown').find({}, { session }).toArray(),
    (session) => f.db.collection('shown').findOneAndUpdate({ _id: 2 }, { $set: { a: 1 } }, { session }),
    (session) => f.db.collection('shown').aggregate([{ $group: { _id: 1 } }], { session }).toArray(),
  ];
  for (const use of uses) {
    const rename = await renamed();
    const session = f.client.startSession();
    session.startTransaction();
    eq(await f.db.collection('other').countDocuments({}, { session }), 1);
    await rename();
    isTransient(await fails(use(session), 246));
    await session.abortTransaction();
    session.startTransaction();
    if (use === uses[0]) await f.db.collection('shown').insertOne({ _id: 3 }, { session });
    else await use(session);
    await session.commitTransaction();
    await session.endSession();
    eq(await f.db.collection('shown').countDocuments({}), use === uses[0] ? 3 : 2);
    await checkWhole('shown');
  }
  const rename = await renamed();
  const session = f.client.startSession({ snapshot: true });
  eq(await f.db.collection('other').distinct('_id', {}, { session }), [1]);
  await rename();
  await fails(f.db.collection('shown').find({}, { session }).toArray(), 246);
  await session.endSession();
});

test('a transaction over sharded collections moves a document’s shard key, whole or not at all', async () => {
  await drop('orders', 'stock');
  await f.admin.command({ shardCollection: 'test.orders', key: { customer: 'hashed' } });
  await f.admin.command({ shardCollection: 'test.stock', key: { item: 1 } });
  await f.db.collection('orders').insertMany(times(30, (_id) => ({ _id, customer: _id, n: 0 })));
  await f.db.collection('stock').insertMany(times(30, (_id) => ({ _id, item: _id, left: 10 })));
  for (const at of [10, 20]) await f.admin.command({ split: 'test.stock', middle: { item: at } });
  await f.admin.command({ moveChunk: 'test.stock', find: { item: 15 }, to: 'shard1' });
  await f.admin.command({ moveChunk: 'test.stock', find: { item: 25 }, to: 'shard2' });
  for (const end of ['abort', 'commit']) {
    const t = begin();
    const o = { session: t.session };
    for (let i = 0; i < 30; ++i) {
      await f.db.collection('orders').updateOne({ customer: i }, { $set: { customer: i + 500 }, $inc: { n: 1 } }, o);
      await f.db.collection('stock').updateOne({ item: i }, { $inc: { left: -1 }, ...(i % 3 === 0 && { $set: { item: (i + 10) % 30 + 0.5 } }) }, o);
    }
    eq(await f.db.collection('orders').countDocuments({ customer: { $gte: 500 } }, o), 30);
    eq((await f.db.collection('orders').find({ customer: 517 }, o).toArray()).map((d) => d._id), [17]);
    eq(await f.db.collection('orders').find({ customer: 17 }, o).toArray(), []);
    eq(await f.db.collection('orders').countDocuments({ customer: { $gte: 500 } }), 0);
    await t[end]();
    const moved = end === 'commit';
    eq(await all(f.db.collection('orders')), times(30, (_id) => ({ _id, customer: _id + (moved ? 500 : 0), n: moved ? 1 : 0 })));
    eq((await all(f.db.collection('stock'))).map((d) => [d._id, d.item, d.left]), times(30, (i) => [i, moved && i % 3 === 0 ? (i + 10) % 30 + 0.5 : i, moved ? 9 : 10]));
    for (const name of ['orders', 'stock']) await checkWhole(name);
  }
});

test('a chunk that moves during a transaction: a transient error or the right result, never a lost or doubled document', async () => {
  await drop('ranges');
  await f.admin.command({ shardCollection: 'test.ranges', key: { k: 1 } });
  const c = f.db.collection('ranges');
  await c.createIndex({ n: 1 });
  await c.insertMany(times(300, (_id) => ({ _id, k: _id, n: 0 })));
  for (const at of [100, 200]) await f.admin.command({ split: 'test.ranges', middle: { k: at } });
  const outcomes = { committed: 0, transient: 0 };
  let sum = 0;
  for (let round = 0; round < 12; ++round) {
    const t = begin();
    const o = { session: t.session };
    const to = `shard${(round + 1) % 3}`;
    let added = 0;
    const steps = [
      async () => { await c.updateOne({ k: 150 }, { $inc: { n: 1 } }, o); added += 1; },
      async () => { await c.insertOne({ _id: `new${round}`, k: 120 + round / 100, n: 7 }, o); added += 7; },
      async () => { await c.updateOne({ k: 5 }, { $inc: { n: 3 } }, o); added += 3; },
      async () => { added += 2 * (await c.updateMany({ k: { $gte: 140, $lt: 145 } }, { $inc: { n: 2 } }, o)).modifiedCount; },
    ];
    let alive = true;
    let moved;
    for (const [i, step] of steps.entries()) {
      if (i === round % 4) {
        moved = f.admin.command({ moveChunk: 'test.ranges', find: { k: 150 }, to });
        // Before the first statement it has nothing to wait for.
        await (i === 0 ? moved : pause(round * 5));
      }
      alive = alive && (await step().then(() => true, isTransient));
    }
    const done = alive && (await t.commit());
    if (!alive) await t.abort();
    await moved;
    ++outcomes[done ? 'committed' : 'transient'];
    if (done) sum += added;
    eq(await c.countDocuments({ _id: `new${round}` }), done ? 1 : 0);
  }
  const rows = await all(c);
  eq(rows.length, 300 + outcomes.committed);
  eq(rows.reduce((total, d) => total + d.n, 0), sum);
  await checkWhole('ranges');
  assert.ok(outcomes.committed > 0 && outcomes.transient > 0, JSON.stringify(outcomes));
});

test('withTransaction gets through while chunks move and an index is built and dropped', async () => {
  await drop('busy');
  await f.admin.command({ shardCollection: 'test.busy', key: { k: 1 } });
  const c = f.db.collection('busy');
  await c.insertMany(times(100, (_id) => ({ _id, k: _id, n: 0 })));
  await f.admin.command({ split: 'test.busy', middle: { k: 50 } });
  let working = true;
  const disturb = (async () => {
    for (let i = 0; working; ++i) {
      await f.admin.command({ moveChunk: 'test.busy', find: { k: i % 2 ? 10 : 60 }, to: `shard${i % 3}` });
      if (i % 4 === 0) await c.createIndex({ n: 1 });
      if (i % 4 === 2) await c.dropIndex('n_1');
      await pause(20);
    }
  })();
  await Promise.all(times(4, async (who) => {
    for (let i = 0; i < 15; ++i) {
      await f.client.withSession((session) => session.withTransaction(async () => {
        await c.updateOne({ k: (who * 25 + i) % 100 }, { $inc: { n: -1 } }, { session });
        await c.updateOne({ k: (who * 25 + i + 50) % 100 }, { $inc: { n: 1 } }, { session });
        await c.insertOne({ _id: `${who}/${i}`, k: (who * 37 + i * 11) % 100, n: 1 }, { session });
      }));
    }
  }));
  working = false;
  await disturb;
  const rows = await all(c);
  eq([rows.length, rows.reduce((sum, d) => sum + d.n, 0)], [160, 60]);
  await checkWhole('busy');
});
