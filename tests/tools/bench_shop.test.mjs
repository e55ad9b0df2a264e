// braid bench shop as a program: every operation of the mix is measured, the sale sells what is there,
// the catalogue is read at each size, and nothing is left behind.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { MongoClient } from 'mongodb';

import { binary, startServer } from '../lib/server.mjs';

let directory;
before(async () => (directory = await mkdtemp(join(tmpdir(), 'braid-bench-shop-'))));
after(() => rm(directory, { recursive: true, force: true }));
const run = (...args) => spawnSync(binary, ['bench', 'shop', ...args], { encoding: 'utf8' });
const bench = (...args) => run('--store', join(directory, 'store'), ...args);
const json = ({ status, stdout, stderr }) => {
  assert.equal(status, 0, stderr);
  return { ...JSON.parse(stdout), stderr };
};

test('every operation of the mix is measured, and the stock is right afterwards', async () => {
  const result = json(bench('--parts', 'mix', '--products', '200', '--users', '50', '--threads', '1,3', '--seconds', '1', '--json'));
  assert.deepEqual([result.benchmark, result.products, result.users, result.seed], ['shop', 200, 50, 1]);
  assert.deepEqual([result.sales, result.catalogue], [[], []]);
  assert.deepEqual(result.mixes.map(({ threads }) => threads), [1, 3]);
  for (const row of result.mixes) {
    assert.deepEqual(row.operations.map(({ operation }) => operation), ['browse', 'card', 'cart', 'merge', 'checkout', 'history']);
    for (const { operation, count, opsPerSecond, latencyMs, errors } of row.operations) {
      assert.ok(count > 0 && opsPerSecond > 0 && latencyMs.p50 > 0 && latencyMs.p50 <= latencyMs.p99, `${operation} ${count}`);
      assert.deepEqual(errors, {}, operation);
    }
    assert.equal(row.count, row.operations.reduce((sum, { count }) => sum + count, 0));
    assert.ok(row.unitsSold >= row.operations.find(({ operation }) => operation === 'checkout').count);
    assert.ok(row.cpuMicrosPerOperation > 0 && row.conflictsRetried >= 0);
    // Only the catalogue asks more than one shard.
    assert.ok(row.targetedShare > 0.5 && row.targetedShare < 1, `${row.targetedShare}`);
    assert.deepEqual(row.routing.filter(({ scattered }) => scattered > 0).map(({ collection }) => collection), ['products']);
  }
  assert.match(result.stderr, /^checkout +3 +\d+ /m);
  assert.match(result.stderr, /^all +3 .* targeted share: 0\.\d+ \(scattered: products \d+\)$/m);
  assert.deepEqual(await readdir(directory), ['store']);
});

test('what is sold out is an error of its code, not of the run', () => {
  const { mixes } = json(bench('--parts', 'mix', '--products', '3', '--stock', '2', '--users', '10', '--threads', '2', '--seconds', '0.5', '--mix', 'cart=2,checkout=1', '--json'));
  const [row] = mixes;
  assert.ok(row.unitsSold <= 6, `${row.unitsSold}`);
  assert.ok(row.errors > 0);
  const codes = new Set(row.operations.flatMap(({ errors }) => Object.keys(errors)));
  assert.ok(codes.has('out_of_stock'), [...codes].join());
  assert.deepEqual(row.operations.filter(({ count, errors }) => count + Object.keys(errors).length > 0).map(({ operation }) => operation), ['cart', 'checkout']);
});

test('a flash sale sells what is there, and says what the seed\'s way sold', () => {
  const { sales, stderr } = json(bench('--parts', 'sale', '--sale-units', '40', '--sale-buyers', '200', '--threads', '2,16', '--json'));
  assert.deepEqual(sales.map(({ way }) => way), ['checkout', 'find, then $set', 'find, then $inc']);
  const [checkout, ...seeds] = sales;
  assert.deepEqual([checkout.sold, checkout.oversold, checkout.left, checkout.refused], [40, 0, 0, 160]);
  for (const row of sales) {
    assert.deepEqual([row.threads, row.units, row.buyers], [16, 40, 200]);
    assert.equal(row.sold + row.refused, 200);
    // Whether two of the seed's sellers meet is chance: bench/shop_test.cc makes them.
    assert.equal(row.oversold, Math.max(0, row.sold - 40));
    assert.ok(row.soldPerSecond > 0 && row.latencyMs.p50 <= row.latencyMs.p99);
  }
  assert.ok(seeds[0].sold >= 40);
  assert.ok(seeds[1].sold >= 40);
  assert.equal(seeds[1].left, 40 - seeds[1].sold);
  assert.match(stderr, /^checkout +16 +40 +200 +40 +0 +0 +160 /m);
});

test('the catalogue is read at each size, its deep page by cursor and by skip', () => {
  const { catalogue, stderr } = json(bench('--parts', 'catalogue', '--catalogue-sizes', '2000,400', '--seconds', '0.2', '--json'));
  assert.deepEqual(catalogue.map(({ products, page, productsBefore }) => [products, page, productsBefore]), [400, 2000].flatMap((size) => [
    [size, 'first page', 0], [size, 'deep, by cursor', size / 40], [size, 'deep, by skip', size / 40],
  ]));
  for (const { count, latencyMs } of catalogue) assert.ok(count > 0 && latencyMs.p50 > 0 && latencyMs.p50 <= latencyMs.p99);
  assert.match(stderr, /^deep, by cursor +2000 +50 /m);
});

test('over TCP, where the database is gone afterwards', async () => {
  const server = await startServer();
  const client = new MongoClient(server.uri);
  try {
    const { mixes, sales } = json(run('--store', server.uri, '--parts', 'mix,sale', '--products', '100', '--users', '20', '--threads', '4', '--seconds', '0.5', '--sale-units', '10', '--sale-buyers', '30', '--json'));
    assert.equal(mixes[0].serverCpuIncluded, true);
    assert.deepEqual([sales[0].sold, sales[0].oversold], [10, 0]);
    const { databases } = await client.db('admin').admin().listDatabases();
    assert.ok(!databases.some(({ name }) => name === 'bench_shop'));
  } finally {
    await client.close();
    await server.stop();
  }
});

test('a mix that cannot be read is refused', () => {
  for (const [mix, message] of [['browse', /cannot read 'browse'/], ['browse=1,steal=2', /cannot read 'steal=2'/], ['card=-1', /cannot read 'card=-1'/], ['card=0', /every weight is 0/]]) {
    const { status, stderr } = bench('--mix', mix);
    assert.equal(status, 1, mix);
    assert.match(stderr, message);
  }
});
