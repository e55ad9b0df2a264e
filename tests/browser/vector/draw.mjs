// A page of the dashboard as an SVG: opened in Chromium, and drawn by the scripts beside this one.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { openPage } from '../../lib/browser.mjs';
import { settled } from '../addresses.mjs';

const folder = dirname(fileURLToPath(import.meta.url));

/** Before a page is opened: what it needs to be drawn. */
export async function prepare(page) {
  for (const name of ['canvas', 'text', 'page']) await page.addInitScript({ path: join(folder, `${name}.js`) });
}

/** Presses a button until it says that all is well: a record can be proven once a checkpoint covers it, which takes half a minute. */
async function pressUntilGood(page, name) {
  for (let tries = 0; (await page.locator('.outcome.good').count()) === 0; ++tries) {
    if (tries === 30) throw new Error(`${name}: ${await page.locator('.outcome, .problem').allInnerTexts()}`);
    await page.getByRole('button', { name }).click();
    await page.waitForTimeout(2000);
  }
  await page.evaluate(() => window.scrollTo(0, 0));
}

/**
 * Opens a page and draws it.
 * @param {string} address of the page, such as /shards
 * @param {object} drawing its title; the height at which the page is cut; the panel (part) that is shown alone; the button to press before
 */
export async function draw(browser, base, address, { title, height = Infinity, part, press, colorScheme = 'light', width = 1280 }) {
  // Lines are drawn to half a pixel; the height is that of the page once it is known.
  const page = await openPage(browser, base, { viewport: { width, height: 600 }, colorScheme, deviceScaleFactor: 2, timezoneId: 'UTC' });
  page.setDefaultTimeout(60_000);
  await prepare(page);
  await page.goto(address);
  await settled(page);
  // Letters as wide as those of the fonts that most viewers have.
  await page.evaluate(() => (document.body.style.fontFamily = "Arial, 'Liberation Sans', 'DejaVu Sans Condensed', sans-serif"));
  if (press) await pressUntilGood(page, press);
  const whole = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width, height: Math.min(whole, height) });
  // The charts follow the width, and rates are known with the second sample.
  await page.waitForTimeout(2500);
  const svg = await page.evaluate(({ title, part }) => window.drawPage(title, part), { title, part });
  if (page.problems.length) throw new Error(`${title}: ${page.problems.join('; ')}`);
  await page.context().close();
  return svg;
}
