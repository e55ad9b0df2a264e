// Collections and databases: create, list, rename, drop; and what the server tells of itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MongoClient } from 'mongodb';
import { all, fails, fill, serve, times } from '../lib/fixture.mjs';

const f = await serve();
const eq = assert.deepEqual;
const rename = (from, to, options = {}) => f.admin.command({ renameCollection: from, to, ...options });

test('listDatabases: shape, nameOnly, filter; a dropped database is gone', async () => {
  for (const name of ['db_one', 'db_two']) await f.client.db(name).collection('c').insertOne({ a: 1 });
  const full = await f.admin.command({ listDatabases: 1 });
  const one = full.databases.find((d) => d.name === 'db_one');
  assert.equal(one.empty, false);
  assert.equal(typeof one.sizeOnDisk, 'number');
  assert.equal(typeof full.totalSize, 'number');
  const named = await f.admin.command({ listDatabases: 1, nameOnly: true, filter: { name: /^db_/ } });
  eq(named.databases, [{ name: 'db_one' }, { name: 'db_two' }]);
  eq((await f.client.db('db_one').command({ dropDatabase: 1 })).dropped, 'db_one');
  eq((await f.admin.command({ listDatabases: 1, nameOnly: true, filter: { name: 'db_one' } })).databases, []);
  eq(await f.client.db('db_one').collection('c').find().toArray(), []);
});

test('listCollections: shape, options, nameOnly, filter', async () => {
  const db = f.client.db('lists');
  const validator = { a: { $gt: 0 } };
  await db.createCollection('plain');
  await db.createCollection('strict', { validator, validationLevel: 'moderate', collation: { locale: 'fr' } });
  const [plain, strict] = await db.listCollections().toArray();
  eq([plain.name, plain.type, plain.options, plain.info.readOnly, plain.idIndex], ['plain', 'collection', {}, false, { v: 2, key: { _id: 1 }, name: '_id_' }]);
  assert.equal(plain.info.uuid.sub_type, 4);
  eq([strict.options.validator, strict.options.validationLevel, strict.options.collation.locale], [validator, 'moderate', 'fr']);
  eq(await db.listCollections({ name: 'plain' }, { nameOnly: true }).toArray(), [{ name: 'plain', type: 'collection' }]);
});

test('listIndexes tells every option of an index', async () => {
  const c = await fill(f.db, 'options', [{ _id: 1 }]);
  await c.createIndex({ a: 1, b: -1 }, { unique: true, sparse: true, name: 'ab' });
  await c.createIndex({ p: 1 }, { partialFilterExpression: { p: { $gt: 1 } } });
  await c.createIndex({ t: 1 }, { expireAfterSeconds: 5 });
  await c.createIndex({ h: 'hashed' }, { hidden: true });
  eq((await c.indexes()).map(({ v, ...rest }) => rest), [
    { key: { _id: 1 }, name: '_id_' },
    { key: { a: 1, b: -1 }, name: 'ab', unique: true, sparse: true },
    { key: { p: 1 }, name: 'p_1', partialFilterExpression: { p: { $gt: 1 } } },
    { key: { t: 1 }, name: 't_1', expireAfterSeconds: 5 },
    { key: { h: 'hashed' }, name: 'h_hashed', hidden: true },
  ]);
});

test('create is idempotent for the same options, an error for others; drop tells what was there', async () => {
  await fill(f.db, 'made', []);
  await f.db.createCollection('made');
  assert.equal((await f.db.command({ create: 'made' })).ok, 1);
  await fails(f.db.command({ create: 'made', validator: { a: 1 } }), 48);
  await f.db.collection('made').createIndex({ a: 1 });
  const reply = await f.db.command({ drop: 'made' });
  eq([reply.ns, reply.nIndexesWas], ['test.made', 2]);
});

