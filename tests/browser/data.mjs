// A server with a little of everything, for the browser to look at.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { post } from '../lib/http.mjs';
import { start } from '../lib/program.mjs';

const ndjson = 'application/x-ndjson';

async function run(args, input) {
  const { status, stdout, stderr } = await start(args, input).ended;
  assert.equal(status, 0, stderr);
  return stdout;
}

const json = (base, method, path, body, headers = {}) => fetch(base + path, { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }).then((response) => response.json());

let orders = 0;
/** A customer puts something into a cart and buys it; the number of the order. */
export async function buy(base, user, product = 'P1') {
  await json(base, 'POST', `/v1/carts/u:${user}/items`, { product_id: product, qty: 1 });
  const order = await json(base, 'POST', `/v1/carts/u:${user}/checkout`, { geo_zone: 'eu' }, { 'idempotency-key': `browser ${++orders}` });
  return order.order_id;
}

export const outputs = (...options) => run(['settlement', 'generate', '--symbols', '3', ...options]);
export const events = (count, seed) => run(['staking', 'generate', '--events', String(count), '--seed', String(seed), '--duplicates', '10', '--stakers', '60', '--finality-providers', '20']);

/** Data of all four services; the public key of the checkpoint. */
export async function fill({ uri, httpUri: base }) {
  await post(base, '/v1/events', await events(600, 5), ndjson);
  const chain = await run(['explorer', 'generate', '--epochs', '40', '--seed', '5', '--switches', '20', '--miners', '5', '--accounts', '20']);
  await run(['explorer', 'import', '--store', uri, '--quiet', '-'], chain);
  await post(base, '/v1/outputs', await outputs('--outputs', '300'), ndjson);
  const directory = await mkdtemp(join(tmpdir(), 'braid-browser-'));
  const key = join(directory, 'key');
  await run(['settlement', 'keygen', '--key', key, '--public-key', `${key}.pub`]);
  await run(['settlement', 'checkpoint', '--store', uri, '--key', key]);
  // The last 32 bytes of the file are the key itself.
  const publicKey = Buffer.from((await readFile(`${key}.pub`, 'utf8')).replace(/-----.*-----|\s/g, ''), 'base64').subarray(-32).toString('hex');
  await rm(directory, { recursive: true });
  for (const [id, name, qty] of [['P1', 'Lamp', 500], ['P2', 'Kettle', 3]]) {
    await json(base, 'PUT', `/v1/products/${id}`, { name, category: 'home', price: '9.50', currency: 'EUR', stock_by_geo: [{ geo_zone: 'eu', qty }, { geo_zone: 'us', qty }] });
  }
  for (let i = 0; i < 5; ++i) await buy(base, `user${i}`);
  return publicKey;
}

export const repair = (uri, symbol) => run(['settlement', 'repair', '--store', uri, '--symbol', String(symbol), '--by', 'test', '--reason', 'looked at']);
