// Many requests wait for one document or lock: all other requests are answered meanwhile, and those that wait get it in turn.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { MongoClient } from 'mongodb';
import { all, fails, fill, serve, times } from '../lib/fixture.mjs';
import { startServer } from '../lib/server.mjs';
import { ask, RawSession } from '../lib/session.mjs';
import { RawConnection } from '../lib/wire.mjs';

const f = await serve(['--shards', '2']);

/** Connections by hand: a thousand of a driver's would need a thousand monitors. */
async function connections(count) {
  const opened = [];
  for (let i = 0; i < count; i += 50) {
    opened.push(...await Promise.all(times(Math.min(50, count - i), () => RawConnection.open(f.server.uri))));
  }
  after(() => opened.forEach((connection) => connection.close()));
  return opened;
}

/** A transaction that has changed the document and stays open. */
async function holder(collection, _id = 1) {
  const session = await RawSession.open(f.server.uri);
  after(() => session.close());
  const changed = await session.start({ update: collection, updates: [{ q: { _id }, u: { $inc: { held: 1 } } }] });
  assert.equal(changed.nModified, 1);
  return session;
}

const increment = (collection, _id = 1, fields = {}) => ({ update: collection, updates: [{ q: { _id }, u: { $inc: { n: 1 } } }], ...fields });
const waiting = async () => {
  const { inprog } = await f.admin.command({ currentOp: 1, 'command.update': { $exists: true } });
  return inprog;
};
async function until(what) {
  while (!(await what())) await new Promise((resolve) => setImmediate(resolve));
}

test('a thousand writers wait for a transaction, and everybody else is answered', async () => {
  await fill(f.db, 'held', [{ _id: 1, n: 0 }, { _id: 2, n: 0 }]);
  const writers = await connections(1000);
  const transaction = await holder('held');
  let done = 0;
  const writes = writers.map((connection) => ask(connection, increment('held')).then((reply) => {
    ++done;
    return reply;
  }));
  await until(async () => (await waiting()).length === 1000);

  assert.equal((await f.db.command({ ping: 1 })).ok, 1);
  assert.deepEqual(await f.db.collection('held').findOne({ _id: 2 }), { _id: 2, n: 0 });
  assert.equal((await f.db.collection('held').updateOne({ _id: 2 }, { $inc: { n: 1 } })).modifiedCount, 1);
  const fresh = await new MongoClient(f.server.uri).connect();
  assert.equal(await fresh.db('test').collection('held').countDocuments(), 2);
  await fresh.close();
  assert.equal(done, 0);
  assert.equal((await transaction.commit()).ok, 1);

  for (const reply of await Promise.all(writes)) assert.equal(reply.nModified, 1);
  assert.deepEqual(await f.db.collection('held').findOne({ _id: 1 }), { _id: 1, n: 1000, held: 1 });
});

test('those who wait for a document get it in the order in which they came', async () => {
  await fill(f.db, 'order', [{ _id: 1, by: [] }]);
  const writers = await connections(20);
  const transaction = await holder('order');
  const writes = [];
  for (const [i, connection] of writers.entries()) {
    writes.push(ask(connection, { update: 'order', updates: [{ q: { _id: 1 }, u: { $push: { by: i } } }] }));
    await until(async () => (await waiting()).length === i + 1);
  }
  await transaction.abort();
  await Promise.all(writes);
  assert.deepEqual((await f.db.collection('order').findOne({ _id: 1 })).by, times(20, (i) => i));
});

