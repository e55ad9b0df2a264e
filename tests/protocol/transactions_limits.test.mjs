// Transactions under load and at their limits: contention, lifetime, size, clients that leave, crashes.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { MongoClient } from 'mongodb';
import { all, fails, fill, serve, times } from '../lib/fixture.mjs';
import { startServer } from '../lib/server.mjs';
import { RawSession } from '../lib/session.mjs';

const f = await serve(['--transaction-lifetime', '2']);
const eq = assert.deepEqual;
const transient = ['TransientTransactionError'];
const pause = (millis) => new Promise((resolve) => { setTimeout(resolve, millis); });
const insert = (_id) => ({ insert: 'c', documents: [{ _id }] });

test('withTransaction by 16 workers on a few documents converges to the exact sum', async () => {
  const accounts = await fill(f.db, 'accounts', times(4, (_id) => ({ _id, n: 1000 })));
  const ledger = await fill(f.db, 'ledger', []);
  const clients = await Promise.all(times(16, () => new MongoClient(f.server.uri, { maxPoolSize: 2 }).connect()));
  await Promise.all(clients.map(async (client, who) => {
    const [a, l] = [client.db('test').collection('accounts'), client.db('test').collection('ledger')];
    for (let i = 0; i < 5; ++i) {
      await client.withSession((session) => session.withTransaction(async () => {
        // Half of them meet at the start, half of them at the end.
        const count = () => a.updateOne({ _id: 'total' }, { $inc: { n: 1 } }, { upsert: true, session });
        if (who % 2) await count();
        const from = await a.findOne({ _id: who % 4 }, { session });
        await a.updateOne({ _id: from._id }, { $set: { n: from.n - 1 } }, { session });
        await a.updateOne({ _id: (who + 1 + i % 3) % 4 }, { $inc: { n: 1 } }, { session });
        if (who % 2 === 0) await count();
        await l.insertOne({ _id: `${who}/${i}` }, { session });
      }));
    }
  }));
  await Promise.all(clients.map((client) => client.close()));
  const rows = await all(accounts, { _id: { $ne: 'total' } });
  eq(rows.reduce((sum, d) => sum + d.n, 0), 4000);
  eq((await accounts.findOne({ _id: 'total' })).n, 80);
  eq(await ledger.countDocuments({}), 80);
  const open = (await f.admin.command({ serverStatus: 1 })).transactions.currentOpen;
  eq(Number(open), 0);
});

test('a transaction that is open for too long is aborted, and whoever waits for it goes on', async () => {
  eq((await f.admin.command({ getParameter: 1, transactionLifetimeLimitSeconds: 1 })).transactionLifetimeLimitSeconds, 2);
  await fill(f.db, 'c', [{ _id: 0 }]);
  const s = await RawSession.open(f.server.uri);
  eq((await s.start({ update: 'c', updates: [{ q: { _id: 0 }, u: { $inc: { n: 1 } } }] })).ok, 1);
  const begun = Date.now();
  eq((await f.db.collection('c').updateOne({ _id: 0 }, { $inc: { n: 10 } })).modifiedCount, 1);
  assert.ok(Date.now() - begun > 1000);
  for (const reply of [await s.next(insert(1)), await s.commit()]) eq([reply.code, reply.errorLabels], [251, transient]);
  eq(await all(f.db.collection('c')), [{ _id: 0, n: 10 }]);
  // No statement waits at that moment: the next one finds out.
  eq((await s.start(insert(1))).ok, 1);
  await pause(2100);
  eq((await s.commit()).code, 251);
  eq(await all(f.db.collection('c')), [{ _id: 0, n: 10 }]);
  s.close();
});

test('a client that disappears leaves nothing behind', async () => {
  await fill(f.db, 'c', [{ _id: 0 }]);
  const s = await RawSession.open(f.server.uri);
  eq((await s.start({ delete: 'c', deletes: [{ q: { _id: 0 }, limit: 1 }] })).ok, 1);
  s.close();
  eq((await f.db.collection('c').updateOne({ _id: 0 }, { $set: { n: 1 } })).matchedCount, 1);
});

test('maxTimeMS of a statement ends the transaction with 50 and no label', async () => {
  await fill(f.db, 'slow', times(3000, (_id) => ({ _id, list: times(50, (i) => i) })));
  const s = await RawSession.open(f.server.uri);
  eq((await s.start({ insert: 'slow', documents: [{ _id: 'mine' }] })).ok, 1);
  const reply = await s.next({ aggregate: 'slow', pipeline: [{ $unwind: '$list' }, { $group: { _id: '$list', n: { $sum: 1 } } }], cursor: {}, maxTimeMS: 1 });
  eq([reply.code, reply.errorLabels], [50, undefined]);
  eq((await s.commit()).code, 251);
  eq(await f.db.collection('slow').countDocuments({ _id: 'mine' }), 0);
  s.close();
});

