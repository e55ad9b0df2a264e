// The HTTP API as its users see it: every route of /openapi.json, and the same answers as the command line's.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { ask, get, post } from '../lib/http.mjs';
import { expectSchema } from '../lib/json_schema.mjs';
import { start } from '../lib/program.mjs';
import { startServer } from '../lib/server.mjs';
import { Model, generate, stakingJson } from './staking_model.mjs';
import { explorerJson, start as explorer } from './explorer_model.mjs';

const eq = assert.deepEqual;
const text = (lines) => lines.join('\n') + '\n';
const ndjson = 'application/x-ndjson';

let server;
let base;
let api;
const model = new Model();
let keys = 0;
before(async () => {
  server = await startServer(['--http-port', '0']);
  base = server.httpUri;
  api = await get(base, '/openapi.json');
});
after(() => server?.stop());

test('without data the services are not found, and nothing is created by asking', async () => {
  for (const path of ['/v1/stats', '/v1/stakers', '/v1/blocks', '/v1/status', '/v1/products/P1', '/v1/reports/sales', '/v1/heads', '/v1/verification', '/v1/balances']) {
    const { status, json } = await ask(base, path);
    eq([status, json.error.code], [404, 'NamespaceNotFound'], path);
  }
  const { status } = await ask(base, '/readyz');
  assert.equal(status, 200);
});

test('events: one, an array and lines; each has its effect once', async () => {
  const lines = await generate(2000, 11, '--duplicates', '5', '--early', '20', '--stakers', '200', '--finality-providers', '9');
  model.add(lines);
  const one = await post(base, '/v1/events', lines[0]);
  eq([one.status, one.json.accepted, one.json.errors], [200, 1, []]);
  const again = await post(base, '/v1/events', lines[0]);
  eq([again.json.accepted, again.json.duplicate], [0, 1]);
  const some = await post(base, '/v1/events', `[${lines.slice(1, 100).join(',')}]`);
  assert.equal(some.json.accepted + some.json.duplicate + some.json.parked, 99);
  const rest = await post(base, '/v1/events', text(lines.slice(100)), ndjson);
  assert.equal(rest.json.accepted + rest.json.duplicate + rest.json.parked, lines.length - 100);
  const { logical_shard_count: shards, ...overall } = await get(base, '/v1/stats');
  eq(overall, model.overall);
  assert.equal(shards, 10);
});

test('events that are refused are kept, and named by their line', async () => {
  const good = (await generate(1, 99))[0];
  const bad = ['{"event_type":"active"}', 'not json'];
  model.add([good, 'bad 1', 'bad 2']);
  const { status, json } = await post(base, '/v1/events', `${bad[0]}\n\n${good}\n${bad[1]}`, ndjson);
  eq([status, json.accepted, json.rejected], [200, 1, 2]);
  eq(json.errors.map(({ line }) => line), [1, 4]);
  assert.match(json.errors[0].message, /staking_tx_hash_hex/);
  const array = await post(base, '/v1/events', `[${good}, ${bad[0]}]`);
  eq([array.json.duplicate, array.json.rejected, array.json.errors[0].line], [1, 1, 2]);
  assert.equal((await get(base, '/v1/stats')).unprocessable_messages, 2);
});

test('a body that is no JSON, no event or of another type is refused as a whole', async () => {
  for (const [body, type, status, code] of [
    ['{"a": ', 'application/json', 400, 'FailedToParse'],
    ['[1, 2', 'application/json', 400, 'FailedToParse'],
    ['7', 'application/json', 400, 'TypeMismatch'],
    ['', 'application/json', 400, 'BadValue'],
    ['{}', 'text/plain', 415, 'UnsupportedMediaType'],
    ['{}', '', 415, 'UnsupportedMediaType'],
  ]) {
    const answer = await post(base, '/v1/events', body, type);
    eq([answer.status, answer.json.error.code], [status, code], `${type} ${body}`);
  }
});

