// Cursors: how batches are cut, what a cursor sees, whose it is, and how it ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Long } from 'mongodb';
import { fails, fill, serve, times } from '../lib/fixture.mjs';

const f = await serve();
const size = 250;
await fill(f.db, 'c', times(size, (_id) => ({ _id, n: size - _id })));

const find = (options, session) => f.db.command({ find: 'c', sort: { _id: 1 }, ...options }, { session, promoteLongs: false });
const more = (id, options = {}, session = undefined) => f.db.command({ getMore: id, collection: 'c', ...options }, { session, promoteLongs: false });
const ids = (batch) => batch.map((d) => Number(d._id));
const isOpen = (cursor) => !cursor.id.isZero();

for (const [name, options, first, open] of [
  ['101 documents by default', {}, 101, true],
  ['as batchSize says', { batchSize: 2 }, 2, true],
  ['batchSize 0 leaves the first batch empty and the cursor open', { batchSize: 0 }, 0, true],
  ['limit below the batch closes the cursor', { limit: 7 }, 7, false],
  ['limit above the batch leaves it open', { limit: 150 }, 101, true],
  ['limit equal to batchSize closes it', { limit: 5, batchSize: 5 }, 5, false],
  ['singleBatch closes it', { batchSize: 3, singleBatch: true }, 3, false],
  ['a batch that takes all closes it', { batchSize: size + 1 }, size, false],
  ['skip', { skip: 240 }, 10, false],
]) {
  test(`first batch: ${name}`, async () => {
    const { cursor } = await find(options);
    assert.equal(cursor.ns, 'test.c');
    assert.deepEqual(ids(cursor.firstBatch), times(first, (i) => i + (options.skip ?? 0)));
    assert.equal(isOpen(cursor), open);
    if (!open) return;
    const rest = await more(cursor.id);
    assert.deepEqual(ids(rest.cursor.nextBatch), times((options.limit ?? size) - first, (i) => first + i));
    assert.ok(rest.cursor.id.isZero());
    await fails(more(cursor.id), 43);
  });
}

test('getMore keeps to its batchSize to the end', async () => {
  let { cursor } = await find({ batchSize: 100 });
  const lengths = [];
  while (isOpen(cursor)) {
    ({ cursor } = await more(cursor.id, { batchSize: 60 }));
    lengths.push(cursor.nextBatch.length);
  }
  assert.deepEqual(lengths.filter(Boolean), [60, 60, 30]);
});

test('a batch stays below 16 MiB', async () => {
  const text = 'x'.repeat(1 << 20);
  const c = await fill(f.db, 'large', times(40, (_id) => ({ _id, text })));
  let { cursor } = await f.db.command({ find: 'large', sort: { _id: 1 }, batchSize: 1000 }, { promoteLongs: false });
  const lengths = [cursor.firstBatch.length];
  while (isOpen(cursor)) {
    ({ cursor } = await f.db.command({ getMore: cursor.id, collection: 'large' }, { promoteLongs: false }));
    lengths.push(cursor.nextBatch.length);
  }
  assert.equal(lengths.reduce((a, b) => a + b), 40);
  assert.deepEqual(lengths.filter(Boolean), [15, 15, 10]);
  await c.drop();
});

test('the largest document fits, in and out', async () => {
  // 16 MiB less the document's frame: length, _id, the string's tag, name, length, NUL, and the closing NUL.
  const text = 'x'.repeat((1 << 24) - 4 - 9 - 3 - 4 - 1 - 1);
  const c = await fill(f.db, 'largest', []);
  await c.insertOne({ _id: 1, s: text });
  assert.equal((await c.findOne({ _id: 1 })).s.length, text.length);
  await fails(c.updateOne({}, { $set: { t: 1 } }), 17419);
  await c.drop();
});

test('a cursor sees what was there when it was opened', async () => {
  const c = await fill(f.db, 'snapshot', times(300, (_id) => ({ _id, v: 'old' })));
  await c.createIndex({ v: 1 });
  for (const options of [{}, { filter: { v: 'old' }, hint: { v: 1 } }]) {
    const { cursor } = await f.db.command({ find: 'snapshot', batchSize: 10, ...options });
    await c.deleteMany({ _id: { $gte: 250 } });
    await c.updateMany({ _id: { $lt: 250 } }, { $set: { v: 'new' } });
    await c.insertMany(times(50, (i) => ({ _id: 1000 + i, v: 'old' })));
    const rest = await f.db.command({ getMore: Long.fromValue(cursor.id), collection: 'snapshot' });
    const seen = [...cursor.firstBatch, ...rest.cursor.nextBatch];
    assert.equal(seen.length, 300);
    assert.ok(seen.every((d) => d._id < 300 && d.v === 'old'));
    await fill(f.db, 'snapshot', times(300, (_id) => ({ _id, v: 'old' })));
    await c.createIndex({ v: 1 });
  }
});

