// braid init as a program: what a driver sees of the collections it made, what it says of others, beside the seed's own script.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Decimal128, MongoClient } from 'mongodb';

import { shellFor } from '../lib/mongosh.mjs';
import { seedScript } from '../lib/seed_script.mjs';
import { binary, startServer } from '../lib/server.mjs';

const eq = assert.deepEqual;
let directory;
let server;
let client;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'braid-init-'));
  server = await startServer(['--shards', '4', '--test-commands']);
  client = await new MongoClient(server.uri).connect();
});
after(async () => {
  await client?.close();
  await server?.stop();
  if (directory) await rm(directory, { recursive: true, force: true });
});

function init(...args) {
  const { status, stdout, stderr } = spawnSync(binary, ['init', ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}
const onServer = (...args) => init('--store', server.uri, ...args);
function json(...args) {
  const { status, stdout, stderr } = onServer('--json', ...args);
  assert.equal(stdout.trimEnd().split('\n').length, 1, stdout + stderr);
  return { status, stderr, ...JSON.parse(stdout) };
}
const fields = (rows) => rows.map(({ collection, field }) => `${collection} ${field}`);

const shopKeys = {
  cart_sessions: { session_id: 'hashed' }, carts: { owner: 'hashed' }, order_ids: { _id: 'hashed' }, orders: { user_id: 'hashed' }, products: { _id: 'hashed' },
};
const shopIndexes = {
  cart_sessions: ['_id_', 'expires_at_1', 'session_id_1', 'session_id_hashed'],
  carts: ['_id_', 'expires_at_1', 'owner_1', 'owner_hashed', 'session_id_1_status_1', 'user_id_1_status_1', 'user_id_hashed'],
  order_ids: ['_id_', '_id_hashed'],
  orders: ['_id_', 'order_id_1', 'status_1_created_at_-1', 'user_id_1_created_at_-1', 'user_id_1_created_at_-1__id_-1', 'user_id_hashed'],
  products: ['_id_', '_id_hashed', 'category_1_name_1__id_1', 'category_1_price_1', 'category_1_price_1__id_1', 'updated_at_-1'],
};
async function shardKeys(database) {
  const rows = await client.db('config').collection('collections').find({ _id: { $regex: `^${database}\\.` } }).sort({ _id: 1 }).toArray();
  return Object.fromEntries(rows.map(({ _id, key }) => [_id.slice(database.length + 1), key]));
}

test('the collections of the shop, as a driver sees them', async () => {
  const before = onServer('shop', '--diff');
  assert.equal(before.status, 1);
  assert.match(before.stdout, /^shop\.orders: missing$/m);
  eq(await client.db('shop').listCollections().toArray(), []);

  const { status, stdout, stderr } = onServer('shop');
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^shop\.carts: created\nshop\.carts validator: created\nshop\.carts indexes\.owner_hashed: created$/m);
  assert.match(stdout, /^shop\.carts shard_key: created$/m);
  const collections = await client.db('shop').listCollections().toArray();
  eq(collections.map(({ name }) => name).sort(), Object.keys(shopKeys));
  for (const { name, options } of collections) assert.ok(options.validator.$jsonSchema.required.length > 0, name);
  for (const [name, indexes] of Object.entries(shopIndexes)) {
    eq((await client.db('shop').collection(name).indexes()).map((index) => index.name).sort(), indexes);
  }
  const index = async (collection, name) => (await client.db('shop').collection(collection).indexes()).find((each) => each.name === name);
  assert.equal((await index('orders', 'order_id_1')).unique, true);
  assert.equal((await index('carts', 'expires_at_1')).expireAfterSeconds, 0);
  eq((await index('carts', 'owner_1')).partialFilterExpression, { status: 'active' });
  eq(await shardKeys('shop'), shopKeys);

  const order = { order_id: 'ORD-1', user_id: 'U1', created_at: new Date(), status: 'paid', geo_zone: 'RU-MOW', currency: 'RUB',
    items: [{ product_id: 'P1', price: Decimal128.fromString('1.50'), qty: 2 }], total_amount: Decimal128.fromString('3.00') };
  await client.db('shop').collection('orders').insertOne({ ...order });
  await assert.rejects(client.db('shop').collection('orders').insertOne({ ...order, order_id: 'ORD-2', status: 'lost' }), { code: 121 });

  eq([onServer('shop', '--diff').status, onServer('shop').status], [0, 0]);
  const again = json('shop');
  eq([again.status, again.ok, again.created, again.differences, again.skipped], [0, true, [], [], []]);
  assert.equal(again.as_specified, 35);
});

test('all services, each in its database, on a directory', () => {
  const store = join(directory, 'store');
  const without = init('--store', store, '--diff');
  assert.equal(without.status, 1);
  assert.match(without.stderr, /there is no such directory/);
  assert.equal(existsSync(store), false);

  const first = init('--store', store, '--json');
  assert.equal(first.status, 0, first.stderr);
  const { ok, created } = JSON.parse(first.stdout);
  assert.equal(ok, true);
  eq([...new Set(created.map(({ database }) => database))], ['shop', 'staking', 'settlement', 'explorer']);
  eq(fields(created.filter(({ database }) => database === 'settlement')).slice(0, 2),
    ['engine_output_log collection', 'engine_output_log indexes.symbol_id_1_last_seq_1']);
  eq(JSON.parse(init('--store', store, '--json').stdout).created, []);
  assert.equal(init('--store', store, '--diff').status, 0);
});

test('what differs is named field by field and left alone', async () => {
  const db = client.db('other');
  await db.createCollection('orders', { validator: { $jsonSchema: { bsonType: 'object', properties: { status: { enum: ['new'] } } } } });
  await db.collection('orders').createIndex({ order_id: 1 });
  await db.collection('carts').createIndex({ expires_at: 1 }, { expireAfterSeconds: 3600 });
  await client.db('admin').command({ shardCollection: 'other.products', key: { category: 1 } });
  for (const args of [['--diff'], []]) {
    const { status, ok, differences, stderr } = json('shop', '--db', 'other', ...args);
    eq([status, ok], [1, false], stderr);
    const found = new Map(differences.map((row) => [`${row.collection} ${row.field}`, row]));
    const at = (key) => [found.get(key)?.database, found.get(key)?.expected, found.get(key)?.found];
    eq(at('orders validator.$jsonSchema.properties.status.enum'), ['other', ['paid', 'shipped', 'delivered', 'canceled'], ['new']]);
    eq(at('orders validator.$jsonSchema.required')[2], null);
    eq(at('orders indexes.order_id_1.unique'), ['other', true, null]);
    eq(at('carts indexes.expires_at_1.expireAfterSeconds'), ['other', 0, 3600]);
    eq(at('products shard_key'), ['other', { _id: 'hashed' }, { category: 1 }]);
    assert.equal(found.has('cart_sessions collection'), args.length > 0);
  }
  eq((await shardKeys('other')).products, { category: 1 });
  assert.equal((await db.collection('orders').indexes()).find(({ name }) => name === 'order_id_1').unique, undefined);
  const { status, stdout, stderr } = onServer('shop', '--db', 'other');
  assert.equal(status, 1);
  assert.match(stdout, /^other\.carts indexes\.expires_at_1\.expireAfterSeconds: different: expected 0, found 3600$/m);
  assert.match(stderr, /different; these were left unchanged/);
});

test("the seed's section 5, and init beside it and after it", async () => {
  const { typed } = await shellFor(server.uri);
  const output = (await typed(seedScript)).join('\n');
  assert.doesNotMatch(output, /Error/);

  // Every index of the seed is one of init's, and only the shard key of the carts is another.
  for (const name of ['orders', 'products', 'carts']) {
    const [seeds, ours] = await Promise.all(['somedb', 'shop'].map((db) => client.db(db).collection(name).indexes()));
    for (const index of seeds) assert.ok(ours.some((each) => JSON.stringify(each) === JSON.stringify(index)), JSON.stringify(index));
  }
  const seedKeys = await shardKeys('somedb');
  eq([seedKeys.orders, seedKeys.products, seedKeys.carts], [shopKeys.orders, shopKeys.products, { user_id: 'hashed' }]);

  const { status, created, differences } = json('shop', '--db', 'somedb');
  assert.equal(status, 1);
  eq(differences, [{ database: 'somedb', collection: 'carts', field: 'shard_key', expected: { owner: 'hashed' }, found: { user_id: 'hashed' } }]);
  assert.ok(fields(created).includes('orders validator'));
  eq(fields(json('shop', '--db', 'somedb', '--diff').differences), ['carts shard_key']);

  const text = (await typed(['sh.status()'])).join('\n');
  const carts = (db) => text.slice(text.indexOf(`'${db}.carts': {`)).match(/shardKey: (\{.*?\})/)[1];
  eq([carts('shop'), carts('somedb')], ["{ owner: 'hashed' }", "{ user_id: 'hashed' }"]);
});

test('a collection that is being sharded is waited for, a refusal is reported, a lack of rights ends the run', async () => {
  const failing = (name, errorCode, times) => client.db('admin').command({
    configureFailPoint: 'failCommand', mode: { times }, data: { failCommands: [name], errorCode },
  });
  await failing('shardCollection', 117, 3); // ConflictingOperationInProgress
  const waited = json('shop', '--db', 'waited');
  eq([waited.status, waited.ok], [0, true], waited.stderr);
  eq(Object.keys(await shardKeys('waited')), Object.keys(shopKeys));

  await failing('shardCollection', 72, 1); // InvalidOptions
  const refused = json('shop', '--db', 'refused');
  assert.equal(refused.status, 1);
  eq(fields(refused.differences), ['orders shard_key']);
  assert.match(refused.differences[0].note, /fail/i);
  assert.equal(json('shop', '--db', 'refused').status, 0);

  await failing('createIndexes', 13, 1); // Unauthorized
  const ended = onServer('shop', '--db', 'ended');
  eq([ended.status, ended.stdout], [1, '']);
  eq((await client.db('ended').listCollections().toArray()).map(({ name }) => name), ['orders']);
  const continued = json('shop', '--db', 'ended');
  eq([continued.status, continued.ok], [0, true]);
  assert.ok(!fields(continued.created).includes('orders collection'));
});

test('names and options that are wrong', () => {
  const fails = (pattern, ...args) => {
    const { status, stdout, stderr } = onServer(...args);
    assert.notEqual(status, 0);
    assert.equal(stdout, '');
    assert.match(stderr, pattern);
  };
  fails(/there is no service 'shops'; the services are shop, staking, settlement and explorer/, 'shops');
  fails(/--db needs the name of one service/, '--db', 'x');
  fails(/--db needs the name of one service/, 'shop', 'staking', '--db', 'x');
});
