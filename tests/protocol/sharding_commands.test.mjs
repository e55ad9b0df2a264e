// The commands of sharding: what shardCollection takes and refuses, chunks by hand, and what a shard key forbids.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Long, MaxKey, MinKey } from 'mongodb';
import { all, fails, fill, serve, times } from '../lib/fixture.mjs';

const f = await serve(['--shards', '3']);
const eq = assert.deepEqual;
const { db, admin } = f;
const config = f.client.db('config');

const shard = (name, key, options = {}) => admin.command({ shardCollection: `test.${name}`, key, ...options });
async function chunks(name) {
  const { uuid } = await config.collection('collections').findOne({ _id: `test.${name}` });
  return config.collection('chunks').find({ uuid }).sort({ min: 1 }).toArray();
}
async function spread(name) {
  const rows = await db.collection(name).aggregate([{ $collStats: { count: {} } }]).toArray();
  return Object.fromEntries(rows.map((row) => [row.shard, row.count]));
}
const shardsOf = async (name, filter) => {
  const { queryPlanner } = await db.command({ explain: { find: name, filter }, verbosity: 'queryPlanner' });
  return queryPlanner.winningPlan.shards.map((s) => s.shardName);
};
async function checkWhole(name) {
  const { valid, errors } = await db.command({ validate: name, full: true });
  eq([valid, errors], [true, []]);
}

// Nothing is moved behind the tests' back.
await admin.command({ balancerStop: 1 });
await admin.command({ enableSharding: 'test', primaryShard: 'shard0' });

test('enableSharding is idempotent and gives the database its primary shard', async () => {
  await admin.command({ enableSharding: 'placed', primaryShard: 'shard2' });
  await admin.command({ enableSharding: 'placed' });
  await admin.command({ enableSharding: 'placed', primaryShard: 'shard2' });
  eq((await config.collection('databases').findOne({ _id: 'placed' })).primary, 'shard2');
  await fails(admin.command({ enableSharding: 'placed', primaryShard: 'shard1' }), 48);
  await fails(admin.command({ enableSharding: 'other', primaryShard: 'nowhere' }), 70);
  for (const name of ['admin', 'config', 'local']) await fails(admin.command({ enableSharding: name }), 72);
  await fails(db.command({ enableSharding: 'test' }), 13);
  await fails(admin.command({ enableSharding: '' }), 73);
});

test('unsharded collections are on the primary shard of their database', async () => {
  const placed = f.client.db('placed');
  await placed.collection('plain').insertMany(times(50, (_id) => ({ _id })));
  const rows = await placed.collection('plain').aggregate([{ $collStats: { count: {} } }]).toArray();
  eq(rows.map((row) => [row.shard, row.count]), [['shard2', 50]]);
  const { queryPlanner } = await placed.command({ explain: { find: 'plain', filter: {} }, verbosity: 'queryPlanner' });
  eq([queryPlanner.winningPlan.stage, queryPlanner.winningPlan.shards.map((s) => s.shardName)], ['SINGLE_SHARD', ['shard2']]);
  // A ranged key starts there as well, in one chunk.
  await admin.command({ shardCollection: 'placed.ranged', key: { a: 1 } });
  const { uuid } = await config.collection('collections').findOne({ _id: 'placed.ranged' });
  eq((await config.collection('chunks').find({ uuid }).toArray()).map((c) => c.shard), ['shard2']);
});

