// braid shop do as scripts see it: on a directory, on a server of its own, and on what BRAID_TEST_STORE names.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { serve, temporary } from '../lib/fixture.mjs';
import { shellFor } from '../lib/mongosh.mjs';
import { start as startProgram } from '../lib/program.mjs';
import { generator, newSeed } from '../lib/random.mjs';
import { seedScript } from '../lib/seed_script.mjs';
import { one, results, run, shop, start, text } from './shop_model.mjs';

const eq = assert.deepEqual;
const directory = await temporary('braid-shop-');
const { server, client } = await serve(['--shards', '8']);
let databases = 0;

/** --store and --db of something new and empty. */
const places = {
  directory: () => ['--store', join(directory, `store${++databases}`)],
  server: () => ['--store', server.uri, '--db', `shop${++databases}`],
  ...(process.env.BRAID_TEST_STORE && { given: () => ['--store', process.env.BRAID_TEST_STORE, '--db', `braid_test_${Date.now()}_${++databases}`] }),
};
const dbOf = (where) => client.db(where[3]);

/** Everything in a database, to be compared with what is there later. */
async function everything(where) {
  const db = dbOf(where);
  const names = (await db.listCollections().toArray()).map(({ name }) => name).sort();
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await db.collection(name).find({}).sort({ _id: 1 }).toArray()])));
}

const product = (id, fields = {}) => ({ op: 'put_product', product: { _id: id, name: `Product ${id}`, category: 'things', price: '10.00', currency: 'RUB', stock_by_geo: [{ geo_zone: 'RU-MOW', qty: 25 }], attrs: {}, ...fields } });
const phone = { op: 'put_product', product: { _id: 'P1', name: 'Phone', category: 'phones', price: '199.90', currency: 'RUB', stock_by_geo: [{ geo_zone: 'RU-MOW', qty: 25 }], attrs: { color: 'black' } } };

