// Indexes: builds while writers go on, what plans use them, what explain says of it, TTL, collation.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { MinKey } from 'mongodb';
import { all, fails, fill, serve, times } from '../lib/fixture.mjs';

const f = await serve();
const eq = assert.deepEqual;
const names = async (c) => (await c.indexes()).map((i) => i.name).sort();

/** The stages of the chosen plan, outermost first; `execution` with what they counted. */
async function explain(command, verbosity = 'executionStats') {
  const reply = await f.db.command({ explain: command, verbosity });
  const shard = reply.queryPlanner.winningPlan.shards[0];
  const stages = [];
  for (let stage = shard.winningPlan; stage; stage = stage.inputStage) stages.push(stage.stage);
  return { reply, shard, stages, stats: reply.executionStats };
}

test('a build over 200000 documents shows its progress, lets writers go on, and misses nothing', async () => {
  const size = 200000;
  const c = await fill(f.db, 'build', times(size, (_id) => ({ _id, k: (_id * 7919) % 1000, pad: 'x'.repeat(20) })));
  let built = false;
  const build = c.createIndex({ k: 1, pad: 1 }).then(() => (built = true));
  const progress = [];
  const watch = (async () => {
    while (!built) {
      const { inprog } = await f.admin.command({ currentOp: 1 });
      const operation = inprog.find((op) => op.command?.createIndexes === 'build' && op.progress);
      if (operation) progress.push(operation);
    }
  })();
  let writes = 0;
  const write = (async () => {
    for (; !built; ++writes) {
      await c.insertOne({ _id: size + writes, k: writes % 1000, pad: 'new' });
      await c.updateOne({ _id: (writes * 31) % size }, { $set: { k: 1001 + (writes % 5) } });
      await c.deleteOne({ _id: size - 1 - writes });
    }
  })();
  await Promise.all([build, watch, write]);
  assert.ok(writes > 0);
  assert.ok(progress.length > 0, 'no progress was seen');
  assert.match(progress[0].msg ?? '', /Index Build/);
  // The total is what was there when the build began; writers may add to it.
  const wrong = progress.find(({ progress: { done, total } }) => !(done >= 0 && Math.abs(total - size) <= writes && done <= total + writes));
  assert.equal(wrong, undefined, JSON.stringify(wrong?.progress));
  for (const k of [0, 7, 500, 999, 1001, 1003]) {
    const scan = await c.find({ k }).hint({ $natural: 1 }).sort({ _id: 1 }).project({ _id: 1 }).toArray();
    const index = await c.find({ k }).hint({ k: 1, pad: 1 }).sort({ _id: 1 }).project({ _id: 1 }).toArray();
    eq(index, scan);
  }
  assert.equal(await c.countDocuments({ k: { $gte: new MinKey() } }, { hint: 'k_1_pad_1' }), await c.countDocuments({}, { hint: { $natural: 1 } }));
  const { valid, errors } = await f.db.command({ validate: 'build' });
  eq([valid, errors], [true, []]);
  await c.drop();
});

test('a unique build that fails leaves nothing', async () => {
  const c = await fill(f.db, 'failing', [...times(1000, (_id) => ({ _id, u: _id })), { _id: 'twice', u: 500 }]);
  const error = await fails(c.createIndex({ u: 1 }, { unique: true }), 11000, /u_1.*500/);
  eq(error.keyValue, { u: 500 });
  eq(await names(c), ['_id_']);
  await c.insertOne({ u: 7 });
  await c.deleteMany({ $or: [{ _id: 'twice' }, { _id: { $type: 'objectId' } }] });
  await c.createIndex({ u: 1 }, { unique: true });
  await fails(c.insertOne({ u: 7 }), 11000);
});

