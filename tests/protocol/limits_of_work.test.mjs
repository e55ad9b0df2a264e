// No request is stronger than the server: paths, computed values and long loops have limits, and what runs hears that
// it is to end.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { MongoClient } from 'mongodb';
import { fails, fill, serve, times } from '../lib/fixture.mjs';
import { startServer } from '../lib/server.mjs';

const MB = 1 << 20;
const f = await serve(['--memory-limit', '512MB', '--cache-size', '64MB']);
const resident = async () => 1024 * Number((await readFile(`/proc/${f.server.pid}/status`, 'utf8')).match(/VmHWM:\s+(\d+)/)[1]);
const answers = async () => assert.equal((await f.db.command({ ping: 1 })).ok, 1);

const path = (n) => Array(n).fill('d').join('.');
const one = await fill(f.db, 'one', [{ _id: 1 }]);
const aggregate = (pipeline, options = {}) => one.aggregate(pipeline, options).toArray();
const compute = (expression, options) => aggregate([{ $project: { x: expression } }], options);

test('every path has at most 200 components', async () => {
  const operands = { $pullAll: [1], $bit: { and: 1 }, $currentDate: true, $rename: 'x' };
  const operators = ['$set', '$unset', '$inc', '$push', '$addToSet', '$pull', '$pullAll', '$pop', '$min', '$max', '$mul', '$bit', '$currentDate', '$setOnInsert', '$rename'];
  for (const length of [201, 100_000]) {
    const long = path(length);
    for (const operator of operators) {
      const update = { [operator]: { [long]: operands[operator] ?? 1 } };
      await fails(one.updateOne({ _id: 1 }, update), 15, /too long/);
      await fails(one.updateOne({ _id: 2 }, update, { upsert: true }), 15);
      await fails(one.findOneAndUpdate({ _id: 1 }, update), 15);
    }
    await fails(one.updateOne({ _id: 1 }, { $rename: { x: long } }), 15);
    await fails(one.updateOne({ _id: 1 }, { $push: { q: { $each: [{ a: 1 }], $sort: { [long]: 1 } } } }), 15);
    await fails(one.updateOne({ _id: 1 }, { $set: { 'q.$[e]': 1 } }, { arrayFilters: [{ [`e.${long}`]: 1 }] }), 5729100);
    for (const condition of [1, { $gt: 1 }, { $elemMatch: { a: 1 } }, { $exists: true }]) {
      await fails(one.find({ [long]: condition }).toArray(), 5729100, /too long/);
    }
    await fails(one.updateOne({ _id: 3, [long]: 1 }, { $set: { x: 1 } }, { upsert: true }), 5729100);
    await fails(one.find({}, { projection: { [long]: 1 } }).toArray(), 15);
    await fails(one.find().sort({ [long]: 1 }).toArray(), 15);
    await fails(one.distinct(long), 15);
    await fails(one.createIndex({ [long]: 1 }, { name: 'long' }), 15);
    await fails(one.createIndex({ a: 1 }, { name: 'partial', partialFilterExpression: { [long]: 1 } }), 5729100);
    await fails(f.db.createCollection('validated', { validator: { [long]: 1 } }), 5729100);
    await fails(compute(`$${long}`), 15);
    await fails(aggregate([{ $unwind: `$${long}` }]), 15);
    await fails(aggregate([{ $sort: { [long]: 1 } }]), 15);
    await fails(aggregate([{ $unset: long }]), 15);
  }
  // What can be stored and asked for still is.
  const deepest = path(179);
  await one.updateOne({ _id: 1 }, { $set: { [deepest]: 1 } });
  assert.equal(await one.countDocuments({ [deepest]: 1 }), 1);
  assert.equal((await one.updateOne({ _id: 1 }, { $unset: { [path(200)]: 1 } })).modifiedCount, 0);
  await one.replaceOne({ _id: 1 }, {});
});

const ten = { $range: [0, 10] };
const doubled = (times, from, twice) => ({ $reduce: { input: { $range: [0, times] }, initialValue: from, in: twice } });
const twiceLet = (depth, make) => (depth === 0 ? make('$$v') : { $let: { vars: { v: make('$$v') }, in: twiceLet(depth - 1, make) } });

