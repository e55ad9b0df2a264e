// The profiler: what the command `profile` answers, which operations system.profile gets, and that it neither grows without end nor
// shows itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MongoClient } from 'mongodb';
import { fails, fill, serve, times } from '../lib/fixture.mjs';
import { shellFor } from '../lib/mongosh.mjs';
import { startServer } from '../lib/server.mjs';

const f = await serve(['--slow-ms', '86400000']);
let databases = 0;
/** A database of its own, which does not exist yet. */
const fresh = () => f.client.db(`profiled${++databases}`);
const level = (db, profile, options = {}) => db.command({ profile, ...options });
const entries = (db, filter = {}) => db.collection('system.profile').find(filter).toArray();

test('profile says and sets level, slowms and sampleRate', async () => {
  const db = fresh();
  const was = ({ was: before, slowms, sampleRate }) => [before, slowms, sampleRate];
  assert.deepEqual(was(await level(db, -1)), [0, 86400000, 1]);
  assert.deepEqual(was(await level(db, 2, { slowms: 50, sampleRate: 0.5 })), [0, 86400000, 1]);
  assert.deepEqual(was(await level(db, -1)), [2, 50, 0.5]);
  // The level is the database's own, the rest is the server's.
  assert.deepEqual(was(await level(fresh(), -1)), [0, 50, 0.5]);
  await level(db, 0, { slowms: 86400000, sampleRate: 1 });
  assert.deepEqual(was(await level(db, 7)), [0, 86400000, 1]);
  await fails(level(db, 'all'), 14);
  await fails(level(db, 1, { sampleRate: 2 }), 2, /between 0.0 and 1.0/);
  await fails(level(db, 1, { filter: 'x' }), 2, /Expected an object, or the string 'unset'/);
  await fails(level(db, 1, { filter: { $nosuch: 1 } }), 2);
  await fails(level(db, 1, { nosuch: 1 }), 40415);
  assert.equal((await level(db, -1)).was, 0);
});

test('level 2 writes down every operation, oldest first', async () => {
  const db = fresh();
  const client = await new MongoClient(f.server.uri, { appName: 'profiled' }).connect();
  try {
    const c = client.db(db.databaseName).collection('c');
    await level(db, 2);
    await c.insertMany(times(5, (_id) => ({ _id, a: _id })));
    await c.createIndex({ a: 1 });
    await c.find({ a: { $gte: 3 } }).toArray();
    await c.find({ b: 1 }).toArray();
    await c.find({ _id: 1 }).toArray();
    await c.updateMany({ a: { $lt: 2 } }, { $set: { b: 1 } });
    await c.updateOne({ _id: 4 }, { $set: { b: 1 } });
    await c.deleteOne({ a: 4 });
    await c.aggregate([{ $match: { a: 1 } }, { $group: { _id: '$a' } }]).toArray();
    await c.distinct('a');
    await c.countDocuments({ b: 1 });
    await client.db(db.databaseName).command({ count: 'c', query: { a: 1 } });
    await fails(c.find({ $nosuch: 1 }).toArray(), 2);
    await fails(c.insertOne({ _id: 1 }), 11000);
    const rows = await entries(db);
    const shown = rows.map((r) => [r.op, r.planSummary, r.keysExamined, r.docsExamined]).filter(([op]) => op !== 'command');
    assert.deepEqual(shown, [
      ['insert', undefined, 0, 0],
      ['query', 'IXSCAN { a: 1 }', 2, 2],
      ['query', 'COLLSCAN', 0, 5],
      ['query', 'IDHACK', 1, 1],
      ['update', 'IXSCAN { a: 1 }', 2, 2],
      ['update', 'IDHACK', 1, 1],
      ['remove', 'IXSCAN { a: 1 }', 1, 1],
      ['query', undefined, 0, 0],
      ['insert', undefined, 0, 0],
    ]);
    const commands = rows.filter((r) => r.op === 'command').map((r) => [Object.keys(r.command)[0], r.planSummary]);
    assert.deepEqual(commands, [
      ['createIndexes', undefined],
      ['aggregate', 'IXSCAN { a: 1 }'],
      ['distinct', 'COLLSCAN'],
      ['aggregate', 'COLLSCAN'],
      ['count', 'COUNT_SCAN { a: 1 }'],
    ]);
    const find = rows.find((r) => r.op === 'query');
    assert.deepEqual([find.ns, find.command.find, find.nreturned, find.cursorExhausted, find.client, find.appName],
      [`${db.databaseName}.c`, 'c', 2, true, '127.0.0.1', 'profiled']);
    assert.ok(find.ts instanceof Date && Number.isInteger(find.millis) && find.cpuNanos > 0);
    assert.deepEqual(rows.filter((r) => r.op === 'update').map((r) => [r.nMatched, r.nModified]), [[2, 2], [1, 1]]);
    assert.deepEqual(rows.filter((r) => r.op === 'remove').map((r) => r.ndeleted), [1]);
    assert.deepEqual(rows.filter((r) => r.op === 'insert').map((r) => [r.ninserted, r.command.documents, r.errCode]), [[5, undefined, undefined], [0, undefined, 11000]]);
    assert.deepEqual(rows.filter((r) => r.errName === 'BadValue').map((r) => [r.ok, r.errCode]), [[0, 2]]);
    assert.deepEqual(rows.map((r) => r.ts.getTime()), rows.map((r) => r.ts.getTime()).sort((a, b) => a - b));
  } finally {
    await client.close();
  }
});