for (const [kind, place] of Object.entries(places)) {
  test(`${kind}: from a guest's cart to a canceled order`, async () => {
    const where = place();
    const [put, , merged, order, card, history] = await results(where, [
      phone,
      { op: 'add_to_cart', session_id: 'S1', product_id: 'P1', qty: 2 },
      { op: 'merge_carts', session_id: 'S1', user_id: 'U1' },
      { op: 'checkout', user_id: 'U1', geo_zone: 'RU-MOW', idempotency_key: 'k1' },
      { op: 'card', product_id: 'P1' },
      { op: 'history', user_id: 'U1', limit: 10 },
    ]);
    eq([put.price, put.attrs], ['199.90', { color: 'black' }]);
    assert.equal(merged.total_amount, '399.80');
    assert.match(order.order_id, /^ORD-/);
    eq([order.status, order.total_amount, order.currency, order.user_id, order.geo_zone], ['paid', '399.80', 'RUB', 'U1', 'RU-MOW']);
    eq(order.items.map((item) => [item.product_id, item.price, item.qty]), [['P1', '199.90', 2]]);
    eq(card.stock_by_geo.map((zone) => [zone.geo_zone, zone.qty]), [['RU-MOW', 23]]);
    eq([history.orders.map((one) => one.order_id), history.next], [[order.order_id], null]);
    // The same key again is the same order.
    eq(await one(where, { op: 'checkout', user_id: 'U1', geo_zone: 'RU-MOW', idempotency_key: 'k1' }), order);

    const cancel = { op: 'transition', order_id: order.order_id, status: 'canceled' };
    eq((await one(where, cancel)).status, 'canceled');
    const [again, byId, later] = await run(where, [cancel, { op: 'order', order_id: order.order_id }, { op: 'card', product_id: 'P1' }]);
    eq([again.ok, again.error?.code], [false, 'forbidden_transition']);
    assert.equal(byId.result.status, 'canceled');
    assert.equal(later.result.stock_by_geo[0].qty, 25); // given back once
  });

  test(`${kind}: the catalogue and the history in pages`, async () => {
    const where = place();
    const price = (i) => ((i * 37) % 50) + 0.25;
    await results(where, Array.from({ length: 60 }, (_, i) => product(`P${String(i).padStart(2, '0')}`, { price: price(i).toFixed(2), attrs: { color: i % 2 ? 'red' : 'blue' } })));
    const pages = async (query, name) => {
      const rows = [];
      let after;
      do {
        const page = await one(where, { ...query, limit: 7, ...(after && { after }) });
        assert.ok(page[name].length <= 7);
        rows.push(...page[name]);
        after = page.next;
      } while (after);
      return rows;
    };
    const rows = await pages({ op: 'catalogue', category: 'things', sort: 'price' }, 'products');
    const expected = Array.from({ length: 60 }, (_, i) => i).sort((a, b) => price(a) - price(b) || a - b).map((i) => `P${String(i).padStart(2, '0')}`);
    eq(rows.map((row) => row._id), expected);
    const byName = await pages({ op: 'catalogue', category: 'things', sort: 'name' }, 'products');
    eq(byName.map((row) => row._id), [...expected].sort());

    const buy = (i) => [{ op: 'add_to_cart', user_id: 'U', product_id: 'P01', qty: 1 }, { op: 'checkout', user_id: 'U', geo_zone: 'RU-MOW', idempotency_key: `k${i}` }];
    const bought = (await results(where, Array.from({ length: 15 }, (_, i) => buy(i)).flat())).filter((result) => result.order_id).map((order) => order.order_id);
    const orders = await pages({ op: 'history', user_id: 'U' }, 'orders');
    eq(orders.map((order) => order.order_id).sort(), [...bought].sort());
    const dates = orders.map((order) => order.created_at);
    eq(dates, [...dates].sort().reverse());
  });

  test(`${kind}: results in the order of the input, however many run side by side`, async () => {
    const where = place();
    const seed = newSeed();
    const random = generator(seed);
    const owners = Array.from({ length: 12 }, (_, i) => (i % 2 ? { user_id: `U${i}` } : { session_id: `S${i}` }));
    await results(where, [product('P', { stock_by_geo: [{ geo_zone: 'RU-MOW', qty: 100_000 }] })]);
    const quantities = new Map();
    const operations = [];
    const expected = [];
    for (let i = 0; i < 400; ++i) {
      const owner = random.pick(owners);
      const key = JSON.stringify(owner);
      const before = quantities.get(key) ?? 0;
      const qty = random.between(1, 2);
      // Adding, setting and reading show at once whether an owner's lines have kept their order.
      const op = before === 0 ? 'add_to_cart' : random.pick(['add_to_cart', 'set_quantity', 'cart']);
      operations.push({ op, ...owner, ...(op !== 'cart' && { product_id: 'P', qty }) });
      const now = op === 'add_to_cart' ? before + qty : op === 'set_quantity' ? qty : before;
      quantities.set(key, now);
      expected.push({ ...owner, qty: now });
    }
    const carts = await results(where, operations, '--parallel', '8');
    eq(carts.map((cart) => ({ ...(cart.user_id ? { user_id: cart.user_id } : { session_id: cart.session_id }), qty: cart.items[0].qty })), expected, `BRAID_SEED=${seed}`);
  });
}

