// The settlement log over HTTP: outputs in, and the same answers as the command line's.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { ask, get, post } from '../lib/http.mjs';
import { start } from '../lib/program.mjs';
import { startServer } from '../lib/server.mjs';

const eq = assert.deepEqual;
const ndjson = 'application/x-ndjson';

let server;
let base;
let directory;
let lines;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'braid-http-settlement-'));
  server = await startServer(['--http-port', '0']);
  base = server.httpUri;
  lines = (await settlement('generate', '--outputs', '1000', '--symbols', '4', '--users', '50', '--cross', '5', '--seed', '9')).trimEnd().split('\n');
});
after(async () => {
  await server?.stop();
  if (directory) await rm(directory, { recursive: true, force: true });
});

async function settlement(...args) {
  const { status, stdout, stderr } = await start(['settlement', ...args]).ended;
  assert.equal(status, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}
const settlementJson = async (action, ...args) => JSON.parse(await settlement(action, '--store', server.uri, '--json', ...args));
const rows = (text) => text.trimEnd().split('\n').map((line) => JSON.parse(line));

test('outputs: one, an array and lines; those that are stored are not stored twice', async () => {
  const one = await post(base, '/v1/outputs', lines[0]);
  eq([one.status, one.json.accepted, one.json.errors], [200, 1, []], one.text);
  const some = await post(base, '/v1/outputs', `[${lines.slice(0, 50).join(',')}]`);
  eq([some.json.accepted, some.json.duplicate], [49, 1]);
  const rest = await post(base, '/v1/outputs', lines.join('\n'), ndjson);
  eq([rest.json.accepted, rest.json.duplicate, rest.json.errors], [lines.length - 50, 50, []]);
  const heads = await get(base, '/v1/heads');
  const { views, ...stats } = await settlementJson('stats');
  eq(views, []);
  eq(heads, stats);
  assert.equal(heads.output_seq, JSON.parse(lines.at(-1)).output_seq);
});

test('records in pages and as lines are those of the command line', async () => {
  const all = (await settlementJson('records', '--symbol', '2')).records;
  const paged = [];
  for (let from = 1; from !== null; ) {
    const page = await get(base, `/v1/symbols/2/records?limit=33&from=${from}`);
    paged.push(...page.records);
    from = page.next;
  }
  eq(paged, all);
  const streamed = await ask(base, '/v1/symbols/2/records', { headers: { accept: ndjson } });
  eq(rows(streamed.text), all);
  eq((await get(base, '/v1/symbols/99/records')).records, []);
});

test('verification, checkpoints and a proof that check-proof accepts', async () => {
  eq(await get(base, '/v1/verification'), await settlementJson('verify'));
  assert.equal((await get(base, '/v1/verification?symbol_id=2')).symbols, 1);
  eq((await ask(base, '/v1/verification?symbol_id=99')).status, 404);
  eq((await ask(base, '/v1/checkpoints/newest')).json.error.code, 'NotFound');
  const key = join(directory, 'key');
  await settlement('keygen', '--key', key, '--public-key', `${key}.pub`);
  await settlement('checkpoint', '--store', server.uri, '--key', key, '--to', join(directory, 'checkpoint'));
  eq((await get(base, '/v1/checkpoints')).checkpoints.length, 1);
  eq(await get(base, '/v1/checkpoints/newest'), JSON.parse(await readFile(join(directory, 'checkpoint'), 'utf8')));
  const [record] = (await get(base, '/v1/symbols/2/records?limit=1')).records;
  const { text } = await ask(base, `/v1/symbols/2/records/${record.output_seq}/proof`);
  const proof = join(directory, 'proof');
  await writeFile(proof, text);
  const checked = JSON.parse(await settlement('check-proof', proof, '--public-key', `${key}.pub`, '--json'));
  eq([checked.ok, checked.output_seq], [true, record.output_seq]);
  eq((await ask(base, '/v1/symbols/2/records/999999/proof')).status, 400);
});

test('balances and trades are those of the views', async () => {
  eq((await ask(base, '/v1/balances')).json.error.code, 'NamespaceNotFound');
  await settlement('follow', '--store', server.uri, '--once');
  for (const [path, name, args] of [
    ['/v1/balances?limit=1000', 'balances', ['--limit', '1000']],
    ['/v1/trades?symbol_id=2&limit=1000', 'trades', ['--symbol', '2', '--limit', '1000']],
  ]) {
    const all = await settlementJson(name, ...args);
    eq(await get(base, path), all);
    const paged = [];
    for (let after = ''; after !== undefined; ) {
      const page = await get(base, `${path.replace('1000', '17')}&after=${encodeURIComponent(after)}`);
      paged.push(...page[name]);
      after = page.next;
    }
    eq(paged, all[name]);
    eq(rows((await ask(base, path, { headers: { accept: ndjson } })).text), all[name]);
  }
  const [{ user_id: user }] = (await get(base, '/v1/balances?limit=1')).balances;
  assert.ok((await get(base, `/v1/balances?user_id=${user}`)).balances.every((row) => row.user_id === user));
  eq((await ask(base, '/v1/trades?after=nonsense')).status, 400);
});

test('an output that does not follow is named by its line, and only its symbol waits', async () => {
  const output = (sequence, symbol, more = {}) => JSON.stringify({ output_seq: sequence, input: {}, order_update: { order_id: 1, user_id: 1, symbol_id: symbol, status: 'new' }, ...more });
  const broken = output(5001, 1, { prev_hash: 'ab'.repeat(32) });
  const { status, json } = await post(base, '/v1/outputs', `${output(5000, 3)}\n\n${broken}\n${output(5002, 1)}\n${output(5003, 3)}\n`, ndjson);
  eq([status, json.accepted, json.refused, json.halted], [200, 2, 1, 1]);
  eq(json.errors.map(({ line, output_seq, outcome }) => [line, output_seq, outcome]), [[3, 5001, 'refused'], [4, 5002, 'halted']]);
  eq((await get(base, '/v1/heads')).halted, 1);
});

test('outputs are refused while a migration into the log is under way', async (t) => {
  const migrating = await startServer(['--http-port', '0']);
  t.after(() => migrating.stop());
  const migrate = (action, ...args) => settlement('migrate', action, '--store', migrating.uri, ...args);
  const output = (sequence) => JSON.stringify({ output_seq: sequence, input: {}, order_update: { order_id: 1, user_id: 1, symbol_id: 1, status: 'new' } });
  await migrate('generate', '--outputs', '50');
  await migrate('run');
  for (const [body, type] of [[output(1000), undefined], [`${output(1000)}\n`, ndjson]]) {
    const { status, json } = await post(migrating.httpUri, '/v1/outputs', body, type);
    eq([status, json.error.code], [409, 'IllegalOperation']);
    assert.match(json.error.message, /a migration from engine_output_log_single to engine_output_log is under way \(phase verified\)/);
  }
  await migrate('write', '--outputs', '20');
  await migrate('switch');
  await migrate('drop', '--yes');
  eq((await post(migrating.httpUri, '/v1/outputs', output(1000))).json.accepted, 1);
  eq(JSON.parse(await settlement('verify', '--store', migrating.uri, '--json')).ok, true);
});