test('the profiler does not show itself', async () => {
  const db = fresh();
  await level(db, 2);
  for (let i = 0; i < 5; ++i) await entries(db);
  await db.collection('c').findOne();
  assert.deepEqual((await entries(db)).map((r) => r.ns), [`${db.databaseName}.c`]);
});

test('level 1 writes down slow operations only', async () => {
  const db = fresh();
  await level(db, 1);
  await db.collection('c').find().toArray();
  assert.equal((await entries(db)).length, 0);
  await level(db, 1, { slowms: 0 });
  await db.collection('c').find().toArray();
  await level(db, 1, { sampleRate: 0 });
  await db.collection('c').find().toArray();
  assert.deepEqual((await entries(db)).map((r) => Object.keys(r.command)[0]), ['find']);
  await level(db, 0, { slowms: 86400000, sampleRate: 1 });
});

test('a filter decides alone', async () => {
  const db = fresh();
  await level(db, 1, { filter: { op: 'query', 'command.filter.a': 1 } });
  const status = await level(db, -1);
  assert.deepEqual(status.filter, { op: 'query', 'command.filter.a': 1 });
  assert.match(status.note, /filter expression is set/);
  for (const a of [1, 2, 1]) await db.collection('c').find({ a }).toArray();
  assert.deepEqual((await entries(db)).map((r) => r.command.filter), [{ a: 1 }, { a: 1 }]);
  await level(db, 1, { filter: 'unset' });
  assert.equal((await level(db, -1)).filter, undefined);
});

test('a writer that waits for a lock says so', async () => {
  const db = fresh();
  await fill(db, 'c', [{ _id: 1 }]);
  await level(db, 2);
  const session = f.client.startSession();
  session.startTransaction();
  await db.collection('c').updateOne({ _id: 1 }, { $set: { a: 1 } }, { session });
  const waiting = db.collection('c').updateOne({ _id: 1 }, { $set: { a: 2 } });
  const lockFigures = async () => (await f.admin.command({ serverStatus: 1 })).documentLocks;
  while ((await lockFigures()).waiting === 0) await new Promise((resolve) => { setImmediate(resolve); });
  await session.commitTransaction();
  await waiting;
  await session.endSession();
  const row = (await entries(db, { op: 'update', writeConflicts: { $gt: 0 } }))[0];
  assert.ok(row.waitedMicros > 0);
  const { waits, waitedMicros, waiting: now } = await lockFigures();
  assert.ok(waits >= 1 && waitedMicros > 0);
  assert.equal(now, 0);
});