test('bad input: a code for each, and nothing has changed', async () => {
  const where = places.server();
  const [, , , , , shipped] = await results(where, [
    product('P1'), product('P2', { currency: 'EUR' }), product('P3', { price: '9'.repeat(34) }), { op: 'add_to_cart', user_id: 'U1', product_id: 'P1', qty: 1 },
    { op: 'add_to_cart', user_id: 'U2', product_id: 'P1', qty: 2 }, { op: 'checkout', user_id: 'U2', geo_zone: 'RU-MOW', idempotency_key: 'k2' },
    { op: 'add_to_cart', session_id: 'S1', product_id: 'P1', qty: 1 }, { op: 'add_to_cart', user_id: 'U3', product_id: 'P1', qty: 26 },
  ]);
  const cart = await one(where, { op: 'cart', user_id: 'U1' });
  const before = await everything(where);
  const cases = [
    ['unknown_product', { op: 'card', product_id: 'none' }],
    ['unknown_product', { op: 'add_to_cart', user_id: 'U1', product_id: 'none', qty: 1 }],
    ['unknown_product', { op: 'set_stock', product_id: 'none', geo_zone: 'RU-MOW', qty: 1 }],
    ['bad_quantity', { op: 'add_to_cart', user_id: 'U1', product_id: 'P1', qty: 0 }],
    ['bad_quantity', { op: 'add_to_cart', user_id: 'U1', product_id: 'P1', qty: -1 }],
    ['bad_quantity', { op: 'set_quantity', user_id: 'U1', product_id: 'P1', qty: 0 }],
    ['bad_quantity', { op: 'set_stock', product_id: 'P1', geo_zone: 'RU-MOW', qty: -1 }],
    ['currency_mismatch', { op: 'add_to_cart', user_id: 'U1', product_id: 'P2', qty: 1 }],
    ['bad_request', product('P4', { currency: 'roubles' })],
    ['bad_price', product('P4', { price: '1'.repeat(40) })],
    ['bad_price', product('P1', { price: '-1.00' })],
    ['bad_price', product('P1', { price: 'cheap' })],
    ['inexact_amount', { op: 'add_to_cart', user_id: 'U9', product_id: 'P3', qty: 11 }],
    ['foreign_cart', { op: 'add_to_cart', user_id: 'U3', product_id: 'P1', qty: 1, cart_id: cart._id }],
    ['foreign_cart', { op: 'remove_from_cart', session_id: 'S1', product_id: 'P1', cart_id: cart._id }],
    ['unknown_cart', { op: 'add_to_cart', user_id: 'U9', product_id: 'P1', qty: 1, cart_id: cart._id }],
    ['foreign_cart', { op: 'checkout', user_id: 'U3', geo_zone: 'RU-MOW', idempotency_key: 'k3', cart_id: cart._id }],
    ['unknown_order', { op: 'order', order_id: shipped.order_id, user_id: 'U1' }],
    ['unknown_order', { op: 'order', order_id: 'ORD-none' }],
    ['unknown_order', { op: 'transition', order_id: 'ORD-none', status: 'shipped' }],
    ['forbidden_transition', { op: 'transition', order_id: shipped.order_id, status: 'delivered' }],
    ['forbidden_transition', { op: 'transition', order_id: shipped.order_id, status: 'paid' }],
    ['unknown_cart', { op: 'checkout', user_id: 'nobody', geo_zone: 'RU-MOW', idempotency_key: 'k4' }],
    ['unknown_cart', { op: 'merge_carts', session_id: 'nobody', user_id: 'U1' }],
    ['not_in_cart', { op: 'remove_from_cart', user_id: 'U1', product_id: 'P2' }],
    ['conflict', { op: 'checkout', user_id: 'U1', geo_zone: 'RU-MOW', idempotency_key: 'k2' }],
    ['out_of_stock', { op: 'checkout', user_id: 'U3', geo_zone: 'RU-MOW', idempotency_key: 'k5' }],
    ['out_of_stock', { op: 'checkout', user_id: 'U1', geo_zone: 'nowhere', idempotency_key: 'k6' }],
    ['bad_request', { op: 'catalogue', category: 'things', after: 'x' }],
    ['bad_request', { op: 'history', user_id: 'U1', limit: 0 }],
    ['bad_request', { op: 'add_to_cart', product_id: 'P1', qty: 1 }],
    ['bad_request', { op: 'add_to_cart', user_id: 'U1', session_id: 'S1', product_id: 'P1', qty: 1 }],
    ['bad_request', { op: 'steal' }],
    ['bad_request', {}],
    ['bad_request', 'hello'],
    ['bad_request', '[]'],
    ['bad_request', '{"op": "card", "product_id": 5}'],
  ];
  const answers = await run(where, cases.map(([, operation]) => operation));
  answers.forEach((answer, i) => {
    const [code, operation] = cases[i];
    assert.equal(answer.ok, false, `${JSON.stringify(operation)}: ${JSON.stringify(answer)}`);
    assert.equal(answer.error.code, code, `${JSON.stringify(operation)}: ${JSON.stringify(answer)}`);
    assert.ok(answer.error.message.length > 0);
  });
  const short = answers[cases.findIndex(([code]) => code === 'out_of_stock')];
  eq(short.error.lines.map((line) => [line.product_id, line.wanted, line.available]), [['P1', 26, 23]]);
  eq(await everything(where), before);
});

