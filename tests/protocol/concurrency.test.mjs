// Many connections change one document or key: sums are exact, one of them wins, and no client gets an error for meeting another.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { MongoClient } from 'mongodb';
import { all, fill, serve, times } from '../lib/fixture.mjs';

const f = await serve();
const connections = 16;
const clients = await Promise.all(times(connections, () => new MongoClient(f.server.uri, { maxPoolSize: 1, retryWrites: false }).connect()));
after(() => Promise.all(clients.map((client) => client.close())));
/** Every connection runs `rounds` times; the results of all. */
const race = async (rounds, run) =>
  (await Promise.all(clients.map(async (client, who) => {
    const results = [];
    for (let round = 0; round < rounds; ++round) results.push(await run(client.db('test'), who, round));
    return results;
  }))).flat();

for (const [name, update] of [
  ['updateOne', (db) => db.collection('hot').updateOne({ _id: 1 }, { $inc: { n: 1 } })],
  ['updateOne by an index', (db) => db.collection('hot').updateOne({ key: 'hot' }, { $inc: { n: 1 } })],
  ['findOneAndUpdate', (db) => db.collection('hot').findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } })],
  ['a pipeline', (db) => db.collection('hot').updateOne({ _id: 1 }, [{ $set: { n: { $add: ['$n', 1] } } }])],
]) {
  test(`$inc on one hot document by ${name}: the sum is exact`, async () => {
    const c = await fill(f.db, 'hot', [{ _id: 1, key: 'hot', n: 0 }]);
    await c.createIndex({ key: 1 });
    await c.createIndex({ n: 1 });
    await race(50, update);
    assert.equal((await c.findOne({ _id: 1 })).n, connections * 50);
    assert.equal(await c.countDocuments({ n: connections * 50 }, { hint: { n: 1 } }), 1);
    assert.equal((await f.db.command({ validate: 'hot' })).valid, true);
  });
}

test('findOneAndUpdate hands out every number once', async () => {
  await fill(f.db, 'sequence', [{ _id: 'next', n: 0 }]);
  const numbers = await race(30, async (db) => (await db.collection('sequence').findOneAndUpdate({ _id: 'next' }, { $inc: { n: 1 } }, { returnDocument: 'after' })).n);
  assert.deepEqual(numbers.sort((a, b) => a - b), times(connections * 30, (i) => i + 1));
});

for (const [name, index] of [['_id', null], ['a unique key', { k: 1 }]]) {
  test(`upserts of one ${name}: one document, no error, every $inc counts`, async () => {
    const c = await fill(f.db, 'upserts', []);
    if (index) await c.createIndex(index, { unique: true });
    const results = await race(20, (db, _, round) => db.collection('upserts').updateOne(index ? { k: round } : { _id: round }, { $inc: { n: 1 } }, { upsert: true }));
    assert.equal(results.reduce((sum, r) => sum + r.upsertedCount, 0), 20);
    assert.deepEqual((await all(c)).map((d) => d.n), times(20, () => connections));
  });
}

test('each free document is claimed by one', async () => {
  const c = await fill(f.db, 'claims', times(200, (_id) => ({ _id, state: 'free' })));
  await c.createIndex({ state: 1 });
  const claimed = await race(14, async (db, who, round) => {
    const by = `${who}/${round}`;
    const { modifiedCount } = await db.collection('claims').updateOne({ state: 'free' }, { $set: { state: 'taken', by } });
    return modifiedCount;
  });
  // 224 tries for 200 documents.
  assert.equal(claimed.reduce((a, b) => a + b), 200);
  const taken = await all(c);
  assert.ok(taken.every((d) => d.state === 'taken'));
  assert.equal(new Set(taken.map((d) => d.by)).size, 200);
});

test('findOneAndDelete gives each document to one', async () => {
  await fill(f.db, 'queue', times(200, (_id) => ({ _id })));
  const got = (await race(14, (db) => db.collection('queue').findOneAndDelete({}, { sort: { _id: 1 } }))).filter(Boolean);
  assert.deepEqual(got.map((d) => d._id).sort((a, b) => a - b), times(200, (i) => i));
});

test('of concurrent inserts of one unique key exactly one wins', async () => {
  const c = await fill(f.db, 'unique', []);
  await c.createIndex({ email: 1 }, { unique: true });
  const outcomes = await race(30, (db, who, round) => db.collection('unique').insertOne({ _id: `${who}/${round}`, email: `user${round}` }).then(() => 'won', (error) => error.code));
  assert.equal(outcomes.filter((o) => o === 'won').length, 30);
  assert.equal(outcomes.filter((o) => o === 11000).length, (connections - 1) * 30);
  assert.equal(await c.countDocuments(), 30);
});

test('money moves between documents, and no reader ever sees half an update of one', async () => {
  const c = await fill(f.db, 'pairs', times(10, (_id) => ({ _id, a: 50, b: 50 })));
  const sums = await race(30, async (db, who, round) => {
    const id = round % 10;
    if (who % 2) return (await db.collection('pairs').find().toArray()).every((d) => d.a + d.b === 100);
    await db.collection('pairs').updateOne({ _id: id }, { $inc: { a: -1, b: 1 } });
    return true;
  });
  assert.ok(sums.every(Boolean));
  assert.equal((await all(c)).reduce((sum, d) => sum + d.b, 0), 500 + (connections / 2) * 30);
});

test('updateMany beside updateMany: every document gets every change', async () => {
  const c = await fill(f.db, 'many', times(100, (_id) => ({ _id, n: 0 })));
  await race(5, (db) => db.collection('many').updateMany({}, { $inc: { n: 1 } }));
  assert.deepEqual((await all(c)).map((d) => d.n), times(100, () => connections * 5));
});

test('collections and indexes made by many at once are made once', async () => {
  await f.db.dropCollection('made');
  await race(3, (db, who, round) => Promise.all([db.collection(`made${round}`).insertOne({ _id: who }), db.collection(`made${round}`).createIndex({ a: 1 })]));
  for (let round = 0; round < 3; ++round) {
    assert.equal(await f.db.collection(`made${round}`).countDocuments(), connections);
    assert.equal((await f.db.collection(`made${round}`).indexes()).length, 2);
  }
});

test('drop beside writers: they write to the old or the new collection, never into nothing', async () => {
  const outcomes = await race(15, async (db, who, round) => {
    if (who === 0) return (await db.collection('dropping').drop()) && null;
    return db.collection('dropping').insertOne({ _id: `${who}/${round}` }).then(() => null, (error) => error);
  });
  assert.deepEqual(outcomes.filter((o) => o instanceof Error), []);
  await f.db.collection('dropping').insertOne({ _id: 'last' });
  assert.equal((await f.db.command({ validate: 'dropping' })).valid, true);
});