test('totals and rankings are those of the command line, in pages and as lines', async () => {
  const where = ['--store', server.uri];
  eq(await get(base, '/v1/stats'), await stakingJson(['stats', ...where]));
  for (const [path, rank, key] of [['/v1/finality-providers', 'finality-providers', 'finality_provider_pk_hex'], ['/v1/stakers', 'stakers', 'staker_pk_hex']]) {
    const all = await stakingJson(['stats', ...where, '--rank', rank, '--limit', '1000']);
    const rows = [];
    for (let next = ''; ; ) {
      const page = await get(base, `${path}?limit=7&after=${encodeURIComponent(next)}`);
      rows.push(...page.rows);
      next = page.next;
      if (next === '') break;
    }
    eq(rows, all.rows);
    const lines = await ask(base, path, { headers: { accept: ndjson } });
    assert.equal(lines.headers.get('content-type'), ndjson);
    eq(lines.text.trim().split('\n').map((line) => JSON.parse(line)), all.rows);
    const entity = rows[3][key];
    const single = key === 'staker_pk_hex' ? `/v1/stats/staker?staker_pk_hex=${entity}` : `${path}/${entity}`;
    eq(await get(base, single), rows[3]);
  }
});

test('the explorer answers as the command line does, at a pivot too', async () => {
  const { stdout } = await explorer(['generate', '--epochs', '30', '--seed', '5', '--switches', '20', '--miners', '5', '--accounts', '20']).ended;
  const where = ['--store', server.uri];
  await explorerJson(['import', ...where, '-'], stdout);
  const [newest] = (await explorerJson(['blocks', ...where])).blocks;
  const [transaction] = (await explorerJson(['transactions', ...where])).transactions;
  const pivots = (await explorerJson(['pivot', ...where])).pivots;
  const cases = {
    '/v1/blocks?limit=5': ['blocks', '--limit', '5'],
    [`/v1/blocks/${newest.hash}`]: ['block', newest.hash],
    [`/v1/blocks/${newest.hash}/transactions`]: ['block-transactions', newest.hash],
    '/v1/transactions?limit=3': ['transactions', '--limit', '3'],
    [`/v1/transactions/${transaction.hash}`]: ['transaction', transaction.hash],
    [`/v1/accounts/${transaction.from}/transactions`]: ['account', transaction.from],
    '/v1/miners': ['miners'],
    [`/v1/miners/${newest.miner}/blocks`]: ['miner', newest.miner],
    [`/v1/epochs/${pivots[3].epoch}/blocks`]: ['epoch', String(pivots[3].epoch)],
    '/v1/pivots': ['pivot'],
    '/v1/latest': ['latest'],
    '/v1/reorgs?limit=2': ['reorgs', '--limit', '2'],
    '/v1/status': ['status'],
    [`/v1/blocks?at=${pivots[4].hash}&limit=3`]: ['blocks', '--at', pivots[4].hash, '--limit', '3'],
    [`/v1/latest?at=${pivots[4].hash}`]: ['latest', '--at', pivots[4].hash],
  };
  for (const [path, args] of Object.entries(cases)) eq(await get(base, path), await explorerJson([args[0], ...where, ...args.slice(1)]), path);

  const blocks = [];
  for (let next = ''; next !== null; ) {
    const page = await get(base, `/v1/blocks?limit=11${next && `&after=${next}`}`);
    blocks.push(...page.blocks);
    next = page.next;
  }
  const lines = await ask(base, '/v1/blocks', { headers: { accept: ndjson } });
  eq(lines.text.trim().split('\n').map((line) => JSON.parse(line)), blocks);

  for (const [wanted, kind] of [[newest.hash, 'block'], [transaction.hash, 'transaction'], [transaction.from, 'account'], ['7', 'epoch'], ['0x7', 'epoch'], ['999999', null], [`0x${'ab'.repeat(32)}`, null], [`0x${'zz'.repeat(32)}`, null], [`0x${'ab'.repeat(20)}`, null], ['nonsense', null]]) {
    eq(await get(base, `/v1/search?for=${wanted}`), { kind }, wanted);
  }

  for (const [path, status, code] of [
    [`/v1/blocks/0x${'ab'.repeat(32)}`, 404, 'NotFound'],
    ['/v1/blocks/xyz', 400, 'BadValue'],
    ['/v1/epochs/999999/blocks', 404, 'NotFound'],
    ['/v1/epochs/first/blocks', 400, 'BadValue'],
    [`/v1/blocks?at=0x${'cd'.repeat(32)}`, 409, 'TimelineReorganised'],
    ['/v1/blocks?after=nonsense', 400, 'BadValue'],
  ]) {
    const answer = await ask(base, path);
    eq([answer.status, answer.json.error.code], [status, code], path);
  }
});

