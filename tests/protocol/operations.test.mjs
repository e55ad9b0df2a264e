// Operations that take long: a time limit, killOp, currentOp, and neighbours that need not wait.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fails, fill, serve, times } from '../lib/fixture.mjs';

const f = await serve();
// Each document makes the expression below walk 2000 numbers: the query runs for many seconds if nobody stops it.
await fill(f.db, 'slow', times(20000, (_id) => ({ _id, a: _id })));
const walk = { $gt: [{ $reduce: { input: { $range: [0, 2000] }, initialValue: 0, in: { $add: ['$$value', { $mod: ['$$this', 7] }] } } }, -1] };
const slowFilter = { $expr: { $and: [walk, { $eq: ['$a', -1] }] } };
const slow = (options = {}) => f.db.collection('slow').find(slowFilter, { comment: 'slow query', ...options }).toArray();

/** The operation of that comment, as soon as it is listed. */
async function listed(comment) {
  for (const until = Date.now() + 10000; Date.now() < until; ) {
    const { inprog } = await f.admin.command({ currentOp: 1 });
    const operation = inprog.find((op) => op.command?.comment === comment);
    if (operation) return operation;
  }
  return assert.fail('the operation was never listed');
}

for (const [name, run] of [
  ['find', () => slow({ maxTimeMS: 50 })],
  ['aggregate', () => f.db.collection('slow').aggregate([{ $match: slowFilter }], { maxTimeMS: 50 }).toArray()],
  ['count', () => f.db.command({ count: 'slow', query: slowFilter, maxTimeMS: 50 })],
  ['distinct', () => f.db.command({ distinct: 'slow', key: 'a', query: slowFilter, maxTimeMS: 50 })],
  ['update', () => f.db.collection('slow').updateMany(slowFilter, { $set: { b: 1 } }, { maxTimeMS: 50 })],
  ['findAndModify', () => f.db.command({ findAndModify: 'slow', query: slowFilter, remove: true, maxTimeMS: 50 })],
]) {
  test(`maxTimeMS ends ${name} with 50`, async () => {
    const start = Date.now();
    await fails(run(), 50);
    assert.ok(Date.now() - start < 2000);
  });
}

test('maxTimeMS of a cursor goes on in getMore', async () => {
  const { cursor } = await f.db.command({ find: 'slow', filter: { $expr: walk }, batchSize: 0, maxTimeMS: 100 }, { promoteLongs: false });
  await fails(f.db.command({ getMore: cursor.id, collection: 'slow' }), 50);
});

test('currentOp lists what runs, killOp ends it with 11601', async () => {
  const query = fails(slow({ comment: 'to be killed' }), 11601);
  const operation = await listed('to be killed');
  assert.deepEqual([operation.op, operation.ns, operation.active, operation.killPending], ['query', 'test.slow', true, false]);
  assert.equal(operation.command.find, 'slow');
  assert.ok(operation.microsecs_running > 0 && operation.client.startsWith('127.0.0.1:'));
  assert.equal((await f.admin.command({ killOp: 1, op: operation.opid })).ok, 1);
  await query;
  const { inprog } = await f.admin.command({ currentOp: 1 });
  assert.equal(inprog.filter((op) => op.opid === operation.opid).length, 0);
});

test('$currentOp filters and projects like any pipeline', async () => {
  const query = fails(slow({ comment: 'watched' }), 11601);
  const { opid } = await listed('watched');
  const rows = await f.admin.aggregate([{ $currentOp: { allUsers: true } }, { $match: { 'command.comment': 'watched' } }, { $project: { opid: 1, _id: 0 } }]).toArray();
  assert.deepEqual(rows, [{ opid }]);
  await f.admin.command({ killOp: 1, op: opid });
  await query;
});

test('killSessions ends what a session runs', async () => {
  const session = f.client.startSession();
  const query = slow({ comment: 'of a session', session }).then(() => null, (error) => error);
  await listed('of a session');
  await f.admin.command({ killSessions: [session.id] });
  assert.ok([11601, 237, 43].includes((await query)?.code));
  await session.endSession();
});

test('slow queries on every core do not hold up the others', async () => {
  const queries = times(8, (i) => slow({ comment: `crowd ${i}` }).then(() => null, (error) => error.code));
  await Promise.all(times(8, (i) => listed(`crowd ${i}`)));
  const start = Date.now();
  for (let i = 0; i < 20; ++i) await f.db.collection('quick').updateOne({ _id: 1 }, { $inc: { n: 1 } }, { upsert: true });
  assert.ok(Date.now() - start < 5000, `20 small writes took ${Date.now() - start} ms`);
  const { inprog } = await f.admin.command({ currentOp: 1 });
  for (const { opid, command } of inprog) if (command?.comment?.startsWith('crowd')) await f.admin.command({ killOp: 1, op: opid });
  assert.deepEqual(await Promise.all(queries), times(8, () => 11601));
});

test('a cursor serves one getMore at a time', async () => {
  const session = f.client.startSession();
  const { cursor } = await f.db.command({ find: 'slow', filter: slowFilter, batchSize: 0 }, { promoteLongs: false, session });
  const first = fails(f.db.command({ getMore: cursor.id, collection: 'slow', comment: 'first' }, { session }), 11601);
  const { opid } = await listed('first');
  await fails(f.db.command({ getMore: cursor.id, collection: 'slow' }, { session }), 12051);
  await f.admin.command({ killOp: 1, op: opid });
  await first;
  await fails(f.db.command({ getMore: cursor.id, collection: 'slow' }, { session }), 43);
  await session.endSession();
});

test('a sort and a group past their memory fail with their codes', async () => {
  const c = await fill(f.db, 'wide', []);
  const text = 'x'.repeat(8 << 20);
  for (let _id = 0; _id < 14; ++_id) await c.insertOne({ _id, text }, { writeConcern: { w: 1, j: false } });
  const sort = [{ $sort: { text: 1 } }, { $limit: 100 }, { $project: { _id: 1 } }];
  await fails(f.db.collection('wide').aggregate(sort).toArray(), 292, /memory/i);
  await fails(f.db.command({ find: 'wide', sort: { text: -1 }, projection: { _id: 1, text: 1 } }), 292, /memory/i);
  await fails(c.aggregate([{ $group: { _id: { id: '$_id', text: '$text' } } }]).toArray(), 292, /memory/i);
  // With a limit only as many are kept as are wanted.
  assert.equal((await c.find({}, { projection: { _id: 1 } }).sort({ text: 1, _id: 1 }).limit(2).toArray()).length, 2);
  await c.drop();
});
