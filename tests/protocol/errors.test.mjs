// Errors: the code, the name and what the message must say, for everything that is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Long } from 'mongodb';
import { fails, fill, serve, times } from '../lib/fixture.mjs';

const f = await serve();
await fill(f.db, 'c', [{ _id: 1, a: 1, arr: [1, 2] }]);
await f.db.collection('c').createIndex({ u: 1 }, { unique: true, sparse: true });

/** command, code, codeName, message; run on `test` unless the command is listed as one of admin's. */
const tables = {
  'unknown commands': [
    [{ nosuch: 1 }, 59, 'CommandNotFound', /no such command: 'nosuch'/],
    [{ atlasVersion: 1 }, 59, 'CommandNotFound', /atlasVersion/],
    [{ createSearchIndexes: 'c', indexes: [] }, 59, 'CommandNotFound', /Atlas/],
  ],
  'unknown fields': [
    [{ find: 'c', bogus: 1 }, 40415, 'Location40415', /'find.bogus' is an unknown field/],
    [{ insert: 'c', documents: [{}], bogus: 1 }, 40415, 'Location40415', /bogus/],
    [{ update: 'c', updates: [{ q: {}, u: { $set: { a: 1 } }, bogus: 1 }] }, 40415, 'Location40415', /bogus/],
    [{ delete: 'c', deletes: [{ q: {}, limit: 1, bogus: 1 }] }, 40415, 'Location40415', /bogus/],
    [{ aggregate: 'c', pipeline: [], cursor: {}, bogus: 1 }, 40415, 'Location40415', /bogus/],
    [{ count: 'c', bogus: 1 }, 40415, 'Location40415', /bogus/],
    [{ distinct: 'c', key: 'a', bogus: 1 }, 40415, 'Location40415', /bogus/],
    [{ findAndModify: 'c', remove: true, bogus: 1 }, 40415, 'Location40415', /bogus/],
    [{ drop: 'c', bogus: 1 }, 40415, 'Location40415', /bogus/],
    [{ create: 'd', bogus: 1 }, 40415, 'Location40415', /bogus/],
  ],
  'wrong types': [
    [{ find: 'c', filter: 1 }, 14, 'TypeMismatch', /'find.filter' is the wrong type 'int', expected type 'object'/],
    [{ find: 'c', sort: 'a' }, 14, 'TypeMismatch', /sort/],
    [{ find: 'c', limit: 'x' }, 14, 'TypeMismatch', /limit/],
    [{ insert: 'c', documents: 1 }, 14, 'TypeMismatch', /documents/],
    [{ insert: 'c', documents: [1] }, 14, 'TypeMismatch', /documents/],
    [{ insert: 'c', documents: [{}], ordered: 'x' }, 14, 'TypeMismatch', /ordered/],
    [{ update: 'c', updates: [{ q: 1, u: {} }] }, 14, 'TypeMismatch', /q/],
    [{ getMore: 1, collection: 'c' }, 14, 'TypeMismatch', /'long'/],
    [{ distinct: 'c', key: 1 }, 14, 'TypeMismatch', /key/],
    [{ find: 'c', maxTimeMS: 'x' }, 2, 'BadValue', /maxTimeMS must be a number/],
  ],
  'missing fields': [
    [{ insert: 'c' }, 40414, 'Location40414', /'insert.documents' is missing/],
    [{ update: 'c' }, 40414, 'Location40414', /updates/],
    [{ update: 'c', updates: [{ q: {} }] }, 40414, 'Location40414', /u/],
    [{ delete: 'c' }, 40414, 'Location40414', /deletes/],
    [{ delete: 'c', deletes: [{ q: {} }] }, 40414, 'Location40414', /limit/],
    [{ distinct: 'c' }, 40414, 'Location40414', /key/],
    [{ getMore: Long.fromNumber(1) }, 40414, 'Location40414', /collection/],
    [{ createIndexes: 'c' }, 40414, 'Location40414', /indexes/],
    [{ aggregate: 'c', pipeline: [] }, 9, 'FailedToParse', /'cursor' option is required/],
  ],
  'bad namespaces': [
    [{ find: '' }, 73, 'InvalidNamespace', /'test\.'/],
    [{ find: 'a$b' }, 73, 'InvalidNamespace', /a\$b/],
    [{ insert: '.a', documents: [{}] }, 73, 'InvalidNamespace', /\.a/],
    [{ create: 'x'.repeat(300) }, 73, 'InvalidNamespace', /./],
    [{ create: 'c', validator: { a: 1 } }, 48, 'NamespaceExists', /test\.c/],
    [{ drop: 'nosuch_collection', comment: 1 }, 0],
    [{ listIndexes: 'nosuch' }, 26, 'NamespaceNotFound', /nosuch/],
    [{ dropIndexes: 'nosuch', index: '*' }, 26, 'NamespaceNotFound', /nosuch/],
    [{ collMod: 'nosuch' }, 26, 'NamespaceNotFound', /nosuch/],
    [{ validate: 'nosuch' }, 26, 'NamespaceNotFound', /nosuch/],
  ],
  'admin commands elsewhere': ['renameCollection', 'currentOp', 'killOp', 'getParameter', 'listDatabases', 'getLog', 'getCmdLineOpts'].map(
    (name) => [{ [name]: 1 }, 13, 'Unauthorized', /admin database/]),
  'queries': [
    [{ find: 'c', filter: { a: { $bogus: 1 } } }, 2, 'BadValue', /unknown operator: \$bogus/],
    [{ find: 'c', filter: { $bogus: 1 } }, 2, 'BadValue', /unknown top level operator: \$bogus/],
    [{ find: 'c', filter: { a: { $in: 1 } } }, 2, 'BadValue', /\$in needs an array/],
    [{ find: 'c', filter: { a: { $regex: '(' } } }, 51091, 'Location51091', /./],
    [{ find: 'c', projection: { a: 1, b: 0 } }, 31254, 'Location31254', /b/],
    [{ find: 'c', projection: { a: 0, b: 1 } }, 31253, 'Location31253', /b/],
    [{ count: 'c', skip: -1 }, 51024, 'Location51024', /skip/],
    [{ find: 'c', sort: { a: 2 } }, 15975, 'Location15975', /./],
    [{ find: 'c', hint: 'nosuch' }, 2, 'BadValue', /hint/],
    [{ find: 'c', min: { a: 1 } }, 51173, 'Location51173', /hint/],
    [{ find: 'c', collation: { locale: 'xx_bogus' } }, 2, 'BadValue', /locale/],
    [{ aggregate: 'c', pipeline: [{ $bogus: 1 }], cursor: {} }, 40324, 'Location40324', /\$bogus/],
    [{ aggregate: 'c', pipeline: [{ $project: { a: { $bogus: 1 } } }], cursor: {} }, 31325, 'Location31325', /\$bogus/],
    [{ aggregate: 'c', pipeline: [{ $match: {}, $limit: 1 }], cursor: {} }, 40323, 'Location40323', /./],
    [{ aggregate: 'c', pipeline: [{ $limit: 0 }], cursor: {} }, 15958, 'Location15958', /positive/],
    [{ aggregate: 'c', pipeline: [{ $project: { d: { $divide: [1, 0] } } }], cursor: {} }, 16608, 'Location16608', /divide by zero/],
  ],
  'refused by name': [
    [{ find: 'c', filter: { $where: '1' } }, 2, 'BadValue', /\$where is not supported/],
    [{ find: 'c', filter: { $text: { $search: 'x' } } }, 2, 'BadValue', /\$text is not supported/],
    [{ find: 'c', filter: { a: { $near: [1, 1] } } }, 2, 'BadValue', /\$near is not supported/],
    [{ find: 'c', filter: { a: { $geoWithin: { $box: [] } } } }, 2, 'BadValue', /\$geoWithin is not supported/],
    [{ create: 'capped', capped: true, size: 1000 }, 115, 'CommandNotSupported', /capped collections are not supported/],
    [{ create: 'view', viewOn: 'c', pipeline: [] }, 115, 'CommandNotSupported', /views are not supported/],
    [{ convertToCapped: 'c', size: 1000 }, 115, 'CommandNotSupported', /capped/],
    [{ mapReduce: 'c', map: 'x', reduce: 'y', out: 'z' }, 115, 'CommandNotSupported', /mapReduce/],
    [{ eval: 'x' }, 115, 'CommandNotSupported', /JavaScript/],
    [{ createUser: 'x', pwd: 'y', roles: [] }, 115, 'CommandNotSupported', /authentication/],
    [{ createIndexes: 'c', indexes: [{ key: { a: 'text' }, name: 't' }] }, 67, 'CannotCreateIndex', /text/],
    [{ createIndexes: 'c', indexes: [{ key: { '$**': 1 }, name: 't' }] }, 67, 'CannotCreateIndex', /Wildcard/],
    [{ createIndexes: 'c', indexes: [{ key: { a: '2dsphere' }, name: 't' }] }, 67, 'CannotCreateIndex', /2dsphere/],
    [{ aggregate: 'c', pipeline: [{ $geoNear: {} }], cursor: {} }, 115, 'CommandNotSupported', /\$geoNear/],
    [{ aggregate: 'c', pipeline: [{ $changeStream: {} }], cursor: {} }, 115, 'CommandNotSupported', /\$changeStream/],
  ],
  'indexes': [
    [{ createIndexes: 'c', indexes: [] }, 2, 'BadValue', /./],
    [{ createIndexes: 'c', indexes: [{ key: {}, name: 'x' }] }, 67, 'CannotCreateIndex', /./],
    [{ createIndexes: 'c', indexes: [{ key: { a: 0 }, name: 'x' }] }, 67, 'CannotCreateIndex', /0/],
    [{ createIndexes: 'c', indexes: [{ key: { a: 1 } }] }, 9, 'FailedToParse', /name/],
    [{ createIndexes: 'c', indexes: [{ key: { a: 1, b: 1 }, name: 'x', expireAfterSeconds: 1 }] }, 67, 'CannotCreateIndex', /TTL/],
    [{ createIndexes: 'c', indexes: [{ key: { _id: 1 }, name: '_id_', sparse: true }] }, 197, 'InvalidIndexSpecificationOption', /sparse/],
    [{ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'x', bogus: 1 }] }, 197, 'InvalidIndexSpecificationOption', /bogus/],
    [{ createIndexes: 'c', indexes: [{ key: { u: 1 }, name: 'other', unique: true, sparse: true }] }, 85, 'IndexOptionsConflict', /./],
    [{ createIndexes: 'c', indexes: [{ key: { z: 1 }, name: 'u_1' }] }, 86, 'IndexKeySpecsConflict', /u_1/],
    [{ dropIndexes: 'c', index: '_id_' }, 72, 'InvalidOptions', /_id/],
    [{ dropIndexes: 'c', index: 'nosuch' }, 27, 'IndexNotFound', /nosuch/],
  ],
};
for (const [title, rows] of Object.entries(tables)) {
  for (const [command, code, codeName, message] of rows) {
    test(`${title}: ${JSON.stringify(command).slice(0, 90)}`, async () => {
      if (code === 0) return assert.equal((await f.db.command(command)).ok, 1);
      const error = await fails(f.db.command(command), code, message);
      assert.equal(error.codeName, codeName);
    });
  }
}

