// Which shards each operation of the shop asks (B3): its own queries, recorded by the server while it runs, explained one by
// one, and compared with the table of docs/shop.md.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { serve } from '../lib/fixture.mjs';
import { results, shopJson } from './shop_model.mjs';

const shards = 8;
const f = await serve(['--shards', String(shards)]);
await f.admin.command({ balancerStop: 1 });
const where = ['--store', f.server.uri, '--db', 'shop'];
const db = f.client.db('shop');
const collections = ['products', 'orders', 'order_ids', 'carts', 'cart_sessions'];

/** {operation: 'one' or 'all'}, as documented: the rows of the table under "Which shards an operation asks". */
async function documented() {
  const page = await readFile(join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'docs', 'shop.md'), 'utf8');
  const section = page.split('\n## ').find((part) => part.startsWith('Which shards an operation asks'));
  assert.ok(section, 'docs/shop.md has the section');
  const rows = section.split('\n').map((line) => line.split('|').map((cell) => cell.trim())).filter((cells) => cells[1]?.startsWith('`'));
  return Object.fromEntries(rows.flatMap(([, names, , asked]) => names.split(',').map((name) => [name.trim().replaceAll('`', ''), asked])));
}

const seen = new Set();
/** What the server has recorded since the last call. */
async function recorded() {
  const rows = await f.admin.aggregate([{ $listSampledQueries: {} }]).toArray();
  const fresh = rows.filter(({ _id }) => !seen.has(_id.toString()));
  for (const { _id } of fresh) seen.add(_id.toString());
  return fresh;
}

async function explain(command) {
  const { queryPlanner, executionStats } = await db.command({ explain: command, verbosity: 'executionStats' });
  const plan = queryPlanner.winningPlan;
  const stages = [];
  for (let stage = plan.shards[0].winningPlan; stage; stage = stage.inputStage) stages.push(stage.stage);
  return { stage: plan.stage, shards: plan.shards.length, stages, stats: executionStats };
}

/** The explained queries of a recorded command; inserts go where their documents belong and have no query. */
async function explained({ ns, cmdName, cmd }) {
  const name = ns.slice(ns.indexOf('.') + 1);
  if (cmdName === 'insert') return [];
  if (cmdName === 'update') {
    return Promise.all(cmd.updates.map(async ({ q, u, upsert }) => {
      const plan = await explain({ update: name, updates: [{ q, u, ...(upsert && { upsert }) }] });
      assert.equal(plan.stage, 'SHARD_WRITE');
      return { name, filter: q, ...plan };
    }));
  }
  assert.ok(['find', 'aggregate'].includes(cmdName), cmdName);
  const plan = await explain({ find: name, filter: cmd.filter, ...(cmd.sort && { sort: cmd.sort }), limit: cmd.limit ?? 11 });
  assert.equal(plan.stage === 'SINGLE_SHARD', plan.shards === 1, plan.stage);
  return [{ name, filter: cmd.filter, sort: cmd.sort, ...plan }];
}

const zone = 'RU-MOW';
const product = (i) => ({ op: 'put_product', product: { _id: `P${i}`, name: `Product ${i}`, category: 'things', price: `${10 + (i % 40)}.50`, currency: 'RUB', stock_by_geo: [{ geo_zone: zone, qty: 100 }], attrs: { size: i % 2 } } });
await results(where, [...Array.from({ length: 200 }, (_, i) => product(i)),
  ...['k0', 'k00'].flatMap((key) => [{ op: 'add_to_cart', user_id: 'U0', product_id: 'P1', qty: 1 }, { op: 'checkout', user_id: 'U0', geo_zone: zone, idempotency_key: key }]),
  { op: 'add_to_cart', session_id: 'S1', product_id: 'P1', qty: 1 }, { op: 'add_to_cart', user_id: 'U1', product_id: 'P1', qty: 1 }, { op: 'add_to_cart', session_id: 'S2', product_id: 'P1', qty: 2 },
]);
const [{ orders: [order] }] = await results(where, [{ op: 'history', user_id: 'U0', limit: 1 }]);
for (const name of collections) await f.admin.command({ configureQueryAnalyzer: `shop.${name}`, mode: 'full', samplesPerSecond: 50 });

