// Writes and reads of every kind through the Node driver.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Decimal128, Long, ObjectId } from 'mongodb';
import { all, fails, fill, serve, times } from '../lib/fixture.mjs';
import { RawSession } from '../lib/session.mjs';

const f = await serve();
const eq = assert.deepEqual;

test('insertOne gives back the _id it made, and the document comes back as it went in', async () => {
  const c = f.db.collection('insert');
  const document = { a: 1, l: Long.fromString('9007199254740993'), d: Decimal128.fromString('1.10'), n: null, o: { x: [1, { y: 2 }] }, t: new Date(5) };
  const { insertedId } = await c.insertOne({ ...document });
  assert.ok(insertedId instanceof ObjectId);
  eq(await c.findOne({ _id: insertedId }, { promoteLongs: false, promoteValues: true }), { _id: insertedId, ...document, a: 1 });
});

test('a document without _id gets one from the server, as its first field', async () => {
  await f.db.command({ insert: 'noid', documents: [{ a: 1 }] });
  const [document] = await all(f.db.collection('noid'));
  eq(Object.keys(document), ['_id', 'a']);
  assert.ok(document._id instanceof ObjectId);
});

test('insertMany ordered stops at the first error, unordered goes on', async () => {
  for (const [ordered, stored, errors] of [[true, [1, 2], [2]], [false, [1, 2, 3, 4], [2, 4]]]) {
    const c = await fill(f.db, `many_${ordered}`, []);
    const error = await fails(c.insertMany([1, 2, 2, 3, 1, 4].map((_id) => ({ _id })), { ordered }), 11000);
    eq(error.writeErrors.map((e) => e.index), errors);
    eq((await all(c)).map((d) => d._id), stored);
    assert.equal(error.insertedCount, stored.length);
  }
});

const base = () => ({ _id: 1, n: 5, s: 'x', a: [1, 2, 3], o: { p: 1 }, items: [{ k: 1, q: 1 }, { k: 2, q: 2 }, { k: 3, q: 3 }] });
const rest = (changes) => ({ ...base(), ...changes });
const updates = [
  ['$set', { $set: { n: 6, 'o.q': 2 } }, rest({ n: 6, o: { p: 1, q: 2 } })],
  ['$unset', { $unset: { s: '', 'o.p': '' } }, (({ s, ...d }) => ({ ...d, o: {} }))(base())],
  ['$inc $mul', { $inc: { n: -2 }, $mul: { 'o.p': 4 } }, rest({ n: 3, o: { p: 4 } })],
  ['$min $max', { $min: { n: 1 }, $max: { 'o.p': 9 } }, rest({ n: 1, o: { p: 9 } })],
  ['$rename', { $rename: { s: 'r' } }, (({ s, ...d }) => ({ ...d, r: s }))(base())],
  ['$push $each $sort $slice', { $push: { a: { $each: [0, 9], $sort: -1, $slice: 3 } } }, rest({ a: [9, 3, 2] })],
  ['$push $position', { $push: { a: { $each: [7], $position: 1 } } }, rest({ a: [1, 7, 2, 3] })],
  ['$addToSet', { $addToSet: { a: { $each: [3, 4] } } }, rest({ a: [1, 2, 3, 4] })],
  ['$pull', { $pull: { items: { k: { $gte: 2 } } } }, rest({ items: [{ k: 1, q: 1 }] })],
  ['$pullAll $pop', { $pullAll: { a: [1, 3] }, $pop: { items: -1 } }, rest({ a: [2], items: base().items.slice(1) })],
  ['$bit', { $bit: { n: { and: 4 } } }, rest({ n: 4 })],
  ['positional $', { $set: { 'items.$.q': 20 } }, rest({ items: [{ k: 1, q: 1 }, { k: 2, q: 20 }, { k: 3, q: 3 }] }), { filter: { 'items.k': 2 } }],
  ['all positional $[]', { $inc: { 'items.$[].q': 10 } }, rest({ items: base().items.map((i) => ({ ...i, q: i.q + 10 })) })],
  ['arrayFilters', { $set: { 'items.$[big].q': 0, 'a.$[one]': 7 } }, rest({ a: [7, 2, 3], items: base().items.map((i) => (i.k > 1 ? { ...i, q: 0 } : i)) }),
    { arrayFilters: [{ 'big.k': { $gt: 1 } }, { one: 1 }] }],
  ['a pipeline', [{ $set: { n: { $add: ['$n', '$o.p'] }, total: { $sum: '$items.q' } } }, { $unset: 's' }], (({ s, ...d }) => ({ ...d, n: 6, total: 6 }))(base())],
  ['a pipeline with let', [{ $set: { n: '$$with' } }], rest({ n: 42 }), { let: { with: 42 } }],
];
for (const [name, update, expected, options = {}] of updates) {
  test(`updateOne and findOneAndUpdate: ${name}`, async () => {
    const { filter, ...others } = options;
    const c = await fill(f.db, 'update', [base(), { _id: 2, n: 1 }]);
    const result = await c.updateOne({ _id: 1, ...filter }, update, others);
    eq([result.matchedCount, result.modifiedCount, result.upsertedCount], [1, 1, 0]);
    eq(await c.findOne({ _id: 1 }), expected);
    await c.replaceOne({ _id: 1 }, base());
    eq(await c.findOneAndUpdate({ _id: 1, ...filter }, update, { returnDocument: 'after', ...others }), expected);
    eq(await c.findOne({ _id: 2 }), { _id: 2, n: 1 });
  });
}

