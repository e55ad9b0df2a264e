// Retryable writes: sent again, over another connection or after a crash, a write gives its first result and is not done again.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { MongoClient } from 'mongodb';
import { all, fill, times } from '../lib/fixture.mjs';
import { startServer } from '../lib/server.mjs';
import { RawSession } from '../lib/session.mjs';

const directory = await mkdtemp(join(tmpdir(), 'braid-retry-'));
let server;
let client;
let db;
async function start() {
  server = await startServer(['--test-commands', '--shards', '3'], directory);
  client = await new MongoClient(server.uri).connect();
  db = client.db('test');
}
async function crash() {
  await client.close();
  await server.stop('SIGKILL');
  await start();
}
await start();
after(async () => {
  await client.close();
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

/** The reply without what differs from one time to the next. */
const plain = ({ $clusterTime, operationTime, retriedStmtIds, ...rest }) => rest;
const collections = ['c', 'sharded'];
const documents = times(10, (_id) => ({ _id, k: _id, n: 0 }));
async function prepare() {
  await fill(db, 'c', documents);
  await db.collection('sharded').drop();
  await client.db('admin').command({ shardCollection: 'test.sharded', key: { _id: 'hashed' } });
  await db.collection('sharded').insertMany(documents);
}
const state = async () => Object.fromEntries(await Promise.all(collections.map(async (name) => [name, await all(db.collection(name))])));

const writes = (c) => [
  ['insert', { insert: c, documents: [{ _id: 100 }, { _id: 101 }, { _id: 102 }] }, [0, 1, 2]],
  ['insert with a duplicate, unordered', { insert: c, ordered: false, documents: [{ _id: 100 }, { _id: 1 }, { _id: 102 }] }, [0, 2]],
  ['update', { update: c, updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }] }, [0]],
  ['updates', { update: c, updates: times(3, (i) => ({ q: { _id: i }, u: { $inc: { n: 1 } } })) }, [0, 1, 2]],
  ['upsert', { update: c, updates: [{ q: { _id: 50 }, u: { $inc: { n: 1 } }, upsert: true }, { q: { _id: 1 }, u: { $inc: { n: 5 } } }] }, [0, 1]],
  ['replace', { update: c, updates: [{ q: { _id: 1 }, u: { k: 'new' } }] }, [0]],
  ['update by a pipeline', { update: c, updates: [{ q: { _id: 1 }, u: [{ $set: { n: { $add: ['$n', 1] } } }] }] }, [0]],
  ['delete', { delete: c, deletes: [{ q: { _id: 1 }, limit: 1 }, { q: { _id: 2 }, limit: 1 }] }, [0, 1]],
  ['findAndModify before', { findAndModify: c, query: { _id: 1 }, update: { $inc: { n: 1 } } }, [0]],
  ['findAndModify after', { findAndModify: c, query: { _id: 1 }, update: { $inc: { n: 1 } }, new: true, fields: { n: 1 } }, [0]],
  ['findAndModify upsert', { findAndModify: c, query: { _id: 60 }, update: { $inc: { n: 1 } }, upsert: true, new: true }, [0]],
  ['findAndModify upsert before', { findAndModify: c, query: { _id: 60 }, update: { $inc: { n: 1 } }, upsert: true }, [0]],
  ['findAndModify remove', { findAndModify: c, query: { _id: { $gte: 5 } }, sort: { _id: 1 }, remove: true }, [0]],
];

for (const again of ['over a new connection', 'after kill -9']) {
  test(`every kind of write, sent again ${again}`, async () => {
    await prepare();
    const before = await state();
    const tried = [];
    const check = async ({ name, session, write, number, database, first, expected }) => {
      const other = await RawSession.open(server.uri, session.lsid);
      const second = await other.write(write, number, database);
      assert.deepEqual(second.retriedStmtIds, expected, name);
      assert.deepEqual(plain(second), plain(first), name);
      other.close();
    };
    for (const c of collections) {
      for (const [name, write, expected] of writes(c)) {
        for (const collection of collections) await db.collection(collection).deleteMany({});
        for (const collection of collections) await db.collection(collection).insertMany(documents);
        const session = await RawSession.open(server.uri);
        const first = await session.write(write, 7);
        assert.equal(first.ok, 1, JSON.stringify(first));
        const changed = await state();
        assert.notDeepEqual(changed, before, name);
        const attempt = { name: `${c}: ${name}`, session, write, number: 7, first, expected };
        if (again === 'over a new connection') {
          session.close();
          await check(attempt);
          await check(attempt);
          assert.deepEqual(await state(), changed, name);
        } else {
          tried.push(attempt);
        }
      }
    }
    if (tried.length === 0) return;
    const last = await state();
    await crash();
    for (const attempt of tried) await check(attempt);
    assert.deepEqual(await state(), last);
    for (const c of collections) assert.equal((await db.command({ validate: c })).valid, true);
  });
}