test('values that grow without end are refused, soon and in little memory', async () => {
  const text = 'a'.repeat(MB);
  const large = await fill(f.db, 'large', [{ _id: 1, text, list: times(1000, (i) => i) }]);
  const bombs = {
    'doubled string': doubled(40, 'x', { $concat: ['$$value', '$$value'] }),
    'doubled array': doubled(40, [1], { $concatArrays: ['$$value', '$$value'] }),
    'doubled document': doubled(40, { a: 1 }, { a: '$$value', b: '$$value' }),
    'nested $let': { $let: { vars: { v: '$text' }, in: twiceLet(40, (v) => ({ $concat: [v, v] })) } },
    'triple $map': { $map: { input: '$list', in: { $map: { input: '$list', as: 'b', in: { $map: { input: '$list', as: 'c', in: '$$c' } } } } } },
    $replaceAll: { $replaceAll: { input: '$text', find: 'a', replacement: '$text' } },
    '$replaceAll of nothing': { $replaceAll: { input: '$text', find: '', replacement: '$text' } },
    'many copies': { $map: { input: '$list', in: '$text' } },
    'many ranges': times(100, () => ({ $range: [0, 3_000_000] })),
    $zip: { $zip: { inputs: times(200, () => ({ $range: [0, 100_000] })) } },
  };
  for (const [name, bomb] of Object.entries(bombs)) {
    const computed = large.aggregate([{ $project: { x: bomb } }]).toArray();
    await assert.rejects(computed, (error) => [146, 10334, 15].includes(error.code) || assert.fail(`${name}: ${error}`), name);
    await assert.rejects(large.updateOne({ _id: 1 }, [{ $set: { x: bomb } }]), (error) => [146, 10334, 15].includes(error.code), name);
    await assert.rejects(large.find({ $expr: bomb }).toArray(), (error) => [146, 15].includes(error.code), name).catch((error) => {
      assert.equal(error.code, 'ERR_ASSERTION'); // some are small enough without a document around them
    });
    await answers();
  }
  const stages = times(30, () => ({ $set: { text: { $concat: ['$text', '$text'] } } }));
  await fails(large.aggregate(stages).toArray(), 146);
  const wide = Object.fromEntries(times(1000, (i) => [`f${i}`, '$text']));
  await fails(large.aggregate([{ $set: wide }]).toArray(), 10334);
  await fails(large.updateOne({ _id: 1 }, stages), 10334);
  const found = { $size: { $regexFindAll: { input: '$text', regex: 'a' } } };
  const [{ n }] = await large.aggregate([{ $project: { n: found } }]).toArray().catch((error) => [{ n: error.code }]);
  assert.ok(n === MB || n === 146, n);
  assert.equal((await f.admin.command({ serverStatus: 1 })).memoryBudget.holders.expressions, 0);
  assert.ok((await resident()) < 700 * MB, `${(await resident()) / MB} MB at the peak`);
});

test('appending to a list in $reduce is linear, and what a step makes is freed', async () => {
  const n = 200_000;
  const input = { $range: [0, n] };
  const append = { $concatArrays: ['$$value', ['$$this']] };
  const even = { $eq: [{ $mod: ['$$this', 2] }, 0] };
  const [{ all, some, text, chosen }] = await aggregate([
    { $project: { all: { $reduce: { input, initialValue: [], in: append } },
      some: { $reduce: { input, initialValue: [], in: { $cond: [even, append, '$$value'] } } },
      chosen: { $size: { $reduce: { input, initialValue: [7], in: { $let: { vars: { v: { $add: ['$$this', 1] } }, in: { $concatArrays: ['$$value', ['$$v', '$$v']] } } } } } },
      text: { $strLenBytes: { $reduce: { input, initialValue: 'x', in: { $concat: ['$$value', 'yz'] } } } } } },
  ]);
  assert.deepEqual([all.length, all[0], all[n - 1], some.length, some[1], text, chosen], [n, 0, n - 1, n / 2, 2, 2 * n + 1, 2 * n + 1]);
  // 10 000 steps that make 100 KB each are a gigabyte; only one is there at a time.
  const filler = 'f'.repeat(100_000);
  const lengths = { $strLenBytes: { $concat: ['$filler', { $toString: '$$this' }] } };
  const many = await fill(f.db, 'many', [{ _id: 1, filler }]);
  const steps = { $range: [0, 10_000] };
  const [{ total, mapped, kept }] = await many.aggregate([{ $project: {
    total: { $reduce: { input: steps, initialValue: 0, in: { $add: ['$$value', lengths] } } },
    mapped: { $sum: { $map: { input: steps, in: lengths } } },
    kept: { $size: { $filter: { input: steps, cond: { $gt: [lengths, 0] } } } },
  } }]).toArray();
  assert.deepEqual([total, mapped, kept], [1_000_038_890, 1_000_038_890, 10_000]);
});

