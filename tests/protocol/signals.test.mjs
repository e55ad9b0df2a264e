// What happens around the server: the reader of its log stalls or goes away, its log file is moved, signals come, and
// files may not be opened without end.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { connect as tlsConnect } from 'node:tls';
import { MongoClient } from 'mongodb';
import { fails, times } from '../lib/fixture.mjs';
import { binary } from '../lib/server.mjs';
import { RawConnection, bodySection, opMsg } from '../lib/wire.mjs';

const directory = await mkdtemp(join(tmpdir(), 'braid-signals-'));
after(() => rm(directory, { recursive: true, force: true }));
let stores = 0;

/** A server whose standard error is a pipe that nobody reads yet; `limit`: of open files. */
async function start(options = [], limit = undefined) {
  const args = ['serve', '--store', join(directory, `store${++stores}`), '--port', '0', '--no-http', ...options];
  const child = limit === undefined
    ? spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    : spawn('sh', ['-c', `ulimit -n ${limit}; exec "$@"`, 'sh', binary, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = once(child, 'exit').then(([code, signal]) => {
    process.off('exit', kill);
    return { code, signal };
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const uri = line.match(/mongodb:\/\/\S+/)[0];
  const client = await new MongoClient(uri, { monitorCommands: false }).connect();
  return {
    child, uri, client, ended, admin: client.db('admin'), db: client.db('test'),
    async stop() {
      await client.close();
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** Asks until it is so. */
async function until(ask) {
  while (!(await ask())) await new Promise((resolve) => { setImmediate(resolve); });
}

const clean = { code: 0, signal: null };
const failing = (db, count) => Promise.all(times(count, (i) => assert.rejects(db.command({ nosuch: i }))));

test('a reader of standard error that goes away does not end the server', async () => {
  const server = await start(['--log-level', 'debug']);
  server.child.stderr.destroy();
  await failing(server.db, 100);
  await until(async () => (await server.admin.command({ serverStatus: 1 })).log.droppedLines >= 100);
  assert.deepEqual(await server.stop(), clean);
});

test('one that stalls stops nothing, is told what it missed, and does not hold up the end', async () => {
  const server = await start(['--log-level', 'debug']);
  server.child.stderr.pause();
  // More lines than the pipe, Node's buffer and the queue take.
  for (let i = 0; i < 4; ++i) await failing(server.db, 1000);
  await until(async () => {
    await failing(server.db, 100);
    return (await server.admin.command({ serverStatus: 1 })).log.droppedLines > 0;
  });
  const lines = [];
  createInterface({ input: server.child.stderr }).on('line', (line) => lines.push(line));
  await until(() => lines.some((line) => / warning \d+ lines were dropped/.test(line)));
  assert.deepEqual(await server.stop(), clean);

  const second = await start(['--log-level', 'debug']);
  second.child.stderr.pause();
  for (let i = 0; i < 4; ++i) await failing(second.db, 1000);
  assert.deepEqual(await second.stop(), clean);
});

test('a log file is appended to, and opened anew on SIGUSR1', async () => {
  const file = join(directory, 'braid.log');
  await writeFile(file, 'older\n');
  const server = await start(['--log-file', file, '--log-level', 'debug']);
  const logged = (path, text) => until(async () => (await readFile(path, 'utf8').catch(() => '')).includes(text));
  await fails(server.db.command({ first: 1 }), 59);
  await logged(file, "'first'");
  assert.match(await readFile(file, 'utf8'), /^older\n/);
  await rename(file, `${file}.1`);
  server.child.kill('SIGUSR1');
  await logged(file, 'was reopened');
  await fails(server.db.command({ second: 1 }), 59);
  await logged(file, "'second'");
  assert.doesNotMatch(await readFile(`${file}.1`, 'utf8'), /second/);
  assert.deepEqual(await server.stop(), clean);
});

test('a log file that cannot be opened is said at the start', async () => {
  const child = spawn(binary, ['serve', '--store', join(directory, 'unused'), '--port', '0', '--no-http', '--log-file', join(directory, 'nosuch', 'log')]);
  let said = '';
  child.stderr.on('data', (data) => (said += data));
  const [code] = await once(child, 'close');
  assert.equal(code, 1);
  assert.match(said, /nosuch\/log.*No such file/);
});

const recent = async (server) => (await server.admin.command({ getLog: 'global' })).log;

test('SIGHUP reads the configuration again: what it takes over, and what it says of the rest', async () => {
  const file = join(directory, 'braid.toml');
  await writeFile(file, 'max-connections = 50\ncache-size = "32MB"\n');
  const server = await start(['--config', file]);
  const allowed = async () => {
    const { connections } = await server.admin.command({ serverStatus: 1 });
    return connections.current + connections.available;
  };
  const hangUp = async (text) => {
    server.child.kill('SIGHUP');
    await until(async () => (await recent(server)).some((line) => text.test(line)));
  };
  assert.equal(await allowed(), 50);
  await writeFile(file, 'max-connections = 60\ncache-size = "64MB"\nlog-level = "debug"\n');
  await hangUp(/SIGHUP: the configuration file was read again/);
  assert.equal(await allowed(), 60);
  assert.ok((await recent(server)).some((line) => /SIGHUP: cache-size .* restart/.test(line)));
  await fails(server.db.command({ nosuch: 1 }), 59);
  assert.ok((await recent(server)).some((line) => line.includes("'nosuch'")));
  await writeFile(file, 'max-connections = "many"\n');
  await hangUp(/SIGHUP: the configuration was not changed: .*line 1/);
  assert.equal(await allowed(), 60);
  assert.deepEqual(await server.stop(), clean);
});

test('SIGHUP and SIGUSR1 without a file are only noted', async () => {
  const server = await start();
  server.child.kill('SIGHUP');
  server.child.kill('SIGUSR1');
  await until(async () => (await recent(server)).filter((line) => /SIGHUP: there is no|SIGUSR1: .* no --log-file/.test(line)).length === 2);
  assert.deepEqual(await server.stop(), clean);
});

test('idle connections cannot take the descriptors that the store needs', async () => {
  const server = await start(['--cache-size', '16MB'], 256);
  const { port } = new URL(server.uri);
  const { connections } = await server.admin.command({ serverStatus: 1 });
  const allowed = connections.current + connections.available;
  assert.ok(allowed < 128, JSON.stringify(connections));
  const sockets = times(400, () => connect(Number(port), '127.0.0.1').on('error', () => {}));
  await Promise.all(sockets.map((socket) => once(socket, 'connect').catch(() => {})));
  await until(async () => {
    const { connections: now } = await server.admin.command({ serverStatus: 1 });
    return now.available === 0 && now.rejected >= 400 - allowed;
  });
  assert.ok((await recent(server)).some((line) => /connections refused/.test(line)));
  // Enough for new logs and table files.
  const pad = 'x'.repeat(100_000);
  for (let i = 0; i < 10; ++i) await server.db.collection('c').insertMany(times(50, (k) => ({ _id: i * 50 + k, pad })));
  const { storageEngine } = await server.admin.command({ serverStatus: 1 });
  assert.equal(storageEngine.readOnly, false);
  assert.equal(await server.db.collection('c').countDocuments(), 500);
  for (const socket of sockets) socket.destroy();
  await until(async () => (await server.admin.command({ serverStatus: 1 })).connections.available > 0);
  assert.deepEqual(await server.stop(), clean);
});

test('the soft limit of open files is raised to the hard one', async () => {
  const server = await start(['--max-connections', '300'], '2048; ulimit -Sn 256');
  const { connections } = await server.admin.command({ serverStatus: 1 });
  assert.equal(connections.current + connections.available, 300);
  assert.deepEqual(await server.stop(), clean);
});

test('too few open files for anything are refused at the start', async () => {
  const child = spawn('sh', ['-c', 'ulimit -n 100; exec "$@"', 'sh', binary, 'serve', '--store', join(directory, 'unused'), '--port', '0', '--no-http']);
  let said = '';
  child.stderr.on('data', (data) => (said += data));
  const [code] = await once(child, 'close');
  assert.equal(code, 1);
  assert.match(said, /limit of open files is 100/);
});

test('a name with a newline does not forge a line of the log', async () => {
  const server = await start(['--log-level', 'debug']);
  const forged = '2026-01-01T00:00:00.000+0000 error forged';
  await assert.rejects(server.db.command({ [`nosuch\n${forged}`]: 1 }));
  const lines = await recent(server);
  assert.ok(lines.some((line) => line.includes(`nosuch\\n${forged}`)));
  assert.ok(!lines.some((line) => line.split('\n').some((part) => part.startsWith(forged))));
  assert.deepEqual(await server.stop(), clean);
});

test('names that are not UTF-8 are refused, so that listDatabases goes on for everyone', async () => {
  const server = await start();
  // Names are made of ASCII here and broken in the bytes: a driver would not send them.
  const broken = (document) => {
    const bytes = opMsg([bodySection(document)]);
    for (let at = bytes.indexOf('BROKEN'); at >= 0; at = bytes.indexOf('BROKEN')) bytes[at] = 0xff;
    return bytes;
  };
  const connection = await RawConnection.open(server.uri);
  const codes = [];
  for (const document of [
    { insert: 'BROKEN', documents: [{ a: 1 }], $db: 'test' }, { insert: 'c', documents: [{ a: 1 }], $db: 'BROKEN' }, { create: 'BROKEN', $db: 'test' },
    { createIndexes: 'BROKEN', indexes: [{ key: { a: 1 }, name: 'a' }], $db: 'test' },
    { renameCollection: 'test.c', to: 'test.BROKEN', $db: 'admin' }, { enableSharding: 'BROKEN', $db: 'admin' },
    { shardCollection: 'BROKEN.c', key: { a: 1 }, $db: 'admin' },
  ]) codes.push((await connection.ask(broken(document))).document.code);
  assert.deepEqual(codes, [73, 73, 73, 73, 73, 73, 73]);
  await server.db.collection('c').insertOne({});
  assert.ok((await server.admin.command({ listDatabases: 1 })).databases.some(({ name }) => name === 'test'));
  connection.socket.destroy();
  assert.deepEqual(await server.stop(), clean);
});

test('a TLS hello on the port is noted and closed', async () => {
  const server = await start();
  const { port } = new URL(server.uri);
  const socket = tlsConnect({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false });
  const [error] = await once(socket, 'error');
  assert.ok(error);
  await until(async () => (await recent(server)).some((line) => /TLS/.test(line)));
  assert.deepEqual(await server.stop(), clean);
});
