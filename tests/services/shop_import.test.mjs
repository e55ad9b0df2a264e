// braid shop import and report: a small file with every oddity there is, and the real ones beside an independent computation.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';

import { MongoClient } from 'mongodb';
import { outsideData } from '../lib/not_run.mjs';
import { startServer } from '../lib/server.mjs';
import { csvRow, run, shop, shopJson, start, units } from './shop_model.mjs';
import { Retail, comparable } from './shop_retail.mjs';

const eq = assert.deepEqual;
const header = 'InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country';
const csv = (...rows) => [header, ...rows.map((row) => (typeof row === 'string' ? row : csvRow(row)))].join('\n') + '\n';

let directory;
let server;
let client;
let databases = 0;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'braid-shop-import-'));
  server = await startServer();
  client = await new MongoClient(server.uri).connect();
});
after(async () => {
  await client?.close();
  await server?.stop();
  if (directory) await rm(directory, { recursive: true, force: true });
});

/** --store and --db of something new and empty. */
const places = {
  directory: () => ['--store', join(directory, `store${++databases}`)],
  server: () => ['--store', server.uri, '--db', `shop${++databases}`],
};
const dbOf = (where) => client.db(where[3]);
const counts = ({ seconds, ...rest }) => {
  assert.ok(seconds >= 0);
  return rest;
};
const nothing = { orders: 0, canceled: 0, guests: 0, products: 0 };