const perform = (...operations) => () => results(where, operations);
const cases = {
  put_product: perform(product(1)),
  card: perform({ op: 'card', product_id: 'P1' }),
  catalogue: async () => {
    const [page] = await results(where, [{ op: 'catalogue', category: 'things', price_min: '11.00', price_max: '40.00', limit: 10 }]);
    const [, named] = await results(where, [{ op: 'catalogue', category: 'things', price_min: '11.00', price_max: '40.00', limit: 10, after: page.next }, { op: 'catalogue', category: 'things', sort: 'name', limit: 10 }]);
    await results(where, [{ op: 'catalogue', category: 'things', sort: 'name', limit: 10, after: named.next }]);
  },
  set_stock: perform({ op: 'set_stock', product_id: 'P1', geo_zone: zone, qty: 90 }, { op: 'set_stock', product_id: 'P1', geo_zone: 'new', qty: 1 }),
  reserve_stock: perform({ op: 'reserve_stock', product_id: 'P1', geo_zone: zone, qty: 2 }),
  release_stock: perform({ op: 'release_stock', product_id: 'P1', geo_zone: zone, qty: 1 }),
  commit_stock: perform({ op: 'commit_stock', product_id: 'P1', geo_zone: zone, qty: 1 }),
  add_to_cart: perform({ op: 'add_to_cart', user_id: 'U1', product_id: 'P1', qty: 1 }, { op: 'add_to_cart', session_id: 'S1', product_id: 'P1', qty: 1 }),
  set_quantity: perform({ op: 'set_quantity', user_id: 'U1', product_id: 'P1', qty: 3 }, { op: 'set_quantity', session_id: 'S1', product_id: 'P1', qty: 3 }),
  cart: perform({ op: 'cart', user_id: 'U1' }, { op: 'cart', session_id: 'S1' }),
  merge_carts: perform({ op: 'merge_carts', session_id: 'S1', user_id: 'U1' }),
  checkout: perform({ op: 'checkout', user_id: 'U1', geo_zone: zone, idempotency_key: 'k1' }, { op: 'checkout', session_id: 'S2', geo_zone: zone, idempotency_key: 'k2' }),
  remove_from_cart: perform({ op: 'add_to_cart', user_id: 'U1', product_id: 'P2', qty: 1 }, { op: 'remove_from_cart', user_id: 'U1', product_id: 'P2' }),
  order: perform({ op: 'order', order_id: order.order_id }, { op: 'order', _id: order._id, user_id: 'U0' }),
  'order by _id alone': perform({ op: 'order', _id: order._id }),
  history: async () => {
    const [page] = await results(where, [{ op: 'history', user_id: 'U0', limit: 1 }]);
    const [rest] = await results(where, [{ op: 'history', user_id: 'U0', limit: 1, after: page.next }]);
    assert.deepEqual([rest.orders.length, rest.next], [1, null]);
  },
  transition: perform({ op: 'transition', order_id: order.order_id, status: 'canceled' }),
  report: () => shopJson(['report', ...where, '--from', '2000-01-01', '--to', '2999-12-31']),
};

const asDocumented = await documented();
for (const [name, operate] of Object.entries(cases)) {
  test(`${name} asks ${asDocumented[name]} shard${asDocumented[name] === 'all' ? 's' : ''}`, async () => {
    await recorded();
    await operate();
    const queries = (await Promise.all((await recorded()).map(explained))).flat();
    assert.ok(queries.length > 0, 'nothing was recorded');
    // The names of the best sellers are read by their _ids, wherever those are.
    for (const query of queries.filter((one) => !(name === 'report' && one.name === 'products'))) {
      assert.equal(query.shards, asDocumented[name] === 'one' ? 1 : shards, JSON.stringify(query));
    }
    if (name === 'catalogue') {
      for (const query of queries) {
        assert.equal(query.stage, 'SHARD_MERGE_SORT');
        // In the order of an index: no shard reads more than one row beyond the page, and none sorts.
        assert.ok(query.stages.includes('IXSCAN') && !query.stages.includes('SORT'), JSON.stringify(query));
        assert.ok(query.stats.totalDocsExamined <= 11 * shards, JSON.stringify(query));
      }
    }
    if (name === 'history') assert.ok(queries.every(({ stages }) => !stages.includes('SORT')), JSON.stringify(queries));
  });
}

test('every operation that is documented is tried here', () => {
  assert.deepEqual(Object.keys(asDocumented).sort(), Object.keys(cases).sort());
});
