// braid demo: every load moves, the guide's commands work, and what a kill -9 leaves behind is sound and gone on with.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { MongoClient } from 'mongodb';

import { get } from '../lib/http.mjs';
import { start } from '../lib/program.mjs';
import { binary, startServer } from '../lib/server.mjs';

const tools = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules', '.bin');

async function temporary(t, name) {
  const directory = await mkdtemp(join(tmpdir(), name));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** A demo that is up: its guide was printed. */
async function startDemo(t, args, env = {}) {
  const child = spawn(binary, ['demo', ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  t.after(() => child.kill('SIGKILL'));
  const exited = once(child, 'close');
  let said = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (data) => (said += data));
  child.stderr.setEncoding('utf8').on('data', (data) => (errors += data));
  /** Waits until it has said something; what came before `from` is passed over. */
  const until = async (pattern, from = 0) => {
    while (!pattern.test(said.slice(from))) {
      await Promise.race([once(child.stdout, 'data'), exited.then(() => assert.fail(`it ended without ${pattern}: ${said}${errors}`))]);
    }
  };
  await until(/^Stop with Ctrl-C/m);
  const [, http] = said.match(/(http:\/\/[\d.:]+)\/$/m);
  const [, uri] = said.match(/(mongodb:\/\/[\d.:]+)\//);
  const commands = (program) => [...said.matchAll(new RegExp(`^  (${program} .*)$`, 'gm'))].map(([, line]) => line);
  const end = async (signal) => {
    child.kill(signal);
    const [code, by] = await exited;
    return { code, signal: by, errors };
  };
  return { http, uri, until, end, commands, length: () => said.length, said: () => said };
}

const free = ['--port', '0', '--http-port', '0'];

/** What a shell says to a command of the guide. */
async function typed(command, home) {
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, HOME: home, PATH: `${tools}${delimiter}${process.env.PATH}` } });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (data) => (output += data));
  const [code] = await once(child, 'close');
  assert.equal(code, 0, command);
  return output;
}

async function statusOf(client) {
  const rows = await client.db('demo').collection('status').find().toArray();
  return Object.fromEntries(rows.map((row) => [row._id, row]));
}

/** Of each product: what was delivered is what was sold and what is left. */
async function checkStock(client) {
  const shop = client.db('shop');
  const sold = new Map();
  for await (const order of shop.collection('orders').find({ status: { $ne: 'canceled' } })) {
    for (const { product_id: id, qty } of order.items) sold.set(id, (sold.get(id) ?? 0) + Number(qty));
  }
  const products = await shop.collection('products').find().toArray();
  for (const { _id, attrs, stock_by_geo: zones } of products) {
    const left = zones.reduce((sum, { qty, reserved }) => sum + Number(qty) + Number(reserved), 0);
    assert.ok(zones.every(({ qty, reserved }) => qty >= 0 && reserved >= 0), _id);
    assert.equal((sold.get(_id) ?? 0) + left, Number(attrs.units), `${_id}: sold and left`);
  }
  return products.length;
}

const shown = [/flash sale \d+: 20 of 20 units sold to 50 buyers, 0 left, oversold 0$/m, /hand-over of symbol 1: writer-. to writer-./,
  /pivot switch at epoch \d+: \d+ epochs? popped/, /shard newcomer added/, /a chunk of shop.products moved from \w+ to \w+: \d+ documents?/,
  /symbol 6 halted: output \d+ came with/, /symbol 6 repaired: the \d+ outputs that waited are appended/];