const writes = [
  ['the _id changed', { $set: { _id: 2 } }, 66],
  ['one path twice', { $set: { a: 1 }, $inc: { a: 1 } }, 40],
  ['a path and its prefix', { $set: { o: 1, 'o.p': 1 } }, 40],
  ['through a scalar', { $set: { 'a.b': 1 } }, 28],
  ['$inc by a string', { $inc: { a: 'x' } }, 14],
  ['$inc of an array', { $inc: { arr: 1 } }, 14],
  ['$push to a scalar', { $push: { a: 1 } }, 2],
  ['an unknown modifier', { $bogus: { a: 1 } }, 9],
  ['an empty modifier path', { $set: { '': 1 } }, 56],
  ['a filter that is missing', { $set: { 'arr.$[x]': 1 } }, 2],
  ['the positional operator without an array in the query', { $set: { 'arr.$': 1 } }, 2],
  ['a stage that no update may have', [{ $group: { _id: 1 } }], 72],
  ['int64 overflow', { $inc: { big: Long.MAX_VALUE } }, 2],
];
for (const [name, update, code] of writes) {
  test(`update: ${name}`, async () => {
    await f.db.collection('c').updateOne({ _id: 1 }, { $set: { big: Long.MAX_VALUE } });
    const before = await f.db.collection('c').findOne({ _id: 1 });
    const error = await fails(f.db.collection('c').updateOne({ _id: 1 }, update), code);
    assert.equal(error.index, 0);
    assert.deepEqual(await f.db.collection('c').findOne({ _id: 1 }), before);
    await fails(f.db.collection('c').findOneAndUpdate({ _id: 1 }, update), code);
  });
}