test('shardCollection answers as MongoDB does', async () => {
  const first = await shard('sh', { k: 'hashed' });
  eq(first.collectionsharded, 'test.sh');
  const again = await shard('sh', { k: 'hashed' });
  eq(again.collectionUUID.toString(), first.collectionUUID.toString());
  await fails(shard('sh', { z: 1 }), 23, /sharding already enabled/);
  await fails(shard('sh', { k: 1 }), 23);
  await shard('sr', { r: 1 });
  await fill(db, 'full', [{ _id: 1, a: 1 }]);
  await fails(shard('full', { nokey: 1 }), 72, /Please create an index that starts with the proposed shard key/);
  await fails(shard('bad', {}), 2, /Shard key is empty/);
  await fails(shard('bad', { a: 'hashed' }, { unique: true }), 72, /Hashed shard keys cannot be declared unique/);
  await fails(admin.command({ shardCollection: 'nodb', key: { a: 1 } }), 73, /Invalid namespace specified 'nodb'/);
  await fails(shard('bad', { a: -1 }), 2);
  await fails(shard('bad', { a: 'text' }), 2);
  await fails(shard('bad', { a: 'hashed', b: 'hashed' }), 2);
  await fails(shard('bad', { a: 1 }, { numInitialChunks: 5 }), 72);
  await fails(shard('bad', { a: 'hashed' }, { numInitialChunks: 1000000 }), 72);
  await fails(shard('bad', { a: 'hashed' }, { bogus: 1 }), 40415);
  await fails(admin.command({ shardCollection: 'test.bad' }), 40414);
  await fails(admin.command({ shardCollection: 'config.bad', key: { a: 1 } }), 20);
  await fails(db.command({ shardCollection: 'test.bad', key: { a: 1 } }), 13);
});

test('the chunks of a hashed key are where MongoDB puts them', async () => {
  await shard('split6', { k: 'hashed' });
  const points = [0, '3074457345618258602', '6148914691236517204'].flatMap((p) => (p === 0 ? [Long.ZERO] : [Long.fromString(p), Long.fromString(p).neg()]))
    .sort((a, b) => a.compare(b)).map(String);
  const made = await chunks('split6');
  eq(made.slice(1).map((c) => String(c.min.k)), points);
  eq(made.map((c) => c.shard), ['shard0', 'shard0', 'shard1', 'shard1', 'shard2', 'shard2']);
  assert.ok(made[0].min.k instanceof MinKey && made[5].max.k instanceof MaxKey);
  await shard('split4', { k: 'hashed', x: 1 }, { numInitialChunks: 4 });
  const four = await chunks('split4');
  eq(four.slice(1).map((c) => String(c.min.k)), ['-4611686018427387902', '0', '4611686018427387902']);
  assert.ok(four.slice(1).every((c) => c.min.x instanceof MinKey));
});

test('a filled collection is sharded where it is, if it has the index', async () => {
  const c = await fill(db, 'filled', times(500, (_id) => ({ _id, k: _id % 50, u: _id })));
  await c.createIndex({ u: 1 }, { unique: true });
  await fails(shard('filled', { k: 'hashed' }), 72);
  await c.createIndex({ k: 1, u: 1 });
  await fails(shard('filled', { k: 'hashed' }), 72);  // not an index on the hash
  await c.createIndex({ k: 'hashed' }, { sparse: true, name: 'sparse' });
  await fails(shard('filled', { k: 'hashed' }), 72);
  await c.dropIndex('sparse');
  await c.createIndex({ k: 'hashed' });
  await fails(shard('filled', { k: 'hashed' }, { numInitialChunks: 6 }), 72);
  eq(await c.countDocuments({}), 500);
  await checkWhole('filled');
  await shard('filled', { k: 'hashed' });
  eq((await chunks('filled')).map((chunk) => chunk.shard), ['shard0']);
  await fails(c.insertOne({ k: 1, u: 77 }), 11000);
  await checkWhole('filled');
  // A ranged key may use an index that goes on after it.
  const r = await fill(db, 'filledr', times(100, (_id) => ({ _id, k: _id })));
  await r.createIndex({ k: 1, u: 1 });
  await shard('filledr', { k: 1 });
  await fails(r.dropIndex('k_1_u_1'), 370);
});