test('bulkWrite over two collections, again over a new connection and after kill -9', async () => {
  await prepare();
  const bulk = {
    bulkWrite: 1,
    nsInfo: collections.map((c) => ({ ns: `test.${c}` })),
    ops: [
      { insert: 0, document: { _id: 70 } },
      { update: 1, filter: { _id: 1 }, updateMods: { $inc: { n: 1 } } },
      { update: 0, filter: { _id: 71 }, updateMods: { $inc: { n: 1 } }, upsert: true },
      { delete: 1, filter: { _id: 2 } },
    ],
  };
  const session = await RawSession.open(server.uri);
  const first = await session.write(bulk, 1, 'admin');
  assert.deepEqual([first.ok, first.nErrors, first.nInserted, first.nMatched, first.nModified, first.nUpserted, first.nDeleted], [1, 0, 1, 1, 1, 1, 1]);
  const changed = await state();
  for (let round = 0; round < 3; ++round) {
    if (round === 2) await crash();
    const other = await RawSession.open(server.uri, session.lsid);
    const second = await other.write(bulk, 1, 'admin');
    assert.deepEqual(second.retriedStmtIds, [0, 1, 2, 3]);
    assert.deepEqual(plain(second), plain(first));
    other.close();
  }
  assert.deepEqual(await state(), changed);
});

test('only what is missing is done: a batch that was cut short goes on', async () => {
  await prepare();
  const session = await RawSession.open(server.uri);
  await session.write({ insert: 'c', documents: [{ _id: 80 }, { _id: 81 }] }, 1);
  const reply = await session.write({ insert: 'c', documents: times(5, (i) => ({ _id: 80 + i })) }, 1);
  assert.deepEqual([reply.n, reply.retriedStmtIds, reply.writeErrors], [5, [0, 1], undefined]);
  session.close();
});

test('a higher number discards the lower one', async () => {
  await prepare();
  const session = await RawSession.open(server.uri);
  const update = { update: 'c', updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }] };
  await session.write(update, 5);
  await session.write(update, 6);
  assert.equal((await session.write(update, 5)).code, 225);
  assert.equal((await db.collection('c').findOne({ _id: 1 })).n, 2);
  await crash();
  const other = await RawSession.open(server.uri, session.lsid);
  assert.equal((await other.write(update, 5)).code, 225);
  assert.deepEqual((await other.write(update, 6)).retriedStmtIds, [0]);
  assert.equal((await other.write(update, 7)).retriedStmtIds, undefined);
  assert.equal((await db.collection('c').findOne({ _id: 1 })).n, 3);
  // The session is over: its numbers begin anew.
  await other.plain({ endSessions: [other.lsid] }, 'admin');
  assert.equal((await other.write(update, 1)).ok, 1);
  other.close();
});

test('a write that changed nothing, or failed, is tried anew', async () => {
  await prepare();
  const session = await RawSession.open(server.uri);
  const update = { update: 'c', updates: [{ q: { _id: 500 }, u: { $inc: { n: 1 } } }] };
  assert.equal((await session.write(update, 1)).n, 0);
  await db.collection('c').insertOne({ _id: 500 });
  const second = await session.write(update, 1);
  assert.deepEqual([second.n, second.retriedStmtIds], [1, undefined]);
  const insert = { insert: 'c', documents: [{ _id: 501 }, { _id: 500 }, { _id: 502 }] };
  assert.equal((await session.write(insert, 2)).writeErrors[0].code, 11000);
  await db.collection('c').deleteOne({ _id: 500 });
  const third = await session.write(insert, 2);
  assert.deepEqual([third.n, third.writeErrors, third.retriedStmtIds], [3, undefined, [0]]);
  session.close();
});

test('what was interrupted before its commit is not taken for done', async () => {
  await prepare();
  const session = await RawSession.open(server.uri);
  const rows = times(1200, (i) => ({ _id: `row${i}`, text: 'x'.repeat(2000) }));
  let interrupted = 0;
  for (let number = 1; number <= 12; ++number) {
    const insert = { insert: 'c', documents: rows.map((row) => ({ ...row, _id: `${number}${row._id}` })) };
    const first = await session.write({ ...insert, maxTimeMS: number }, number);
    if (first.ok === 0) {
      assert.equal(first.code, 50);
      ++interrupted;
    }
    const second = await session.write(insert, number);
    assert.deepEqual([second.ok, second.n], [1, rows.length]);
    assert.equal(await db.collection('c').countDocuments({ _id: new RegExp(`^${number}row`) }), rows.length);
  }
  assert.ok(interrupted > 0);
  session.close();
});