test('renameCollection keeps documents and indexes, across databases and over a target', async () => {
  const c = await fill(f.db, 'from', times(10, (_id) => ({ _id, a: _id })));
  await c.createIndex({ a: 1 }, { unique: true });
  await rename('test.from', 'test.to');
  const to = f.db.collection('to');
  eq([await c.countDocuments(), await to.countDocuments()], [0, 10]);
  await fails(to.insertOne({ a: 5 }), 11000, /test\.to/);
  await fill(f.db, 'target', [{ _id: 'gone' }]);
  await fails(rename('test.to', 'test.target'), 48);
  await rename('test.to', 'test.target', { dropTarget: true });
  eq((await all(f.db.collection('target'))).length, 10);
  eq((await f.db.collection('target').indexes()).map((i) => i.name), ['_id_', 'a_1']);
  await fails(rename('test.nosuch', 'test.x'), 26);
  await fails(rename('test.target', 'test.target'), 20);
  await fails(rename('test.target', 'test.a$b'), 73);
});

test('collMod changes a validator, and listCollections shows it', async () => {
  await fill(f.db, 'modified', [{ _id: 1 }]);
  await f.db.command({ collMod: 'modified', validator: { a: { $exists: true } }, validationLevel: 'moderate' });
  await fails(f.db.collection('modified').insertOne({ b: 1 }), 121);
  const [{ options }] = await f.db.listCollections({ name: 'modified' }).toArray();
  eq([options.validator, options.validationLevel], [{ a: { $exists: true } }, 'moderate']);
  await fails(f.db.command({ collMod: 'modified', index: { name: 'nosuch', hidden: true } }), 27);
});

test('collStats, dbStats, $collStats and validate count what is there', async () => {
  const db = f.client.db('figures');
  const c = await fill(db, 'c', times(100, (_id) => ({ _id, a: _id })));
  await c.createIndex({ a: 1 });
  const bytes = 100 * (4 + 9 + 7 + 1);  // length, _id: int32, a: int32, end
  const stats = await db.command({ collStats: 'c' });
  eq([stats.ns, stats.count, stats.size, stats.avgObjSize, stats.nindexes, Object.keys(stats.indexSizes)], ['figures.c', 100, bytes, bytes / 100, 2, ['_id_', 'a_1']]);
  assert.equal((await db.command({ collStats: 'c', scale: 10 })).size, bytes / 10);
  const total = await db.command({ dbStats: 1 });
  eq([total.db, total.collections, total.objects, total.dataSize, total.indexes], ['figures', 1, 100, bytes, 2]);
  const [row] = await c.aggregate([{ $collStats: { storageStats: {}, count: {} } }]).toArray();
  eq([row.ns, row.count, row.storageStats.count, row.storageStats.size], ['figures.c', 100, 100, bytes]);
  const checked = await db.command({ validate: 'c', full: true });
  eq([checked.valid, checked.nrecords, checked.nIndexes, checked.errors], [true, 100, 2, []]);
  assert.equal((await db.command({ collStats: 'nosuch' })).count, 0);
});

