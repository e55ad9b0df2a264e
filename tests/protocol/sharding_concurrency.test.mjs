// Many clients on a sharded collection at once: each document is taken by one, and none is missed while chunks move.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MongoClient } from 'mongodb';
import { all, fails, serve, times } from '../lib/fixture.mjs';

const f = await serve(['--shards', '4']);
const eq = assert.deepEqual;
const { db, admin } = f;

async function checkWhole(name, count) {
  const { valid, errors, nrecords } = await db.command({ validate: name, full: true });
  eq([valid, errors, nrecords], [true, [], count]);
}
async function withClients(count, run) {
  const clients = await Promise.all(times(count, () => new MongoClient(f.server.uri, { maxPoolSize: 1 }).connect()));
  try {
    return await Promise.all(clients.map((client, i) => run(client.db('test'), i)));
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

test('findAndModify, updateOne and deleteOne without the key take each document once', async () => {
  await admin.command({ shardCollection: 'test.queue', key: { k: 'hashed' } });
  const queue = db.collection('queue');
  await queue.createIndex({ state: 1, n: 1 });
  const n = 400;
  await queue.insertMany(times(n, (_id) => ({ _id, k: `k${_id}`, n: _id, state: 'new' })));

  const claimed = (await withClients(8, async (own, worker) => {
    const mine = [];
    for (;;) {
      const taken = await own.collection('queue').findOneAndUpdate({ state: 'new' }, { $set: { state: 'taken', worker } }, { sort: { n: 1 }, returnDocument: 'after' });
      if (taken === null) return mine;
      eq([taken.state, taken.worker], ['taken', worker]);
      mine.push(taken._id);
    }
  })).flat();
  eq(claimed.sort((a, b) => a - b), times(n, (i) => i));

  const modified = await withClients(8, async (own) => {
    let count = 0;
    while ((await own.collection('queue').updateOne({ state: 'taken' }, { $set: { state: 'done' }, $inc: { times: 1 } })).modifiedCount === 1) ++count;
    return count;
  });
  eq(modified.reduce((a, b) => a + b, 0), n);
  eq(await queue.countDocuments({ state: 'done', times: 1 }), n);

  const deleted = await withClients(8, async (own, i) => {
    let count = 0;
    for (;;) {
      const one = i % 2 === 0 ? (await own.collection('queue').deleteOne({ state: 'done' })).deletedCount : Number((await own.collection('queue').findOneAndDelete({ state: 'done' })) !== null);
      if (one === 0) return count;
      count += one;
    }
  });
  eq(deleted.reduce((a, b) => a + b, 0), n);
  eq(await queue.countDocuments({}), 0);
  await checkWhole('queue', 0);
});

test('one of many clients gets a unique key, whichever shard they write to', async () => {
  await admin.command({ shardCollection: 'test.once', key: { k: 'hashed' } });
  await db.collection('once').createIndex({ u: 1 }, { unique: true });
  for (let round = 0; round < 20; ++round) {
    const outcomes = await withClients(4, (own, i) => own.collection('once').insertOne({ k: `${round}/${i}`, u: round }).then(() => 0, (e) => e.code));
    eq(outcomes.sort((a, b) => a - b), [0, 11000, 11000, 11000]);
    const ids = await withClients(4, (own, i) => own.collection('once').insertOne({ _id: round, k: `${round}/${i}`, u: `${round}/${i}` }).then(() => 0, (e) => e.code));
    eq(ids.sort((a, b) => a - b), [0, 11000, 11000, 11000]);
  }
  await checkWhole('once', 40);
});

test('readers miss nothing and writers fail in nothing while chunks move and a shard is added', async () => {
  await admin.command({ balancerStop: 1 });
  await admin.command({ shardCollection: 'test.c', key: { k: 'hashed' } });
  const c = db.collection('c');
  await c.createIndex({ u: 1 }, { unique: true });
  await c.createIndex({ permanent: 1, n: 1 });
  const n = 600;
  await c.insertMany(times(n, (i) => ({ _id: i, k: i, u: i, n: i, permanent: true })));
  const { uuid } = await f.client.db('config').collection('collections').findOne({ _id: 'test.c' });
  const done = { moves: 0, reads: 0, writes: 0 };
  let over = false;

  const mover = async () => {
    let shards = times(4, (i) => `shard${i}`);
    for (; done.moves < 60; ++done.moves) {
      if (done.moves === 20) shards = [...shards, (await admin.command({ addShard: 'local' })).shardAdded];
      const chunks = await f.client.db('config').collection('chunks').find({ uuid }).toArray();
      const { min, max } = chunks[(done.moves * 7) % chunks.length];
      await admin.command({ moveChunk: 'test.c', bounds: [min, max], to: shards[(done.moves * 3 + 1) % shards.length] });
    }
    over = true;
  };
  const reader = async (own) => {
    const mine = own.collection('c');
    for (let i = 0; !over; ++i, ++done.reads) {
      const sorted = await mine.find({ permanent: true }).sort({ n: 1 }).batchSize(100).toArray();
      eq(sorted.map((d) => d._id), times(n, (j) => j));
      eq(await mine.countDocuments({ permanent: true }), n);
      const scattered = await mine.find({}).batchSize(150).toArray();
      eq(new Set(scattered.map((d) => d._id)).size, scattered.length);
      eq(scattered.filter((d) => d.permanent).length, n);
      eq((await mine.find({ u: i % n }).toArray()).map((d) => d._id), [i % n]);
      eq((await mine.find({ _id: i % n }).toArray()).length, 1);
      eq((await mine.aggregate([{ $match: { permanent: true } }, { $group: { _id: null, n: { $sum: 1 }, s: { $sum: '$n' } } }]).toArray()), [{ _id: null, n, s: (n * (n - 1)) / 2 }]);
    }
  };
  const written = new Map();
  const writer = async (own, w) => {
    const mine = own.collection('c');
    for (let i = 0; !over; ++i, ++done.writes) {
      const _id = 1000 + w * 1000 + (i % 90);
      if (!written.has(_id)) {
        await mine.insertOne({ _id, k: i, u: _id, v: i });
        written.set(_id, i);
      } else if (i % 3 === 0) {
        eq((await mine.deleteOne({ _id })).deletedCount, 1);
        written.delete(_id);
      } else {
        eq((await mine.updateOne({ u: _id }, { $set: { k: `moved${i}`, v: i } })).modifiedCount, 1);
        written.set(_id, i);
      }
      const permanent = (i * 13 + w) % n;
      eq((await mine.updateOne({ _id: permanent }, { $set: { k: `p${i}` } })).matchedCount, 1);
      await fails(mine.insertOne({ _id: -1 - i, k: i, u: permanent }), 11000);
    }
  };
  await Promise.all([mover(), withClients(5, (own, i) => (i < 3 ? writer(own, i) : reader(own)).catch((error) => { over = true; throw error; }))]);
  assert.ok(done.reads > 0 && done.writes > 0, JSON.stringify(done));
  const found = new Map((await all(c, { permanent: null })).map((d) => [d._id, d.v]));
  eq(found, written);
  await checkWhole('c', n + written.size);
});