test('many documents at once cannot be retried, and say so (72)', async () => {
  const session = await RawSession.open(server.uri);
  for (const write of [
    { update: 'c', updates: [{ q: {}, u: { $inc: { n: 1 } }, multi: true }] },
    { delete: 'c', deletes: [{ q: {}, limit: 0 }] },
  ]) {
    const reply = await session.write(write);
    assert.equal(reply.writeErrors?.[0].code ?? reply.code, 72, JSON.stringify(reply));
  }
  session.close();
});

test('the same write sent twice at the same time is done once', async () => {
  await prepare();
  const session = await RawSession.open(server.uri);
  const others = await Promise.all(times(8, () => RawSession.open(server.uri, session.lsid)));
  for (let number = 1; number <= 20; ++number) {
    const replies = await Promise.all(others.map((other) => other.write({ findAndModify: 'c', query: { _id: 1 }, update: { $inc: { n: 1 } }, new: true }, number)));
    assert.deepEqual(replies.map((reply) => reply.value.n), times(8, () => number));
    assert.equal(replies.filter((reply) => reply.retriedStmtIds === undefined).length, 1);
  }
  for (const each of [session, ...others]) each.close();
});

test('a write that moves a document to another shard is done once', async () => {
  await db.collection('moved').drop();
  await client.db('admin').command({ shardCollection: 'test.moved', key: { k: 'hashed' } });
  await db.collection('moved').insertMany(times(20, (_id) => ({ _id, k: _id, n: 0 })));
  const session = await RawSession.open(server.uri);
  for (let i = 0; i < 20; ++i) {
    const update = { update: 'moved', updates: [{ q: { k: i }, u: { $set: { k: i + 1000 }, $inc: { n: 1 } } }] };
    const first = await session.write(update, i + 1);
    assert.deepEqual([first.n, first.nModified], [1, 1], JSON.stringify(first));
    const second = await session.write(update, i + 1);
    assert.deepEqual([plain(second), second.retriedStmtIds], [plain(first), [0]]);
  }
  assert.deepEqual(await all(db.collection('moved')), times(20, (_id) => ({ _id, k: _id + 1000, n: 1 })));
  assert.equal((await db.command({ validate: 'moved' })).valid, true);
  session.close();
});

test('the driver’s own retries: a reply that is lost, an error that says to try again', async () => {
  await prepare();
  const fail = (data) => client.db('admin').command({ configureFailPoint: 'failCommand', mode: { times: 1 }, data });
  const c = db.collection('c');
  for (const data of [{ failCommands: ['update'], closeConnection: true }, { failCommands: ['update'], errorCode: 10107 }, { failCommands: ['update'], errorCode: 91 }]) {
    await fail(data);
    await c.updateOne({ _id: 3 }, { $inc: { n: 1 } });
  }
  assert.equal((await c.findOne({ _id: 3 })).n, 3);
  await fail({ failCommands: ['insert'], closeConnection: true });
  await c.insertMany(times(5, (i) => ({ _id: `d${i}` })));
  await fail({ failCommands: ['findAndModify'], errorCode: 11602 });
  assert.equal((await c.findOneAndUpdate({ _id: 3 }, { $inc: { n: 1 } }, { returnDocument: 'after' })).n, 4);
  const status = await client.db('admin').command({ serverStatus: 1 });
  assert.ok(Number(status.transactions.retriedStatementsCount) > 0);
});

test('fifty thousand statements of one write are noted in constant time each, and survive a crash', async () => {
  await prepare();
  const session = await RawSession.open(server.uri);
  const statements = 50_000;
  const write = { update: 'c', updates: times(statements, (i) => ({ q: { _id: i % 10 }, u: { $inc: { n: 1 } } })) };
  const first = await session.write(write, 1);
  assert.deepEqual([first.n, first.nModified], [statements, statements]);
  const before = await state();
  assert.ok(before.c.every(({ n }) => n === statements / 10));
  const { lsid } = session;
  session.close();
  await crash();
  const again = await RawSession.open(server.uri, lsid);
  const second = await again.write(write, 1);
  assert.deepEqual(plain(second), plain(first));
  assert.equal(second.retriedStmtIds.length, statements);
  assert.deepEqual(await state(), before);
  // A higher number is a new write.
  assert.equal((await again.write({ ...write, updates: write.updates.slice(0, 10) }, 2)).nModified, 10);
  again.close();
});