test('more than 256 MiB in one transaction is too much (257)', async () => {
  const server = await startServer(['--cache-size', '64MB']);
  const client = await new MongoClient(server.uri).connect();
  const c = client.db('test').collection('large');
  await c.insertOne({ _id: 'before' });
  const session = client.startSession();
  session.startTransaction();
  const text = 'x'.repeat(15 << 20);
  let inserted = 0;
  const error = await (async () => {
    for (; inserted < 30; ++inserted) await c.insertOne({ _id: inserted, text }, { session });
  })().then(() => null, (thrown) => thrown);
  eq([error?.code, inserted], [257, 18]);
  await session.abortTransaction();
  await session.endSession();
  eq((await all(c)).map((d) => d._id), ['before']);
  eq((await c.insertOne({ _id: 'after' })).acknowledged, true);
  await client.close();
  await server.stop();
});

test('after kill -9 a commit that was acknowledged is there and may be sent again; one that was not is unknown (251)', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'braid-txn-'));
  after(() => rm(directory, { recursive: true, force: true }));
  let server = await startServer(['--shards', '3'], directory);
  const documents = (name, ...ids) => ({ insert: name, documents: ids.map((_id) => ({ _id })) });
  const sessions = { committed: await RawSession.open(server.uri), made: await RawSession.open(server.uri), open: await RawSession.open(server.uri), aborted: await RawSession.open(server.uri), read: await RawSession.open(server.uri) };
  const { committed, made, open, aborted, read } = sessions;
  eq((await committed.plain({ shardCollection: 'test.sharded', key: { _id: 'hashed' } }, 'admin')).ok, 1);
  for (const s of Object.values(sessions)) s.number = 40;
  eq((await committed.start(documents('a', 1, 2, 3))).ok, 1);
  eq((await committed.next(documents('sharded', ...times(30, (i) => i)))).n, 30);
  eq((await made.start({ create: 'made' })).ok, 1);
  eq((await open.start(documents('a', 10))).ok, 1);
  eq((await aborted.start(documents('a', 11))).ok, 1);
  eq((await read.start({ find: 'a' })).ok, 1);
  const { recoveryToken } = await committed.next(documents('a', 4));
  eq((await committed.commit()).ok, 1);
  eq((await made.commit()).ok, 1);
  eq((await aborted.abort()).ok, 1);
  eq((await read.commit()).ok, 1);
  await server.stop('SIGKILL');

  server = await startServer(['--shards', '3'], directory);
  const again = async (s) => Object.assign(await RawSession.open(server.uri, s.lsid), { number: s.number });
  const [c, m, o, a] = [await again(committed), await again(made), await again(open), await again(aborted)];
  for (const fields of [{}, { recoveryToken }, { writeConcern: { w: 'majority' } }]) eq((await c.commit(fields)).ok, 1);
  eq((await m.commit()).ok, 1);
  eq((await c.abort()).code, 256);
  eq((await c.next(documents('a', 20))).code, 256);
  eq((await c.start(documents('a', 20), { number: 41 })).code, 117);
  eq((await c.start(documents('a', 20), { number: 40 })).code, 225);
  for (const s of [o, a]) for (const reply of [await s.commit(), await s.next(documents('a', 20))]) eq([reply.code, reply.errorLabels], [251, transient]);
  eq((await c.start(documents('a', 5), { number: 42 })).ok, 1);
  eq((await c.commit()).ok, 1);
  const client = await new MongoClient(server.uri).connect();
  const db = client.db('test');
  eq((await all(db.collection('a'))).map((d) => d._id), [1, 2, 3, 4, 5]);
  eq(await db.collection('sharded').countDocuments({}), 30);
  eq((await db.listCollections({ name: 'made' }).toArray()).length, 1);
  for (const name of ['a', 'sharded', 'made']) eq((await db.command({ validate: name })).valid, true);
  await client.close();
  await server.stop();
});

test('at shutdown what is open is gone, what was committed is there', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'braid-txn-'));
  after(() => rm(directory, { recursive: true, force: true }));
  let server = await startServer([], directory);
  const s = await RawSession.open(server.uri);
  eq((await s.start(insert(1))).ok, 1);
  eq((await s.commit()).ok, 1);
  eq((await s.start(insert(2))).ok, 1);
  eq((await server.stop()).code, 0);
  server = await startServer([], directory);
  const client = await new MongoClient(server.uri).connect();
  eq(await all(client.db('test').collection('c')), [{ _id: 1 }]);
  await fails(client.db('test').collection('c').insertOne({ _id: 1 }), 11000);
  await client.close();
  await server.stop();
});