test('an update that changes nothing matches but does not modify', async () => {
  const c = await fill(f.db, 'same', [{ _id: 1, a: 1 }]);
  const result = await c.updateOne({ _id: 1 }, { $set: { a: 1 } });
  eq([result.matchedCount, result.modifiedCount], [1, 0]);
});

test('updateMany, deleteOne, deleteMany, replaceOne count what they did', async () => {
  const c = await fill(f.db, 'counts', times(10, (_id) => ({ _id, even: _id % 2 === 0 })));
  const many = await c.updateMany({ even: true }, { $set: { seen: 1 } });
  eq([many.matchedCount, many.modifiedCount], [5, 5]);
  assert.equal((await c.deleteOne({ even: true })).deletedCount, 1);
  assert.equal((await c.deleteMany({ seen: 1 })).deletedCount, 4);
  assert.equal((await c.deleteMany({ seen: 1 })).deletedCount, 0);
  assert.equal((await c.replaceOne({ _id: 1 }, { b: 2 })).modifiedCount, 1);
  eq(await c.findOne({ _id: 1 }), { _id: 1, b: 2 });
  eq((await all(c)).map((d) => d._id), [1, 3, 5, 7, 9]);
});

const upserts = [
  ['equalities of the filter', { _id: 7, a: 1, 'b.c': 2, d: { $gt: 5 } }, { $set: { e: 1 } }, { _id: 7, a: 1, b: { c: 2 }, e: 1 }],
  ['$setOnInsert', { _id: 7 }, { $set: { a: 1 }, $setOnInsert: { b: 2 } }, { _id: 7, a: 1, b: 2 }],
  ['$and of equalities', { $and: [{ _id: 7 }, { a: { $eq: 3 } }] }, { $inc: { n: 2 } }, { _id: 7, a: 3, n: 2 }],
  ['a replacement takes only _id', { _id: 7, a: 1 }, { z: 1 }, { _id: 7, z: 1 }],
  ['a pipeline', { _id: 7, a: 1 }, [{ $set: { b: { $add: ['$a', 1] } } }], { _id: 7, a: 1, b: 2 }],
];
for (const [name, filter, update, expected] of upserts) {
  test(`upsert: ${name}`, async () => {
    const isReplacement = !Array.isArray(update) && !Object.keys(update)[0].startsWith('$');
    const c = await fill(f.db, 'upsert', []);
    const write = (q) => (isReplacement ? c.replaceOne(q, update, { upsert: true }) : c.updateOne(q, update, { upsert: true }));
    const first = await write(filter);
    eq([first.matchedCount, first.upsertedCount, first.upsertedId], [0, 1, 7]);
    eq(await all(c), [expected]);
    assert.equal((await write({ _id: 7 })).upsertedCount, 0);
    assert.equal(await c.countDocuments(), 1);
  });
}

test('findAndModify: before, after, remove, sort, projection, upsert, nothing found', async () => {
  const c = await fill(f.db, 'fam', times(5, (_id) => ({ _id, n: 10 - _id, s: 'x' })));
  eq(await c.findOneAndUpdate({}, { $set: { hit: 1 } }, { sort: { n: 1 } }), { _id: 4, n: 6, s: 'x' });
  eq(await c.findOneAndUpdate({}, { $inc: { n: 1 } }, { sort: { n: -1 }, returnDocument: 'after', projection: { n: 1, _id: 0 } }), { n: 11 });
  eq(await c.findOneAndReplace({ _id: 1 }, { r: 1 }, { returnDocument: 'after' }), { _id: 1, r: 1 });
  eq(await c.findOneAndDelete({ s: 'x' }, { sort: { _id: -1 } }), { _id: 4, n: 6, s: 'x', hit: 1 });
  assert.equal(await c.findOneAndDelete({ _id: 99 }), null);
  const upserted = await c.findOneAndUpdate({ _id: 50 }, { $set: { a: 1 } }, { upsert: true, includeResultMetadata: true });
  eq([upserted.value, upserted.lastErrorObject], [null, { n: 1, updatedExisting: false, upserted: 50 }]);
  eq((await c.findOneAndUpdate({ _id: 51 }, { $set: { a: 1 } }, { upsert: true, returnDocument: 'after' })), { _id: 51, a: 1 });
  eq((await all(c)).map((d) => d._id), [0, 1, 2, 3, 50, 51]);
});

