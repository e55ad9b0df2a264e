// Random writes to two collections, one with many indexes and one with none: every query must find the same in both.
// BRAID_SEED=… repeats a run; a failure prints its seed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Double, Long } from 'mongodb';
import { all, fill, serve } from '../lib/fixture.mjs';
import { generator, newSeed } from '../lib/random.mjs';

const f = await serve();
const seed = newSeed();
const r = generator(seed);

const fields = ['a', 'b', 'c', 'o.x', 'o.y'];
const scalar = () => r.pick([() => r.below(8), () => new Double(r.below(8) + 0.5), () => Long.fromNumber(r.below(8)), () => `s${r.below(5)}`, () => `S${r.below(5)}`, () => null, () => r.chance(2), () => new Date(r.below(5) * 1000)])();
const value = () => (r.chance(4) ? Array.from({ length: r.below(4) }, scalar) : r.chance(8) ? { x: scalar(), y: scalar() } : scalar());
const newDocument = (_id) => Object.fromEntries([['_id', _id], ...['a', 'b', 'c', 'o'].filter(() => !r.chance(5)).map((name) => [name, name === 'o' ? r.pick([{ x: value(), y: scalar() }, [{ x: scalar() }, { y: scalar() }], scalar()]) : value()])]);

function condition() {
  return r.pick([
    () => scalar(),
    () => ({ [r.pick(['$gt', '$gte', '$lt', '$lte', '$eq', '$ne'])]: scalar() }),
    () => ({ $gte: r.below(4), $lt: 4 + r.below(4) }),
    () => ({ [r.pick(['$in', '$nin'])]: [scalar(), scalar()] }),
    () => ({ $exists: r.chance(2) }),
    () => ({ $elemMatch: { $gte: r.below(6) } }),
    () => ({ $not: { $gt: r.below(6) } }),
    () => ({ $type: r.pick(['number', 'string', 'null', 'array', 'date']) }),
    () => new RegExp(`^s${r.below(3)}`),
    () => ({ $size: r.below(3) }),
  ])();
}
function filter(depth = 0) {
  const simple = () => Object.fromEntries(Array.from({ length: 1 + r.below(2) }, () => [r.pick(fields), condition()]));
  if (depth === 0 && r.chance(4)) return { [r.pick(['$or', '$and', '$nor'])]: [filter(1), filter(1)] };
  return simple();
}
const sort = () => Object.fromEntries([...Array.from({ length: r.below(3) }, () => [r.pick(fields), r.pick([1, -1])]), ['_id', 1]]);
const update = () => r.pick([
  () => ({ $set: { [r.pick(['a', 'b', 'c'])]: value() } }),
  () => ({ $unset: { [r.pick(['a', 'b', 'c', 'o'])]: '' } }),
  () => ({ $set: { o: { x: value(), y: scalar() } } }),
  () => [{ $set: { a: '$b', b: '$a' } }],
  () => ({ $rename: { b: 'c' } }),
])();

const indexes = [
  [{ a: 1 }], [{ b: -1 }], [{ a: 1, c: -1 }], [{ 'o.x': 1 }], [{ 'o.y': 1 }], [{ c: 1 }, { sparse: true, name: 'c_sparse' }],
  [{ c: 1, 'o.y': 1 }], [{ b: 1, a: 1 }, { partialFilterExpression: { a: { $gt: 2 } }, name: 'partial' }],
  [{ 'o.y': -1, _id: 1 }], [{ a: 1 }, { collation: { locale: 'en', strength: 2 }, name: 'collated' }],
];

async function both(run) {
  const outcome = (name) => run(f.db.collection(name)).then((reply) => reply, (error) => `error ${error.code}`);
  const [plain, indexed] = [await outcome('plain'), await outcome('indexed')];
  return { plain, indexed };
}

test(`seed ${seed}: queries of an indexed collection answer as those of a plain one`, async () => {
  const plainCollection = await fill(f.db, 'plain', []);
  const indexedCollection = await fill(f.db, 'indexed', []);
  for (const [key, options] of indexes) await indexedCollection.createIndex(key, options);
  let nextId = 0;
  const check = async (what, run) => {
    const { plain, indexed } = await both(run);
    assert.deepEqual(indexed, plain, `BRAID_SEED=${seed} ${what()}`);
  };
  for (let round = 0; round < 40; ++round) {
    const documents = Array.from({ length: 10 }, () => newDocument(nextId++));
    await check(() => 'insert', async (c) => (await Promise.all(documents.map((d) => c.insertOne(d).then(() => 'ok', (e) => e.code)))).filter((o) => o === 'ok' || o === 171).length);
    // Two arrays under one index are refused there alone: take them away from the other.
    const kept = (await all(indexedCollection)).map((d) => d._id);
    await plainCollection.deleteMany({ _id: { $nin: kept } });
    for (let i = 0; i < 6; ++i) {
      const _id = r.below(nextId);
      const change = update();
      const before = await indexedCollection.findOne({ _id });
      const { plain, indexed } = await both((c) => c.updateOne({ _id }, change).then((reply) => reply.modifiedCount));
      if (indexed === 'error 171' && before) await plainCollection.replaceOne({ _id }, before);
      else assert.equal(indexed, plain, `BRAID_SEED=${seed} ${JSON.stringify(change)}`);
    }
    if (r.chance(3)) {
      const query = filter();
      await check(() => `delete ${JSON.stringify(query)}`, (c) => c.find(query).sort({ _id: 1 }).limit(3).toArray().then((found) => c.deleteMany({ _id: { $in: found.map((d) => d._id) } })).then((reply) => reply.deletedCount));
    }
    for (let i = 0; i < 12; ++i) {
      const [query, order] = [filter(), sort()];
      const what = () => `${JSON.stringify(query)} sort ${JSON.stringify(order)}`;
      await check(what, (c) => c.find(query).sort(order).toArray());
      await check(what, (c) => c.find(query).sort(order).skip(r.pick([2])).limit(5).project({ a: 1 }).toArray());
      await check(what, (c) => c.countDocuments(query));
      await check(what, async (c) => (await c.find(query, { collation: { locale: 'en', strength: 2 } }).sort(order).toArray()).map((d) => d._id));
    }
  }
  assert.deepEqual(await all(indexedCollection), await all(plainCollection));
  const { valid, errors } = await f.db.command({ validate: 'indexed', full: true });
  assert.deepEqual([valid, errors], [true, []]);
  assert.ok((await indexedCollection.countDocuments()) > 100);
});
