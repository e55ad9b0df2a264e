// Guests' carts over the shards: by their owner, as the shop stores them, and beside it by user_id, which guests do not have (B, Fix guests).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ObjectId } from 'mongodb';

import { serve } from '../lib/fixture.mjs';
import { one } from './shop_model.mjs';

const shards = 8;
const guests = 100_000;
const f = await serve(['--shards', String(shards)]);
// Nothing may move in between: the keys alone place the carts.
await f.admin.command({ balancerStop: 1 });
const where = ['--store', f.server.uri, '--db', 'shop'];

async function spread(collection) {
  const rows = await collection.aggregate([{ $collStats: { count: {} } }]).toArray();
  return rows.map(({ count }) => count);
}
const skew = (counts) => Math.max(...counts) / (counts.reduce((a, b) => a + b, 0) / shards);

test(`${guests} guests' carts: max/mean by owner, and by user_id`, async () => {
  await one(where, { op: 'put_product', product: { _id: 'P', name: 'P', category: 'c', price: '1.00', currency: 'RUB', stock_by_geo: [], attrs: {} } });
  await one(where, { op: 'add_to_cart', session_id: 'first', product_id: 'P', qty: 1 });
  const carts = f.client.db('shop').collection('carts');
  const made = await carts.findOne({ owner: 'g:first' });
  assert.deepEqual([made.user_id, made.session_id, made.status], [null, 'first', 'active']);
  await f.admin.command({ shardCollection: 'seed.carts', key: { user_id: 'hashed' } });
  const seed = f.client.db('seed').collection('carts');
  // The shop's own document, for every session.
  const cart = (i) => ({ ...made, _id: new ObjectId(), owner: `g:session-${i}`, session_id: `session-${i}` });
  for (let i = 1; i < guests; i += 9999) {
    const batch = Array.from({ length: Math.min(9999, guests - i) }, (_, j) => cart(i + j));
    await carts.insertMany(batch);
    await seed.insertMany(batch.map(({ owner, ...rest }) => rest));
  }
  const byOwner = await spread(carts);
  assert.equal(byOwner.reduce((a, b) => a + b, 0), guests);
  const byUser = await spread(seed);
  console.log(`shop spread: ${guests} guests on ${shards} shards: max/mean ${skew(byOwner).toFixed(3)} by owner (${byOwner.join(' ')}), ${skew(byUser).toFixed(1)} by user_id: null`);
  assert.ok(skew(byOwner) <= 1.1, byOwner.join(' '));
  assert.equal(skew(byUser), shards);
});