test('an aggregate cursor pages as a find does', async () => {
  const { cursor } = await f.db.command({ aggregate: 'c', pipeline: [{ $sort: { n: 1 } }, { $project: { n: 1 } }], cursor: { batchSize: 5 } }, { promoteLongs: false });
  const rest = await more(cursor.id);
  assert.deepEqual([...cursor.firstBatch, ...rest.cursor.nextBatch].map((d) => Number(d.n)), times(size, (i) => i + 1));
});

test('the commands that list are cursors too', async () => {
  const db = f.client.db('listing');
  for (const name of ['a', 'b', 'c', 'd']) await db.createCollection(name);
  const { cursor } = await db.command({ listCollections: 1, nameOnly: true, cursor: { batchSize: 1 } }, { promoteLongs: false });
  const rest = await db.command({ getMore: cursor.id, collection: '$cmd.listCollections' });
  assert.deepEqual([...cursor.firstBatch, ...rest.cursor.nextBatch].map((c) => c.name), ['a', 'b', 'c', 'd']);
});

test('killCursors ends a cursor and says which it did not find', async () => {
  const { cursor } = await find({ batchSize: 1 });
  const unknown = Long.fromNumber(12345);
  const reply = await f.db.command({ killCursors: 'c', cursors: [cursor.id, unknown] }, { promoteLongs: false });
  assert.deepEqual([reply.cursorsKilled, reply.cursorsNotFound, reply.cursorsAlive, reply.cursorsUnknown], [[cursor.id], [unknown], [], []]);
  await fails(more(cursor.id), 43);
});

test('getMore must name the database of the cursor', async () => {
  const { cursor } = await find({ batchSize: 1 });
  await fails(f.client.db('other').command({ getMore: cursor.id, collection: 'c' }), 13);
  assert.equal((await more(cursor.id, { batchSize: 1 })).cursor.nextBatch.length, 1);
});

test('a cursor belongs to its session, and ends with it', async () => {
  const [mine, other] = [f.client.startSession(), f.client.startSession()];
  const { cursor } = await find({ batchSize: 1 }, mine);
  await fails(more(cursor.id, {}, other), 50738);
  assert.deepEqual(ids((await more(cursor.id, { batchSize: 1 }, mine)).cursor.nextBatch), [1]);
  await f.admin.command({ endSessions: [mine.id] });
  await fails(more(cursor.id, {}, mine), 43);
  await Promise.all([mine.endSession(), other.endSession()]);
});

test('killSessions ends the cursors of a session', async () => {
  const session = f.client.startSession();
  const { cursor } = await find({ batchSize: 1 }, session);
  await f.admin.command({ killSessions: [session.id] });
  await fails(more(cursor.id, {}, session), 43);
  await session.endSession();
});

test('drop ends the cursors of the collection', async () => {
  await fill(f.db, 'dropped', times(10, (_id) => ({ _id })));
  const { cursor } = await f.db.command({ find: 'dropped', batchSize: 1 }, { promoteLongs: false });
  await f.db.collection('dropped').drop();
  const error = await f.db.command({ getMore: cursor.id, collection: 'dropped' }).then(() => null, (e) => e);
  assert.ok([43, 175].includes(error?.code), String(error));
});

test('serverStatus counts the open cursors', async () => {
  const open = async () => (await f.admin.command({ serverStatus: 1 })).metrics.cursor.open.total;
  const was = await open();
  const { cursor } = await find({ batchSize: 1 });
  assert.equal(await open(), was + 1);
  await f.db.command({ killCursors: 'c', cursors: [cursor.id] });
  assert.equal(await open(), was);
});

for (const [name, command, code] of [
  ['batchSize below 0', { find: 'c', batchSize: -1 }, 51024],
  ['limit below 0', { find: 'c', limit: -1 }, 51024],
  ['skip below 0', { find: 'c', skip: -1 }, 51024],
  ['getMore with batchSize below 0', { getMore: Long.fromNumber(1), collection: 'c', batchSize: -1 }, 51024],
  ['getMore of nothing', { getMore: Long.fromNumber(77), collection: 'c' }, 43],
  ['tailable', { find: 'c', tailable: true }, 2],
]) {
  test(`refused: ${name}`, () => fails(f.db.command(command), code));
}