test('a duplicate key names index, pattern and value, in writes and in findAndModify', async () => {
  const c = await fill(f.db, 'duplicate', [{ _id: 1, a: { b: 'x' }, n: 1 }, { _id: 2, n: 2 }]);
  await c.createIndex({ 'a.b': 1, n: -1 }, { unique: true, name: 'pair' });
  const write = (promise) => fails(promise, 11000, /E11000 duplicate key error collection: test\.duplicate index: pair dup key: \{ a\.b: "x", n: 1 \}/);
  for (const run of [
    () => c.insertOne({ _id: 3, a: { b: 'x' }, n: 1 }),
    () => c.updateOne({ _id: 2 }, { $set: { 'a.b': 'x', n: 1 } }),
    () => c.findOneAndUpdate({ _id: 2 }, { $set: { 'a.b': 'x', n: 1 } }),
    () => c.updateOne({ _id: 4 }, { $set: { 'a.b': 'x', n: 1 } }, { upsert: true }),
  ]) {
    const error = await write(run());
    assert.deepEqual(error.keyPattern, { 'a.b': 1, n: -1 });
    assert.deepEqual(error.keyValue, { 'a.b': 'x', n: 1 });
  }
  assert.equal(await c.countDocuments(), 2);
});

test('a validator refuses with 121 and says why, unless bypassed or off', async () => {
  const validator = { $jsonSchema: { required: ['name'], properties: { age: { bsonType: 'int', minimum: 0 } } } };
  const c = await fill(f.db, 'valid', [{ _id: 1, name: 'ada', age: 36 }], { validator });
  for (const run of [() => c.insertOne({ _id: 2 }), () => c.updateOne({ _id: 1 }, { $set: { age: -1 } }), () => c.findOneAndUpdate({ _id: 1 }, { $unset: { name: '' } })]) {
    const error = await fails(run(), 121, /Document failed validation/);
    const info = error.errInfo ?? error.errorResponse.errInfo;
    assert.ok(info.failingDocumentId === 2 || info.failingDocumentId === 1, JSON.stringify(info));
    assert.equal(info.details.operatorName, '$jsonSchema');
    assert.match(JSON.stringify(info.details.schemaRulesNotSatisfied), /"required":\["name"\]|"minimum":0/);
  }
  await c.insertOne({ _id: 3 }, { bypassDocumentValidation: true });
  await fails(c.updateOne({ _id: 3 }, { $set: { x: 1 } }), 121);
  await f.db.command({ collMod: 'valid', validationLevel: 'moderate' });
  await c.updateOne({ _id: 3 }, { $set: { x: 1 } });
  await fails(c.updateOne({ _id: 1 }, { $unset: { name: '' } }), 121);
  await f.db.command({ collMod: 'valid', validationLevel: 'off' });
  await c.insertOne({ _id: 4 });
  await f.db.command({ collMod: 'valid', validationLevel: 'strict', validationAction: 'warn' });
  await c.insertOne({ _id: 5 });
});