test('createIndexes is idempotent, several at once are one build, dropIndexes takes every form', async () => {
  const c = await fill(f.db, 'forms', [{ _id: 1, a: 1 }]);
  const create = (...keys) => f.db.command({ createIndexes: 'forms', indexes: keys.map((key) => ({ key, name: Object.keys(key).join('_') })) });
  await create({ a: 1 }, { b: 1 }, { c: 1 }, { d: 1 }, { e: 1 });
  await create({ a: 1 });
  eq(await names(c), ['_id_', 'a', 'b', 'c', 'd', 'e']);
  await fails(f.db.command({ createIndexes: 'forms', indexes: [{ key: { g: 1 }, name: 'g' }, { key: { h: 'bogus' }, name: 'h' }] }), 67);
  eq((await names(c)).length, 6);
  await f.db.command({ dropIndexes: 'forms', index: 'a' });
  await f.db.command({ dropIndexes: 'forms', index: { b: 1 } });
  await f.db.command({ dropIndexes: 'forms', index: ['c', 'd'] });
  eq(await names(c), ['_id_', 'e']);
  await f.db.command({ dropIndexes: 'forms', index: '*' });
  eq(await names(c), ['_id_']);
});

test('an index of every kind gives the answers of a scan', async () => {
  const documents = times(300, (_id) => ({
    _id, n: _id % 10, s: `k${_id % 13}`, tags: [_id % 3, _id % 5], sub: { x: _id % 4 },
    ...(_id % 2 ? { some: _id % 6 } : {}),
  }));
  const c = await fill(f.db, 'kinds', documents);
  const cases = [
    [{ n: 1, s: -1 }, {}, { n: { $gte: 3, $lt: 7 }, s: { $gt: 'k2' } }],
    [{ tags: 1 }, {}, { tags: 2 }],
    [{ tags: 1 }, {}, { tags: { $elemMatch: { $gt: 2, $lt: 5 } } }],
    [{ 'sub.x': 1 }, {}, { 'sub.x': { $in: [1, 3] } }],
    [{ s: 'hashed' }, {}, { s: 'k5' }],
    [{ some: 1 }, { sparse: true }, { some: { $gte: 3 } }],
    [{ n: 1 }, { partialFilterExpression: { some: { $exists: true } } }, { n: 5, some: { $exists: true } }],
    [{ s: 1 }, { collation: { locale: 'en_US', strength: 2 } }, { s: 'K7' }, { locale: 'en_US', strength: 2 }],
  ];
  for (const [key, options, filter, collation] of cases) {
    const scan = await c.find(filter, { collation, hint: { $natural: 1 } }).sort({ _id: 1 }).toArray();
    assert.ok(scan.length > 0 && scan.length < 300, JSON.stringify(filter));
    const name = await c.createIndex(key, options);
    const { stages, stats } = await explain({ find: 'kinds', filter, ...(collation ? { collation } : {}) });
    assert.ok(stages.includes('IXSCAN'), `${JSON.stringify(key)}: ${stages}`);
    assert.equal(stats.nReturned, scan.length);
    eq(await c.find(filter, { collation, hint: name }).sort({ _id: 1 }).toArray(), scan, JSON.stringify(key));
    await c.dropIndex(name);
  }
});

test('explain counts what was planted', async () => {
  const c = await fill(f.db, 'planted', times(1000, (_id) => ({ _id, a: _id % 100, b: _id % 7 })));
  await c.createIndex({ a: 1 });
  const rows = [
    ['COLLSCAN', { find: 'planted', filter: { b: 3 } }, 143, 0, 1000],
    ['IXSCAN', { find: 'planted', filter: { a: 5 } }, 10, 10, 10],
    ['IXSCAN', { find: 'planted', filter: { a: { $gte: 10, $lt: 12 }, b: 0 } }, 3, 20, 20],
    ['IXSCAN', { find: 'planted', filter: { a: 5 }, projection: { a: 1, _id: 0 } }, 10, 10, 0],
    ['LIMIT', { find: 'planted', filter: { a: { $gt: 50 } }, limit: 4 }, 4, 4, 4],
    ['SORT', { find: 'planted', filter: {}, sort: { b: 1 } }, 1000, 0, 1000],
  ];
  for (const [stage, command, returned, keys, documents] of rows) {
    const { stages, stats } = await explain(command);
    assert.ok(stages.includes(stage), `${JSON.stringify(command)}: ${stages}`);
    eq([stats.nReturned, stats.totalKeysExamined, stats.totalDocsExamined], [returned, keys, documents], JSON.stringify(command));
  }
  assert.equal((await explain({ find: 'planted', filter: { _id: 5 } })).stats.totalDocsExamined, 1);
  eq((await explain({ find: 'planted', filter: {}, sort: { a: -1 } })).stages.includes('SORT'), false);
  eq((await explain({ find: 'planted', filter: { a: 1 }, sort: { b: 1 } })).stages.includes('SORT'), true);
});

