// braid serve as a program: options, configuration, what it refuses to do, and how it says so.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { MongoClient } from 'mongodb';
import { fails } from '../lib/fixture.mjs';
import { binary, startServer } from '../lib/server.mjs';

const directory = await mkdtemp(join(tmpdir(), 'braid-lifecycle-'));
after(() => rm(directory, { recursive: true, force: true }));
const path = (name) => join(directory, name);

/** Runs the program to its end, which is waited for at most 10 s. */
async function braid(...args) {
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 10000 });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data) => (stdout += data));
  child.stderr.on('data', (data) => (stderr += data));
  const code = await new Promise((resolve) => { child.once('close', resolve); });
  return { code, stdout, stderr };
}

async function config(text) {
  const file = path(`config-${Math.random()}.toml`);
  await writeFile(file, text);
  return file;
}

const busy = createServer().listen(0, '127.0.0.1');
await new Promise((resolve) => { busy.once('listening', resolve); });
after(() => busy.close());
await writeFile(path('file'), 'not a directory');
await mkdir(path('unlockable/LOCK'), { recursive: true });

const refused = [
  ['an address that is not loopback', ['--bind', '0.0.0.0'], /0\.0\.0\.0.*authentication/],
  ['an address of another network', ['--bind', '192.0.2.1'], /192\.0\.2\.1/],
  ['text that is no address', ['--bind', 'bogus'], /bogus/],
  ['a port that is taken', ['--port', String(busy.address().port)], new RegExp(`${busy.address().port}`)],
  ['a port out of range', ['--port', '65536'], /--port/],
  ['a port that is text', ['--port', 'abc'], /--port/],
  ['an unknown option', ['--bogus'], /bogus/],
  ['too many shards', ['--shards', '1025'], /--shards/],
  ['too small a cache', ['--cache-size', '1MB'], /cache/],
  ['a size without sense', ['--cache-size', 'lots'], /--cache-size/],
  ['an unknown log level', ['--log-level', 'loud'], /--log-level/],
  ['no connections at all', ['--max-connections', '0'], /--max-connections/],
  ['a URI for a store', ['--store', 'mongodb://127.0.0.1:1'], /directory/],
  ['an empty store', ['--store', ''], /--store/],
  ['a file for a store', ['--store', path('file')], /file/],
  ['a directory whose lock cannot be opened', ['--store', path('unlockable')], /cannot write to the directory .*Is a directory/],
  ['a configuration that is not there', ['--config', path('nosuch.toml')], /nosuch\.toml/],
  ['a configuration that is not TOML', ['--config', await config('port = = 1')], /line 1/],
  ['an unknown key', ['--config', await config('port = 0\nbogus = 1')], /line 2.*bogus/],
  ['a value of the wrong kind', ['--config', await config('port = "abc"')], /line 1.*port/],
  ['a value out of range', ['--config', await config('shards = 0')], /line 1.*shards/],
];
for (const [name, args, message] of refused) {
  test(`refused: ${name}`, async () => {
    const store = args.includes('--store') ? [] : ['--store', path('unused')];
    const port = args.includes('--port') ? [] : args.includes('--config') ? [] : ['--port', '0'];
    const { code, stdout, stderr } = await braid('serve', '--no-http', ...store, ...port, ...args);
    assert.ok(code > 0, `exit code ${code}`);
    assert.match(stderr, message);
    assert.doesNotMatch(stdout, /listening/);
  });
}

test('a second server on the same directory is refused by its name, the first goes on', async () => {
  const store = path('shared');
  const first = await startServer([], store);
  const client = await new MongoClient(first.uri).connect();
  await client.db('test').collection('c').insertOne({ _id: 1 });
  const second = await braid('serve', '--no-http', '--store', store, '--port', '0');
  assert.ok(second.code > 0);
  assert.ok(second.stderr.includes(store), second.stderr);
  assert.equal(await client.db('test').collection('c').countDocuments(), 1);
  await client.close();
  assert.deepEqual(await first.stop(), { code: 0, signal: null });
});

test('options come from the file, and the command line goes first', async () => {
  const file = await config('max-connections = 7\nlog-level = "error"\ncache-size = "32MB"');
  const server = await startServer(['--config', file, '--cache-size', '64MB']);
  const client = await new MongoClient(server.uri).connect();
  const { parsed } = await client.db('admin').command({ getCmdLineOpts: 1 });
  assert.equal(parsed.storage.cacheBytes, 64 * 1024 * 1024);
  const { connections } = await client.db('admin').command({ serverStatus: 1 });
  assert.equal(connections.current + connections.available, 7);
  await client.close();
  await server.stop();
});

test('connections past the limit are refused, and the place of one that goes is free again', async () => {
  const server = await startServer(['--max-connections', '3']);
  const options = { maxPoolSize: 1, serverSelectionTimeoutMS: 1000, heartbeatFrequencyMS: 100000 };
  const first = await new MongoClient(server.uri, options).connect();  // its monitor and one of its pool
  await first.db('test').command({ ping: 1 });
  const second = new MongoClient(server.uri, options);
  await assert.rejects(second.connect().then(() => second.db('test').command({ ping: 1 })));
  await second.close();
  await first.db('test').command({ ping: 1 });
  const { connections } = await first.db('admin').command({ serverStatus: 1 });
  assert.ok(connections.rejected >= 1, JSON.stringify(connections));
  await first.close();
  await server.stop();
});

test('localhost is both loopbacks', async () => {
  const server = await startServer(['--bind', 'localhost']);
  const { port } = new URL(server.uri);
  const client = await new MongoClient(`mongodb://127.0.0.1:${port}`).connect();
  assert.equal((await client.db('test').command({ ping: 1 })).ok, 1);
  await client.close();
  await server.stop();
});

test('configureFailPoint needs --test-commands', async () => {
  const failPoint = { configureFailPoint: 'failCommand', mode: { times: 1 }, data: { failCommands: ['find'], errorCode: 96 } };
  for (const allowed of [false, true]) {
    const server = await startServer(allowed ? ['--test-commands'] : []);
    const client = await new MongoClient(server.uri, { retryReads: false }).connect();
    if (allowed) {
      await client.db('admin').command(failPoint);
      await fails(client.db('test').collection('c').findOne(), 96);
      assert.equal(await client.db('test').collection('c').findOne(), null);
    } else {
      await assert.rejects(client.db('admin').command(failPoint), { code: 59 });
    }
    await client.close();
    await server.stop();
  }
});

test('--help and --version answer and succeed', async () => {
  const help = await braid('serve', '--help');
  assert.equal(help.code, 0);
  for (const option of ['--store', '--port', '--bind', '--cache-size', '--config']) assert.ok(help.stdout.includes(option), option);
  assert.match((await braid('--version')).stdout, /\d+\.\d+\.\d+/);
  assert.ok((await braid('bogus')).code > 0);
  assert.ok((await braid()).code > 0);
});