test('system.profile is capped, and of another size if it is made by hand', async () => {
  const db = fresh();
  await db.createCollection('system.profile', { capped: true, size: 20000 });
  await level(db, 2);
  for (let i = 0; i < 200; ++i) await db.collection('c').findOne({ i });
  const rows = await entries(db);
  assert.equal(rows.at(-1).command.filter.i, 199);
  const kept = rows.map((r) => r.command.filter.i);
  assert.deepEqual(kept, times(kept.length, (i) => 200 - kept.length + i)); // the newest, without a gap
  const stats = await db.command({ collStats: 'system.profile' });
  assert.deepEqual([stats.capped, stats.maxSize, stats.size <= 20000, stats.count], [true, 20000, true, rows.length]);
  const [{ options }] = await db.listCollections({ name: 'system.profile' }).toArray();
  assert.deepEqual(options, { capped: true, size: 20000 });
  await fails(fresh().createCollection('system.profile'), 72);
  await fails(fresh().createCollection('other', { capped: true, size: 20000 }), 115);
});

test('many clients at once: every operation is written, or counted as dropped', async () => {
  const db = fresh();
  await db.createCollection('system.profile', { capped: true, size: 16 << 20 });
  const figures = async () => (await f.admin.command({ serverStatus: 1 })).profiler;
  const before = await figures();
  await level(db, 2);
  await Promise.all(times(10, async (i) => {
    for (let n = 0; n < 100; ++n) await (n % 2 ? db.collection('c').findOne({ n }) : db.collection('c').updateOne({ _id: i }, { $inc: { n } }, { upsert: true }));
  }));
  const rows = await entries(db);
  const now = await figures();
  assert.equal(rows.length + now.dropped - before.dropped, 1000);
  assert.equal(rows.length, now.written - before.written);
});

test('nobody else writes to system.profile', async () => {
  const db = fresh();
  await level(db, 2);
  const profile = db.collection('system.profile');
  await fails(profile.insertOne({}), 73, /cannot write to/);
  await fails(profile.deleteMany({}), 73);
  await fails(profile.updateMany({}, { $set: { x: 1 } }), 73);
  await fails(profile.createIndex({ a: 1 }), 73);
  await fails(profile.rename('x'), 20, /cannot write to/);
  await fails(db.collection('c').aggregate([{ $out: 'system.profile' }]).toArray(), 17385);
  await fails(f.admin.command({ shardCollection: `${db.databaseName}.system.profile`, key: { _id: 1 } }), 73);
  await fails(profile.drop(), 20, /turn off profiling/);
  await level(db, 0);
  assert.equal(await profile.drop(), true);
  assert.equal((await db.listCollections().toArray()).length, 0);
});

test('a database that is dropped is not made again by what was profiled', async () => {
  const db = fresh();
  await level(db, 2);
  for (let i = 0; i < 50; ++i) await db.collection('c').findOne();
  await db.dropDatabase();
  assert.equal((await level(db, -1)).was, 0);
  assert.deepEqual(await db.listCollections().toArray(), []);
});

test('a restart begins with level 0 and keeps the entries', async () => {
  const store = f.server.store + '-restarted';
  const { mkdtemp, rm } = await import('node:fs/promises');
  const directory = await mkdtemp(store);
  try {
    for (const [was, count] of [[0, 0], [0, 1]]) {
      const server = await startServer([], directory);
      const client = await new MongoClient(server.uri).connect();
      const db = client.db('test');
      assert.equal((await entries(db)).length, count);
      assert.equal((await level(db, 2)).was, was);
      await db.collection('c').findOne();
      assert.equal((await entries(db)).length, count + 1);
      await client.close();
      await server.stop();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test('the helpers of mongosh work', async () => {
  const { typed } = await shellFor(f.server.uri);
  const [, set, status] = await typed(['use inshell', 'EJSON.stringify(db.setProfilingLevel(2, { slowms: 70 }))', 'EJSON.stringify(db.getProfilingStatus())']);
  assert.match(set, /"was":0/);
  assert.match(status, /"was":2,"slowms":70,"sampleRate":1/);
});
