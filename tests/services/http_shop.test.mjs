// The storefront over HTTP: the same operations as `braid shop do`, once per Idempotency-Key.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { ask, get, post } from '../lib/http.mjs';
import { start } from '../lib/program.mjs';
import { startServer } from '../lib/server.mjs';

const eq = assert.deepEqual;

let server;
let base;
before(async () => {
  server = await startServer(['--http-port', '0']);
  base = server.httpUri;
});
after(() => server?.stop());

const put = (path, body) => ask(base, path, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
const checkout = (owner, key, body = { geo_zone: 'eu' }) =>
  ask(base, `/v1/carts/${owner}/checkout`, { method: 'POST', headers: { 'content-type': 'application/json', 'idempotency-key': key }, body: JSON.stringify(body) });
const product = (name, price, qty = 10) => ({ name, category: 'books', price, currency: 'EUR', stock_by_geo: [{ geo_zone: 'eu', qty }], attrs: { cover: 'hard' } });
const stockOf = async (id) => (await get(base, `/v1/products/${id}`)).stock_by_geo[0].qty;

test('products and the catalogue', async () => {
  for (const [id, price] of [['B1', '5.00'], ['B2', '7.50'], ['a/b ü', '6.00']]) {
    const made = await put(`/v1/products/${encodeURIComponent(id)}`, product(`Book ${id}`, price));
    eq([made.status, made.json._id], [200, id], made.text);
  }
  eq((await get(base, `/v1/products/${encodeURIComponent('a/b ü')}`)).name, 'Book a/b ü');
  const ids = (page) => page.products.map(({ _id }) => _id);
  const first = await get(base, '/v1/products?category=books&limit=2');
  eq(ids(first), ['B1', 'a/b ü']);
  eq(ids(await get(base, `/v1/products?category=books&after=${encodeURIComponent(first.next)}`)), ['B2']);
  eq(ids(await get(base, '/v1/products?category=books&descending=true&price_max=7')), ['a/b ü', 'B1']);
  eq(ids(await get(base, `/v1/products?category=books&attrs=${encodeURIComponent('{"cover": "soft"}')}`)), []);
  // What was written is what the command line reads.
  const { stdout } = await start(['shop', 'do', '--store', server.uri, '-'], '{"op": "card", "product_id": "B1"}\n').ended;
  eq(JSON.parse(stdout).result, await get(base, '/v1/products/B1'));
});

test('a cart, a guest that logs in, and a checkout that happens once', async () => {
  await post(base, '/v1/carts/u:ann/items', { product_id: 'B1', qty: 1 });
  await post(base, '/v1/carts/g:s7/items', { product_id: 'B2', qty: 2 });
  const merged = await post(base, '/v1/carts/u:ann/merge', { session_id: 's7' });
  eq([merged.json.merged, merged.json.items.map(({ product_id, qty }) => [product_id, qty])], [true, [['B1', 1], ['B2', 2]]], merged.text);
  const changed = await put('/v1/carts/u:ann/items/B2', { qty: 3 });
  eq(changed.json.total_amount, '27.50');
  eq((await get(base, '/v1/carts/u:ann')).items.length, 2);
  const answers = await Promise.all(Array.from({ length: 8 }, () => checkout('u:ann', 'order 1')));
  eq([...new Set(answers.map(({ status, text }) => `${status} ${text}`))].length, 1, answers[0].text);
  const order = answers[0].json;
  eq([order.status, order.total_amount, order.user_id], ['paid', '27.50', 'ann']);
  eq([await stockOf('B1'), await stockOf('B2')], [9, 7]);
  eq(await get(base, `/v1/orders/${order.order_id}`), order);
  eq((await get(base, '/v1/orders?owner=u:ann')).orders, [order]);
  eq((await ask(base, '/v1/carts/u:ann')).json.error.code, 'unknown_cart');
  // The key of another's order is refused, not answered with that order.
  await post(base, '/v1/carts/u:bob/items', { product_id: 'B1', qty: 1 });
  const other = await checkout('u:bob', 'order 1');
  eq([other.status, other.json.error.code], [422, 'conflict']);
});

test('an order goes its way, and a canceled one gives its stock back', async () => {
  await post(base, '/v1/carts/u:cid/items', { product_id: 'B1', qty: 4 });
  const before = await stockOf('B1');
  const { json: order } = await checkout('u:cid', 'order 2');
  eq(await stockOf('B1'), before - 4);
  const transition = (status) => post(base, `/v1/orders/${order.order_id}/transitions`, { status });
  const wrong = await transition('delivered');
  eq([wrong.status, wrong.json.error.code], [409, 'forbidden_transition']);
  eq((await transition('canceled')).json.status, 'canceled');
  eq(await stockOf('B1'), before);
  const report = await get(base, '/v1/reports/sales');
  eq(report.cancellations.map(({ orders, canceled }) => [orders, canceled]), [[2, 1]]);
  eq((await get(base, '/v1/reports/sales?from=2000-01-01&to=2000-12-31')).months, []);
});

test('what is refused says why, and changes nothing', async () => {
  for (const [answer, status, code] of [
    [await post(base, '/v1/carts/u:dan/items', { product_id: 'nothing', qty: 1 }), 404, 'unknown_product'],
    [await post(base, '/v1/carts/u:dan/items', { product_id: 'B1', qty: 0 }), 400, 'bad_quantity'],
    [await post(base, '/v1/carts/u:dan/items', { product_id: 'B1', qty: 1, bogus: 1 }), 400, 'bad_request'],
    [await post(base, '/v1/carts/u:dan/items', '[]'), 400, 'bad_request'],
    [await post(base, '/v1/carts/u:dan/items', '{"product_id": "B1", "qty": 1'), 400, 'bad_request'],
    [await post(base, '/v1/carts/u:dan/items', '{"user_id": "ann", "product_id": "B1", "qty": 1}'), 400, 'bad_request'],
    [await post(base, '/v1/carts/dan/items', { product_id: 'B1', qty: 1 }), 400, 'BadValue'],
    [await post(base, '/v1/carts/g:x/merge', { session_id: 'y' }), 400, 'BadValue'],
    [await post(base, '/v1/products/B1/stock/steal', { geo_zone: 'eu', qty: 1 }), 400, 'BadValue'],
    [await post(base, '/v1/products/B1/stock/commit', { geo_zone: 'eu', qty: 1 }), 409, 'not_reserved'],
    [await put('/v1/products/B9', { ...product('x', 'cheap') }), 400, 'bad_price'],
    [await put('/v1/products/B9', { ...product('x', '1'), _id: 'B8' }), 400, 'bad_request'],
    [await ask(base, '/v1/carts/u:dan/items/B1', { method: 'DELETE' }), 404, 'unknown_cart'],
    [await ask(base, '/v1/orders/ORD-1999-000000000000'), 404, 'unknown_order'],
    [await ask(base, '/v1/products?category=books&price_min=x'), 400, 'bad_price'],
    [await ask(base, '/v1/products?category=books&attrs=x'), 400, 'bad_request'],
    [await ask(base, '/v1/reports/sales?from=monday'), 400, 'BadValue'],
  ]) {
    eq([answer.status, answer.json.error.code], [status, code], answer.text);
  }
  await post(base, '/v1/carts/u:eve/items', { product_id: 'B2', qty: 1000 });
  const short = await checkout('u:eve', 'order 3');
  eq([short.status, short.json.error.code, short.json.error.lines], [409, 'out_of_stock', [{ product_id: 'B2', wanted: 1000, available: 7 }]]);
  eq(await stockOf('B2'), 7);
});