test('the server tells of itself', async () => {
  const status = await f.admin.command({ serverStatus: 1 });
  for (const field of ['host', 'version', 'process', 'pid', 'uptime', 'connections', 'network', 'opcounters', 'metrics', 'storageEngine', 'mem']) assert.ok(field in status, field);
  assert.equal(status.pid, f.server.pid);
  await f.db.collection('counted').insertMany([{}, {}, {}]);
  const later = await f.admin.command({ serverStatus: 1 });
  assert.equal(later.metrics.document.inserted - status.metrics.document.inserted, 3);
  assert.ok(later.network.numRequests > status.network.numRequests);
  const grown = (path) => path.reduce((of, name) => of[name], later) - path.reduce((of, name) => of?.[name] ?? 0, status);
  await fails(f.db.collection('counted').findOne({ $bogus: 1 }), 2);
  const { metrics } = await f.admin.command({ serverStatus: 1 });
  eq([grown(['metrics', 'commands', 'insert', 'total']), grown(['opLatencies', 'writes', 'ops'])], [1, 1]);
  eq(metrics.commands.find.failed - (later.metrics.commands.find?.failed ?? 0), 1);
  for (const { ops, histogram } of Object.values(later.opLatencies)) eq(histogram.reduce((sum, { count }) => sum + count, 0), ops);

  const host = await f.admin.command({ hostInfo: 1 });
  assert.ok(host.system.numCores >= 1 && host.system.memSizeMB > 0 && host.os.type === 'Linux');
  eq((await f.admin.command({ getLog: '*' })).names, ['global', 'startupWarnings']);
  assert.ok(Array.isArray((await f.admin.command({ getLog: 'startupWarnings' })).log));
  await fails(f.admin.command({ getLog: 'nosuch' }), 96);
  const { parsed } = await f.admin.command({ getCmdLineOpts: 1 });
  assert.equal(parsed.storage.dbPath, f.server.store);
  eq((await f.admin.command({ getParameter: 1, featureCompatibilityVersion: 1 })).featureCompatibilityVersion, { version: '7.0' });
  assert.ok(Object.keys(await f.admin.command({ getParameter: '*' })).length > 3);
  await fails(f.admin.command({ getParameter: 1, nosuch: 1 }), 72);
  eq((await f.db.command({ connectionStatus: 1 })).authInfo, { authenticatedUsers: [], authenticatedUserRoles: [] });
  const build = await f.db.command({ buildInfo: 1 });
  eq([build.versionArray.join('.').startsWith(build.version), build.maxBsonObjectSize, build.bits], [true, 16777216, 64]);
  assert.match((await f.db.command({ whatsmyuri: 1 })).you, /^127\.0\.0\.1:\d+$/);
  const { commands } = await f.db.command({ listCommands: 1 });
  assert.ok(commands.find && commands.insert && !commands.mapReduce);
});

test('hello presents a mongos', async () => {
  const hello = await f.db.command({ hello: 1 });
  eq([hello.isWritablePrimary, hello.msg, hello.minWireVersion, hello.maxBsonObjectSize, hello.maxMessageSizeBytes, hello.maxWriteBatchSize, hello.logicalSessionTimeoutMinutes],
    [true, 'isdbgrid', 0, 16777216, 48000000, 100000, 30]);
  assert.ok(hello.maxWireVersion >= 21 && Number.isInteger(hello.connectionId));
  assert.equal((await f.db.command({ isMaster: 1 })).ismaster, true);
});

test('sessions: start, refresh, list, end', async () => {
  const { id, timeoutMinutes } = await f.admin.command({ startSession: 1 });
  eq([id.id.sub_type, timeoutMinutes], [4, 30]);
  assert.equal((await f.admin.command({ refreshSessions: [id] })).ok, 1);
  const active = async () => (await f.admin.command({ serverStatus: 1 })).logicalSessionRecordCache.activeSessionsCount;
  const before = await active();
  assert.equal((await f.admin.command({ endSessions: [id] })).ok, 1);
  assert.equal(await active(), before - 1);
});

test('Node compresses with zlib, and large documents survive it', async () => {
  const client = await new MongoClient(f.server.uri, { compressors: ['zlib'], zlibCompressionLevel: 9, monitorCommands: true }).connect();
  const documents = times(50, (_id) => ({ _id, text: 'braid '.repeat(5000), noise: times(500, (i) => Math.sin(i * _id)) }));
  const c = await fill(client.db('test'), 'compressed', documents);
  const before = (await f.admin.command({ serverStatus: 1 })).network.bytesOut;
  eq(await all(c), documents);
  // 50 documents of 36 kB: most of it is text that repeats.
  assert.ok((await f.admin.command({ serverStatus: 1 })).network.bytesOut - before < 600000, 'the reply was not compressed');
  await client.close();
});
