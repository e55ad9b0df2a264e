// Transactions on the wire: which fields go together, which numbers, and with what code and label everything else is refused.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Long, Timestamp } from 'mongodb';
import { all, fill, serve, times } from '../lib/fixture.mjs';
import { ask, RawSession } from '../lib/session.mjs';

const f = await serve(['--test-commands']);
const opened = [];
after(() => opened.forEach((session) => session.close()));
async function session(lsid = undefined) {
  opened.push(await RawSession.open(f.server.uri, lsid));
  return opened.at(-1);
}
const transient = ['TransientTransactionError'];
function refused(reply, code, labels = undefined) {
  assert.equal(reply.ok, 0, JSON.stringify(reply));
  assert.equal(reply.code, code, reply.errmsg);
  assert.deepEqual(reply.errorLabels, labels);
  return reply;
}
function done(reply) {
  assert.equal(reply.ok, 1, JSON.stringify(reply));
  assert.equal(reply.writeErrors, undefined, JSON.stringify(reply));
  return reply;
}
const insert = (...ids) => ({ insert: 'c', documents: ids.map((_id) => ({ _id })) });
const ids = async () => (await all(f.db.collection('c'))).map((d) => d._id);
const empty = () => fill(f.db, 'c', [{ _id: 0 }]);

test('a transaction commits all of its writes, an aborted one none', async () => {
  await empty();
  const s = await session();
  done(await s.start(insert(1)));
  done(await s.next(insert(2)));
  assert.deepEqual(await ids(), [0]);
  done(await s.commit());
  assert.deepEqual(await ids(), [0, 1, 2]);
  done(await s.start(insert(3)));
  done(await s.abort());
  assert.deepEqual(await ids(), [0, 1, 2]);
});

test('replies carry a recovery token, which names a shard once something was written', async () => {
  await empty();
  const s = await session();
  assert.deepEqual(done(await s.start({ find: 'c' })).recoveryToken, {});
  const { recoveryToken } = done(await s.next(insert(1)));
  assert.equal(typeof recoveryToken.recoveryShardId, 'string');
  assert.deepEqual(done(await s.next({ find: 'c' })).recoveryToken, recoveryToken);
  done(await s.commit({ recoveryToken }));
});

test('fields that do not go together are refused (72)', async () => {
  const { connection, lsid } = await session();
  const txnNumber = Long.fromNumber(1);
  for (const fields of [
    { txnNumber },
    { lsid, txnNumber: Long.fromNumber(-1) },
    { lsid, autocommit: false },
    { lsid, txnNumber, autocommit: true },
    { lsid, txnNumber, startTransaction: true },
    { lsid, txnNumber, autocommit: false, startTransaction: false },
    { lsid, txnNumber, autocommit: false, startTransaction: true, writeConcern: { w: 1 } },
    { lsid, txnNumber, autocommit: false, startTransaction: true, readConcern: { level: 'available' } },
    { lsid, txnNumber, autocommit: false, startTransaction: true, readConcern: { level: 'linearizable' } },
  ]) {
    refused(await ask(connection, { ...insert(9), ...fields }), 72);
  }
  refused(await ask(connection, { find: 'c', lsid, txnNumber, autocommit: false, startTransaction: true, writeConcern: { w: 1 } }), 72);
  refused(await ask(connection, { commitTransaction: 1, lsid, txnNumber }, 'admin'), 72);
  refused(await ask(connection, { ...insert(9), lsid, txnNumber: 'one' }), 14);
  // Of a number that stands alone, only retryable writes know what it means.
  for (const command of [{ find: 'c' }, { create: 'x' }, { ping: 1 }, { aggregate: 'c', pipeline: [], cursor: {} }]) {
    refused(await ask(connection, { ...command, lsid, txnNumber }), 50768);
  }
});

test('later statements bring no read concern and no write concern (72), and the transaction goes on', async () => {
  await empty();
  const s = await session();
  done(await s.start({ ...insert(1), readConcern: { level: 'snapshot' } }));
  refused(await s.next({ find: 'c', readConcern: { level: 'snapshot' } }), 72);
  refused(await s.next({ ...insert(2), writeConcern: { w: 'majority' } }), 72);
  done(await s.commit({ writeConcern: { w: 'majority' } }));
  assert.deepEqual(await ids(), [0, 1]);
});