test('many connections want the last units: exactly what was there is sold', async () => {
  const where = places.server();
  const stock = 37;
  await results(where, [product('P', { stock_by_geo: [{ geo_zone: 'RU-MOW', qty: stock }] })]);
  const buyers = Array.from({ length: 60 }, (_, i) => `U${i}`);
  await results(where, buyers.map((user) => ({ op: 'add_to_cart', user_id: user, product_id: 'P', qty: 1 })), '--parallel', '8');
  const checkout = (users) => run(where, users.map((user) => ({ op: 'checkout', user_id: user, geo_zone: 'RU-MOW', idempotency_key: user })), '--parallel', '8');
  // Two processes, and every buyer is in both: the key makes it one order.
  const [a, b] = await Promise.all([checkout(buyers), checkout([...buyers].reverse())]);
  const orders = new Set([...a, ...b].filter(({ ok }) => ok).map(({ result }) => result.order_id));
  assert.equal(orders.size, stock);
  assert.ok([...a, ...b].every(({ ok, error }) => ok || error.code === 'out_of_stock'), JSON.stringify([...a, ...b].filter(({ ok }) => !ok)));
  assert.equal(await dbOf(where).collection('orders').countDocuments({}), stock);
  eq((await one(where, { op: 'card', product_id: 'P' })).stock_by_geo[0].qty, 0);
});

test("the seed's script and braid init's collections, side by side in sh.status()", async () => {
  const initialised = await startProgram(['init', 'shop', '--store', server.uri, '--db', 'ours', '--json']).ended;
  assert.equal(initialised.status, 0, initialised.stderr);
  const { mongosh, typed } = await shellFor(server.uri);
  const said = (await typed(seedScript)).join('\n');
  assert.doesNotMatch(said, /Error/, said);
  const keys = async (database) => {
    const rows = await client.db('config').collection('collections').find({ _id: new RegExp(`^${database}\\.`) }).toArray();
    return Object.fromEntries(rows.map(({ _id, key }) => [_id.slice(database.length + 1), key]));
  };
  eq(await keys('somedb'), { orders: { user_id: 'hashed' }, products: { _id: 'hashed' }, carts: { user_id: 'hashed' } });
  eq(await keys('ours'), { orders: { user_id: 'hashed' }, products: { _id: 'hashed' }, carts: { owner: 'hashed' }, order_ids: { _id: 'hashed' }, cart_sessions: { session_id: 'hashed' } });
  const status = await mongosh(['--quiet', '--eval', 'sh.status()']);
  for (const name of ['somedb.orders', 'somedb.carts', 'ours.orders', 'ours.carts', 'ours.order_ids', 'ours.cart_sessions']) assert.ok(status.includes(`'${name}'`), `${name} in ${status}`);
  // Every index of the seed is there in ours, and as the seed has it.
  const indexes = async (database, name) => (await client.db(database).collection(name).indexes()).map(({ v, ...index }) => index);
  for (const name of ['orders', 'products', 'carts']) {
    const ours = await indexes('ours', name);
    for (const index of await indexes('somedb', name)) assert.ok(ours.some((one) => JSON.stringify(one.key) === JSON.stringify(index.key) && one.unique === index.unique && one.expireAfterSeconds === index.expireAfterSeconds), JSON.stringify(index));
  }
});

test('a file, a pipe that delivers in pieces, and mistakes', async () => {
  const where = places.server();
  const file = join(directory, 'operations.ndjson');
  await writeFile(file, text([phone, { op: 'card', product_id: 'P1' }]));
  const { status, stdout } = await shop(['do', ...where, file]);
  assert.equal(status, 0);
  assert.equal(stdout.trim().split('\n').length, 2);
  // An answer comes before the next line is there.
  const { child, ended } = start(['do', ...where, '-'], null);
  let said = '';
  const answered = new Promise((resolve) => child.stdout.on('data', (data) => (said += data).includes('\n') && resolve()));
  child.stdin.write('{"op": "card", "product_id": "P1"}\n');
  await answered;
  assert.equal(JSON.parse(said).result._id, 'P1');
  child.stdin.end('{"op": "card", "product_id": "P2"}');
  assert.equal((await ended).stdout.trim().split('\n').length, 2);
  for (const [args, hint] of [
    [['do', ...where, join(directory, 'none')], /No such file/],
    [['do', ...where, '--parallel', '0', '-'], /range|1 to/],
    [['do', '--store', 'mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200', '-'], /127\.0\.0\.1:1/],
    [[], /A subcommand is required/],
  ]) {
    const failed = await shop(args, '');
    assert.notEqual(failed.status, 0, args.join(' '));
    assert.match(failed.stderr + failed.stdout, hint, args.join(' '));
  }
});