test('an aborted transaction leaves nothing, and the end of none is refused', async () => {
  const session = f.client.startSession();
  session.startTransaction();
  await f.db.collection('c').insertOne({ _id: 77 }, { session });
  await session.abortTransaction();
  await session.endSession();
  assert.equal(await f.db.collection('c').findOne({ _id: 77 }), null);
  await fails(f.admin.command({ commitTransaction: 1 }), 251, /never started/);  // the driver adds a number
});

for (const [name, fields, code] of [
  ['txnNumber without lsid on a read', { find: 'c', txnNumber: Long.fromNumber(1) }, 50768],
  ['autocommit without txnNumber', { find: 'c', autocommit: false }, 72],
  ['a write concern that no node can fulfil', { insert: 'c', documents: [{}], writeConcern: { w: 51 } }, 9],
  ['an unknown read concern', { find: 'c', readConcern: { level: 'bogus' } }, 9],
  ['an API version that does not exist', { find: 'c', apiVersion: '2' }, 322],
  ['a command outside of the strict API', { validate: 'c', apiVersion: '1', apiStrict: true }, 323],
]) {
  test(`the envelope: ${name}`, () => fails(f.db.command(fields), code));
}

test('documents nest 180 levels deep and no deeper, however they are sent', async () => {
  const nested = (levels) => times(levels - 1, (i) => i).reduce((inner) => ({ a: inner }), {});
  const c = await fill(f.db, 'deep', []);
  await c.insertOne({ _id: 1, ...nested(180) });
  await c.insertMany([{ _id: 2, ...nested(180) }]);
  assert.equal(await c.countDocuments({ [times(178, () => 'a').join('.')]: {} }), 0);
  assert.equal(await c.countDocuments({ [times(179, () => 'a').join('.')]: {} }), 2);
  await fails(c.insertOne({ _id: 3, ...nested(181) }), 15, /nest/);
  await fails(c.insertMany([{ _id: 4, ...nested(181) }]), 15, /nest/);
  await fails(c.updateOne({ _id: 1 }, { $set: { b: nested(180) } }), 15, /nest/);
  assert.equal(await c.countDocuments(), 2);
});