test('every load moves, the guide is right, and a kill leaves a sound store that the next start goes on with', { timeout: 120_000 }, async (t) => {
  const store = join(await temporary(t, 'braid-demo-test-'), 'store');
  const first = await startDemo(t, ['--store', store, ...free, '--speed', '30']);
  assert.equal(first.commands('mongosh').length, 3);
  assert.equal(first.commands('curl').length, 3);
  const home = await temporary(t, 'braid-demo-home-');
  for (const command of [...first.commands('curl'), ...first.commands('mongosh')]) assert.notEqual((await typed(command, home)).trim(), '', command);
  assert.equal((await typed(first.commands('mongosh')[1], home)).trim(), 'SINGLE_SHARD');
  for (const pattern of shown) await first.until(pattern);

  const client = await MongoClient.connect(first.uri);
  const before = await statusOf(client);
  await client.close();
  assert.ok(before.staking.events > 3000 && before.staking.duplicates > 0 && before.staking.parked > 0 && before.staking.rejected === 0);
  assert.ok(before.shop.orders > 0 && before.shop.merges > 0);
  assert.equal(before.sale.oversold, 0);
  assert.ok(before.settlement.outputs > 600 && before.settlement.hand_overs > 0);
  assert.ok(before.explorer.steps > 40 && before.explorer.switches > 0);
  assert.ok((await get(first.http, '/v1/stats')).total_delegations > 0);
  assert.ok((await get(first.http, '/v1/heads')).symbols.length >= 6);
  assert.ok((await get(first.http, '/v1/reorgs')).reorgs.length > 0);
  assert.ok((await get(first.http, '/v1/checkpoints')).checkpoints.length > 0);
  assert.ok((await get(first.http, '/v1/trades?limit=1')).trades.length > 0);
  assert.equal((await first.end('SIGKILL')).signal, 'SIGKILL');

  for (const check of [['staking', 'audit'], ['settlement', 'verify'], ['explorer', 'verify']]) {
    const { status, stdout, stderr } = await start([...check, '--store', store]).ended;
    assert.equal(status, 0, `${check}: ${stdout}${stderr}`);
  }
  const server = await startServer([], store);
  const plain = await MongoClient.connect(server.uri);
  const products = await checkStock(plain);
  const killed = await statusOf(plain);
  const moves = await plain.db('config').collection('changelog').countDocuments({ what: /^moveChunk/ });
  await plain.close();
  await server.stop();
  assert.ok(products > 20, 'the articles and the sales');
  assert.ok(moves > 0);

  const second = await startDemo(t, ['--store', store, ...free, '--speed', '30']);
  for (const pattern of [shown[0], shown[1], shown[2], shown[4]]) await second.until(pattern);
  const again = await MongoClient.connect(second.uri);
  const after = await statusOf(again);
  await again.close();
  for (const [load, figure] of [['staking', 'events'], ['shop', 'orders'], ['sale', 'sales'], ['settlement', 'outputs'], ['explorer', 'steps']]) {
    assert.ok(after[load][figure] > killed[load][figure], `${load} goes on`);
  }
  assert.deepEqual(await second.end('SIGINT'), { code: 0, signal: null, errors: '' });
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  test(`${signal} ends it and leaves nothing behind`, async (t) => {
    const directory = await temporary(t, 'braid-demo-tmp-');
    const demo = await startDemo(t, [...free, '--quiet'], { TMPDIR: directory });
    assert.equal((await readdir(directory)).length, 1);
    assert.deepEqual(await demo.end(signal), { code: 0, signal: null, errors: '' });
    assert.deepEqual(await readdir(directory), []);
  });
}

test('it ends by itself after --seconds, without a word on standard error', async () => {
  const { status, stdout, stderr } = await start(['demo', ...free, '--seconds', '0.5']).ended;
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /^Open in a browser: {2}http:/m);
});

/** From here on the port is in use: by this test, or by the program that had it before. */
async function occupy(t, port) {
  const server = createServer();
  t.after(() => server.close());
  server.listen(port, '127.0.0.1');
  await Promise.race([once(server, 'listening'), once(server, 'error').then(([error]) => assert.equal(error.code, 'EADDRINUSE'))]);
  return server.address()?.port;
}

test('a port in use is an error if it was asked for', async (t) => {
  const port = await occupy(t, 0);
  for (const [option, other] of [['--port', '--http-port'], ['--http-port', '--port']]) {
    const { status, stderr } = await start(['demo', option, String(port), other, '0']).ended;
    assert.equal(status, 1);
    assert.match(stderr, new RegExp(`port ${port}: Address already in use; stop the program that uses it`));
  }
});

test('usual ports that are in use are passed over, and the guide says so', async (t) => {
  await occupy(t, 27017);
  await occupy(t, 8080);
  const demo = await startDemo(t, ['--quiet']);
  assert.match(demo.said(), /^Port 27017 is in use, so MongoDB is on port 270\d\d\.$/m);
  assert.match(demo.said(), /^Port 8080 is in use, so HTTP is on port 80\d\d\.$/m);
  assert.equal((await demo.end('SIGTERM')).code, 0);
});