test('explain has three verbosities, and changes nothing', async () => {
  const c = await fill(f.db, 'verbose', times(20, (_id) => ({ _id, a: _id })));
  await c.createIndex({ a: 1 });
  const command = { find: 'verbose', filter: { a: { $gt: 3 } } };
  for (const [verbosity, hasStats, hasPlans] of [['queryPlanner', false, false], ['executionStats', true, false], ['allPlansExecution', true, true]]) {
    const { reply } = await explain(command, verbosity);
    eq(['executionStats' in reply, 'allPlansExecution' in (reply.executionStats ?? {})], [hasStats, hasPlans], verbosity);
    assert.equal(reply.command.find, 'verbose');
    assert.ok(reply.serverInfo.version);
  }
  await fails(f.db.command({ explain: command, verbosity: 'bogus' }), 2);
  await fails(f.db.command({ explain: { nosuch: 1 } }), 59);
  for (const write of [{ delete: 'verbose', deletes: [{ q: {}, limit: 0 }] }, { update: 'verbose', updates: [{ q: {}, u: { $set: { a: 0 } }, multi: true }] }, { findAndModify: 'verbose', remove: true }]) {
    assert.equal((await f.db.command({ explain: write, verbosity: 'executionStats' })).ok, 1);
  }
  eq(await all(c), times(20, (_id) => ({ _id, a: _id })));
  for (const read of [{ count: 'verbose', query: { a: 1 } }, { distinct: 'verbose', key: 'a', query: { a: { $gt: 1 } } }, { aggregate: 'verbose', pipeline: [{ $match: { a: 1 } }], cursor: {} }]) {
    assert.match(JSON.stringify(await f.db.command({ explain: read, verbosity: 'queryPlanner' })), /a_1/, JSON.stringify(read));
  }
});

test('hint, min, max, returnKey, hidden', async () => {
  const c = await fill(f.db, 'hints', times(50, (_id) => ({ _id, a: _id % 5, b: _id })));
  await c.createIndex({ a: 1, b: 1 });
  await c.createIndex({ b: 1 });
  for (const hint of ['a_1_b_1', { a: 1, b: 1 }]) {
    const { shard } = await explain({ find: 'hints', filter: { b: 7 }, hint });
    assert.match(JSON.stringify(shard.winningPlan), /"indexName":"a_1_b_1"/);
  }
  eq((await c.find({}, { min: { b: 10 }, max: { b: 13 }, hint: { b: 1 } }).toArray()).map((d) => d.b), [10, 11, 12]);
  eq(await c.find({}, { min: { a: 3, b: 40 }, hint: { a: 1, b: 1 }, returnKey: true }).limit(1).toArray(), [{ a: 3, b: 43 }]);
  await f.db.command({ collMod: 'hints', index: { name: 'b_1', hidden: true } });
  eq((await explain({ find: 'hints', filter: { b: 7 } })).stages, ['COLLSCAN']);
  await fails(c.find({}, { hint: 'b_1' }).toArray(), 2);
  assert.equal((await c.indexes()).find((i) => i.name === 'b_1').hidden, true);
  await f.db.command({ collMod: 'hints', index: { keyPattern: { b: 1 }, hidden: false } });
  assert.ok((await explain({ find: 'hints', filter: { b: 7 } })).stages.includes('IXSCAN'));
  const update = { update: 'hints', updates: [{ q: { b: 7 }, u: { $set: { hit: 1 } }, hint: 'a_1_b_1' }] };
  assert.equal((await f.db.command(update)).nModified, 1);
  assert.equal((await f.db.command({ delete: 'hints', deletes: [{ q: { b: 7 }, limit: 1, hint: { b: 1 } }] })).n, 1);
});