/** A log with a checkpoint and views, made once. */
async function settlementLog() {
  const heads = await ask(base, '/v1/heads');
  if (heads.status === 200) return heads.json;
  const directory = await mkdtemp(join(tmpdir(), 'braid-http-'));
  const settlement = async (...args) => {
    const { status, stdout, stderr } = await start(['settlement', ...args]).ended;
    assert.equal(status, 0, stderr);
    return stdout;
  };
  const appended = await post(base, '/v1/outputs', await settlement('generate', '--outputs', '300', '--symbols', '3'), ndjson);
  eq([appended.json.accepted, appended.json.errors], [300, []], appended.text);
  const key = join(directory, 'key');
  await settlement('keygen', '--key', key, '--public-key', `${key}.pub`);
  await settlement('checkpoint', '--store', server.uri, '--key', key);
  await settlement('follow', '--store', server.uri, '--once');
  await rm(directory, { recursive: true });
  return get(base, '/v1/heads');
}

/** A request for each route of the document: values that exist for the parameters of its path, a body that it takes. */
async function requestsOf() {
  const [block] = (await get(base, '/v1/blocks?limit=1')).blocks;
  const [transaction] = (await get(base, '/v1/transactions?limit=1')).transactions;
  const [provider] = (await get(base, '/v1/finality-providers?limit=1')).rows;
  const [staker] = (await get(base, '/v1/stakers?limit=1')).rows;
  const product = { name: 'Lamp', category: 'light', price: '9.50', currency: 'EUR', stock_by_geo: [{ geo_zone: 'eu', qty: 100 }] };
  const put = (path, body) => ask(base, path, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  assert.equal((await put('/v1/products/P1', product)).status, 200);
  for (const owner of ['u:ann', 'g:s1', 'u:old']) assert.equal((await post(base, `/v1/carts/${owner}/items`, { product_id: 'P1', qty: 2 })).status, 200);
  const headers = { 'content-type': 'application/json', 'idempotency-key': `first ${++keys}` };
  const order = await ask(base, '/v1/carts/u:old/checkout', { method: 'POST', headers, body: '{"geo_zone": "eu"}' });
  assert.equal(order.status, 200, order.text);
  const [{ symbol_id: symbol, output_seq: sequence }] = (await settlementLog()).symbols;
  const values = {
    symbol_id: () => String(symbol),
    output_seq: () => String(sequence),
    product_id: () => 'P1',
    action: () => 'set',
    category: () => 'light',
    owner: () => 'u:ann',
    order_id: () => order.json.order_id,
    'Idempotency-Key': () => `key ${++keys}`,
    hash: (path) => (path.startsWith('/v1/blocks') ? block.hash : transaction.hash),
    address: (path) => (path.startsWith('/v1/miners') ? block.miner : transaction.from),
    number: () => String(Number(block.epochNumber)),
    finality_provider_pk_hex: () => provider.finality_provider_pk_hex,
    staker_pk_hex: () => staker.staker_pk_hex,
    collection: () => 'shop.products',
    for: () => block.hash,
  };
  const bodies = {
    'post /v1/events': { event_type: 'unbonded', staking_tx_hash_hex: 'ef'.repeat(32) },
    'put /v1/products/{product_id}': product,
    'post /v1/outputs': { output_seq: 1_000_000 + ++keys, input: {}, order_update: { order_id: 1, user_id: 1, symbol_id: 77, status: 'new' } },
    'post /v1/products/{product_id}/stock/{action}': { geo_zone: 'eu', qty: 50 },
    'post /v1/carts/{owner}/items': { product_id: 'P1', qty: 1 },
    'put /v1/carts/{owner}/items/{product_id}': { qty: 3 },
    'post /v1/carts/{owner}/merge': { session_id: 's1' },
    'post /v1/carts/{owner}/checkout': { geo_zone: 'eu' },
    'post /v1/orders/{order_id}/transitions': { status: 'shipped' },
  };
  const requests = [];
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const needed = operation.parameters.filter(({ required }) => required);
      for (const { name } of needed) assert.ok(name in values, `the test has no value for ${name} of ${path}`);
      const target = needed.filter((one) => one.in === 'path').reduce((so_far, { name }) => so_far.replace(`{${name}}`, encodeURIComponent(values[name](path))), path);
      const query = new URLSearchParams(needed.filter((one) => one.in === 'query').map(({ name }) => [name, values[name](path)]));
      const body = operation.requestBody && JSON.stringify(bodies[`${method} ${path}`] ?? assert.fail(`the test has no body for ${method} ${path}`));
      const headers = Object.fromEntries(needed.filter((one) => one.in === 'header').map(({ name }) => [name, values[name](path)]));
      if (body) headers['content-type'] = 'application/json';
      requests.push({ path, operation, target: String(query) ? `${target}?${query}` : target, options: { method: method.toUpperCase(), headers, body } });
    }
  }
  return requests;
}

