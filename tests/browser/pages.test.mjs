// Every page of the dashboard with live data: what it shows, what its buttons do, and that nothing goes wrong on the way.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { MongoClient } from 'mongodb';

import { launch, openPage } from '../lib/browser.mjs';
import { get, post } from '../lib/http.mjs';
import { startServer } from '../lib/server.mjs';
import { buy, events, fill, outputs, repair } from './data.mjs';

const ndjson = 'application/x-ndjson';

let server;
let base;
let browser;
let publicKey;
before(async () => {
  server = await startServer(['--http-port', '0']);
  base = server.httpUri;
  browser = await launch();
  publicKey = await fill(server);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Runs on a page of its own, in which nothing may go wrong. */
const on = (name, address, steps) =>
  test(name, async () => {
    const page = await openPage(browser, base);
    await page.goto(address);
    await steps(page);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });

const stat = (page, label) => page.locator('.stat', { has: page.getByText(label, { exact: true }) }).locator('.stat-value');
const panel = (page, name) => page.getByRole('region', { name, exact: true });
/** The number in a text such as "1,234 /s". */
const numberIn = async (locator) => Number((await locator.textContent()).replace(/[^\d.]/g, ''));
const until = async (page, locator, wanted) => {
  for (;;) {
    const value = await numberIn(locator);
    if (wanted(value)) return value;
    await page.waitForTimeout(50);
  }
};

on('the overview shows what the server does while it does it', '/', async (page) => {
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByRole('link', { name: /^Staking.*active delegations of/ }).waitFor();
  const before = await numberIn(page.locator('.service', { hasText: 'Storefront' }).locator('.service-value'));
  await post(base, '/v1/events', await events(300, 6), ndjson);
  await buy(base, 'seen');
  await until(page, page.locator('.service', { hasText: 'Storefront' }).locator('.service-value'), (value) => value === before + 1);
  await until(page, stat(page, 'Operations'), (value) => value > 0);
  for (const name of ['Operations per second', 'Latency', 'Commits and durable syncs']) await panel(page, name).locator('canvas').waitFor();
  await panel(page, 'Memory by holder').getByText('transactions').waitFor();
  assert.match(await panel(page, 'Operations per second').getByRole('img').getAttribute('aria-label'), /writes .*, reads .*, other/);
});

on('the explorer finds blocks, transactions, epochs and accounts', '/explorer', async (page) => {
  const [block] = (await get(base, '/v1/blocks?limit=1')).blocks;
  const [transaction] = (await get(base, '/v1/transactions?limit=1')).transactions;
  const search = async (wanted) => {
    await page.getByRole('searchbox', { name: 'Search the chain' }).fill(wanted);
    await page.getByRole('button', { name: 'Search' }).click();
  };
  for (const [wanted, address, title] of [
    [block.hash, `/explorer/block/${block.hash}`, 'Block'],
    [transaction.hash, `/explorer/transaction/${transaction.hash}`, 'Transaction'],
    [transaction.from, `/explorer/account/${transaction.from}`, 'Account'],
    ['7', '/explorer/epoch/7', 'Epoch'],
  ]) {
    await search(wanted);
    await page.waitForURL(base + address);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    await page.locator('dl.fields, table').first().waitFor();
  }
  await page.goto('/explorer');
  await panel(page, 'Newest blocks').locator('a[href^="/explorer/miner/"]').first().click();
  await page.getByRole('heading', { level: 1, name: 'Miner' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Explorer' }).waitFor();
  const { reorgs } = await get(base, '/v1/reorgs?limit=1');
  await panel(page, 'Reorganisations').getByText(`${reorgs[0].depth} popped`).first().waitFor();
  await search('nonsense');
  await page.getByRole('alert').getByText('Nothing is known by nonsense').waitFor();
});

on('settlement verifies its chains, and the browser a record and its proof', '/settlement', async (page) => {
  const { records, symbols } = await get(base, '/v1/heads');
  await until(page, stat(page, 'Records'), (value) => value === records);
  await page.getByRole('button', { name: 'Verify all chains' }).click();
  await page.getByText(`All ${records.toLocaleString('en')} records have the hashes that they must have.`).waitFor();
  await panel(page, 'Chains').getByRole('link', { name: `Symbol ${symbols[1].symbol_id}` }).click();
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.waitForURL(/from=\d+/);
  await panel(page, 'Records').locator('tbody a').first().click();
  await page.getByText('confirmed in your browser').waitFor();
  await page.getByRole('button', { name: 'Check the proof' }).click();
  await page.getByText(/hashes lead from this record to the root/).waitFor();
  for (const [key, says] of [['ab'.repeat(32), 'it was not signed with this key'], [publicKey, 'The signature is right.']]) {
    await page.getByLabel('Public key').fill(key);
    await page.getByRole('button', { name: 'Check the proof' }).click();
    await page.getByText(says).waitFor();
  }
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download' }).click();
  assert.match((await download).suggestedFilename(), /^proof-\d+-\d+\.json$/);
});

on('a record that was changed on the way is told', '/settlement', async (page) => {
  const [{ symbol_id: symbol, output_seq: sequence }] = (await get(base, '/v1/heads')).symbols;
  await page.route(`**/v1/symbols/${symbol}/records/${sequence}`, async (route) => {
    const response = await route.fetch();
    const record = await response.json();
    await route.fulfill({ response, json: { ...record, payload: record.payload.replace('"symbol_id"', '"symbol_ID"') } });
  });
  await page.goto(`/settlement/symbol/${symbol}/record/${sequence}`);
  await page.getByText('does not match').waitFor();
});

on('a chain is seen to halt, and to go on once it is repaired', '/settlement', async (page) => {
  await until(page, stat(page, 'Halted'), (value) => value === 0);
  const [first] = (await outputs('--outputs', '1', '--first', '5000')).split('\n');
  const broken = { ...JSON.parse(first), prev_hash: 'ab'.repeat(32) };
  const { json } = await post(base, '/v1/outputs', JSON.stringify(broken));
  assert.equal(json.refused, 1);
  await until(page, stat(page, 'Halted'), (value) => value === 1);
  const { symbol_id: symbol } = (await get(base, '/v1/heads')).symbols.find(({ halted }) => halted);
  await panel(page, 'Halted and repaired').getByText(`braid settlement repair --symbol ${symbol}`).waitFor();
  await repair(server.uri, symbol);
  await until(page, stat(page, 'Halted'), (value) => value === 0);
  await panel(page, 'Halted and repaired').getByText('“looked at”').waitFor();
});

on('staking: totals move, shards merge, an audit is clean, keys are found', '/staking', async (page) => {
  const before = await until(page, stat(page, 'Active delegations'), (value) => value > 0);
  await post(base, '/v1/events', await events(300, 7), ndjson);
  await until(page, stat(page, 'Active delegations'), (value) => value !== before);
  await page.getByRole('button', { name: 'Merge into the sum' }).click();
  await page.locator('.logical.merged').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Show apart' }).getAttribute('aria-pressed'), 'true');
  const { active_tvl: tvl } = await get(base, '/v1/stats');
  await page.locator('.logical-sum').getByText(`${(tvl / 1e8).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })} BTC`).waitFor();
  await page.getByRole('button', { name: 'Audit now' }).click();
  await page.getByText(/Every total is what [\d,]+ delegations/).waitFor();
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.waitForURL(/after=/);
  await page.getByRole('link', { name: 'Stakers', exact: true }).click();
  await page.getByRole('heading', { level: 2, name: 'Stakers' }).waitFor();
  const [staker] = (await get(base, '/v1/stakers?limit=1')).rows;
  await page.getByRole('searchbox').fill(staker.staker_pk_hex);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${base}/staking/staker/${staker.staker_pk_hex}`);
  assert.equal(await until(page, stat(page, 'Delegations ever'), (value) => value > 0), staker.total_delegations);
});

on('the storefront shows orders as they come, and nothing oversold', '/storefront', async (page) => {
  await panel(page, 'Orders as they come').getByRole('row').nth(1).waitFor();
  const order = await buy(base, 'watched');
  await page.getByRole('link', { name: order }).click();
  await page.getByRole('heading', { level: 1, name: order }).waitFor();
  await page.getByText('watched').waitFor();
  await page.getByRole('link', { name: 'Storefront', exact: true }).first().click();
  await until(page, stat(page, 'Oversold'), (value) => value === 0);
  await panel(page, 'What runs out first').getByText('Kettle').first().waitFor();
  await page.getByRole('link', { name: 'Sales report' }).click();
  await panel(page, 'Best sellers by units').getByText('Lamp').waitFor();
});

on('shards: a move is seen while it happens, a key that is shared too often is warned of, and keys are rated', '/shards', async (page) => {
  await until(page, stat(page, 'Shards'), (value) => value === 4);
  const client = await new MongoClient(server.uri).connect();
  const admin = client.db('admin');
  await admin.command({ shardCollection: 'trap.orders', key: { user: 'hashed' } });
  await client.db('trap').collection('orders').insertMany(Array.from({ length: 1500 }, (_, i) => ({ _id: i, user: i % 3 ? null : i })));
  const home = panel(page, 'Documents and operations per shard').getByRole('row').filter({ hasText: 'shard0' });
  await until(page, home.getByRole('cell').last(), (operations) => operations > 0);
  await panel(page, 'Warnings').getByText(/of the documents are on shard\d: one value of user/).waitFor();
  await admin.command({ addShard: 'local' });
  await until(page, stat(page, 'Shards'), (value) => value === 5);
  await panel(page, 'Moves and changes').getByText(/moved \d.* documents from shard\d to shard4/).first().waitFor();
  await client.close();
  await page.getByLabel('Collection to rate keys for').selectOption('trap.orders');
  await page.waitForURL(/advise=trap\.orders/);
  await panel(page, 'Adviser').getByRole('cell', { name: 'good' }).first().waitFor();
  assert.match(await page.locator('.strip').first().getAttribute('aria-label'), /chunks: \d+ on shard0/);
});

on('a hash is copied whole', '/settlement', async (page) => {
  const copy = panel(page, 'Chains').getByRole('button', { name: /^Copy/ }).first();
  await copy.click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^[0-9a-f]{64}$/);
});