test('collation en_US strength 2 in find, sort, distinct, count, update, delete, unique', async () => {
  const collation = { locale: 'en_US', strength: 2 };
  const words = ['apple', 'Apple', 'banana', 'BANANA', 'Äpfel', 'cherry'];
  const c = await fill(f.db, 'collated', words.map((w, _id) => ({ _id, w })));
  eq((await c.find({ w: 'APPLE' }, { collation }).sort({ _id: 1 }).toArray()).map((d) => d.w), ['apple', 'Apple']);
  eq((await c.find({}, { collation }).sort({ w: 1, _id: 1 }).toArray()).map((d) => d.w), ['Äpfel', 'apple', 'Apple', 'banana', 'BANANA', 'cherry'].sort(new Intl.Collator('en-US', { sensitivity: 'accent' }).compare));
  assert.equal((await c.distinct('w', {}, { collation })).length, 4);
  assert.equal(await c.countDocuments({ w: { $gte: 'BANANA' } }, { collation }), 3);
  assert.equal((await c.updateMany({ w: 'BaNaNa' }, { $set: { hit: 1 } }, { collation })).modifiedCount, 2);
  assert.equal((await c.deleteMany({ w: 'CHERRY' }, { collation })).deletedCount, 1);
  await fails(c.createIndex({ w: 1 }, { unique: true, collation }), 11000);
  await c.deleteMany({ w: { $in: ['Apple', 'BANANA'] } });
  await c.createIndex({ w: 1 }, { unique: true, collation });
  await fails(c.insertOne({ w: 'APPLE' }), 11000);
  // A query of another collation must not use the index.
  eq((await explain({ find: 'collated', filter: { w: 'apple' } })).stages.includes('IXSCAN'), false);
  const d = await fill(f.db, 'collated_default', [{ _id: 'A' }], { collation });
  await fails(d.insertOne({ _id: 'a' }), 11000);
  assert.equal(await d.countDocuments({ _id: 'a' }), 1);
});

test('TTL: invisible at its moment, gone soon after; collMod changes it', async () => {
  const c = await fill(f.db, 'ttl', []);
  await c.createIndex({ at: 1 }, { expireAfterSeconds: 1 });
  const now = Date.now();
  await c.insertMany([
    { _id: 'old', at: new Date(now - 60000) },
    { _id: 'soon', at: new Date(now) },
    { _id: 'later', at: new Date(now + 3600000) },
    { _id: 'array', at: [new Date(now + 3600000), new Date(now - 60000)] },
    { _id: 'text', at: 'never' },
    { _id: 'none' },
  ]);
  assert.equal(await c.findOne({ _id: 'old' }), null);
  eq((await all(c)).map((d) => d._id).filter((id) => id !== 'soon'), ['later', 'none', 'text']);
  await sleep(now + 1001 - Date.now());
  eq((await all(c)).map((d) => d._id), ['later', 'none', 'text']);
  // count without a query is the counter of the documents that are stored.
  for (const until = Date.now() + 5000; (await f.db.command({ count: 'ttl' })).n > 3 && Date.now() < until; ) await sleep(50);
  assert.equal((await f.db.command({ count: 'ttl' })).n, 3);
  const reply = await f.db.command({ collMod: 'ttl', index: { keyPattern: { at: 1 }, expireAfterSeconds: 7200 } });
  eq([reply.expireAfterSeconds_old, reply.expireAfterSeconds_new], [1, 7200]);
  await c.insertOne({ _id: 'hour', at: new Date(Date.now() - 3600000) });
  assert.ok(await c.findOne({ _id: 'hour' }));
  await f.db.command({ collMod: 'ttl', index: { keyPattern: { at: 1 }, expireAfterSeconds: 60 } });
  assert.equal(await c.findOne({ _id: 'hour' }), null);
  eq((await c.indexes()).find((i) => i.key.at).expireAfterSeconds, 60);
});

test('a sparse index below another field leaves out what {$ne: null} matches, and is not used for it', async () => {
  const c = await fill(f.db, 'sparse_below', [{ _id: 1, a: [3, 0, 5] }, { _id: 2, a: { b: 1 } }, { _id: 3 }]);
  await c.createIndex({ 'a.b': 1 }, { sparse: true });
  assert.deepEqual((await c.find({ 'a.b': { $ne: null } }).sort({ _id: 1 }).toArray()).map(({ _id }) => _id), [1, 2]);
});
