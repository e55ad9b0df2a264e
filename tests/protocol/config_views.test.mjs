// The database config: what it tells of the cluster, read in every way; and that it stays as it is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fails, fill, serve, times } from '../lib/fixture.mjs';

const f = await serve(['--shards', '3']);
const eq = assert.deepEqual;
const config = f.client.db('config');
const views = ['chunks', 'collections', 'databases', 'locks', 'migrations', 'mongos', 'shards', 'tags', 'version'];
const port = f.server.uri.match(/:(\d+)/)[1];

await fill(f.db, 'plain', times(10, (i) => ({ _id: i })));
await f.admin.command({ shardCollection: 'test.sharded', key: { k: 'hashed' } });
await f.db.collection('sharded').insertMany(times(300, (i) => ({ _id: i, k: i })));

/** The names of a document's fields with the names of their types. */
const types = (document) => Object.fromEntries(Object.entries(document).map(([name, value]) => [name, value?._bsontype ?? (Array.isArray(value) ? 'Array' : value?.constructor?.name)]));

test('version, shards and mongos tell what the cluster is', async () => {
  const [version, ...others] = await config.collection('version').find().toArray();
  eq([others, types(version)], [[], { _id: 'Number', clusterId: 'ObjectId' }]);
  const shards = await config.collection('shards').find().sort({ _id: 1 }).toArray();
  eq(shards.map((s) => [s._id, s.state, types(s)]), ['shard0', 'shard1', 'shard2'].map((name) => [name, 1, { _id: 'String', host: 'String', state: 'Number', topologyTime: 'Timestamp' }]));
  assert.match(shards[0].host, new RegExp(`^shard0/.+:${port}$`));
  eq((await f.admin.command({ listShards: 1 })).shards, shards);
  const [mongos] = await config.collection('mongos').find({}, { promoteLongs: false }).toArray();
  eq(types(mongos), { _id: 'String', advisoryHostFQDNs: 'Array', created: 'Date', mongoVersion: 'String', ping: 'Date', up: 'Long', waiting: 'Boolean' });
  assert.match(mongos.mongoVersion, /^7\.0\./);
});

test('databases, collections and chunks tell where data lies', async () => {
  const database = await config.collection('databases').findOne({ _id: 'test' });
  eq([types(database), types(database.version)], [{ _id: 'String', primary: 'String', version: 'Object' }, { uuid: 'Binary', timestamp: 'Timestamp', lastMod: 'Number' }]);
  eq(await config.collection('databases').countDocuments({ _id: { $in: ['admin', 'config', 'local'] } }), 0);
  eq(await config.collection('collections').distinct('_id'), ['test.sharded']);
  const [info] = await f.db.listCollections({ name: 'sharded' }).toArray();
  const collection = await config.collection('collections').findOne({ _id: 'test.sharded' });
  eq(types(collection), { _id: 'String', lastmodEpoch: 'ObjectId', lastmod: 'Date', timestamp: 'Timestamp', uuid: 'Binary', key: 'Object', unique: 'Boolean', noBalance: 'Boolean' });
  eq([collection.key, collection.unique, collection.noBalance], [{ k: 'hashed' }, false, false]);
  eq(collection.uuid.toString(), info.info.uuid.toString());
  const chunks = await config.collection('chunks').find({ uuid: collection.uuid }).sort({ min: 1 }).toArray();
  assert.equal(chunks.length, 6);
  for (const chunk of chunks) {
    eq(types(chunk), { _id: 'ObjectId', uuid: 'Binary', min: 'Object', max: 'Object', shard: 'String', lastmod: 'Timestamp', onCurrentShardSince: 'Timestamp', history: 'Array' });
    eq(chunk.history, [{ validAfter: chunk.onCurrentShardSince, shard: chunk.shard }]);
  }
  eq([chunks[0].min.k._bsontype, chunks[5].max.k._bsontype], ['MinKey', 'MaxKey']);
  chunks.slice(1).forEach((chunk, i) => eq(chunk.min, chunks[i].max));
});