test('a collection whose documents have no place is not sharded, and stays as it was', async () => {
  const c = await fill(db, 'arrays', [{ _id: 1, k: 1 }, { _id: 2, k: [1, 2] }]);
  await c.createIndex({ k: 1 });
  await assert.rejects(shard('arrays', { k: 1 }), ({ code }) => [61, 67, 72].includes(code));
  eq(await config.collection('collections').countDocuments({ _id: 'test.arrays' }), 0);
  await c.insertOne({ _id: 3, k: [4] });
  await checkWhole('arrays');
  const regex = await fill(db, 'regexes', [{ _id: 1, k: /x/ }]);
  await regex.createIndex({ k: 1 });
  await fails(shard('regexes', { k: 1 }), 61);
  await regex.insertOne({ _id: 2, k: /y/ });
  eq(await regex.countDocuments({}), 2);
  await checkWhole('regexes');
});

test('a unique shard key', async () => {
  await shard('uniq', { a: 1 }, { unique: true });
  await db.collection('uniq').insertOne({ a: 1 });
  await fails(db.collection('uniq').insertOne({ a: 1 }), 11000);
  await fails(shard('uniq', { a: 1 }), 23);
  await shard('uniq', { a: 1 }, { unique: true });
  const c = await fill(db, 'uniq2', [{ _id: 1, a: 1 }]);
  await c.createIndex({ a: 1 });
  await fails(shard('uniq2', { a: 1 }, { unique: true }), 72);
});

test('a default collation has to be set aside in so many words', async () => {
  await db.createCollection('collated', { collation: { locale: 'en', strength: 2 } });
  await fails(shard('collated', { k: 1 }), 2);
  await fails(shard('collated', { k: 1 }, { collation: { locale: 'en' } }), 2);
  await shard('collated', { k: 1 }, { collation: { locale: 'simple' } });
  const c = db.collection('collated');
  await admin.command({ split: 'test.collated', middle: { k: 'a' } });
  await admin.command({ moveChunk: 'test.collated', find: { k: 'b' }, to: 'shard1' });
  await c.insertMany([{ _id: 'x', k: 'B' }, { _id: 'y', k: 'b' }]);
  eq(await spread('collated'), { shard0: 1, shard1: 1 });
  eq((await all(c, { k: 'b' })).length, 2);  // by the collation both, so both shards
  eq((await c.find({ k: 'b' }, { collation: { locale: 'simple' } }).toArray()).length, 1);
  await fails(c.insertOne({ _id: 'X', k: 'b' }), 11000);  // unique by the collation, over all shards
  await checkWhole('collated');
});

test('the index of the shard key cannot be dropped while no other serves', async () => {
  await shard('keep', { k: 'hashed' });
  const c = db.collection('keep');
  await fails(c.dropIndex('k_hashed'), 370);
  await fails(db.command({ dropIndexes: 'keep', index: { k: 'hashed' } }), 370);
  await c.createIndex({ o: 1 });
  await db.command({ dropIndexes: 'keep', index: '*' });  // all others
  eq((await c.indexes()).map((i) => i.name).sort(), ['_id_', 'k_hashed']);
  await shard('keep2', { k: 1 });
  await db.collection('keep2').createIndex({ k: 1, z: 1 });
  await db.collection('keep2').dropIndex('k_1');  // another one serves
  await fails(db.collection('keep2').dropIndex('k_1_z_1'), 370);
});

test('values that have no place are refused; missing ones are null', async () => {
  await shard('values', { a: 1, 'b.c': 1 });
  const c = db.collection('values');
  await fails(c.insertOne({ a: [1, 2] }), 61);
  await fails(c.insertOne({ a: 1, b: [{ c: 1 }] }), 61);
  await fails(c.insertOne({ a: 1, b: { c: [1] } }), 61);
  await fails(c.insertOne({ a: /x/ }), 61);
  await c.insertMany([{ _id: 1 }, { _id: 2, a: null }, { _id: 3, a: null, b: { c: null } }, { _id: 4, a: 1, b: 2 }]);
  eq((await all(c, { a: null, 'b.c': null })).map((d) => d._id), [1, 2, 3]);
  await fails(c.updateOne({ _id: 4 }, { $set: { a: [1] } }), 61);
  await fails(c.replaceOne({ _id: 4 }, { b: { c: [] } }), 61);
  eq(await c.findOne({ _id: 4 }), { _id: 4, a: 1, b: 2 });
  const { writeErrors } = await c.insertMany([{ _id: 5, a: 5 }, { _id: 6, a: [] }, { _id: 7, a: 7 }], { ordered: false }).catch((e) => e);
  eq(writeErrors.map((e) => [e.index, e.code]), [[1, 61]]);
  eq(await c.countDocuments({ a: { $gte: 5 } }), 2);
  // With a hash: a missing key lies with null.
  await shard('nulls', { k: 'hashed' });
  const n = db.collection('nulls');
  await n.insertMany([{ _id: 1 }, { _id: 2, k: null }, { _id: 3 }]);
  eq(Object.values(await spread('nulls')).filter((count) => count > 0), [3]);
  eq((await shardsOf('nulls', { k: null })).length, 1);
  eq((await all(n, { k: null })).length, 3);
  eq((await all(n, { k: { $exists: false } })).length, 2);
  await checkWhole('values');
});