for (const [name, documents, write] of [
  ['a document', [{ _id: 1, n: 0 }], increment('cancel')],
  ['a key of a unique index', [{ _id: 1, n: 0 }], { insert: 'cancel', documents: [{ _id: 2, held: 1 }] }],
]) {
  test(`waiting for ${name} ends with maxTimeMS, killOp and the client`, async () => {
    const c = await fill(f.db, 'cancel', documents);
    await c.createIndex({ held: 1 }, { unique: true });
    const transaction = await holder('cancel');
    const ops = async () => (await f.admin.command({ currentOp: 1 })).inprog.filter((op) => op.command?.update === 'cancel' || op.command?.insert === 'cancel');

    const [timed, killed, gone, last] = await connections(4);
    assert.equal((await ask(timed, { ...write, maxTimeMS: 50 })).code, 50);

    const answer = ask(killed, write);
    await until(async () => (await ops()).length === 1);
    await f.admin.command({ killOp: 1, op: (await ops())[0].opid });
    assert.equal((await answer).code, 11601);

    const lost = ask(gone, write).catch(() => 'closed');
    await until(async () => (await ops()).length === 1);
    gone.close();
    assert.equal(await lost, 'closed');
    await until(async () => (await ops()).length === 0);

    const waits = ask(last, write);
    await until(async () => (await ops()).length === 1);
    await transaction.abort();
    assert.equal((await waits).ok, 1);
    assert.deepEqual(await all(c), write.insert ? [{ _id: 1, n: 0 }, { _id: 2, held: 1 }] : [{ _id: 1, n: 1 }]);
  });
}

test('waiting for a busy session ends with maxTimeMS, killOp and the client', async () => {
  await fill(f.db, 'cancel', [{ _id: 1, n: 0 }]);
  const transaction = await holder('cancel');
  const [first, timed, killed, gone, last] = await connections(5);
  const { lsid } = new RawSession(first);
  const retry = (connection, fields = {}) => new RawSession(connection, lsid).write(increment('cancel', 1, fields), 1);
  const ops = async () => (await waiting()).filter(({ command }) => command.update === 'cancel');
  const busy = retry(first);
  await until(async () => (await ops()).length === 1);
  const [{ opid: own }] = await ops();

  assert.equal((await retry(timed, { maxTimeMS: 50 })).code, 50);

  const answer = retry(killed);
  await until(async () => (await ops()).length === 2);
  await f.admin.command({ killOp: 1, op: (await ops()).find(({ opid }) => opid !== own).opid });
  assert.equal((await answer).code, 11601);

  const lost = retry(gone).catch(() => 'closed');
  await until(async () => (await ops()).length === 2);
  gone.close();
  assert.equal(await lost, 'closed');
  await until(async () => (await ops()).length === 1);

  const waits = retry(last);
  await until(async () => (await ops()).length === 2);
  await transaction.abort();
  // The same write: done once, and both get its answer.
  assert.deepEqual([(await busy).nModified, (await waits).nModified], [1, 1]);
  assert.deepEqual(await all(f.db.collection('cancel')), [{ _id: 1, n: 1 }]);
});

test('a hundred writers on one document share it fairly', async () => {
  await fill(f.db, 'fair', [{ _id: 1, n: 0 }]);
  const writers = await connections(100);
  let total = 0;
  const counts = await Promise.all(writers.map(async (connection) => {
    let count = 0;
    for (; total < 5000; ++count) {
      ++total;
      assert.equal((await ask(connection, increment('fair'))).nModified, 1);
    }
    return count;
  }));
  assert.equal((await f.db.collection('fair').findOne()).n, total);
  assert.ok(Math.max(...counts) <= 2 * Math.min(...counts), `between ${Math.min(...counts)} and ${Math.max(...counts)}`);
});

test('an index is built while many documents are updated, and nobody stands still', async () => {
  const c = await fill(f.db, 'busy', times(60_000, (_id) => ({ _id, n: 0, text: 'x'.repeat(50) })));
  let ended = false;
  const update = c.updateMany({}, { $inc: { n: 1 } }).then((result) => {
    ended = true;
    return result;
  });
  await until(async () => (await waiting()).length > 0);
  const built = c.createIndex({ n: 1 });
  let inserted = 0;
  let created = 0;
  while (!ended) {
    await c.insertOne({ _id: `new${inserted}`, n: -1 });
    if (!ended) ++inserted;
    await f.db.createCollection(`beside${created}`);
    if (!ended) ++created;
  }
  assert.equal((await update).modifiedCount >= 60_000, true);
  await built;
  assert.ok(inserted > 0 && created > 0, `${inserted} inserts and ${created} collections beside the update`);
  assert.equal((await f.db.command({ validate: 'busy' })).valid, true);
});