test('views are read as any collection is', async () => {
  const chunks = config.collection('chunks');
  eq((await chunks.find({}, { batchSize: 2 }).toArray()).length, 6);
  eq([await chunks.countDocuments(), await chunks.estimatedDocumentCount(), await chunks.countDocuments({ shard: 'shard1' })], [6, 6, 2]);
  eq(await chunks.distinct('shard'), ['shard0', 'shard1', 'shard2']);
  eq(await chunks.aggregate([{ $group: { _id: '$shard', n: { $sum: 1 } } }, { $match: { n: 2 } }, { $count: 'shards' }]).toArray(), [{ shards: 3 }]);
  eq((await chunks.find({ shard: 'shard0' }, { projection: { _id: 0, shard: 1 }, limit: 1 }).toArray()), [{ shard: 'shard0' }]);
  const explained = await chunks.find({ shard: 'shard0' }).explain('executionStats');
  eq([explained.executionStats.totalDocsExamined, explained.executionStats.nReturned], [6, 2]);
  eq(explained.queryPlanner.winningPlan.shards[0].winningPlan.stage, 'COLLSCAN');
  eq(Object.keys((await chunks.aggregate([{ $group: { _id: '$shard' } }]).explain()).stages[0]), ['$cursor']);
  eq((await config.command({ explain: { count: 'chunks', query: {} }, verbosity: 'executionStats' })).ok, 1);
  eq(await chunks.indexes(), [{ v: 2, key: { _id: 1 }, name: '_id_' }]);
  eq((await config.command({ collStats: 'chunks' })).count, 6);
  const [stats] = await chunks.aggregate([{ $collStats: { storageStats: {}, count: {} } }]).toArray();
  eq([stats.count, stats.storageStats.count, stats.storageStats.nindexes], [6, 6, 1]);
  for (const name of ['locks', 'migrations', 'tags']) eq(await config.collection(name).find().toArray(), []);
});

test('views are listed', async () => {
  const listed = await config.listCollections().toArray();
  const names = listed.map(({ name }) => name);
  eq(views.filter((name) => !names.includes(name)), []);
  eq(names, [...names].sort());
  assert.equal(new Set(listed.map(({ info }) => info.uuid.toString())).size, listed.length);
  const { databases } = await f.admin.command({ listDatabases: 1, nameOnly: true });
  assert.ok(databases.some(({ name }) => name === 'config'));
});

test('nobody writes into a view', async () => {
  for (const name of views) {
    const view = config.collection(name);
    await fails(view.insertOne({ a: 1 }), 166, new RegExp(`config\\.${name}`));
    await fails(view.deleteMany({}), 166);
    await fails(view.updateMany({ nothing: 1 }, { $set: { a: 1 } }, { upsert: true }), 166);
    await fails(view.findOneAndDelete({}), 166);
    await fails(view.createIndex({ a: 1 }), 166);
    await fails(config.createCollection(name), 166);
    await fails(config.command({ drop: name }), 166);
  }
  await fails(f.db.collection('plain').aggregate([{ $out: { db: 'config', coll: 'chunks' } }]).toArray(), 31321);
  await fails(f.db.collection('plain').aggregate([{ $merge: { into: { db: 'config', coll: 'chunks' } } }]).toArray(), 31320);
});

test('settings are stored', async () => {
  const settings = config.collection('settings');
  await settings.updateOne({ _id: 'balancer' }, { $set: { activeWindow: { start: '1:00', stop: '2:00' } } }, { upsert: true });
  eq(await settings.findOne({ _id: 'balancer' }, { projection: { _id: 0 } }), { activeWindow: { start: '1:00', stop: '2:00' } });
  await settings.deleteMany({});
});

