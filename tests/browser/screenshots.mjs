// Pictures of the pages of a server that runs: bitmaps of every page, desktop and phone, light and dark.
// usage: node screenshots.mjs http://127.0.0.1:8080; scripts/screenshots --png calls it. drawings.mjs makes those of the documentation.
import { desktop, launch, openPage, phone, picture, pictures } from '../lib/browser.mjs';
import { addressesOf, settled } from './addresses.mjs';

const base = process.argv[2];
const addresses = await addressesOf(base);
const browser = await launch();
for (const [size, viewport] of [['desktop', desktop], ['phone', phone]]) {
  for (const colorScheme of ['light', 'dark']) {
    const page = await openPage(browser, base, { viewport, colorScheme });
    // The charts have something to show once a little time has passed.
    await page.goto('/');
    await settled(page);
    await page.waitForTimeout(10_000);
    for (const [name, address] of Object.entries(addresses)) {
      await page.goto(address);
      await settled(page);
      await page.waitForTimeout(1500);
      await picture(page, `${name}-${size}-${colorScheme}`);
    }
    await page.context().close();
  }
}
await browser.close();
console.log(`pictures are in ${pictures}`);
