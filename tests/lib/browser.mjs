// Debian's Chromium, driven by playwright-core: pages whose errors are kept, accessibility checks, pictures.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Where the pictures of the tests are kept: build/browser, or what BRAID_PICTURES names. */
export const pictures = process.env.BRAID_PICTURES ?? join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'build', 'browser');

export const desktop = { width: 1360, height: 900 };
export const phone = { width: 390, height: 844 };

export function launch() {
  return chromium.launch({
    executablePath: process.env.BRAID_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}

/** A page of its own browser context; `page.problems` has what went wrong in it: errors in the console, of scripts, of requests. */
export async function openPage(browser, base, { viewport = desktop, colorScheme = 'light', ...further } = {}) {
  const context = await browser.newContext({ baseURL: base, viewport, colorScheme, ...further, permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.problems = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && page.problems.push(`${message.text()} ${message.location().url}`));
  page.on('pageerror', (error) => page.problems.push(String(error)));
  return page;
}

/** The page is without violations of the rules that axe-core knows, and nothing is wider than the screen or than its frame. */
export async function expectAccessible(page, what) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`);
  assert.deepEqual(found, [], what);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(overflow <= 0, `${what}: ${overflow} pixels are beyond the right edge`);
  const burst = await page.evaluate(() => [...document.querySelectorAll('.panel, .stat')].filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.innerText.slice(0, 40)));
  assert.deepEqual(burst, [], `${what}: wider than their frames`);
}

export async function picture(page, name) {
  await mkdir(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}