test('values of $reduce and documents of a pipeline are nested at most 200 deep', async () => {
  await fails(compute({ $eq: [doubled(100_000, {}, { a: '$$value' }), 1] }), 15, /nested/);
  await fails(compute({ $size: doubled(100_000, [], ['$$value']) }), 15, /nested/);
  await fails(compute({ $size: doubled(4_000, [1], { $concatArrays: ['$$value', [{ $slice: ['$$value', -1] }]] }) }), 15, /nested/);
  await fails(aggregate(times(300, () => ({ $replaceWith: { a: '$$ROOT' } }))), 15, /nested/);
  await fails(aggregate(times(30, () => ({ $group: { _id: { _id: '$_id' } } })).concat(times(200, () => ({ $project: { a: '$$ROOT' } })))), 15);
  const nested = (n) => times(n, () => ({ $replaceWith: { a: '$$ROOT' } }));
  assert.equal((await aggregate(nested(199))).length, 1);
  await fails(aggregate(nested(200)), 15);
});

test('maxTimeMS is heard in every long loop', async () => {
  const text = 'a'.repeat(MB);
  const list = times(30_000, (i) => i);
  const long = await fill(f.db, 'long', [{ _id: 1, text, list, hundred: times(100, (i) => i), thousand: times(1000, (i) => i) }]);
  const options = { maxTimeMS: 50 };
  const nested = (depth) => (depth === 0 ? 1 : { $sum: { $map: { input: '$thousand', as: `v${depth}`, in: nested(depth - 1) } } });
  const reduced = (depth) => (depth === 0 ? 1 : { $reduce: { input: '$thousand', initialValue: 0, in: { $add: ['$$value', reduced(depth - 1)] } } });
  const expired = async (promise) => {
    await assert.rejects(promise, (error) => [50, 51156].includes(error.code) || assert.fail(String(error)));
    await answers();
  };
  for (const regex of ['a.*a.*c', '(*UTF8)a.*a.*c', 'a.*a.*a.*c|b', '(a+)+$b', '(a|a)*c']) {
    await expired(long.find({ text: { $regex: regex } }, options).toArray());
    await expired(long.aggregate([{ $project: { x: { $regexMatch: { input: '$text', regex } } } }], options).toArray());
    await expired(long.updateOne({ text: { $regex: regex } }, { $set: { y: 1 } }, options));
  }
  for (const expression of [nested(4), reduced(4)]) {
    await fails(long.aggregate([{ $project: { x: expression } }], options).toArray(), 50);
    await fails(long.find({ $expr: expression }, options).toArray(), 50);
  }
  const unwinds = ['$thousand', '$list', '$hundred'].map((each) => ({ $unwind: each }));
  for (const last of [{ $match: { nothing: 1 } }, { $skip: 1e12 }]) {
    await fails(long.aggregate([{ $project: { text: 0 } }, { $set: { list: '$thousand' } }, ...unwinds, last], options).toArray(), 50);
  }
  const inSlices = { $sum: { $map: { input: '$list', in: { $indexOfBytes: ['$text', { $concat: ['b', '$$this'] }] } } } };
  await assert.rejects(long.aggregate([{ $project: { x: inSlices } }], options).toArray());
  const search = { $map: { input: '$list', in: { $indexOfBytes: ['$text', { $concat: [{ $substrBytes: ['$text', 0, 500_000] }, 'b'] }] } } };
  await fails(long.aggregate([{ $project: { x: search } }], options).toArray(), 50);
});