test('split, moveChunk, moveRange, mergeChunks', async () => {
  await shard('hand', { k: 1 });
  const c = db.collection('hand');
  await c.insertMany(times(400, (_id) => ({ _id, k: _id })));
  await admin.command({ split: 'test.hand', middle: { k: 100 } });
  await admin.command({ split: 'test.hand', find: { k: 250 } });  // in the middle of its documents
  eq((await chunks('hand')).map((x) => x.min.k).slice(1), [100, 250]);
  await admin.command({ split: 'test.hand', bounds: [{ k: new MinKey() }, { k: 100 }] });
  eq((await chunks('hand')).map((x) => x.min.k).slice(1), [50, 100, 250]);

  const moved = await admin.command({ moveChunk: 'test.hand', find: { k: 100 }, to: 'shard1' });
  eq(Number(moved.documentsMoved), 150);
  eq(await spread('hand'), { shard0: 250, shard1: 150 });
  eq(await shardsOf('hand', { k: 200 }), ['shard1']);
  await admin.command({ moveChunk: 'test.hand', bounds: [{ k: 250 }, { k: new MaxKey() }], to: 'shard2' });
  await admin.command({ moveRange: 'test.hand', min: { k: 10 }, max: { k: 20 }, toShard: 'shard2' });
  eq(await spread('hand'), { shard0: 90, shard1: 150, shard2: 160 });
  eq(await shardsOf('hand', { k: 15 }), ['shard2']);
  eq(await shardsOf('hand', { k: 20 }), ['shard0']);
  eq(await shardsOf('hand', { k: { $gte: 15, $lt: 60 } }), ['shard0', 'shard2']);
  await admin.command({ moveRange: 'test.hand', min: { k: 250 }, toShard: 'shard1' });  // to the chunk's end
  eq(await spread('hand'), { shard0: 90, shard1: 300, shard2: 10 });
  eq((await all(c)).map((d) => d.k), times(400, (k) => k));
  await admin.command({ mergeChunks: 'test.hand', bounds: [{ k: 100 }, { k: new MaxKey() }] });
  eq((await chunks('hand')).map((x) => x.min.k).slice(1), [10, 20, 50, 100]);
  // The same again does nothing.
  eq(Number((await admin.command({ moveChunk: 'test.hand', find: { k: 100 }, to: 'shard1' })).documentsMoved), 0);
  const versions = (await chunks('hand')).map((x) => String(x.lastmod));
  eq(new Set(versions).size, versions.length);
  await checkWhole('hand');

  await fails(admin.command({ moveChunk: 'test.plain', find: { k: 1 }, to: 'shard1' }), 118);
  await fails(admin.command({ split: 'test.nosuch', middle: { k: 1 } }), 118);
  await fails(admin.command({ moveRange: 'test.nosuch', min: { k: 1 }, toShard: 'shard1' }), 118);
  await fails(admin.command({ mergeChunks: 'test.nosuch', bounds: [{ k: 1 }, { k: 2 }] }), 118);
  await fails(admin.command({ moveChunk: 'test.hand', find: { k: 1 }, to: 'nowhere' }), 70);
  await fails(admin.command({ moveRange: 'test.hand', min: { k: 1 }, toShard: 'nowhere' }), 70);
  await fails(admin.command({ moveChunk: 'test.hand', find: { k: [1] }, to: 'shard1' }), 61);
  await fails(admin.command({ moveChunk: 'test.hand', bounds: [{ k: 11 }, { k: 20 }], to: 'shard1' }), 2);
  await fails(admin.command({ moveChunk: 'test.hand', to: 'shard1' }), 9);
  await fails(admin.command({ moveRange: 'test.hand', min: { x: 1 }, toShard: 'shard1' }), 2);
  await fails(admin.command({ moveRange: 'test.hand', min: { k: 5 }, max: { k: 5 }, toShard: 'shard1' }), 2);
  await fails(admin.command({ moveRange: 'test.hand', min: { k: 10 }, max: { k: 5 }, toShard: 'shard1' }), 2);
  await fails(admin.command({ moveRange: 'test.hand', toShard: 'shard1' }), 72);
  await fails(admin.command({ split: 'test.hand', middle: { k: 100 } }), 2, /boundary key/);
  await fails(admin.command({ split: 'test.hand', middle: { k: new MaxKey() } }), 2);
  await fails(admin.command({ split: 'test.hand', middle: { x: 1 } }), 2);
  await fails(admin.command({ split: 'test.hand' }), 9);
  await fails(admin.command({ split: 'test.hand', middle: { k: 1 }, find: { k: 1 } }), 9);
  await fails(admin.command({ mergeChunks: 'test.hand', bounds: [{ k: 10 }, { k: 50 }] }), 20);  // two shards
  await fails(admin.command({ mergeChunks: 'test.hand', bounds: [{ k: 10 }, { k: 20 }] }), 20);  // one chunk
  await fails(admin.command({ mergeChunks: 'test.hand', bounds: [{ k: 11 }, { k: 50 }] }), 20);
  await fails(admin.command({ mergeChunks: 'test.hand', bounds: [{ k: 10 }] }), 9);
  // One key is never cut in two.
  await shard('onekey', { k: 1 });
  await db.collection('onekey').insertMany(times(20, () => ({ k: 'same' })));
  await assert.rejects(admin.command({ split: 'test.onekey', find: { k: 'same' } }));
  eq((await chunks('onekey')).length, 1);
});

