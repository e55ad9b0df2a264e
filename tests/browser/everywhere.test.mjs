// What holds for all pages: no errors, accessible, good on a phone, light and dark, by keyboard, without data, without a server.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { desktop, expectAccessible, launch, openPage, phone, picture } from '../lib/browser.mjs';
import { get } from '../lib/http.mjs';
import { startServer } from '../lib/server.mjs';
import { settled } from './addresses.mjs';
import { fill } from './data.mjs';

let server;
let base;
let browser;
let addresses;
before(async () => {
  server = await startServer(['--http-port', '0']);
  base = server.httpUri;
  browser = await launch();
  await fill(server);
  const [block] = (await get(base, '/v1/blocks?limit=1')).blocks;
  const [transaction] = (await get(base, '/v1/transactions?limit=1')).transactions;
  const [provider] = (await get(base, '/v1/finality-providers?limit=1')).rows;
  const [chain] = (await get(base, '/v1/heads')).symbols;
  const { orders } = await get(base, '/v1/storefront?limit=1');
  addresses = {
    overview: '/',
    shards: '/shards?advise=shop.orders',
    staking: '/staking',
    provider: `/staking/provider/${provider.finality_provider_pk_hex}`,
    storefront: '/storefront',
    order: `/storefront/order/${orders[0].order_id}`,
    report: '/storefront/report',
    settlement: '/settlement',
    symbol: `/settlement/symbol/${chain.symbol_id}`,
    record: `/settlement/symbol/${chain.symbol_id}/record/${chain.output_seq}`,
    explorer: '/explorer',
    block: `/explorer/block/${block.hash}`,
    transaction: `/explorer/transaction/${transaction.hash}`,
    account: `/explorer/account/${transaction.from}`,
    epoch: '/explorer/epoch/3',
  };
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const sections = ['overview', 'shards', 'staking', 'storefront', 'settlement', 'explorer'];

// Both sizes and both themes see every page once, and the sections in every combination.
for (const [size, colorScheme, all] of [['desktop', 'light', true], ['phone', 'dark', true], ['desktop', 'dark', false], ['phone', 'light', false]]) {
  test(`${all ? 'every page' : 'the sections'}, ${size}, ${colorScheme}: accessible, within the screen, without an error`, async () => {
    const page = await openPage(browser, base, { viewport: size === 'phone' ? phone : desktop, colorScheme });
    for (const name of all ? Object.keys(addresses) : sections) {
      await page.goto(addresses[name]);
      await settled(page);
      await expectAccessible(page, `${name}, ${size}, ${colorScheme}`);
      await picture(page, `${name}-${size}-${colorScheme}`);
    }
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });
}

test('colours follow the system until the switch says otherwise, and the choice is kept', async () => {
  const page = await openPage(browser, base, { colorScheme: 'dark' });
  await page.goto('/');
  const theme = () => page.evaluate(() => [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor]);
  const [dark, darkColour] = await theme();
  assert.equal(dark, 'dark');
  await page.getByRole('button', { name: 'Use light colours' }).click();
  const [light, lightColour] = await theme();
  assert.equal(light, 'light');
  assert.notEqual(lightColour, darkColour);
  await page.reload();
  assert.equal((await theme())[0], 'light');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.getByRole('button', { name: 'Use dark colours' }).click();
  assert.equal((await theme())[0], 'dark');
  await page.context().close();
});

test('by keyboard alone: the skip link, the navigation, a search, a button', async () => {
  const page = await openPage(browser, base);
  await page.goto('/');
  await settled(page);
  const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
  await page.keyboard.press('Tab');
  assert.equal(await focused(), 'Skip to the contents');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
  await page.keyboard.press('Shift+Tab');
  const reach = async (name) => {
    for (let i = 0; i < 60 && (await focused()) !== name; ++i) await page.keyboard.press('Tab');
    assert.equal(await focused(), name);
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(outline, 'solid', `${name} has a ring`);
  };
  await page.goto('/');
  await settled(page);
  await reach('Explorer');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Explorer' }).waitFor();
  assert.equal(await focused(), 'Explorer');
  await page.keyboard.press('Tab');
  await page.keyboard.type('5');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${base}/explorer/epoch/5`);
  await page.goto('/staking');
  await settled(page);
  await reach('Merge into the sum');
  await page.keyboard.press('Space');
  await page.locator('.logical.merged').waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a store without data says what to do, on every page', async () => {
  const empty = await startServer(['--http-port', '0']);
  const page = await openPage(browser, empty.httpUri);
  for (const name of ['staking', 'storefront', 'settlement', 'explorer']) {
    await page.goto(`/${name}`);
    await page.getByRole('heading', { name: `This store has no ${name} data yet.` }).waitFor();
    await expectAccessible(page, `${name} without data`);
  }
  await page.goto('/');
  await page.getByText('No data in this store').first().waitFor();
  await page.goto('/shards');
  await page.getByText('No collection is sharded yet').first().waitFor();
  assert.deepEqual(page.problems, []);
  await page.goto(`/explorer/block/0x${'ab'.repeat(32)}`);
  await page.getByRole('alert').getByText(/Not found/).waitFor();
  await page.context().close();
  await empty.stop();
});

test('when the server ends the page says so, keeps what it knew, and goes on once it is back', async () => {
  const first = await startServer(['--http-port', '0']);
  const port = new URL(first.httpUri).port;
  const page = await openPage(browser, first.httpUri);
  await page.goto('/');
  await settled(page);
  await first.stop();
  await page.getByText('The connection to the server is lost.').waitFor();
  await page.getByText('Operations', { exact: true }).waitFor();
  await expectAccessible(page, 'without a server');
  await picture(page, 'overview-lost-light');
  const second = await startServer(['--http-port', port]);
  await page.locator('.connection.live').waitFor();
  await page.getByText('The connection to the server is lost.').waitFor({ state: 'detached' });
  // The new server has just been started.
  await page.getByText(/up for \d+ s/).waitFor();
  await page.context().close();
  await second.stop();
});
