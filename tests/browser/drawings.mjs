// The pictures of the documentation: pages of the demo as SVG, which is text. scripts/screenshots calls it.
// usage: node drawings.mjs DIRECTORY [http://127.0.0.1:8080]; without an address it starts a demo and waits until that has shown everything.
import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { launch, openPage, phone } from '../lib/browser.mjs';
import { ask } from '../lib/http.mjs';
import { binary } from '../lib/server.mjs';
import { addressesOf } from './addresses.mjs';
import { draw } from './vector/draw.mjs';

// A page that is higher than its picture is cut; `part` is the panel that a picture shows alone. `press` is a button whose outcome belongs
// to the picture.
const drawings = [
  { name: 'overview', title: 'The overview of a demo: figures of the server, its four services, what happens, charts', height: 968 },
  { name: 'overview-dark', page: 'overview', title: 'The overview of a demo in dark colours', height: 968, colorScheme: 'dark' },
  { name: 'phone', page: 'overview', title: 'The overview on a phone', height: phone.height, width: phone.width },
  { name: 'shards', title: 'Shards: documents and operations, targeted against scattered, moves of chunks', height: 960 },
  { name: 'chunks', page: 'shards', title: 'The chunk map: each collection as a strip of chunks, coloured by shard', part: 'Chunk map' },
  { name: 'staking', title: 'Staking: totals over time, finality providers, logical shards, an audit', height: 1175, press: 'Audit now' },
  { name: 'storefront', title: 'Storefront: flash sales, orders as they come, stock by zone', height: 900 },
  { name: 'settlement', title: 'Settlement: hash chains with heads and writers, a verification, checkpoints', height: 900, press: 'Verify all chains' },
  { name: 'record', title: 'A settlement record whose hash and proof the browser computes', height: 1010, press: 'Check the proof' },
  { name: 'explorer', title: 'Explorer: newest blocks and transactions, reorganisations', height: 1110 },
];

async function startDemo() {
  const child = spawn(binary, ['demo', '--port', '0', '--http-port', '0', '--quiet'], { stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill('SIGTERM'));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const base = await Promise.race([
    new Promise((resolve) => createInterface({ input: child.stdout }).on('line', (line) => line.startsWith('Open in a browser') && resolve(line.match(/http:\S+[^/\s]/)[0]))),
    ended.then(() => Promise.reject(new Error('braid demo ended before it was ready'))),
  ]);
  return { base, stop: () => child.kill('SIGTERM') && ended };
}

/** A reorganisation, a flash sale, and a chain that was halted and repaired: the last takes one and a half minutes. */
async function everythingHappened(base) {
  const awaited = { '/v1/reorgs?limit=1': 'reorgs', '/v1/products?category=flash-sale&limit=1': 'products', '/v1/repairs?limit=1': 'repairs' };
  for (const [path, list] of Object.entries(awaited)) {
    while (!((await ask(base, path)).json?.[list]?.length > 0)) await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

const [directory, given] = process.argv.slice(2);
await mkdir(directory, { recursive: true });
const demo = given ? undefined : await startDemo();
const base = given ?? demo.base;
const browser = await launch();
// The server samples for the charts while somebody listens.
const listener = await openPage(browser, base);
await listener.goto('/');
if (demo) {
  console.log(`a demo runs at ${base}; what it shows takes one and a half minutes`);
  await everythingHappened(base);
}
const addresses = await addressesOf(base);
for (const drawing of drawings) {
  const address = addresses[drawing.page ?? drawing.name];
  if (!address) throw new Error(`${drawing.name}: the server at ${base} has nothing to show there`);
  const svg = await draw(browser, base, address, drawing);
  await writeFile(join(directory, `${drawing.name}.svg`), svg);
  console.log(`${join(directory, drawing.name)}.svg ${Math.ceil(Buffer.byteLength(svg) / 1000)} kB`);
}
await browser.close();
await demo?.stop();
