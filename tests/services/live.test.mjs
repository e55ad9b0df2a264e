// The dashboard's files as the server gives them, and the stream of samples that it lives on.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { ask, get, post } from '../lib/http.mjs';
import { startServer } from '../lib/server.mjs';

const eq = assert.deepEqual;

let server;
let base;
before(async () => {
  server = await startServer(['--http-port', '0']);
  base = server.httpUri;
});
after(() => server?.stop());

/** Listens until `enough` says so; the events, and a promise of the end of the stream. */
async function listen(path, enough, headers = {}, where = base) {
  const aborter = new AbortController();
  const response = await fetch(where + path, { headers, signal: aborter.signal });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  const events = [];
  let text = '';
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
      const event = Object.fromEntries(text.slice(0, end).split('\n').map((line) => line.split(/: (.*)/s)));
      if (event.data) events.push({ id: Number(event.id), data: JSON.parse(event.data) });
      else assert.equal(event.retry, '1000');
    }
    if (enough(events)) break;
  }
  aborter.abort();
  return events;
}

test('samples have rates, latencies, memory and the services', async () => {
  const lines = Array.from({ length: 20 }, (_, i) => JSON.stringify({ event_type: 'active', staking_tx_hash_hex: i.toString(16).padStart(64, '0'), staker_pk_hex: 'aa'.repeat(32), finality_provider_pk_hex: 'bb'.repeat(32), staking_value: 5, timestamp: 1700000000 }));
  const [first, second] = await listen('/v1/live', (events) => {
    if (events.length === 1) void post(base, '/v1/events', lines.join('\n'), 'application/x-ndjson');
    return events.length > 1 && events.at(-1).data.services.staking?.total_delegations === 20;
  }).then((events) => [events[0].data, events.at(-1).data]);
  eq([first.milliseconds, first.services.staking, first.services.explorer], [0, null, null]);
  assert.ok(second.milliseconds > 0);
  eq(Object.keys(second.latency_micros), ['reads', 'writes', 'commands']);
  eq([second.services.staking.active_tvl, second.shards], [100, 4]);
  assert.ok('cursors' in second.memory_holders && second.memory_limit_bytes > 0);
});

test('who comes back gets what it has missed, and who asks for history gets that', async () => {
  const seen = await listen('/v1/live', (events) => events.length >= 3);
  const [again] = await listen('/v1/live', (events) => events.length >= 1, { 'last-event-id': String(seen[0].id) });
  assert.equal(again.id, seen[1].id);
  const history = await listen('/v1/live?history=2', (events) => events.length >= 2);
  assert.ok(history[0].id >= seen[0].id);
  const future = await listen('/v1/live', (events) => events.length >= 1, { 'last-event-id': String(Date.now() + 1e9) });
  assert.equal(future.length, 1);
});

test('two hundred listeners get the same samples', async () => {
  const all = await Promise.all(Array.from({ length: 200 }, () => listen('/v1/live?history=1', (events) => events.length >= 3)));
  const ids = new Set(all.flatMap((events) => events.map(({ id }) => id)));
  assert.ok(ids.size <= 8, `${ids.size} samples were made for 200 listeners`);
  assert.equal((await ask(base, '/healthz')).status, 200);
});

test('a stop of the server ends the streams at once', async () => {
  const other = await startServer(['--http-port', '0']);
  const ended = listen('/v1/live', () => false, {}, other.httpUri).then(() => 'ended', () => 'ended');
  await listen('/v1/live', (events) => events.length >= 1, {}, other.httpUri);
  eq((await other.stop()).code, 0);
  assert.equal(await ended, 'ended');
});

/** The answer as it is on the wire. */
const wire = (path, headers = {}) =>
  new Promise((resolve, reject) => {
    request(base + path, { headers }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part)).on('end', () => resolve({ status: response.statusCode, headers: response.headers, bytes: Buffer.concat(parts) }));
    }).on('error', reject).end();
  });

test('views have addresses, and unknown routes are still told from them', async () => {
  const page = await ask(base, '/');
  eq([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
  const policy = page.headers.get('content-security-policy');
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
  assert.doesNotMatch(policy, /unsafe|http/);
  assert.doesNotMatch(page.text, /<script(?![^>]* src=)|style=|<style/);
  for (const path of ['/staking', '/explorer/block/0xab', '/settlement/symbol/3/record/17', '/shards']) {
    assert.equal((await ask(base, path)).text, page.text, path);
  }
  for (const path of ['/v1/nothing', '/nothing', '/assets/none.js', '/explorers', '/stakin']) {
    const { status, json } = await ask(base, path);
    eq([status, json.error.code], [404, 'NotFound'], path);
  }
  assert.equal((await ask(base, '/', { method: 'POST' })).status, 404);
});

test('assets are packed once, kept for ever, and not sent again', async () => {
  const { text } = await ask(base, '/');
  const assets = [...text.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path);
  assert.equal(assets.length, 2);
  let total = 0;
  for (const path of assets) {
    const packed = await wire(path, { 'accept-encoding': 'gzip' });
    eq([packed.status, packed.headers['content-encoding'], packed.headers['cache-control']], [200, 'gzip', 'public, max-age=31536000, immutable']);
    total += packed.bytes.length;
    const plain = await wire(path);
    eq([plain.headers['content-encoding'], plain.bytes.equals(gunzipSync(packed.bytes))], [undefined, true]);
    const known = await wire(path, { 'if-none-match': packed.headers.etag });
    eq([known.status, known.bytes.length], [304, 0]);
  }
  assert.ok(total < 300_000, `${total} bytes`);
  assert.equal((await wire('/')).headers['cache-control'], 'no-cache');
  const head = await ask(base, '/braid.svg', { method: 'HEAD' });
  eq([head.status, head.headers.get('content-type'), head.text], [200, 'image/svg+xml', '']);
});

test('shards, chunks and changes as the store has them', async () => {
  const { shards, collections, chunks, moving, changes } = await get(base, '/v1/shards');
  eq(shards.map(({ shard }) => shard), ['shard0', 'shard1', 'shard2', 'shard3']);
  eq([moving, collections.every(({ ns }) => typeof ns === 'string')], [[], true]);
  for (const { shard } of chunks) assert.ok(shards.some((one) => one.shard === shard));
  assert.ok(Array.isArray(changes));
});
