// The storefront of the seed on a sharded server: its own script in mongosh, and for each operation the shards it needs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Decimal128, Long, ObjectId } from 'mongodb';
import { fails, serve, times } from '../lib/fixture.mjs';
import { shellFor } from '../lib/mongosh.mjs';
import { seedScript } from '../lib/seed_script.mjs';

const shards = 8;
const f = await serve(['--shards', String(shards)]);
const eq = assert.deepEqual;
const db = f.client.db('somedb');
// Documents are counted by shard, and shards are told apart: nothing may move in between.
await f.admin.command({ balancerStop: 1 });
const { typed } = await shellFor(f.server.uri);

/** Documents per shard, by name; shards without any are there too. */
async function spread(name, from = db) {
  const rows = await from.collection(name).aggregate([{ $collStats: { count: {} } }]).toArray();
  return Object.fromEntries(rows.map(({ shard, count }) => [shard, count]));
}
const skew = (counts) => Math.max(...Object.values(counts)) / (Object.values(counts).reduce((a, b) => a + b, 0) / shards);

/** What explain says of a command: the router's stage, the shards' names, and the stages of the first. */
async function explain(command, verbosity = 'executionStats') {
  const reply = await db.command({ explain: command, verbosity });
  const plan = reply.queryPlanner.winningPlan;
  const stages = [];
  for (let stage = plan.shards[0].winningPlan; stage; stage = stage.inputStage) stages.push(stage);
  return { stage: plan.stage, shards: plan.shards.map((shard) => shard.shardName), stages, names: stages.map((s) => s.stage), stats: reply.executionStats, plan };
}

const user = (i) => new ObjectId(String(i).padStart(24, '0'));
const order = (i) => ({
  _id: i, order_id: `ORD-2025-${String(i).padStart(8, '0')}`, user_id: user(i % 40), created_at: new Date(1735646400000 + i * 1000), status: 'created', geo_zone: 'EU',
  items: [{ product_id: i % 100, price: Decimal128.fromString('10.50'), qty: 2 }], total_amount: Decimal128.fromString('21.00'), currency: 'EUR',
});
const product = (i) => ({
  _id: i, name: `Product ${i}`, category: `c${i % 5}`, price: (i * 37) % 1000, stock_by_geo: [{ geo_zone: 'EU', qty: 5 }, { geo_zone: 'US', qty: 1 }], attrs: { color: 'red' }, updated_at: new Date(0),
});

test("the seed's script runs unchanged in mongosh", async () => {
  const output = await typed(seedScript);
  const text = output.join('\n');
  assert.doesNotMatch(text, /Error/, text);
  for (const name of ['orders', 'products', 'carts']) assert.match(text, new RegExp(`collectionsharded: 'somedb.${name}'`));
  const collections = await f.client.db('config').collection('collections').find({ _id: /^somedb/ }).sort({ _id: 1 }).toArray();
  eq(collections.map(({ _id, key }) => [_id, key]), [
    ['somedb.carts', { user_id: 'hashed' }], ['somedb.orders', { user_id: 'hashed' }], ['somedb.products', { _id: 'hashed' }],
  ]);
  for (const { uuid } of collections) {
    eq(await f.client.db('config').collection('chunks').countDocuments({ uuid }), 2 * shards);
  }
});

test('shardCollection says which unique indexes reach further than MongoDB would let them', async () => {
  const reply = await f.admin.command({ shardCollection: 'somedb.orders', key: { user_id: 'hashed' } });
  assert.match(reply.note, /order_id_1/);
  await f.admin.command({ shardCollection: 'somedb.noted', key: { a: 1 } });
  const created = await db.command({ createIndexes: 'noted', indexes: [{ key: { b: 1 }, name: 'b_1', unique: true }] });
  assert.match(created.note, /b_1/);
  // One that has the shard key in front is MongoDB's own.
  const plain = await db.command({ createIndexes: 'noted2', indexes: [{ key: { a: 1, c: 1 }, name: 'a_1_c_1', unique: true }] });
  assert.equal(plain.note, undefined);
  const sharded = await f.admin.command({ shardCollection: 'somedb.noted2', key: { a: 1 } });
  assert.equal(sharded.note, undefined);
});