test('commands that cannot be in a transaction are refused without a label (263)', async () => {
  await empty();
  const s = await session();
  for (const command of [
    { count: 'c' }, { listCollections: 1 }, { listIndexes: 'c' }, { drop: 'c' }, { dropIndexes: 'c', index: '*' }, { ping: 1 },
    { collMod: 'c' }, { explain: { find: 'c' } }, { validate: 'c' }, { dropDatabase: 1 },
    { aggregate: 'c', pipeline: [{ $out: 'o' }], cursor: {} }, { aggregate: 'c', pipeline: [{ $merge: 'o' }], cursor: {} },
    { aggregate: 'c', pipeline: [{ $collStats: { count: {} } }], cursor: {} }, { aggregate: 'c', pipeline: [{ $indexStats: {} }], cursor: {} },
  ]) {
    refused(await s.start(command), 263);
  }
  for (const command of [{ killCursors: 'c', cursors: [Long.fromNumber(1)] }, { getMore: Long.fromNumber(1), collection: 'c' }]) refused(await s.start(command), 263);
  for (const command of [{ commitTransaction: 1 }, { abortTransaction: 1 }]) refused(await s.start(command, { database: 'admin' }), 263);
  refused(await s.next({ commitTransaction: 1 }), 13);
  assert.deepEqual(await ids(), [0]);
});

test('numbers: lower 225, equal 117, unknown 251, of the other kind 117 or 251', async () => {
  await empty();
  const s = await session();
  done(await s.start(insert(1), { number: 5 }));
  refused(await s.start(insert(2), { number: 4 }), 225);
  refused(await s.next(insert(2), { number: 4 }), 225);
  refused(await s.write(insert(2), 4), 225);
  refused(await s.commit({}, 4), 225);
  refused(await s.abort({}, 4), 225);
  refused(await s.start(insert(2), { number: 5 }), 117);
  refused(await s.write(insert(2), 5), 117);
  refused(await s.next(insert(2), { number: 6 }), 251, transient);
  refused(await s.commit({}, 6), 251, transient);
  refused(await s.abort({}, 6), 251, transient);
  done(await s.commit({}, 5));
  refused(await s.write(insert(2), 5), 117);
  refused(await s.start(insert(2), { number: 5 }), 117);
  // A retryable write and a transaction share the numbers.
  done(await s.write(insert(7), 7));
  refused(await s.start(insert(8), { number: 7 }), 117);
  refused(await s.next(insert(8), { number: 7 }), 251, transient);
  refused(await s.commit({}, 7), 251, transient);
  assert.deepEqual(await ids(), [0, 1, 7]);
});

test('a higher number aborts the open transaction', async () => {
  await empty();
  const s = await session();
  done(await s.start(insert(1)));
  const { cursor } = done(await s.next({ find: 'c', batchSize: 1 }));
  done(await s.start(insert(2)));
  refused(await s.commit({}, s.number - 1), 225);
  refused(await s.next({ getMore: Long.fromValue(cursor.id), collection: 'c' }), 43);
  done(await s.start(insert(3)));
  done(await s.write(insert(4)));
  assert.deepEqual(await ids(), [0, 4]);
  done(await f.db.command(insert(1)));  // its lock is gone too
});

test('commit and abort may come again', async () => {
  await empty();
  const s = await session();
  done(await s.start(insert(1)));
  for (let i = 0; i < 3; ++i) done(await s.commit(i ? { writeConcern: { w: 'majority', wtimeout: 10000 } } : {}));
  refused(await s.abort(), 256);
  refused(await s.next(insert(2)), 256);
  done(await s.start(insert(2)));
  done(await s.abort());
  refused(await s.abort(), 251, transient);
  refused(await s.commit(), 251, transient);
  refused(await s.next(insert(2)), 251, transient);
  // Nothing was done: a commit has nothing to do.
  done(await s.start({ find: 'c' }));
  for (let i = 0; i < 2; ++i) done(await s.commit());
  assert.deepEqual(await ids(), [0, 1]);
});

test('the state is the session’s, not the connection’s', async () => {
  await empty();
  const s = await session();
  done(await s.start(insert(1)));
  s.close();
  const other = await session(s.lsid);
  done(await other.next(insert(2), { number: s.number }));
  done(await other.commit({}, s.number));
  assert.deepEqual(await ids(), [0, 1, 2]);
});

