// Pictures of every page of a server that runs: node screenshots.mjs http://127.0.0.1:8080; scripts/screenshots calls it.
import { desktop, launch, openPage, phone, picture, pictures } from '../lib/browser.mjs';
import { ask } from '../lib/http.mjs';

const base = process.argv[2];
// What is there is shown; a server may lack a service.
const first = async (path, take) => {
  const { status, json } = await ask(base, path);
  return status === 200 ? take(json) : undefined;
};
const addresses = {
  overview: '/',
  shards: '/shards',
  staking: '/staking',
  storefront: '/storefront',
  report: '/storefront/report',
  settlement: '/settlement',
  record: await first('/v1/heads', ({ symbols: [chain] }) => `/settlement/symbol/${chain.symbol_id}/record/${chain.output_seq}`),
  explorer: '/explorer',
  block: await first('/v1/blocks?limit=1', ({ blocks: [block] }) => `/explorer/block/${block.hash}`),
};

const browser = await launch();
for (const [size, viewport] of [['desktop', desktop], ['phone', phone]]) {
  for (const colorScheme of ['light', 'dark']) {
    const page = await openPage(browser, base, { viewport, colorScheme });
    // The charts have something to show once a little time has passed.
    await page.goto('/');
    await page.waitForFunction(() => document.querySelector('.connection.live'));
    await page.waitForTimeout(10_000);
    for (const [name, address] of Object.entries(addresses)) {
      if (!address) continue;
      await page.goto(address);
      await page.waitForFunction(() => document.querySelector('.connection.live') && !document.querySelector('.skeleton'));
      await page.waitForTimeout(1500);
      await picture(page, `${name}-${size}-${colorScheme}`);
    }
    await page.context().close();
  }
}
await browser.close();
console.log(`pictures are in ${pictures}`);