test('limits of indexes: 64 a collection, 32 fields each', async () => {
  const c = await fill(f.db, 'limits', [{ _id: 1 }]);
  const keys = (n) => Object.fromEntries(times(n, (i) => [`f${i}`, 1]));
  await c.createIndex(keys(32));
  await fails(c.createIndex(keys(33)), 13103);
  await c.createIndexes(times(62, (i) => ({ key: { [`g${i}`]: 1 } })));
  await fails(c.createIndex({ last: 1 }), 67, /too many indexes/);
  assert.equal((await c.indexes()).length, 64);
});

for (const [name, setup, document, code] of [
  ['two arrays in one index', { a: 1, b: 1 }, { a: [1], b: [2] }, 171],
  ['an array under a hashed index', { h: 'hashed' }, { h: [1] }, 16766],
  ['an _id that is an array', null, { _id: [1] }, 53],
  ['an _id that is a regular expression', null, { _id: /x/ }, 53],
]) {
  test(`insert: ${name}`, async () => {
    const c = await fill(f.db, 'refusing', [{ _id: 0 }]);
    if (setup) await c.createIndex(setup);
    await fails(c.insertOne(document), code);
    assert.equal(await c.countDocuments(), 1);
  });
}

test('a write concern that cannot be met is told beside what was written', async () => {
  for (const [w, code] of [[3, 100], ['nosuch', 79]]) {
    const c = await fill(f.db, 'concern', []);
    const error = await c.insertOne({ _id: 1 }, { writeConcern: { w } }).then(() => null, (e) => e);
    assert.equal(error?.code, code, String(error));
    assert.equal(await c.countDocuments(), 1);
  }
});

test('a failed command leaves its connection usable and changes nothing', async () => {
  const before = await f.db.collection('c').countDocuments();
  for (const command of [{ nosuch: 1 }, { find: 'c', bogus: 1 }, { insert: 'c', documents: times(3, () => ({})), bogus: 1 }]) {
    await f.db.command(command).catch(() => {});
  }
  assert.equal(await f.db.collection('c').countDocuments(), before);
});