test('a changed shard key takes the document to its shard', async () => {
  await shard('moves', { user_id: 'hashed' });
  const c = db.collection('moves');
  await c.createIndex({ u: 1 }, { unique: true });
  await c.insertMany(times(60, (_id) => ({ _id, user_id: `u${_id}`, u: _id })));
  const before = await spread('moves');
  const [home] = await shardsOf('moves', { user_id: 'u1' });
  let target;
  for (let i = 0; target === undefined; ++i) if ((await shardsOf('moves', { user_id: `new${i}` }))[0] !== home) target = `new${i}`;
  const [there] = await shardsOf('moves', { user_id: target });
  eq((await c.updateOne({ user_id: 'u1' }, { $set: { user_id: target } })).modifiedCount, 1);
  const after = await spread('moves');
  eq([after[home], after[there]], [before[home] - 1, before[there] + 1]);
  eq(await c.findOne({ user_id: 'u1' }), null);
  eq(await c.findOne({ user_id: target }), { _id: 1, user_id: target, u: 1 });
  eq((await c.findOne({ _id: 1 })).user_id, target);
  await fails(c.insertOne({ _id: 1, user_id: 'u1' }), 11000);
  await fails(c.insertOne({ _id: 100, user_id: 'u1', u: 1 }), 11000);
  // Back by replacement, by findAndModify, by a pipeline, by an upsert that finds it.
  await c.replaceOne({ _id: 1 }, { user_id: 'u1', u: 1 });
  eq(await spread('moves'), before);
  eq((await c.findOneAndUpdate({ user_id: 'u1' }, { $set: { user_id: target } }, { returnDocument: 'after' })).user_id, target);
  eq(await spread('moves'), after);
  await c.updateOne({ user_id: target }, [{ $set: { user_id: { $concat: ['u', '1'] } } }], { upsert: true });
  eq(await spread('moves'), before);
  // Nor does it go away with a key that cannot be.
  await fails(c.updateOne({ _id: 1 }, { $set: { user_id: ['x'] } }), 61);
  eq((await c.findOne({ user_id: 'u1' }))._id, 1);
  // All of them at once.
  eq((await c.updateMany({}, { $set: { user_id: 'one' } })).modifiedCount, 60);
  eq(Object.values(await spread('moves')).filter((n) => n > 0), [60]);
  eq((await all(c, { user_id: 'one' })).length, 60);
  await checkWhole('moves');
});