test('every route answers with a status and a body that its schema allows', async () => {
  const requests = await requestsOf();
  assert.ok(requests.length >= 57, `${requests.length} routes`);
  const all = api.components.schemas;
  for (const { operation, target, options } of requests) {
    // It has no end; live.test.mjs listens.
    if ('text/event-stream' in operation.responses[200].content) continue;
    const { method, body } = options;
    const answer = await ask(base, target, options);
    const declared = operation.responses[answer.status];
    assert.ok(declared, `${method} ${target}: ${answer.status} ${answer.text}`);
    const type = answer.headers.get('content-type').split(';')[0];
    assert.ok(type in declared.content, `${method} ${target}: ${type}`);
    if (type === 'application/json') expectSchema(answer.json, declared.content[type].schema, all, `${method} ${target}`);
    if (body) expectSchema(JSON.parse(body), operation.requestBody.content['application/json'].schema, all, `${method} ${target} body`);
  }
});

test('every route refuses what it does not know: parameters, values and methods', async () => {
  const all = api.components.schemas;
  for (const { operation, path, target, options } of await requestsOf()) {
    const { method, body, headers: given } = options;
    const refused = async (where, how, status) => {
      const answer = await ask(base, where, how);
      assert.equal(answer.status, status, `${how.method} ${where}: ${answer.text}`);
      if (how.method !== 'HEAD') expectSchema(answer.json, { $ref: '#/components/schemas/Error' }, all);
      return answer;
    };
    const join = target.includes('?') ? '&' : '?';
    await refused(`${target}${join}bogus=1`, options, 400);
    for (const { name, schema } of operation.parameters) {
      if (schema.type === 'integer') await refused(`${target}${join}${name}=x`, options, 400);
      if (schema.maximum !== undefined) await refused(`${target}${join}${name}=${schema.maximum + 1}`, options, 400);
    }
    for (const { name } of operation.parameters.filter((one) => one.in === 'header' && one.required)) {
      await refused(target, { method, body, headers: Object.fromEntries(Object.entries(given).filter(([key]) => key !== name)) }, 400);
    }
    for (const { name } of operation.parameters.filter((one) => one.in === 'query' && one.required)) {
      await refused(path, options, 400).then(({ json }) => assert.match(json.error.message, new RegExp(name)));
    }
    const { headers } = await refused(target, { method: 'PATCH' }, 405);
    assert.ok(headers.get('allow').split(', ').includes(method), headers.get('allow'));
  }
  assert.equal((await ask(base, '/v1/nothing')).status, 404);
});

test('HEAD, ETag, gzip and OPTIONS', async () => {
  const full = await ask(base, '/v1/blocks?limit=20', { headers: { 'accept-encoding': 'identity' } });
  const head = await ask(base, '/v1/blocks?limit=20', { method: 'HEAD', headers: { 'accept-encoding': 'identity' } });
  eq([head.status, head.text, head.headers.get('content-length')], [200, '', String(full.text.length)]);
  const tag = full.headers.get('etag');
  const known = await ask(base, '/v1/blocks?limit=20', { headers: { 'if-none-match': tag } });
  eq([known.status, known.text], [304, '']);
  assert.equal((await ask(base, '/v1/blocks?limit=19', { headers: { 'if-none-match': tag } })).status, 200);
  // fetch() unpacks by itself; the raw bytes are seen by asking as a plain client does.
  const { request } = await import('node:http');
  const packed = await new Promise((resolve, reject) => {
    request(`${base}/v1/blocks?limit=20`, { headers: { 'accept-encoding': 'gzip' } }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part)).on('end', () => resolve({ response, bytes: Buffer.concat(parts) }));
    }).on('error', reject).end();
  });
  assert.equal(packed.response.headers['content-encoding'], 'gzip');
  assert.equal(gunzipSync(packed.bytes).toString(), full.text);
  assert.ok(packed.bytes.length < full.text.length / 2);
  const options = await ask(base, '/v1/events', { method: 'OPTIONS' });
  eq([options.status, options.headers.get('allow'), options.headers.get('access-control-allow-methods')], [204, 'POST, OPTIONS', null]);
});