test('noBalance is what can be set in collections', async () => {
  const collections = config.collection('collections');
  const set = (change, options) => collections.updateOne({ _id: 'test.sharded' }, change, options);
  eq((await set({ $set: { noBalance: true } })).modifiedCount, 1);
  eq((await collections.findOne()).noBalance, true);
  eq((await set({ $set: { noBalance: true } })).matchedCount, 1);
  eq((await collections.findOneAndUpdate({}, { $set: { noBalance: false } }, { returnDocument: 'after' })).noBalance, false);
  eq((await collections.updateOne({ _id: 'test.none' }, { $set: { noBalance: true } })).matchedCount, 0);
  for (const change of [{ $set: { key: { a: 1 } } }, { $set: { noBalance: true, more: 1 } }, { $unset: { uuid: 1 } }]) await fails(set(change), 166);
  eq((await collections.findOne()).noBalance, false);
});

test('getShardVersion, balancerCollectionStatus', async () => {
  const version = await f.admin.command({ getShardVersion: 'test.sharded', fullMetadata: true });
  const collection = await config.collection('collections').findOne();
  eq([version.versionEpoch, version.versionTimestamp], [collection.lastmodEpoch, collection.timestamp]);
  const [newest] = await config.collection('chunks').find().sort({ lastmod: -1 }).limit(1).toArray();
  eq(version.version, newest.lastmod);
  eq(version.chunks.length, 6);
  eq((await f.admin.command({ getShardVersion: 'test' })).primaryShard, (await config.collection('databases').findOne({ _id: 'test' })).primary);
  await fails(f.admin.command({ getShardVersion: 'test.plain' }), 118);
  await fails(f.admin.command({ getShardVersion: 'none' }), 26);
  await fails(f.db.command({ getShardVersion: 'test.sharded' }), 13);
  eq((await f.admin.command({ balancerCollectionStatus: 'test.sharded' })).balancerCompliant, true);
  await fails(f.admin.command({ balancerCollectionStatus: 'test.plain' }), 118);
  await fails(f.db.command({ listShards: 1 }), 13);
});

test('$shardedDataDistribution and $collStats give a figure for each shard', async () => {
  const rows = await f.admin.aggregate([{ $shardedDataDistribution: {} }, { $match: { ns: 'test.sharded' } }]).toArray();
  eq(rows.map(({ ns }) => ns), ['test.sharded']);
  eq(rows[0].shards.map(({ shardName }) => shardName).sort(), ['shard0', 'shard1', 'shard2']);
  const stats = await f.db.collection('sharded').aggregate([{ $collStats: { storageStats: {} } }]).toArray();
  for (const shard of rows[0].shards) {
    const { storageStats } = stats.find((row) => row.shard === shard.shardName);
    eq([shard.numOwnedDocuments, shard.ownedSizeBytes], [storageStats.count, storageStats.size]);
    eq([shard.numOrphanedDocs, shard.orphanedSizeBytes], [0, 0]);
  }
  eq(rows[0].shards.reduce((sum, shard) => sum + shard.numOwnedDocuments, 0), 300);
  await fails(f.admin.aggregate([{ $shardedDataDistribution: { a: 1 } }]).toArray(), 6789100);
  await fails(f.db.aggregate([{ $shardedDataDistribution: {} }]).toArray(), 73);
});

test('serverStatus tells how reads were routed', async () => {
  const routed = async () => (await f.admin.command({ serverStatus: 1 })).shardingStatistics.collections.find(({ ns }) => ns === 'test.sharded');
  const before = await routed();
  await f.db.collection('sharded').findOne({ k: 5 });
  await f.db.collection('sharded').find({ other: 5 }).toArray();
  const after = await routed();
  eq([after.targeted - before.targeted, after.scattered - before.scattered], [1, 1]);
});

test('a dropped database is forgotten', async () => {
  await f.client.db('gone').collection('c').insertOne({});
  eq(await config.collection('databases').countDocuments({ _id: 'gone' }), 1);
  await f.client.db('gone').dropDatabase();
  eq(await config.collection('databases').countDocuments({ _id: 'gone' }), 0);
});