test('updateMany that takes documents to other shards meets each of them once', async () => {
  await shard('once', { k: 'hashed' });
  const c = db.collection('once');
  await c.createIndex({ n: 1 });
  await c.insertMany(times(1000, (_id) => ({ _id, k: _id, n: 0 })));
  const next = [{ $set: { k: { $add: ['$k', 1] }, n: { $add: ['$n', 1] } } }];
  for (const [round, filter] of [{}, { n: { $gte: 0 } }, { $or: [{ n: { $gte: 2 } }, { _id: { $gte: 0 } }] }].entries()) {
    const { matchedCount, modifiedCount } = await c.updateMany(filter, next);
    eq([matchedCount, modifiedCount, await c.countDocuments({ n: round + 1 })], [1000, 1000, 1000]);
  }
  await f.client.withSession((session) => session.withTransaction(async () => {
    eq((await c.updateMany({}, next, { session })).matchedCount, 1000);
    eq((await c.updateMany({ n: { $gte: 4 } }, next, { session })).matchedCount, 1000);
    eq(await c.countDocuments({ n: 5 }, { session }), 1000);
    eq(await c.countDocuments({ n: 3 }), 1000);
  }));
  eq((await all(c)).map((d) => [d.k - d._id, d.n]), times(1000, () => [5, 5]));
  await checkWhole('once');
});

test('a transaction that changes a shard key is seen by nobody else, and an abort takes it back', async () => {
  await shard('trans', { k: 'hashed' });
  const c = db.collection('trans');
  await c.insertMany(times(40, (_id) => ({ _id, k: _id })));
  const before = await spread('trans');
  const session = f.client.startSession();
  for (const end of ['abortTransaction', 'commitTransaction']) {
    session.startTransaction();
    for (let k = 0; k < 10; ++k) await c.updateOne({ k }, { $set: { k: 100 + k } }, { session });
    eq((await c.findOne({ k: 105 }, { session }))._id, 5);
    eq([await c.findOne({ k: 5 }, { session }), await c.findOne({ k: 105 })], [null, null]);
    eq((await c.findOne({ k: 5 }))._id, 5);
    eq(await c.countDocuments({}, { session }), 40);
    eq(await spread('trans'), before);
    await session[end]();
  }
  await session.endSession();
  eq((await all(c, { k: { $gte: 100 } })).map((d) => d._id), times(10, (i) => i));
  eq(await c.countDocuments({}), 40);
  await checkWhole('trans');
});

test('upserts place what they insert', async () => {
  await shard('upserts', { k: 'hashed' });
  const c = db.collection('upserts');
  await Promise.all(times(40, (i) => c.updateOne({ k: `k${i % 20}` }, { $inc: { n: 1 } }, { upsert: true })));
  // Two at once may both insert: nothing says that k is unique.
  const documents = await all(c);
  eq(documents.reduce((sum, d) => sum + d.n, 0), 40);
  for (let i = 0; i < 20; ++i) eq((await shardsOf('upserts', { k: `k${i}` })).length, 1);
  const { upsertedId } = await c.updateOne({ _id: 'by id' }, { $set: { k: 'somewhere' } }, { upsert: true });
  eq(upsertedId, 'by id');
  eq((await c.findOne({ k: 'somewhere' }))._id, 'by id');
  eq((await c.updateOne({ other: 5 }, { $set: { n: 0 } }, { upsert: true })).upsertedCount, 1);
  eq((await c.findOne({ k: null })).other, 5);
  await checkWhole('upserts');
});