test('findAndModify refuses what contradicts itself', async () => {
  for (const [command, code] of [
    [{ remove: true, update: { $set: { a: 1 } } }, 9],
    [{ remove: true, new: true }, 9],
    [{}, 9],
    [{ remove: true, upsert: true }, 9],
  ]) {
    await fails(f.db.command({ findAndModify: 'fam', query: { _id: 0 }, ...command }), code);
  }
});

test('bulkWrite mixes every operation and reports each', async () => {
  const c = await fill(f.db, 'bulk', [{ _id: 1, n: 1 }, { _id: 2, n: 2 }, { _id: 3, n: 3 }]);
  const result = await c.bulkWrite([
    { insertOne: { document: { _id: 4, n: 4 } } },
    { updateOne: { filter: { _id: 1 }, update: { $inc: { n: 10 } } } },
    { updateMany: { filter: { n: { $gte: 3 } }, update: { $set: { big: true } } } },
    { replaceOne: { filter: { _id: 9 }, replacement: { n: 9 }, upsert: true } },
    { deleteOne: { filter: { _id: 2 } } },
    { deleteMany: { filter: { n: 3 } } },
  ]);
  eq([result.insertedCount, result.matchedCount, result.modifiedCount, result.upsertedCount, result.deletedCount], [1, 4, 4, 1, 2]);
  eq(result.upsertedIds, { 3: 9 });
  eq(await all(c), [{ _id: 1, n: 11, big: true }, { _id: 4, n: 4, big: true }, { _id: 9, n: 9 }]);
});

test('bulkWrite unordered reports the errors by the index of the caller', async () => {
  const c = await fill(f.db, 'bulk', [{ _id: 1 }]);
  const operations = [{ insertOne: { document: { _id: 1 } } }, { insertOne: { document: { _id: 2 } } }, { updateOne: { filter: { _id: 1 }, update: { $inc: { _id: 1 } } } }];
  const error = await fails(c.bulkWrite(operations, { ordered: false }), 11000);
  eq(error.writeErrors.map((e) => [e.index, e.code]), [[0, 11000], [2, 66]]);
  eq((await all(c)).map((d) => d._id), [1, 2]);
});

test('the bulkWrite command writes to several collections', async () => {
  const [a, b] = [await fill(f.db, 'bw_a', [{ _id: 1, n: 1 }]), await fill(f.db, 'bw_b', [])];
  const reply = await f.admin.command({
    bulkWrite: 1,
    ops: [{ insert: 1, document: { _id: 5 } }, { update: 0, filter: { _id: 1 }, updateMods: { $inc: { n: 1 } } }, { delete: 1, filter: { _id: 6 } }],
    nsInfo: [{ ns: 'test.bw_a' }, { ns: 'test.bw_b' }],
  });
  eq([reply.nErrors, reply.nInserted, reply.nModified, reply.nDeleted], [0, 1, 1, 0]);
  eq(reply.cursor.firstBatch.map((r) => [r.idx, r.ok, r.n]), [[0, 1, 1], [1, 1, 1], [2, 1, 0]]);
  eq([await all(a), await all(b)], [[{ _id: 1, n: 2 }], [{ _id: 5 }]]);
});

test('a batch of 100000 statements is taken, one more is refused', async () => {
  const documents = times(100001, (_id) => ({ _id }));
  await fill(f.db, 'batch', []);
  assert.equal((await f.db.command({ insert: 'batch', documents: documents.slice(1) })).n, 100000);
  await fails(f.db.command({ insert: 'batch', documents }), 16);
  await fails(f.db.command({ insert: 'batch', documents: [] }), 16);
  assert.equal(await f.db.collection('batch').countDocuments(), 100000);
});