test('killOp ends a regular expression', async () => {
  const long = await fill(f.db, 'long', [{ _id: 1, text: 'a'.repeat(MB) }]);
  const running = long.find({ text: { $regex: 'a.*a.*a.*c' } }, { comment: 'to be killed' }).toArray();
  const ended = running.then(() => 'answered', (error) => error.code);
  let op;
  for (let i = 0; op === undefined && i < 1000; ++i) {
    const { inprog } = await f.admin.command({ currentOp: 1 });
    op = inprog.find((each) => each.command?.comment === 'to be killed');
  }
  if (op !== undefined) await f.admin.command({ killOp: 1, op: op.opid });
  assert.ok([11601, 51156].includes(await ended), await ended);
});

test('n elements against n are not n² steps', async () => {
  const n = 100_000;
  const numbers = times(n, (i) => i);
  const sets = await fill(f.db, 'sets', [{ _id: 1, list: numbers }]);
  assert.equal((await sets.updateOne({ _id: 1 }, { $addToSet: { list: { $each: times(n, (i) => i + n / 2) } } })).modifiedCount, 1);
  assert.equal((await sets.findOne()).list.length, 1.5 * n);
  await sets.updateOne({ _id: 1 }, { $pullAll: { list: numbers } });
  assert.equal((await sets.findOne()).list.length, n / 2);
  const fields = Object.fromEntries(times(50_000, (i) => [`field${i}`, i]));
  await sets.updateOne({ _id: 2 }, { $set: fields }, { upsert: true });
  await sets.updateOne({ _id: 2 }, { $inc: fields });
  const shown = await sets.findOne({ _id: 2 }, { projection: Object.fromEntries(Object.keys(fields).map((name) => [name, 1])) });
  assert.deepEqual([Object.keys(shown).length, shown.field49999], [50_001, 99_998]);
  const hidden = await sets.findOne({ _id: 2 }, { projection: Object.fromEntries(Object.keys(fields).map((name) => [name, 0])) });
  assert.deepEqual(hidden, { _id: 2 });
  const [{ difference, made }] = await sets.aggregate([{ $match: { _id: 1 } }, { $project: {
    difference: { $size: { $setDifference: [{ $range: [0, 300_000] }, { $range: [0, 1000] }] } },
    made: { $size: { $objectToArray: { $arrayToObject: { $map: { input: { $range: [0, 100_000] }, in: [{ $toString: '$$this' }, 1] } } } } },
  } }]).toArray();
  assert.deepEqual([difference, made], [299_000, 100_000]);
  const schema = { $jsonSchema: { properties: { _id: { enum: times(100_000, (i) => i * 2) } } } };
  const rows = await fill(f.db, 'rows', times(20_000, (_id) => ({ _id })));
  assert.equal(await rows.countDocuments(schema), 10_000);
  await fails(sets.updateOne(Object.fromEntries(times(50_000, (i) => [`f${i}`, i])), { $set: { f0: { $x: 1 }, 'f0.a': 1 } }, { upsert: true }), 40);
});

test('SIGTERM ends a server that is busy with regular expressions and loops', async () => {
  const server = await startServer();
  const client = await new MongoClient(server.uri, { maxPoolSize: 100, retryReads: false, serverSelectionTimeoutMS: 1000 }).connect();
  after(() => client.close(true));
  const busy = client.db('test').collection('busy');
  await busy.insertOne({ text: 'a'.repeat(MB), list: times(1000, (i) => i) });
  const endless = (depth) => (depth === 0 ? 1 : { $sum: { $map: { input: '$list', in: endless(depth - 1) } } });
  const running = times(20, (i) => (i % 2 ? busy.find({ text: /a.*a.*a.*c/ }) : busy.find({ $expr: { $eq: [endless(8), 1] } })).toArray());
  const ended = Promise.allSettled(running);
  let seen = 0;
  for (let i = 0; seen < 10 && i < 1000; ++i) {
    seen = (await client.db('admin').command({ currentOp: 1 })).inprog.filter((op) => op.command?.find === 'busy').length;
  }
  assert.ok(seen >= 10, `${seen} run`);
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  assert.ok((await ended).every(({ status }) => status === 'rejected'));
});