/** Files of everything that occurs, each with the number of refused lines. */
const oddities = csv(
  ['1', 'A1', 'TEA, "FINE"', '2', '2011-01-01 08:00:00', '2.55', '17850.0', 'United Kingdom'],
  ['1', 'A2', 'CUP', '1', '2011-01-01 08:00:00', '3.0', '17850.0', 'United Kingdom'],
  ['2', 'A1', 'TEA', '1', '2011-01-01 09:00:00', '2.95', '', 'France'], // a guest, and a new name and price
  ['C3', 'A2', 'CUP', '-1', '2011-01-02 09:00:00', '3.0', '17850.0', 'United Kingdom'],
  ['1', 'A2', 'CUP', '4', '2011-01-01 08:01:00', '3.0', '17850.0', 'United Kingdom'], // an invoice that goes on after others
  ['4', 'A1', '', '-10', '2011-01-02 10:00:00', '0.0', '', 'United Kingdom'], // stock that was lost: no order
  ['5', 'A3', '', '7', '2011-01-02 11:00:00', '0.0', '', 'United Kingdom'], // for nothing, and nobody knows what it is
  ['6', 'A1', 'TEA', '0', '2011-01-02 11:00:00', '1.0', '', 'France'],
  ['C7', 'A1', 'TEA', '1', '2011-01-02 11:00:00', '1.0', '', 'France'],
  ['8', 'A1', 'TEA', 'two', '2011-01-02 11:00:00', '1.0', '', 'France'],
  ['9', 'A1', 'TEA', '2', '2011-02-30 11:00:00', '1.0', '', 'France'],
  ['10', 'A1', 'TEA', '2', '2011-01-02 11:00:00', '-11062.06', '', 'France'],
  ['11', 'A1', 'TEA', '2', '2011-01-02 11:00:00', '1'.repeat(40), '', 'France'],
  '12,A1,TEA', // too short
  '13,"A1,TEA,1,2011-01-02 11:00:00,1.0,,Fran', // a quote that is never closed
);
const refusals = [
  [7, /Quantity -10 on an invoice that is not a cancellation/], [9, /Quantity is 0/], [10, /cancellation, where it should be negative/], [11, /Quantity 'two'/],
  [12, /InvoiceDate '2011-02-30/], [13, /UnitPrice '-11062.06'/], [14, /UnitPrice '1{40}'/], [15, /Quantity is missing/], [16, /quote is opened and never closed/],
];

for (const [kind, place] of Object.entries(places)) {
  test(`${kind}: oddities cost themselves, and again changes nothing`, async () => {
    const where = place();
    const file = join(directory, 'odd.csv');
    await writeFile(file, oddities);
    const first = await shop(['import', ...where, file, '--json']);
    assert.equal(first.status, 0, first.stderr);
    eq(counts(JSON.parse(first.stdout)), { files: 1, rows: 15, orders: 4, canceled: 1, guests: 2, products: 3, refused: 9, duplicates: 0 });
    const said = first.stderr.split('\n').filter((line) => line.startsWith(file));
    assert.equal(said.length, refusals.length, first.stderr);
    for (const [line, reason] of refusals) {
      const found = said.find((text) => text.startsWith(`${file}:${line}: `));
      assert.match(found ?? '', reason, `line ${line} of ${first.stderr}`);
    }
    await writeFile(`${file}.gz`, gzipSync(oddities));
    const again = await shop(['import', ...where, `${file}.gz`, '--json']);
    eq(counts(JSON.parse(again.stdout)), { files: 1, rows: 15, ...nothing, refused: 9, duplicates: 4 });
    assert.match(again.stderr, /nothing has changed/);

    const [order, canceled, tea] = await run(where, [{ op: 'order', order_id: 'RET-1' }, { op: 'order', order_id: 'RET-C3' }, { op: 'card', product_id: 'A1' }]);
    assert.equal(order.result.user_id, '17850');
    assert.equal(order.result.status, 'delivered');
    assert.equal(order.result.geo_zone, 'United Kingdom');
    assert.equal(order.result.currency, 'GBP');
    eq(units(order.result.total_amount), units('20.10')); // 2 × 2.55 + 1 × 3 + 4 × 3
    eq(order.result.items.map(({ product_id: id, qty }) => [id, qty]), [['A1', 2], ['A2', 1], ['A2', 4]]);
    eq([canceled.result.status, canceled.result.items[0].qty, units(canceled.result.total_amount)], ['canceled', 1, units('3')]);
    eq([tea.result.name, units(tea.result.price), tea.result.category], ['TEA', units('2.95'), 'service']);
    const { orders } = (await run(where, [{ op: 'history', user_id: '17850', limit: 10 }]))[0].result;
    eq(orders.map((one) => one.order_id), ['RET-C3', 'RET-1']);
  });
}

test('what is stored has the types of the shop, and its claims', async () => {
  const where = places.server();
  await shopJson(['import', ...where, '-'], oddities);
  const db = dbOf(where);
  const guest = await db.collection('orders').findOne({ order_id: 'RET-2' });
  eq([guest.user_id, guest.created_at, guest.items[0].price.toString(), guest.total_amount.toString()], ['guest:RET-2', new Date('2011-01-01T09:00:00Z'), '2.95', '2.95']);
  const claims = await db.collection('order_ids').find({}).sort({ _id: 1 }).toArray();
  const orders = await db.collection('orders').find({}).sort({ order_id: 1 }).toArray();
  eq(claims.map(({ _id, user_id: user, order }) => [_id, user, order]), orders.map((one) => [one.order_id, one.user_id, one._id]));
  const unknown = await db.collection('products').findOne({ _id: 'A3' });
  eq([unknown.name, unknown.price.toString(), unknown.stock_by_geo], ['A3', '0', []]);
});

test('text is UTF-8, or else Latin-1; line ends are of any kind', async () => {
  const where = places.server();
  const rows = csv(['1', 'B1', 'CAFÉ £5', '1', '2011-01-01 08:00:00', '5.0', '1.0', 'Åland']).replaceAll('\n', '\r\n');
  await shopJson(['import', ...where, '-'], Buffer.from(rows, 'latin1'));
  await shopJson(['import', ...where, '-'], Buffer.from('\ufeff' + rows.replace('1,B1', '2,B2'), 'utf8'));
  const products = await dbOf(where).collection('products').find({}).sort({ _id: 1 }).toArray();
  eq(products.map(({ name }) => name), ['CAFÉ £5', 'CAFÉ £5']);
  eq((await dbOf(where).collection('orders').distinct('geo_zone')), ['Åland']);
});

test('a product has the name and the price of its last sale, in whatever order the files come', async () => {
  const old = csv(['1', '22222', 'OLD', '1', '2011-01-01 08:00:00', '1.0', '', 'France'], ['2', '33333', '', '5', '2011-01-01 08:00:00', '0.0', '', 'France']);
  const fresh = csv(['3', '22222', 'NEW', '1', '2011-02-01 08:00:00', '2.0', '', 'France'], ['C4', '22222', 'RETURNED', '-1', '2011-03-01 08:00:00', '9.0', '', 'France'],
    ['5', '22222', 'damaged', '-3', '2011-03-01 08:00:00', '0.0', '', 'France'], ['6', '33333', 'SOLD', '1', '2010-12-01 08:00:00', '4.0', '', 'France']);
  for (const files of [[old, fresh], [fresh, old]]) {
    const where = places.server();
    for (const file of files) await shopJson(['import', ...where, '-'], file);
    const products = await dbOf(where).collection('products').find({}).sort({ _id: 1 }).toArray();
    eq(products.map((one) => [one._id, one.name, one.price.toString(), one.category]), [['22222', 'NEW', '2.0', 'retail'], ['33333', 'SOLD', '4.0', 'retail']]);
  }
  // What the shop itself has changed since stays.
  const where = places.server();
  await run(where, [{ op: 'put_product', product: { _id: '22222', name: 'Ours', category: 'tea', price: '7.00', currency: 'GBP', stock_by_geo: [{ geo_zone: 'France', qty: 3 }], attrs: {} } }]);
  eq((await shopJson(['import', ...where, '-'], fresh)).products, 1);
  eq((await run(where, [{ op: 'card', product_id: '22222' }]))[0].result.name, 'Ours');
});

test('an invoice that comes again with other lines is refused and stays as it was', async () => {
  const where = places.server();
  const row = (code) => ['1', code, 'TEA', '1', '2011-01-01 08:00:00', '1.0', '5.0', 'France'];
  await shopJson(['import', ...where, '-'], csv(row('A')));
  const { status, stdout, stderr } = await shop(['import', ...where, '-', '--json'], csv(row('A'), row('B')));
  assert.equal(status, 0);
  eq(counts(JSON.parse(stdout)), { files: 1, rows: 2, ...nothing, products: 1, refused: 2, duplicates: 0 });
  assert.match(stderr, /^standard input:2: order RET-1 is there with 1 lines for 1\.0, here it has 2 for 2\.0; it was left as it is$/m);
  eq((await dbOf(where).collection('orders').findOne({ order_id: 'RET-1' })).items.length, 1);
  // So is a line of another customer in the midst of an invoice.
  const mixed = await shop(['import', ...where, '-', '--json'], csv(['2', ...row('A').slice(1)], ['2', 'B', 'CUP', '1', '2011-01-01 08:00:00', '1.0', '6.0', 'France']));
  assert.match(mixed.stderr, /standard input:3: invoice 2 is of customer '5' in France since line 2, not of '6'/);
});

test('what cannot be read costs its file, and what cannot be stored its order', async () => {
  const where = places.server();
  const good = join(directory, 'good.csv');
  await writeFile(good, csv(['1', 'A', 'TEA', '1', '2011-01-01 08:00:00', '1.0', '', 'France']));
  const cut = join(directory, 'cut.csv.gz');
  await writeFile(cut, gzipSync(csv(...Array.from({ length: 20_000 }, (_, i) => [String(i + 100), `A${i * 7919}`, 'TEA', '1', '2011-01-01 08:00:00', '1.0', '', 'France']))).subarray(0, 30_000));
  const other = join(directory, 'other.csv');
  await writeFile(other, 'name,age\nAda,36\n');
  const { status, stdout, stderr } = await shop(['import', ...where, join(directory, 'none.csv'), other, cut, directory, good, '--json']);
  assert.equal(status, 1);
  for (const reason of [/none\.csv: No such file/, /other\.csv: 'name' stands where InvoiceNo should/, /cut\.csv\.gz/, /it is a directory/, /4 files could not be read/]) assert.match(stderr, reason);
  eq(JSON.parse(stdout).files, 1);
  eq(await dbOf(where).collection('orders').countDocuments({ order_id: 'RET-1' }), 1);
  // A shop that wants more of its orders than the files have.
  const strict = places.server();
  await dbOf(strict).createCollection('orders', { validator: { geo_zone: 'France' } });
  const mixed = await shop(['import', ...strict, '-', '--json'], csv(
    ['1', 'A', 'TEA', '1', '2011-01-01 08:00:00', '1.0', '', 'France'], ['2', 'A', 'TEA', '1', '2011-01-01 08:00:00', '1.0', '', 'Spain'], ['3', 'A', 'TEA', '1', '2011-01-01 08:00:00', '1.0', '', 'France']));
  eq(counts(JSON.parse(mixed.stdout)), { files: 1, rows: 3, orders: 2, canceled: 0, guests: 2, products: 1, refused: 1, duplicates: 0 });
  assert.match(mixed.stderr, /standard input:3: .*validation/);
  eq(await dbOf(strict).collection('order_ids').countDocuments({}), 2); // no claim without its order
});

test('killed at any moment and run again, or by several at once: every order is there once and whole', async () => {
  const rows = Array.from({ length: 6000 }, (_, i) => [String(1000 + Math.floor(i / 6)), `S${i % 97}`, 'THING', '2', '2011-01-01 08:00:00', '1.25', i % 12 < 6 ? '' : '7.0', 'France']);
  const file = join(directory, 'many.csv');
  await writeFile(file, csv(...rows));
  const where = places.server();
  const expect = async () => {
    const orders = await dbOf(where).collection('orders').aggregate([{ $group: { _id: { lines: { $size: '$items' }, total: '$total_amount' }, n: { $sum: 1 } } }]).toArray();
    eq(orders.map(({ _id, n }) => [_id.lines, _id.total.toString(), n]), [[6, '15.00', 1000]]);
    eq(await dbOf(where).collection('order_ids').countDocuments({}), 1000);
    eq(await dbOf(where).collection('products').countDocuments({}), 97);
  };
  for (let round = 0; round < 3; ++round) {
    const { child, ended } = start(['import', ...where, '--batch', '20', file]);
    // Killed once it has stored something more.
    const goal = Math.min(1000, (await dbOf(where).collection('orders').countDocuments({})) + 50);
    while ((await dbOf(where).collection('orders').countDocuments({})) < goal && child.exitCode === null);
    child.kill('SIGKILL');
    await ended;
  }
  const both = await Promise.all([shopJson(['import', ...where, '--batch', '30', file]), shopJson(['import', ...where, '--batch', '70', file])]);
  eq(both.map(({ refused }) => refused), [0, 0]);
  await expect();
  eq(counts(await shopJson(['import', ...where, file])), { files: 1, rows: 6000, ...nothing, refused: 0, duplicates: 1000 });
  await expect();
});

/** The report of what is there is the oracle's, for each period. */
async function expectReports(where, retail, periods) {
  for (const period of periods) {
    const options = Object.entries(period).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const { report, means } = comparable(await shopJson(['report', ...where, ...options]));
    const expected = retail.report(period);
    eq(report, expected, JSON.stringify(period));
    means.forEach((mean, i) => {
      const { revenue, orders } = expected.baskets[i];
      const error = mean * BigInt(orders) - revenue;
      // Rounded to the cent: half a cent an order at most.
      assert.ok((error < 0n ? -error : error) <= units('0.005') * BigInt(orders), String(mean));
    });
  }
}

for (const [kind, place] of Object.entries(places)) {
  test(`${kind}: the report is what the rows say`, async () => {
    const where = place();
    const rows = Array.from({ length: 500 }, (_, i) => {
      const canceled = i % 11 === 0;
      return [`${canceled ? 'C' : ''}${1000 + Math.floor(i / 3) * 10 + (canceled ? 1 : 0)}`, String(20000 + (i * 7) % 40), `THING ${(i * 7) % 40}`, String(canceled ? -2 : 1 + (i % 9)),
        `2011-0${1 + Math.floor(i / 170)}-${String(1 + (Math.floor(i / 3) % 28)).padStart(2, '0')} 08:00:00`, (0.85 + (i % 13)).toFixed(2), Math.floor(i / 3) % 4 ? `${Math.floor(i / 3) % 5}.0` : '', ['France', 'Spain', 'EIRE'][Math.floor(i / 3) % 3]];
    });
    const retail = new Retail();
    retail.add(csv(...rows));
    eq(counts(await shopJson(['import', ...where, '-'], csv(...rows))), { files: 1, ...retail.counts, duplicates: 0 });
    await expectReports(where, retail, [{}, { top: 3 }, { from: '2011-02-01' }, { to: '2011-01-31' }, { from: '2011-01-15', to: '2011-02-03' }, { from: '2011-02-10', to: '2011-02-10' }, { from: '2020-01-01' }]);
    const tables = await shop(['report', ...where]);
    assert.equal(tables.status, 0, tables.stderr);
    for (const heading of ['Revenue by month and country', 'Best sellers by units', 'Best sellers by revenue', 'Baskets', 'Cancellations']) assert.ok(tables.stdout.includes(heading), tables.stdout);
    assert.match((await shop(['report', ...where, '--from', '2020-01-01'])).stdout, /no orders in this period/);
  });
}

test('a report of nothing, and mistakes', async () => {
  eq(await shopJson(['report', ...places.server()]), { months: [], best_sellers: { by_units: [], by_revenue: [] }, baskets: [], cancellations: [] });
  const where = places.server();
  for (const [args, hint] of [
    [['report', ...where, '--from', 'monday'], /--from monday: not a day; write it as 2011-03-31/],
    [['report', ...where, '--from', '2011-02-30'], /not a day/],
    [['report', ...where, '--from', '2011-03-01', '--to', '2011-02-01'], /--from 2011-03-01 is after --to 2011-02-01/],
    [['report', ...where, '--top', '0'], /1 to 1000|range/],
    [['import', ...where], /files/],
    [['import', ...where, '--batch', '0', '-'], /1000/],
  ]) {
    const { status, stdout, stderr } = await shop(args, '');
    assert.notEqual(status, 0, args.join(' '));
    assert.match(stdout + stderr, hint, args.join(' '));
  }
});

test('amounts of different currencies are not added up', async () => {
  const where = places.server();
  const product = (id, currency) => ({ op: 'put_product', product: { _id: id, name: id, category: 'c', price: '10.10', currency, stock_by_geo: [{ geo_zone: 'Z', qty: 9 }], attrs: {} } });
  const made = await run(where, [product('P1', 'RUB'), product('P2', 'EUR'), { op: 'add_to_cart', user_id: 'U1', product_id: 'P1', qty: 3 }, { op: 'add_to_cart', user_id: 'U2', product_id: 'P2', qty: 2 },
    { op: 'checkout', user_id: 'U1', geo_zone: 'Z', idempotency_key: 'a' }, { op: 'checkout', user_id: 'U2', geo_zone: 'Z', idempotency_key: 'b' }]);
  assert.ok(made.every(({ ok }) => ok), JSON.stringify(made));
  const { report } = comparable(await shopJson(['report', ...where]));
  eq(report.baskets.map(({ currency, revenue }) => [currency, revenue]), [['EUR', units('20.20')], ['RUB', units('30.30')]]);
  eq(report.best_sellers.by_units.map(({ product_id: id, currency }) => [id, currency]), [['P1', 'RUB'], ['P2', 'EUR']]);
});

const real = outsideData(['retail'], { what: 'shop import and report of the real retail files', why: 'they are large and belong to others' });
test('the real files: counts and reports are those of an independent computation', { skip: !real }, async () => {
  const names = (await readdir(real)).filter((name) => name.endsWith('.csv.gz')).sort();
  const retail = new Retail();
  for (const name of names) retail.add(gunzipSync(await readFile(join(real, name))).toString('utf8'));
  const files = names.map((name) => join(real, name));
  const where = places.server();
  const first = await shopJson(['import', ...where, ...files]);
  eq(counts(first), { files: names.length, ...retail.counts, duplicates: 0 });
  console.log(`shop import: ${JSON.stringify(first)}`);
  await expectReports(where, retail, [{}, { from: '2011-01-01', to: '2011-01-31', top: 25 }]);
  const stored = await dbOf(where).collection('products').find({}).toArray();
  eq(new Map(stored.map(({ _id, name, price }) => [_id, [name, units(price.toString())]])), new Map([...retail.products].map(([code, { name, price }]) => [code, [name || code, units(price)]])));
  const again = await shopJson(['import', ...where, ...files]);
  eq(counts(again), { files: names.length, rows: retail.rows, ...nothing, refused: retail.refused, duplicates: retail.orders.size });
});