test('a failed statement is the end of the transaction', async () => {
  for (const [statement, code] of [
    [insert(0), 11000],
    [{ ...insert(5, 0, 6), ordered: false }, 11000],
    [{ update: 'c', updates: [{ q: { _id: 0 }, u: { $inc: { s: 1 } } }] }, 14],
    [{ update: 'c', updates: [{ q: { _id: 0 }, u: { $set: { _id: 8 } } }] }, 66],
    [{ find: 'c', filter: { $bad: 1 } }, 2],
    [{ findAndModify: 'c', query: { _id: 0 }, update: { $inc: { s: 1 } } }, 14],
    [{ aggregate: 'c', pipeline: [{ $bad: 1 }], cursor: {} }, 40324],
  ]) {
    await fill(f.db, 'c', [{ _id: 0, s: 'text' }]);
    const s = await session();
    done(await s.start(insert(1)));
    const reply = await s.next(statement);
    const failure = reply.writeErrors?.[0] ?? (reply.ok === 0 ? reply : undefined);
    assert.equal(failure?.code, code, JSON.stringify(reply));
    assert.equal(reply.errorLabels, undefined);
    refused(await s.next({ find: 'c' }), 251, transient);
    refused(await s.commit(), 251, transient);
    assert.deepEqual(await ids(), [0]);
  }
});

test('bulkWrite is a statement too', async () => {
  await empty();
  const s = await session();
  const bulk = (...documents) => ({ bulkWrite: 1, ops: documents.map((document) => ({ insert: 0, document })), nsInfo: [{ ns: 'test.c' }] });
  done(await s.start(bulk({ _id: 1 }, { _id: 2 }), { database: 'admin' }));
  done(await s.commit());
  assert.deepEqual(await ids(), [0, 1, 2]);
  done(await s.start(bulk({ _id: 3 }), { database: 'admin' }));
  assert.equal((await s.next(bulk({ _id: 4 }, { _id: 0 }), { database: 'admin' })).nErrors, 1);
  refused(await s.commit(), 251, transient);
  assert.deepEqual(await ids(), [0, 1, 2]);
});

test('two writers of one document: the second transaction gets 112 and the label at once', async () => {
  await empty();
  const [a, b] = [await session(), await session()];
  const update = { update: 'c', updates: [{ q: { _id: 0 }, u: { $inc: { n: 1 } } }] };
  done(await a.start(update));
  const from = Date.now();
  refused(await b.start(update), 112, transient);
  refused(await b.start(insert(0)), 112, transient);
  refused(await b.start({ findAndModify: 'c', query: { _id: 0 }, remove: true }), 112, transient);
  refused(await b.start({ delete: 'c', deletes: [{ q: {}, limit: 0 }] }), 112, transient);
  assert.ok(Date.now() - from < 1000);
  refused(await b.commit(), 251, transient);
  // A change that was committed after the snapshot was taken is a conflict as well.
  done(await b.start({ find: 'c' }));
  done(await a.commit());
  refused(await b.next(update), 112, transient);
  assert.deepEqual(await all(f.db.collection('c')), [{ _id: 0, n: 1 }]);
});

test('a plain writer waits for the transaction and then succeeds', async () => {
  for (const end of ['commit', 'abort']) {
    await empty();
    const s = await session();
    done(await s.start({ update: 'c', updates: [{ q: { _id: 0 }, u: { $inc: { n: 1 } } }] }));
    let waiting = true;
    const plain = f.db.collection('c').updateOne({ _id: 0 }, { $inc: { n: 10 } }).finally(() => (waiting = false));
    await new Promise((resolve) => { setTimeout(resolve, 200); });
    assert.equal(waiting, true);
    done(await s[end]());
    assert.equal((await plain).modifiedCount, 1);
    assert.equal((await f.db.collection('c').findOne({ _id: 0 })).n, end === 'commit' ? 11 : 10);
  }
});

