// Recording operations for the choice of a shard key: configureQueryAnalyzer and $listSampledQueries through the driver.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fails, fill, serve, times } from '../lib/fixture.mjs';

const f = await serve();
await fill(f.db, 'orders', times(50, (_id) => ({ _id, user: _id % 5 })));
const orders = f.db.collection('orders');
const configure = (mode, samplesPerSecond) => f.admin.command({ configureQueryAnalyzer: 'test.orders', mode, samplesPerSecond }, { ignoreUndefined: true });
const samples = (options = {}) => f.admin.aggregate([{ $listSampledQueries: options }]).toArray();

test('what runs while a collection is recorded can be listed', async () => {
  assert.deepEqual((await configure('full', 50)).newConfiguration, { mode: 'full', samplesPerSecond: 50 });
  await orders.find({ user: 1 }).sort({ _id: -1 }).toArray();
  await orders.countDocuments({ user: 2 });
  await orders.insertMany([{ user: 7 }, { user: 8 }]);
  await orders.updateOne({ _id: 3 }, { $set: { paid: true } });
  await orders.bulkWrite([{ deleteOne: { filter: { _id: 4 } } }, { deleteMany: { filter: { user: 9 } } }]);
  await orders.findOneAndUpdate({ _id: 5 }, { $inc: { n: 1 } });
  const { oldConfiguration, newConfiguration } = await configure('off');
  assert.deepEqual([oldConfiguration, newConfiguration], [{ mode: 'full', samplesPerSecond: 50 }, { mode: 'off' }]);
  await orders.find({ user: 'not recorded' }).toArray();

  const rows = await samples({ namespace: 'test.orders' });
  assert.deepEqual(rows.map(({ cmdName, cmd }) => [cmdName, cmd]), [
    ['find', { filter: { user: 1 }, sort: { _id: -1 } }],
    ['aggregate', { filter: { user: 2 } }],
    ['insert', { insert: 'orders', documents: 2 }],
    ['update', { update: 'orders', updates: [{ q: { _id: 3 }, u: { $set: { paid: true } } }] }],
    ['delete', { delete: 'orders', deletes: [{ q: { _id: 4 }, limit: 1 }, { q: { user: 9 }, limit: 0 }] }],
    ['findAndModify', { findAndModify: 'orders', query: { _id: 5 }, remove: false, new: false, upsert: false, update: { $inc: { n: 1 } } }],
  ]);
  const [{ info }] = await f.db.listCollections({ name: 'orders' }).toArray();
  for (const row of rows) {
    assert.deepEqual(Object.keys(row), ['_id', 'ns', 'collectionUuid', 'cmdName', 'cmd', 'expireAt']);
    assert.equal(row.ns, 'test.orders');
    assert.deepEqual(row.collectionUuid, info.uuid);
    assert.ok(row.expireAt > new Date());
  }
  assert.equal(new Set(rows.map(({ _id }) => _id.toString())).size, rows.length);
  assert.deepEqual(await samples({ namespace: 'test.other' }), []);
  assert.equal((await samples()).length, rows.length);
});

test('no more than so many a second', async () => {
  const before = (await samples()).length;
  await configure('full', 0.01);
  for (let i = 0; i < 20; ++i) await orders.findOne({ _id: i });
  await configure('off', 50);
  assert.equal((await samples()).length, before + 1);
});

test('mistakes', async () => {
  await fails(f.db.command({ configureQueryAnalyzer: 'test.orders', mode: 'off' }), 13);
  await fails(f.admin.command({ configureQueryAnalyzer: 'test.nothing', mode: 'full', samplesPerSecond: 1 }), 26);
  await fails(configure('half', 1), 2);
  await fails(configure('full'), 72);
  await fails(configure('full', 51), 72);
  await fails(f.db.aggregate([{ $listSampledQueries: {} }]).toArray(), 73);
  await fails(samples({ namespace: 1 }), 14);
});