test('a client that dies in a transaction frees its documents', async () => {
  await fill(f.db, 'orphan', [{ _id: 1, n: 0 }]);
  const transaction = await holder('orphan');
  transaction.close();
  assert.equal((await f.db.collection('orphan').updateOne({ _id: 1 }, { $inc: { n: 1 } }, { maxTimeMS: 20_000 })).modifiedCount, 1);
  assert.deepEqual(await f.db.collection('orphan').findOne(), { _id: 1, n: 1 });
});

test('a transaction goes on over another connection', async () => {
  await fill(f.db, 'moved', [{ _id: 1, n: 0 }]);
  const transaction = await holder('moved');
  const second = new RawSession(await RawConnection.open(f.server.uri), transaction.lsid);
  after(() => second.close());
  second.number = transaction.number;
  assert.equal((await second.next(increment('moved'))).nModified, 1);
  transaction.close();
  // Longer than an orphan lives: the sweeps of this time must leave it alone.
  for (let i = 0; i < 30; ++i) {
    assert.equal((await second.next({ find: 'moved', filter: {} })).cursor.firstBatch.length, 1);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal((await second.commit()).ok, 1);
  assert.deepEqual(await f.db.collection('moved').findOne(), { _id: 1, n: 1, held: 1 });
});

test('requests of one busy session wait without keeping others', async () => {
  await fill(f.db, 'session', [{ _id: 1, n: 0 }]);
  const transaction = await holder('session');
  const id = (await RawSession.open(f.server.uri)).lsid;
  const writers = await connections(100);
  // All of the same number: the first waits for the document, the others for the session, and one of them does it.
  const writes = writers.map((connection) => new RawSession(connection, id).write(increment('session'), 1));
  await until(async () => (await waiting()).length === 100);
  assert.equal((await f.db.command({ ping: 1 })).ok, 1);
  await transaction.commit();
  for (const reply of await Promise.all(writes)) assert.equal(reply.nModified, 1);
  assert.equal((await f.db.collection('session').findOne()).n, 1);
});

test('at SIGTERM everybody who waits for documents, keys and sessions is answered, and the server ends', async () => {
  const server = await startServer();
  const open = async () => RawSession.open(server.uri);
  const transaction = await open();
  await transaction.plain({ insert: 'c', documents: [{ _id: 1, n: 0 }] });
  await transaction.plain({ createIndexes: 'c', indexes: [{ key: { k: 1 }, name: 'k', unique: true, sparse: true }] });
  assert.equal((await transaction.start({ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { k: 1 } } }] })).nModified, 1);
  const waiters = await Promise.all(times(300, open));
  const { lsid } = waiters[0];
  // A third waits for the document, a third for the key, a third for the session of the first.
  const answers = waiters.map((session, i) => [
    () => new RawSession(session.connection, lsid).write(increment('c'), 1),
    () => session.write(increment('c'), 1),
    () => session.plain({ insert: 'c', documents: [{ k: 1 }] }),
  ][i % 3]().then((reply) => reply.code ?? reply.writeErrors?.[0].code));
  const other = await open();
  await until(async () => (await other.plain({ currentOp: 1 }, 'admin')).inprog.filter(({ command }) => command?.update || command?.insert).length === 300);
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  // The transaction goes with its connection, a second later: they get the document then, unless they are interrupted first.
  for (const code of await Promise.all(answers)) assert.ok([undefined, 11000, 11600].includes(code), String(code));
});

test('$out refuses a sharded collection and leaves nothing behind', async () => {
  await fill(f.db, 'source', times(10, (_id) => ({ _id })));
  await f.db.collection('spread').drop();
  await f.admin.command({ shardCollection: 'test.spread', key: { _id: 'hashed' } });
  await f.db.collection('spread').insertOne({ _id: 'kept' });
  await fails(f.db.collection('source').aggregate([{ $out: 'spread' }]).toArray(), 17017, /sharded/);
  assert.deepEqual(await all(f.db.collection('spread')), [{ _id: 'kept' }]);
  assert.deepEqual((await f.db.listCollections({ name: /^tmp/ }).toArray()), []);
});