test('two transactions insert one unique key: one of them commits', async () => {
  const c = await fill(f.db, 'unique', []);
  await c.createIndex({ k: 1 }, { unique: true });
  const [a, b] = [await session(), await session()];
  const put = (_id) => ({ insert: 'unique', documents: [{ _id, k: 1 }] });
  done(await a.start(put(1)));
  refused(await b.start(put(2)), 112, transient);
  done(await a.commit());
  assert.equal((await b.start(put(2))).writeErrors[0].code, 11000);
  assert.deepEqual(await all(c), [{ _id: 1, k: 1 }]);
});

test('killSessions, killAllSessions and endSessions abort what is open', async () => {
  const killer = await session();
  for (const end of [
    (s) => killer.plain({ killSessions: [s.lsid] }),
    () => killer.plain({ killAllSessions: [] }),
    () => killer.plain({ killAllSessionsByPattern: [] }),
    (s) => killer.plain({ endSessions: [s.lsid] }),
    (s) => s.plain({ endSessions: [s.lsid] }),
  ]) {
    await empty();
    const s = await session();
    done(await s.start(insert(1)));
    done(await end(s));
    refused(await s.next(insert(2)), 251, transient);
    refused(await s.commit(), 251, transient);
    done(await f.db.command(insert(1)));
    assert.deepEqual(await ids(), [0, 1]);
  }
});

test('errors of the network and of shutdown have their labels, in a transaction and at its end', async () => {
  const s = await session();
  const failing = (failCommands, errorCode) => f.admin.command({ configureFailPoint: 'failCommand', mode: { times: 1 }, data: { failCommands, errorCode } });
  for (const code of [6, 7, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436]) {
    await failing(['insert'], code);
    refused(await s.start(insert(`t${code}`)), code, transient);
    await failing(['insert'], code);
    refused(await s.write(insert(`r${code}`)), code, ['RetryableWriteError']);
    await failing(['commitTransaction'], code);
    refused(await s.commit(), code, ['RetryableWriteError']);
    await failing(['abortTransaction'], code);
    refused(await s.abort(), code, ['RetryableWriteError']);
    await failing(['insert'], code);
    refused(await s.plain(insert(`p${code}`)), code);
    await failing(['find'], code);
    refused(await s.plain({ find: 'c' }), code);
  }
  for (const code of [24, 112, 239, 246, 251]) {
    await failing(['insert'], code);
    refused(await s.start(insert(`t${code}`)), code, transient);
    await failing(['insert'], code);
    refused(await s.write(insert(`r${code}`)), code);
  }
  for (const code of [50, 11601, 11000, 8000]) {
    await failing(['insert'], code);
    refused(await s.start(insert(`t${code}`)), code);
    await failing(['commitTransaction'], code);
    refused(await s.commit(), code);
  }
});

test('serverStatus counts transactions', async () => {
  const before = (await f.admin.command({ serverStatus: 1 })).transactions;
  const s = await session();
  done(await s.start(insert('status1')));
  done(await s.commit());
  done(await s.start(insert('status2')));
  const during = (await f.admin.command({ serverStatus: 1 })).transactions;
  done(await s.abort());
  const now = (await f.admin.command({ serverStatus: 1 })).transactions;
  assert.deepEqual(['totalStarted', 'totalCommitted', 'totalAborted', 'currentOpen'].map((name) => Number(now[name] - before[name])), [2, 1, 1, 0]);
  assert.equal(Number(during.currentOpen - before.currentOpen), 1);
});

test('a cluster time of the future is refused, one of the past is not', async () => {
  const s = await session();
  const { operationTime } = done(await s.plain({ ping: 1 }));
  refused(await s.plain({ find: 'c', readConcern: { level: 'snapshot', atClusterTime: new Timestamp({ t: operationTime.getHighBits() + 3600, i: 1 }) } }), 72);
  done(await s.plain({ find: 'c', readConcern: { level: 'majority', afterClusterTime: operationTime } }));
  done(await s.start({ find: 'c', readConcern: { level: 'snapshot', afterClusterTime: operationTime } }));
  done(await s.commit());
});

test('many statements, many sessions', async () => {
  await empty();
  const sessions = await Promise.all(times(20, () => session()));
  await Promise.all(sessions.map(async (s, who) => {
    done(await s.start(insert(`${who}/0`)));
    for (let i = 1; i < 20; ++i) done(await s.next(insert(`${who}/${i}`)));
    done(await (who % 2 ? s.commit() : s.abort()));
  }));
  assert.equal((await ids()).length, 1 + 10 * 20);
});