/** Prometheus's text format, strictly: every sample belongs to the family before it. */
function parseMetrics(metrics) {
  const families = new Map();
  let family;
  for (const line of metrics.trimEnd().split('\n')) {
    const help = line.match(/^# HELP ([a-z_:][a-z0-9_:]*) (.+)$/);
    const type = line.match(/^# TYPE ([a-z_:][a-z0-9_:]*) (counter|gauge|histogram)$/);
    const sample = line.match(/^([a-z_:][a-z0-9_:]*)(\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+\})? (-?[0-9.e+-]+)$/);
    assert.ok(help || type || sample, line);
    if (help) {
      assert.ok(!families.has(help[1]), `${help[1]} comes twice`);
      families.set(help[1], (family = { name: help[1], help: help[2], samples: [] }));
    } else if (type) {
      assert.equal(type[1], family.name);
      family.type = type[2];
    } else {
      const suffix = sample[1].slice(family.name.length);
      assert.ok(sample[1].startsWith(family.name) && (family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']).includes(suffix), line);
      family.samples.push({ labels: sample[2], value: Number(sample[3]), suffix });
    }
  }
  return families;
}

test('metrics are in the format of Prometheus, in base units, and all documented', async () => {
  const answer = await ask(base, '/metrics');
  assert.match(answer.headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
  const families = parseMetrics(answer.text);
  for (const { name, type, samples } of families.values()) {
    assert.ok(name.startsWith('braid_'), name);
    assert.equal(type === 'counter', name.endsWith('_total'), `${name} is a ${type}`);
    if (type === 'counter') for (const { value } of samples) assert.ok(value >= 0, name);
  }
  const page = await readFile(new URL('../../docs/http.md', import.meta.url), 'utf8');
  const documented = [...page.matchAll(/^\| `(braid_[a-z_]+)/gm)].map(([, name]) => name);
  eq([...families.keys()].sort(), documented.sort());
  const sum = (name) => families.get(name).samples.reduce((total, { value }) => total + value, 0);
  assert.ok(sum('braid_http_requests_total') > 50);
  assert.ok(sum('braid_transactions_committed_total') > 0);
  assert.ok(sum('braid_store_syncs_total') > 0);
  const { at } = await get(base, '/v1/status');
  const heads = await settlementLog();
  eq([sum('braid_explorer_tip_epoch'), sum('braid_staking_logical_shards')], [at.epoch, 10]);
  eq([sum('braid_settlement_chains'), sum('braid_settlement_records'), sum('braid_settlement_halted_chains')], [heads.symbols.length, heads.records, 0]);
  assert.ok(families.get('braid_commands_total').samples.some(({ labels, value }) => labels === '{command="commitTransaction"}' && value > 0));
  const reads = families.get('braid_command_duration_seconds').samples.filter(({ labels }) => labels.startsWith('{kind="reads"'));
  eq(reads.filter(({ suffix }) => suffix === '_count').map(({ value }) => value), reads.filter(({ labels }) => labels.includes('+Inf')).map(({ value }) => value));
  assert.ok(families.get('braid_http_requests_total').samples.some(({ labels }) => labels === '{route="/v1/blocks/{hash}",method="GET",status="200"}'));
});

test('the parser of Prometheus reads the same metrics', async () => {
  const { text: metrics } = await ask(base, '/metrics');
  const script = `
import json, sys
from prometheus_client.parser import text_string_to_metric_families
print(json.dumps([[sample.name, sample.value] for family in text_string_to_metric_families(sys.stdin.read()) for sample in family.samples]))`;
  const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
  const read = JSON.parse(execFileSync(python, ['-c', script], { input: metrics, encoding: 'utf8' }));
  const ours = [...parseMetrics(metrics).values()].flatMap(({ name, samples }) => samples.map(({ suffix, value }) => [name + suffix, value]));
  eq(read, ours);
});

test('the dashboard and the alerts ask for metrics that there are', async () => {
  const families = parseMetrics((await ask(base, '/metrics')).text);
  const dashboard = await readFile(new URL('../../deploy/grafana-dashboard.json', import.meta.url), 'utf8');
  const alerts = await readFile(new URL('../../deploy/alerts.yml', import.meta.url), 'utf8');
  assert.ok(JSON.parse(dashboard).panels.length > 20);
  const named = new Set([...(dashboard + alerts).matchAll(/braid_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, '')));
  for (const name of named) assert.ok(families.has(name), name);
});

test('the page of the documentation needs nothing from elsewhere', async () => {
  const { status, text: page, headers } = await ask(base, '/docs');
  assert.equal(status, 200);
  assert.match(headers.get('content-security-policy'), /default-src 'none'/);
  eq([...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, where]) => where), ['/openapi.json']);
});