test('orders: a user is one shard, an order number is all of them', async () => {
  const orders = db.collection('orders');
  await orders.insertMany(times(4000, order));
  const history = { find: 'orders', filter: { user_id: user(7) }, sort: { created_at: -1 }, limit: 10 };
  const first = await explain(history);
  assert.equal(first.stage, 'SINGLE_SHARD');
  assert.equal(first.shards.length, 1);
  eq(first.names, ['LIMIT', 'FETCH', 'IXSCAN']);  // in the order of the index, no sort
  eq(first.stages.at(-1).keyPattern, { user_id: 1, created_at: -1 });
  eq([first.stats.nReturned, first.stats.totalDocsExamined], [10, 10]);
  // Page by page, newest first, to the end.
  const seen = [];
  for (let skip = 0; ; skip += 10) {
    const page = await orders.find({ user_id: user(7) }).sort({ created_at: -1 }).skip(skip).limit(10).toArray();
    if (page.length === 0) break;
    seen.push(...page.map((o) => o._id));
    assert.equal((await explain({ ...history, skip })).stage, 'SINGLE_SHARD');
  }
  eq(seen, times(100, (i) => 7 + 40 * (99 - i)));

  for (const filter of [{ user_id: user(7), _id: 47 }, { user_id: user(7), order_id: order(47).order_id }]) {
    const one = await explain({ find: 'orders', filter, limit: 1 });
    eq([one.stage, one.shards, one.stats.nReturned], ['SINGLE_SHARD', first.shards, 1]);
  }
  for (const filter of [{ _id: 47 }, { order_id: order(47).order_id }]) {
    const one = await explain({ find: 'orders', filter });
    eq([one.stage, one.shards.length, one.stats.nReturned], ['SHARD_MERGE', shards, 1]);
    assert.ok(one.stats.totalDocsExamined <= 1);
    eq((await orders.findOne(filter)).order_id, order(47).order_id);
  }
  for (const command of [{ count: 'orders', query: { user_id: user(7) } }, { distinct: 'orders', key: 'status', query: { user_id: user(7) } }]) {
    eq((await explain(command)).shards, first.shards);
  }
  const status = { update: 'orders', updates: [{ q: { user_id: user(7), _id: 47 }, u: { $set: { status: 'paid' } } }] };
  const written = await explain(status, 'queryPlanner');
  eq([written.stage, written.shards], ['SHARD_WRITE', first.shards]);
  const grouped = await db.command({ explain: { aggregate: 'orders', pipeline: [{ $match: { user_id: user(7) } }, { $group: { _id: '$status', n: { $sum: 1 } } }], cursor: {} } });
  eq(Object.keys(grouped.shards), first.shards);
  // A report over all users asks all shards.
  const report = await db.command({ explain: { aggregate: 'orders', pipeline: [{ $match: { created_at: { $gt: new Date(0) } } }, { $group: { _id: null, n: { $sum: 1 } } }], cursor: {} } });
  eq(Object.keys(report.shards).length, shards);
  eq(await orders.aggregate([{ $group: { _id: '$user_id', n: { $sum: 1 } } }, { $group: { _id: '$n', users: { $sum: 1 } } }]).toArray(), [{ _id: 100, users: 40 }]);
});

test('an order number is unique over all shards', async () => {
  const orders = db.collection('orders');
  const counts = await spread('orders');
  // Forty users of eight shards: at least one is elsewhere.
  for (let i = 0; i < 40; ++i) {
    const error = await fails(orders.insertOne({ order_id: order(47).order_id, user_id: user(i) }), 11000, /order_id_1/);
    eq(error.keyValue, { order_id: order(47).order_id });
  }
  await fails(orders.updateOne({ _id: 48 }, { $set: { order_id: order(47).order_id } }), 11000);
  await fails(orders.insertOne({ ...order(47), order_id: 'new', user_id: user(8) }), 11000, /_id_/);
  eq(await spread('orders'), counts);
});