test('operations are counted as targeted or scattered', async () => {
  await shard('counted', { k: 'hashed' });
  const c = db.collection('counted');
  await c.insertMany(times(10, (k) => ({ k })));
  const read = async () => {
    const { shardingStatistics } = await db.command({ serverStatus: 1 });
    return shardingStatistics.collections.find((row) => row.ns === 'test.counted');
  };
  const before = await read();
  for (let k = 0; k < 10; ++k) await c.findOne({ k });
  for (let k = 0; k < 7; ++k) await c.findOne({ other: k });
  const after = await read();
  eq([Number(after.targeted) - Number(before.targeted), Number(after.scattered) - Number(before.scattered)], [10, 7]);
});

test('operations are counted by shard', async () => {
  await shard('busy', { k: 'hashed' });
  const c = db.collection('busy');
  const read = async () => {
    const { shardingStatistics } = await db.command({ serverStatus: 1 });
    const { shards } = shardingStatistics.collections.find((row) => row.ns === 'test.busy');
    return Object.fromEntries(shards.map(({ shard, asked, written }) => [shard, [Number(asked), Number(written)]]));
  };
  await c.insertMany(times(60, (k) => ({ _id: k, k })));
  const documents = await spread('busy');
  eq(await read(), Object.fromEntries(Object.entries(documents).map(([shard, count]) => [shard, [0, count]])));
  const [home] = await shardsOf('busy', { k: 7 });
  const [, written] = (await read())[home];
  const asked = async () => (await read())[home][0];
  const before = await asked();
  await c.findOne({ k: 7 });
  eq(await asked(), before + 1);
  for (const name of Object.keys(documents)) if (name !== home) eq((await read())[name][0], 0);
  await c.updateOne({ k: 7 }, { $set: { n: 1 } });
  await c.updateOne({ _id: 7 }, { $inc: { n: 1 } });
  await c.deleteOne({ k: 7 });
  eq((await read())[home], [before + 3, written + 3]);
  await c.find({ other: 1 }).toArray();
  for (const [name, [count]] of Object.entries(await read())) eq(count, name === home ? before + 4 : 1);
});

test('a sharded collection is dropped, renamed and made again whole', async () => {
  await shard('gone', { k: 'hashed' });
  await db.collection('gone').insertMany(times(30, (k) => ({ _id: k, k })));
  await db.collection('gone').drop();
  eq(await config.collection('collections').countDocuments({ _id: 'test.gone' }), 0);
  await db.collection('gone').insertMany(times(5, (k) => ({ _id: k, k })));
  eq(await spread('gone'), { shard0: 5 });
  await db.collection('gone').drop();
  await shard('gone', { k: 1 });
  eq((await chunks('gone')).length, 1);
  await shard('old', { k: 'hashed' });
  await db.collection('old').insertMany(times(30, (k) => ({ _id: k, k })));
  const placed = await spread('old');
  await admin.command({ renameCollection: 'test.old', to: 'test.renamed' });
  eq([await spread('renamed'), (await chunks('renamed')).length], [placed, 6]);
  eq(await config.collection('collections').countDocuments({ _id: 'test.old' }), 0);
  eq((await db.collection('renamed').findOne({ k: 7 }))._id, 7);
  await checkWhole('renamed');
  await f.client.db('whole').collection('x').insertOne({ _id: 1 });
  await admin.command({ shardCollection: 'whole.y', key: { k: 'hashed' } });
  await f.client.db('whole').collection('y').insertMany(times(9, (k) => ({ k })));
  await f.client.db('whole').dropDatabase();
  eq(await config.collection('databases').countDocuments({ _id: 'whole' }), 0);
  eq(await f.client.db('whole').collection('y').countDocuments({}), 0);
});
