// A sharded collection answers as an unsharded one: random reads and writes on both, compared one by one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MinKey } from 'mongodb';
import { serve, times } from '../lib/fixture.mjs';

const f = await serve(['--shards', '5']);
const { db, admin } = f;
const eq = assert.deepEqual;
const seed = Number(process.env.BRAID_SEED ?? Math.floor(Math.random() * 2 ** 31));

function randomOf(start) {
  let state = start;
  const next = () => {  // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n) => Math.floor(next() * n);
  return { below, chance: (p) => next() < p, of: (list) => list[below(list.length)] };
}

function generator(random) {
  const value = () => random.of([random.below(8), random.below(8), random.below(8), 2.5, null, 'a', 'b', 'B', true, new Date(5), { x: 1 }]);
  const document = (_id) => {
    const made = { _id };
    for (const name of ['a', 'b', 'c']) if (random.chance(0.85)) made[name] = value();
    if (random.chance(0.5)) made.t = times(random.below(4), () => random.below(5));
    made.n = random.below(1000);
    return made;
  };
  const condition = () => random.of([
    () => value(), () => value(), () => ({ $gte: random.below(8) }), () => ({ $lt: value() }), () => ({ $in: [value(), value()] }),
    () => ({ $ne: value() }), () => ({ $exists: random.chance(0.5) }), () => ({ $gt: random.below(4), $lte: random.below(8) }),
  ])();
  const simple = () => (random.chance(0.15) ? { t: random.below(5) } : { [random.of(['a', 'a', 'b', 'c'])]: condition() });
  const filter = () => random.of([
    () => ({}), simple, simple, () => ({ $and: [simple(), simple()] }), () => ({ $or: [simple(), simple()] }), () => ({ ...simple(), n: { $gte: random.below(1000) } }),
    () => ({ _id: random.below(300) }), () => ({ _id: { $in: times(5, () => random.below(300)) } }),
  ])();
  const sort = () => ({ ...random.of([{ n: 1 }, { n: -1 }, { a: 1 }, { b: -1, a: 1 }, { t: 1 }, { t: -1 }, {}]), _id: random.of([1, -1]) });
  const update = () => random.of([
    () => ({ $set: { a: value() } }), () => ({ $set: { b: value() }, $inc: { n: 1 } }), () => ({ $unset: { a: 1 } }), () => ({ $inc: { n: random.below(9) } }),
    () => [{ $set: { a: '$b' } }], () => ({ $rename: { a: 'c' } }),
  ])();
  return { document, filter, sort, update };
}

for (const key of [{ a: 'hashed' }, { a: 1 }, { _id: 'hashed' }, { b: 1, a: 'hashed' }]) {
  test(`sharded by ${JSON.stringify(key)}, seed ${seed}`, async () => {
    const random = randomOf(seed);
    const g = generator(random);
    const name = Object.entries(key).flat().join('_');
    await admin.command({ shardCollection: `test.${name}`, key });
    const sharded = db.collection(name);
    const plain = db.collection(`${name}_plain`);
    const both = [sharded, plain];
    const documents = times(250, g.document);
    await admin.command({ balancerStop: 1 });  // it might cut at the same keys
    for (const c of both) {
      await c.createIndex({ n: 1 });
      await c.createIndex({ t: 1, a: 1 });
      await c.insertMany(documents);
    }
    if (Object.values(key)[0] === 1) {  // spread by hand
      const bound = (first) => Object.fromEntries(Object.keys(key).map((field, i) => [field, i === 0 ? first : new MinKey()]));
      for (let i = 1; i < 5; ++i) {
        await admin.command({ split: `test.${name}`, middle: bound(i * 1.5) });
        await admin.command({ moveChunk: `test.${name}`, find: { [Object.keys(key)[0]]: i * 1.5 }, to: `shard${i}` });
      }
    }
    const stats = await sharded.aggregate([{ $collStats: { count: {} } }]).toArray();
    assert.ok(stats.filter((row) => row.count > 0).length > 1, 'nothing was spread');
    const same = async (what, ask) => {
      const [left, right] = await Promise.all(both.map((c) => ask(c).catch((error) => ({ code: error.code }))));
      eq(left, right, `${JSON.stringify(what)}, seed ${seed}`);
    };
    for (let i = 0; i < 300; ++i) {
      const filter = g.filter();
      const sort = g.sort();
      const skip = random.chance(0.3) ? random.below(60) : 0;
      const limit = random.chance(0.5) ? 1 + random.below(40) : 0;
      const projection = random.of([{}, {}, { _id: 1 }, { n: 1, _id: 0 }, { a: 0 }]);
      const batchSize = 1 + random.below(50);
      const update = g.update();
      switch (random.below(14)) {
        case 0:
        case 1:
        case 2:
        case 3: await same({ filter, sort, skip, limit, projection }, (c) => c.find(filter, { sort, skip, limit, projection, batchSize }).toArray()); break;
        case 4: await same({ count: filter, skip, limit }, (c) => c.countDocuments(filter, { skip, ...(limit ? { limit } : {}) })); break;
        case 5: await same({ distinct: filter }, async (c) => (await c.distinct('n', filter)).sort((x, y) => x - y)); break;
        case 6: await same({ group: filter }, (c) => c.aggregate([{ $match: filter }, { $group: { _id: '$b', n: { $sum: '$n' }, c: { $sum: 1 } } }, { $sort: { _id: 1 } }]).toArray()); break;
        case 7: await same({ pipeline: filter, sort, skip, limit }, (c) => c.aggregate([{ $match: filter }, { $sort: sort }, { $skip: skip }, { $limit: limit || 1000 }, { $project: { n: 1 } }], { batchSize }).toArray()); break;
        case 8: await same({ lookup: filter }, (c) => c.aggregate([{ $match: filter }, { $sort: { _id: 1 } }, { $limit: 10 }, { $lookup: { from: c.collectionName, localField: 'n', foreignField: 'n', as: 'j' } }, { $project: { j: { $size: '$j' } } }]).toArray()); break;
        case 9: await same({ updateMany: filter, update }, (c) => c.updateMany(filter, update).then((r) => [r.matchedCount, r.modifiedCount])); break;
        case 10: await same({ findOneAndUpdate: filter, sort, update }, (c) => c.findOneAndUpdate(filter, update, { sort, returnDocument: 'after' })); break;
        case 11: await same({ findOneAndDelete: filter, sort }, (c) => c.findOneAndDelete(filter, { sort })); break;
        case 12: {
          const inserted = g.document(random.below(400));
          await same({ insert: inserted }, (c) => c.insertOne({ ...inserted }).then(() => 'ok'));
          break;
        }
        default: {
          const replacement = g.document(0);
          const _id = random.below(400);
          delete replacement._id;
          await same({ replace: _id, replacement }, (c) => c.replaceOne({ _id }, replacement, { upsert: true }).then((r) => [r.matchedCount, r.upsertedCount]));
        }
      }
    }
    await same('all of them', (c) => c.find({}).sort({ _id: 1 }).toArray());
    const { valid, errors } = await db.command({ validate: name, full: true });
    eq([valid, errors], [true, []]);
  });
}