test('products: the card and the stock are one shard, the catalogue is all, merged in order', async () => {
  const products = db.collection('products');
  await products.insertMany(times(2000, product));
  const card = await explain({ find: 'products', filter: { _id: 77 } });
  eq([card.stage, card.shards.length, card.names], ['SINGLE_SHARD', 1, ['IDHACK']]);

  const decrement = { q: { _id: 77, stock_by_geo: { $elemMatch: { geo_zone: 'EU', qty: { $gte: 1 } } } }, u: { $inc: { 'stock_by_geo.$.qty': -1 } } };
  const write = await explain({ update: 'products', updates: [decrement] });
  eq([write.stage, write.shards], ['SHARD_WRITE', card.shards]);
  eq((await products.findOne({ _id: 77 })).stock_by_geo[0].qty, 5);  // explain has changed nothing
  const taken = await Promise.all(times(12, () => products.updateOne(decrement.q, decrement.u)));
  eq(taken.reduce((n, { modifiedCount }) => n + modifiedCount, 0), 5);
  eq((await products.findOne({ _id: 77 })).stock_by_geo, [{ geo_zone: 'EU', qty: 0 }, { geo_zone: 'US', qty: 1 }]);

  const filter = { category: 'c3', price: { $gte: 100, $lte: 700 } };
  const expected = times(2000, product).filter((p) => p.category === 'c3' && p.price >= 100 && p.price <= 700)
    .sort((a, b) => a.price - b.price || a._id - b._id).map((p) => p._id);
  const page = await explain({ find: 'products', filter, sort: { price: 1, _id: 1 }, skip: 20, limit: 10 });
  eq([page.stage, page.shards.length], ['SHARD_MERGE_SORT', shards]);
  for (const shard of page.plan.shards) {  // none is asked for more than could be needed of it
    eq(shard.winningPlan.limitAmount, 30);
  }
  const byIndex = await explain({ find: 'products', filter, sort: { category: 1, price: 1 }, limit: 10 });
  eq([byIndex.stage, byIndex.names], ['SHARD_MERGE_SORT', ['LIMIT', 'FETCH', 'IXSCAN']]);
  eq([byIndex.stages[0].limitAmount, byIndex.stats.nReturned], [10, 10]);
  assert.ok(byIndex.stats.totalDocsExamined <= 10 * shards, String(byIndex.stats.totalDocsExamined));
  const unsorted = await explain({ find: 'products', filter });
  eq([unsorted.stage, unsorted.shards.length], ['SHARD_MERGE', shards]);

  const seen = [];
  for (let skip = 0; ; skip += 25) {
    const rows = await products.find(filter).sort({ price: 1, _id: 1 }).skip(skip).limit(25).toArray();
    if (rows.length === 0) break;
    seen.push(...rows.map((p) => p._id));
  }
  eq(seen, expected);
  // Through getMore, in small batches, and downwards.
  const down = await products.find(filter).sort({ price: -1, _id: -1 }).batchSize(7).map((p) => p._id).toArray();
  eq(down, [...expected].reverse());
  const whole = await products.find({}).sort({ price: 1 }).batchSize(50).toArray();
  eq(whole.length, 2000);
  assert.ok(whole.every((p, i) => i === 0 || whole[i - 1].price <= p.price));
  // The largest limit there is, with a skip, is no limit.
  const { cursor } = await db.command({ find: 'products', filter, sort: { price: 1, _id: 1 }, limit: Long.MAX_VALUE, skip: 1, batchSize: 5000 });
  eq(cursor.firstBatch.map((p) => p._id), expected.slice(1));
});

test("carts: a user's is one shard, a session's is all", async () => {
  const carts = db.collection('carts');
  const later = new Date(Date.now() + 3600000);
  await carts.insertMany(times(200, (i) => ({ _id: i, user_id: i < 100 ? user(i) : null, session_id: i < 100 ? null : `s${i}`, status: 'active', items: [], expires_at: later })));
  const mine = await explain({ find: 'carts', filter: { user_id: user(5), status: 'active' } });
  eq([mine.stage, mine.shards.length, mine.stats.nReturned], ['SINGLE_SHARD', 1, 1]);
  const guest = await explain({ find: 'carts', filter: { session_id: 's105', status: 'active' } });
  eq([guest.stage, guest.shards.length, guest.stats.nReturned], ['SHARD_MERGE', shards, 1]);
  const add = { update: 'carts', updates: [{ q: { user_id: user(5), status: 'active' }, u: { $push: { items: { product_id: 1, qty: 1 } } } }] };
  eq((await explain(add)).shards, mine.shards);
  const both = await explain({ find: 'carts', filter: { user_id: null, session_id: 's105', status: 'active' } });
  eq([both.stage, both.shards.length, both.stats.nReturned], ['SINGLE_SHARD', 1, 1]);
  // The write without the key reaches exactly one document.
  eq((await carts.updateOne({ session_id: 's105' }, { $set: { status: 'abandoned' } })).modifiedCount, 1);
  eq(await carts.countDocuments({ status: 'abandoned' }), 1);
  eq((await carts.deleteOne({ status: 'active' })).deletedCount, 1);
  eq(await carts.countDocuments({}), 199);
});

test('100000 hashed keys lie evenly on eight shards; 100000 null keys lie on one', async () => {
  await f.admin.command({ shardCollection: 'somedb.even', key: { owner: 'hashed' } });
  await f.admin.command({ shardCollection: 'somedb.guests', key: { user_id: 'hashed' } });
  // Keys of one kind, as storefronts make them: they are spread by their hash alone, nothing is moved.
  for (let i = 0; i < 100000; i += 10000) {
    await db.collection('even').insertMany(times(10000, (j) => ({ _id: i + j, owner: `g:session-${i + j}` })));
    await db.collection('guests').insertMany(times(10000, (j) => ({ _id: i + j, user_id: null, session_id: `session-${i + j}` })));
  }
  const even = await spread('even');
  eq(Object.values(even).reduce((a, b) => a + b, 0), 100000);
  assert.ok(skew(even) <= 1.1, JSON.stringify(even));
  const guests = await spread('guests');
  eq(Object.values(guests).filter((n) => n > 0), [100000], JSON.stringify(guests));
  eq(skew(guests), shards);
  await f.admin.command({ balancerStart: 1 });
  for (const name of ['even', 'guests', 'orders', 'products', 'carts']) {
    const { valid, errors } = await db.command({ validate: name });
    eq([valid, errors], [true, []]);
  }
});