test('count, distinct and aggregate agree with find', async () => {
  const c = await fill(f.db, 'reads', times(100, (_id) => ({ _id, m: _id % 7, tags: [_id % 2, 'all'] })));
  assert.equal(await c.countDocuments({ m: 3 }), (await all(c, { m: 3 })).length);
  assert.equal(await c.estimatedDocumentCount(), 100);
  assert.equal((await f.db.command({ count: 'reads', query: { m: 1 }, skip: 3, limit: 5 })).n, 5);
  eq((await c.distinct('m')).sort(), [0, 1, 2, 3, 4, 5, 6]);
  eq((await c.distinct('tags', { _id: { $lt: 2 } })).map(String).sort(), ['0', '1', 'all']);
  eq(await c.aggregate([{ $match: { m: { $lt: 2 } } }, { $group: { _id: '$m', n: { $sum: 1 } } }, { $sort: { _id: 1 } }]).toArray(), [{ _id: 0, n: 15 }, { _id: 1, n: 15 }]);
});

test('$out and $merge write collections', async () => {
  const c = await fill(f.db, 'source', times(5, (_id) => ({ _id, n: _id })));
  await c.aggregate([{ $match: { n: { $gt: 2 } } }, { $out: 'target' }]).toArray();
  eq((await all(f.db.collection('target'))).map((d) => d._id), [3, 4]);
  await c.aggregate([{ $project: { n: { $multiply: ['$n', 10] } } }, { $merge: { into: 'target', whenNotMatched: 'discard' } }]).toArray();
  eq(await all(f.db.collection('target')), [{ _id: 3, n: 30 }, { _id: 4, n: 40 }]);
});

test('$out keeps the options and indexes of the collection that it replaces', async () => {
  const c = await fill(f.db, 'source', times(5, (_id) => ({ _id, n: _id, k: _id })));
  const target = await fill(f.db, 'replaced', [{ _id: 'old', n: 1 }], { validator: { n: { $lt: 4 } }, collation: { locale: 'en', strength: 2 } });
  await target.createIndex({ k: 1 }, { name: 'k', unique: true, sparse: true });
  const described = async () => [(await f.db.listCollections({ name: 'replaced' }).toArray())[0].options, await target.indexes()];
  const before = await described();
  await c.aggregate([{ $match: { n: { $lt: 3 } } }, { $out: 'replaced' }]).toArray();
  eq((await all(target)).map((d) => d._id), [0, 1, 2]);
  eq(await described(), before);
  // What breaks them is refused, and the collection stays as it was.
  await fails(c.aggregate([{ $out: 'replaced' }]).toArray(), 121);
  await fails(c.aggregate([{ $match: { n: { $lt: 3 } } }, { $set: { k: 1 } }, { $out: 'replaced' }]).toArray(), 11000);
  eq((await all(target)).map((d) => d._id), [0, 1, 2]);
  eq(await f.db.listCollections({ name: /^tmp/ }).toArray(), []);
});

test('w: 0 writes are done without an answer, j: false ones with one', async () => {
  const c = await fill(f.db, 'unacknowledged', []);
  eq((await c.insertOne({ _id: 1 }, { writeConcern: { w: 0 } })).acknowledged, false);
  eq((await c.insertOne({ _id: 2 }, { writeConcern: { w: 1, j: false } })).acknowledged, true);
  // Another connection of the pool may overtake the first write; the same server sees it in the end.
  while ((await c.countDocuments()) < 2);
  eq((await all(c)).map((d) => d._id), [1, 2]);
});

test('the fields of retryable writes are accepted', async () => {
  const c = await fill(f.db, 'retryable', []);
  const session = await RawSession.open(f.server.uri);
  assert.equal((await session.write({ insert: 'retryable', documents: [{ _id: 1 }], stmtIds: [0] }, 1, f.db.databaseName)).n, 1);
  session.connection.close();
  eq(await all(c), [{ _id: 1 }]);
});

test('field names with dots and dollars, as MongoDB 5.0 has them', async () => {
  const c = await fill(f.db, 'dollars', []);
  await c.insertOne({ _id: 1, 'a.b': 1, $x: 2, o: { $y: 3, 'c.d': 4 } });
  eq(await c.findOne({ _id: 1 }), { _id: 1, 'a.b': 1, $x: 2, o: { $y: 3, 'c.d': 4 } });
  await c.replaceOne({ _id: 1 }, { 'e.f': 1, o: { $z: 1 } });
  eq(await c.findOne({ o: { $eq: { $z: 1 } } }), { _id: 1, 'e.f': 1, o: { $z: 1 } });
  const [row] = await c.aggregate([{ $project: { v: { $getField: 'e.f' } } }]).toArray();
  eq(row, { _id: 1, v: 1 });
  await c.updateOne({ _id: 1 }, [{ $replaceWith: { $setField: { field: { $literal: '$n' }, input: '$$ROOT', value: 5 } } }]);
  eq((await c.findOne({ _id: 1 })).$n, 5);
  await fails(c.insertOne({ _id: { $bad: 1 } }), 52);
});
