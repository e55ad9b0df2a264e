// braid backup, restore and verify as programs: of a running server and of a directory, whole or not at all, and what is damaged.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, unlink, writeFile } from 'node:fs/promises';
import { createServer, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { MongoClient } from 'mongodb';

import { start } from '../lib/program.mjs';
import { binary, startServer } from '../lib/server.mjs';

const eq = assert.deepEqual;
let directory;
let server;
let client;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'braid-backup-'));
  server = await startServer(['--shards', '4', '--cache-size', '16MB']);
  client = await new MongoClient(server.uri).connect();
  await client.db('admin').command({ shardCollection: 'bank.accounts', key: { _id: 'hashed' } });
  await client.db('bank').collection('accounts').createIndex({ owner: 1 });
  await client.db('bank').collection('accounts').insertMany(Array.from({ length: 100 }, (_, i) => ({ _id: i, owner: `o${i}`, balance: 100 })));
});
after(async () => {
  await client?.close();
  await server?.stop();
  if (directory) await rm(directory, { recursive: true, force: true });
});

const inside = (...names) => join(directory, ...names);
const run = (...args) => spawnSync(binary, args, { encoding: 'utf8' });
/** Ends with 0 and one object. */
function done(...args) {
  const { status, stdout, stderr } = run(...args, '--json');
  assert.equal(status, 0, stdout + stderr);
  return JSON.parse(stdout);
}
/** Ends with the status and says why. */
function refused(status, pattern, ...args) {
  const ended = run(...args);
  assert.equal(ended.status, status, ended.stdout + ended.stderr);
  assert.match(ended.stdout + ended.stderr, pattern);
  return ended;
}
/** What `read` finds in the store of a directory. */
async function within(store, read) {
  const other = await startServer([], store);
  const reader = await new MongoClient(other.uri).connect();
  try {
    return await read(reader);
  } finally {
    await reader.close();
    await other.stop();
  }
}
const tablesOf = async (store) => (await readdir(store)).filter((name) => name.endsWith('.sst')).sort();
const flip = async (path, part = 0.5) => {
  const bytes = await readFile(path);
  bytes[Math.floor(bytes.length * part)] ^= 1;
  await unlink(path); // a file that shares its bytes with other backups stays as it is
  await writeFile(path, bytes);
};
/** Of a file that is not there: nothing. Any other error is one. */
const absent = (error) => assert.equal(error.code, 'ENOENT', error) ?? null;
/** Documents that do not get smaller. */
const bulky = (n, size = 1000) => Array.from({ length: n }, () => ({ filler: Array.from({ length: size / 10 }, () => Math.random().toString(36).slice(2, 12)).join('') }));

test('a backup under load is one moment, with everything that was acknowledged before', async () => {
  const accounts = client.db('bank').collection('accounts');
  const notes = client.db('bank').collection('notes');
  let over = false;
  let acknowledged = 0;
  const transfer = async (worker) => {
    const session = client.startSession();
    for (let i = worker; !over; i += 4) {
      await session.withTransaction(async () => {
        await accounts.updateOne({ _id: i % 100 }, { $inc: { balance: -1 } }, { session });
        await accounts.updateOne({ _id: (i * 7 + 1) % 100 }, { $inc: { balance: 1 } }, { session });
      });
    }
    await session.endSession();
  };
  const note = async () => {
    for (let i = 1; !over; ++i) {
      await notes.insertOne({ _id: i });
      acknowledged = i;
    }
  };
  const load = [0, 1, 2, 3].map(transfer).concat(note());
  const rounds = [];
  for (const target of [inside('loaded'), inside('loaded'), inside('loaded.tar')]) {
    while (acknowledged < 50 * (rounds.length + 1)) await new Promise((resolve) => setImmediate(resolve));
    const known = acknowledged;
    const { ended } = start(['backup', '--store', server.uri, target, '--json']);
    const { status, stdout, stderr } = await ended;
    assert.equal(status, 0, stderr);
    rounds.push({ known, latest: acknowledged, made: JSON.parse(stdout) });
  }
  over = true;
  await Promise.all(load);
  for (const [i, { known, latest, made }] of rounds.entries()) {
    const store = inside(`loaded-${i}`);
    const restored = done('restore', made.path, '--store', store);
    assert.equal(restored.time, made.time);
    assert.equal(restored.collections.find(({ collection }) => collection === 'bank.accounts').documents, 100);
    eq(done('verify', '--store', store).damage, []);
    await within(store, async (reader) => {
      const all = await reader.db('bank').collection('accounts').find().toArray();
      assert.equal(all.reduce((sum, { balance }) => sum + balance, 0), 100 * 100);
      // No gap: a later note without an earlier one would not be a moment.
      const ids = (await reader.db('bank').collection('notes').find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
      eq(ids, Array.from({ length: ids.length }, (_, n) => n + 1));
      assert.ok(ids.length >= known && ids.length <= latest + 1, `${known} <= ${ids.length} <= ${latest}`);
    });
  }
});

test('backups of a directory share the tables that did not change', async (t) => {
  // A server of its own: few tables.
  const fresh = await startServer();
  const writer = await new MongoClient(fresh.uri).connect();
  t.after(() => writer.close());
  const target = inside('shared');
  await writer.db('big').collection('first').insertMany(bulky(2000));
  const first = done('backup', '--store', fresh.uri, target);
  eq([first.backup, first.files_shared], [1, 0]);
  // RocksDB may write a table anew by itself, once.
  let last = first;
  for (let i = 0; i < 10 && last.files_shared === 0; ++i) last = done('backup', '--store', fresh.uri, target);
  await writer.db('big').collection('second').insertMany(bulky(10));
  const next = done('backup', '--store', fresh.uri, target, '--keep', '2');
  eq([next.backup, next.files_shared, next.removed], [last.backup + 1, 1, last.backup - 1]);
  assert.ok(next.bytes_copied < first.bytes_copied / 10, JSON.stringify([first, next]));
  const inodes = async (store) => Promise.all((await tablesOf(store)).map(async (name) => (await stat(join(store, name))).ino));
  const earlier = await inodes(last.path);
  const shared = (await inodes(next.path)).filter((inode) => earlier.includes(inode));
  assert.equal(shared.length, 1);
  // Not with the store itself: what damages that must not damage its backups.
  // RocksDB may remove a table that it has compacted between the two looks; then that one is not shared.
  const own = await Promise.all((await tablesOf(fresh.store)).map((name) => stat(join(fresh.store, name)).catch(absent)));
  eq(own.filter((table) => table && shared.includes(table.ino)), []);
  eq(done('backup', '--list', target).backups.map(({ backup }) => backup), [last.backup, next.backup]);
  assert.match(run('backup', '--list', target).stdout, /^\d+ {2}\d{4}-.*\n\d+ {2}\d{4}-/);
  await writer.close();
  await fresh.stop();
  // What the removed one shared is still there.
  eq(done('restore', target, '--backup', String(next.backup), '--store', inside('shared-2')).collections, [
    { collection: 'big.first', documents: 2000 }, { collection: 'big.second', documents: 10 },
  ]);
  refused(1, /no backup 1 .*the oldest is \d+, the newest \d+/, 'restore', target, '--backup', '1', '--store', inside('shared-1'));
});

test('a directory that a server has open is backed up through the server; one that nobody has, directly', async () => {
  const store = inside('closed');
  eq(done('backup', '--store', server.store, inside('by-server')).backup, 1);
  done('restore', inside('by-server'), '--store', store);
  eq(done('backup', '--store', store, inside('closed.tar')).files_shared, 0);
  done('restore', inside('closed.tar'), '--store', inside('closed-again'));
  eq(await within(inside('closed-again'), (reader) => reader.db('bank').collection('accounts').countDocuments({ owner: 'o7' })), 1);
  // The note of a killed server, and another server at that address.
  await writeFile(join(store, 'SERVER'), `${server.uri} 0123456789abcdef01234567\n`);
  const holder = await startServer([], store);
  const note = await readFile(join(store, 'SERVER'), 'utf8');
  assert.match(note, new RegExp(`^${holder.uri} [0-9a-f]{24}\n$`));
  eq(done('verify', '--store', store).damage, []);
  await writeFile(join(store, 'SERVER'), note.replace(holder.uri, server.uri));
  refused(1, /has another store/, 'backup', '--store', store, inside('wrong'));
  await rm(join(store, 'SERVER'));
  refused(1, /in use by another process/, 'backup', '--store', store, inside('wrong'));
  await holder.stop();
  assert.ok(!(await readdir(store)).includes('SERVER'));
});

test('a changed byte, a missing file and a lost end are named, and nothing is restored', async () => {
  const target = inside('damaged');
  const { path } = done('backup', '--store', server.uri, target);
  const [table] = await tablesOf(path);
  const store = inside('from-damaged');
  const attempt = async (pattern, source = target) => {
    refused(1, pattern, 'restore', source, '--store', store);
    eq((await readdir(directory)).filter((name) => name.startsWith('from-damaged')), []);
    refused(1, pattern, 'verify', '--store', source === target ? path : source);
  };
  for (const name of await readdir(path)) {
    const bytes = await readFile(join(path, name));
    if (bytes.length === 0) continue;
    await flip(join(path, name), 0.4);
    await attempt(new RegExp(name.replace('.', '\\.')));
    await unlink(join(path, name));
    await writeFile(join(path, name), bytes);
  }
  await cp(join(path, table), inside('kept.sst'));
  await unlink(join(path, table));
  await attempt(new RegExp(`${table.replace('.', '\\.')} is missing`));
  await cp(inside('kept.sst'), join(path, table));
  done('restore', target, '--store', store);
  await rm(store, { recursive: true });

  // A later backup would share what is damaged; --check copies it anew.
  let latest;
  do latest = done('backup', '--store', server.uri, target);
  while (latest.files_shared < (await tablesOf(latest.path)).length); // RocksDB may still write one anew
  await flip(join(latest.path, (await tablesOf(latest.path))[0]), 0.4);
  done('backup', '--store', server.uri, target);
  refused(1, /does not match its checksum/, 'restore', target, '--store', store);
  const checked = done('backup', '--store', server.uri, target, '--check');
  assert.equal(checked.damaged, 1);
  // All backups of the directory at once: the two that have it are named.
  const { stdout } = refused(1, /checksum/, 'verify', '--store', target, '--json');
  eq(JSON.parse(stdout).damage.map(({ kind, where }) => [kind, where]), [['backup', latest.path], ['backup', checked.path.replace(/\d+$/, (digits) => String(checked.backup - 1).padStart(digits.length, '0'))]]);
  done('restore', target, '--store', store);
  await rm(store, { recursive: true });

  const archive = inside('damaged.tar');
  done('backup', '--store', server.uri, archive);
  const whole = await readFile(archive);
  await flip(archive, 600 / whole.length); // behind the first header
  await attempt(/does not match its checksum/, archive);
  await writeFile(archive, whole);
  await truncate(archive, whole.length - 2048);
  await attempt(/has lost its end/, archive);
});

test('a backup is not opened as a store, and what is there is not overwritten', async () => {
  const { path } = done('backup', '--store', server.uri, inside('whole'));
  const before = await readFile(join(path, 'BACKUP'), 'utf8');
  refused(1, /is a backup.*braid restore/, 'serve', '--store', path, '--port', '0', '--no-http');
  await mkdir(inside('full'));
  await writeFile(inside('full', 'mine'), 'x');
  refused(1, /not empty/, 'restore', inside('whole'), '--store', inside('full'));
  eq(await readdir(inside('full')), ['mine']);
  await writeFile(inside('there.tar'), 'x');
  refused(1, /exists already/, 'backup', '--store', server.uri, inside('there.tar'));
  assert.equal(await readFile(inside('there.tar'), 'utf8'), 'x');
  refused(1, /no log of changes/, 'restore', inside('whole'), '--store', inside('later'), '--at', '2026-01-01');
  refused(1, /is a store/, 'backup', '--store', server.uri, server.store);
  const stranger = await startServer();
  refused(1, /backups of another store/, 'backup', '--store', stranger.uri, inside('whole'), '--keep', '1');
  await stranger.stop();
  eq(done('backup', '--list', inside('whole')).backups.length, 1);
  refused(1, /no directory/, 'backup', '--list', inside('nowhere'));
  refused(1, /holds no store|no directory/, 'backup', '--store', inside('nowhere'), inside('nothing'));
  assert.ok(!(await readdir(directory)).includes('nothing'));
  refused(2, /--keep/, 'backup', '--store', server.uri, inside('x.tar'), '--keep', '2');
  refused(2, /TARGET/, 'backup', '--store', server.uri);
  refused(2, /directory/, 'restore', inside('whole'), '--store', server.uri);
  const { stdout } = refused(1, /no directory/, 'verify', '--store', inside('nowhere'), '--json');
  assert.equal(JSON.parse(stdout).ok, false);
  assert.equal(await readFile(join(path, 'BACKUP'), 'utf8'), before);
});

/** Between a backup and its server: holds it up after so many bytes, until it is told to go on. */
async function slowWay(bytesMax, to = server) {
  let passed = 0;
  let held;
  const holding = new Promise((resolve) => (held = resolve));
  let resumed = false;
  const proxy = createServer((socket) => {
    const upstream = connect(Number(new URL(to.uri).port), '127.0.0.1');
    const close = () => [socket, upstream].forEach((each) => each.destroy());
    [socket, upstream].forEach((each) => each.on('error', close).on('close', close));
    socket.pipe(upstream);
    upstream.on('data', (bytes) => {
      passed += bytes.length;
      socket.write(bytes);
      if (passed > bytesMax && !resumed) held(upstream.pause());
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const resume = async () => {
    resumed = true;
    (await holding).resume();
  };
  return { uri: `mongodb://127.0.0.1:${proxy.address().port}`, holding, resume, close: () => proxy.close() };
}
const openCursors = async () => (await client.db('admin').command({ serverStatus: 1 })).metrics.cursor.open.total;

test('a backup that is killed leaves the earlier ones whole, and the server keeps nothing for it', async () => {
  await client.db('big').collection('third').insertMany(bulky(8000));
  const target = inside('killed');
  eq(done('backup', '--store', server.uri, target).backup, 1);
  await rm(join(target, 'backup-000001'), { recursive: true }); // so that there is something to send
  const cursors = await openCursors();
  const before = done('backup', '--store', server.uri, target);
  await client.db('big').collection('fourth').insertMany(bulky(8000));
  const way = await slowWay(3 << 20);
  const { child, ended } = start(['backup', '--store', way.uri, target]);
  await way.holding;
  assert.equal((await readdir(target)).filter((name) => name.startsWith('incomplete')).length, 1);
  refused(1, /another backup is being written/, 'backup', '--store', server.uri, target);
  child.kill('SIGKILL');
  assert.equal((await ended).signal, 'SIGKILL');
  way.close();
  while ((await openCursors()) > cursors);
  eq(done('backup', '--list', target).backups.map(({ backup }) => backup), [before.backup]);
  done('restore', target, '--store', inside('killed-1'));
  const next = done('backup', '--store', server.uri, target);
  assert.equal(next.backup, before.backup + 1);
  eq((await readdir(target)).sort(), ['backup-000001', 'backup-000002', 'lock']);
});

test('a server that is killed while it is backed up has lost nothing, and neither have its backups', async () => {
  const store = inside('victim');
  const target = inside('of-victim');
  let victim = await startServer([], store);
  const writer = await new MongoClient(victim.uri).connect();
  await writer.db('big').collection('c').insertMany(bulky(4000));
  done('backup', '--store', victim.uri, target);
  await writer.db('big').collection('c').insertMany(bulky(4000));
  await writer.close();
  const way = await slowWay(2 << 20, victim);
  const { ended } = start(['backup', '--store', way.uri, target]);
  await way.holding;
  await victim.stop('SIGKILL');
  await way.resume();
  const { status, stderr } = await ended;
  way.close();
  assert.equal(status, 1, stderr);
  eq((await readdir(target)).sort(), ['backup-000001', 'lock']);
  eq(done('restore', target, '--store', inside('of-victim-1')).documents, 4000);
  // The note of the killed server is there; no process has the directory open.
  assert.ok((await readdir(store)).includes('SERVER'));
  eq(done('verify', '--store', store).documents, 8000);
  victim = await startServer([], store);
  eq(done('backup', '--store', store, target).backup, 2);
  await victim.stop();
  eq(done('restore', target, '--store', inside('of-victim-2')).documents, 8000);
});

test('a backup that is ended at the server says so, and nothing is left of it', async () => {
  const admin = client.db('admin');
  const idle = async () =>
    (await admin.aggregate([{ $currentOp: { idleCursors: true } }, { $match: { type: 'idleCursor', ns: 'admin.$cmd.braidBackup' } }]).toArray()).map((row) => row.cursor.cursorId);
  const way = await slowWay(1 << 20);
  const stopped = start(['backup', '--store', way.uri, inside('stopped')]);
  await way.holding;
  let ids = [];
  while (ids.length === 0) ids = await idle();
  await admin.command({ killCursors: '$cmd.braidBackup', cursors: ids });
  await way.resume();
  const { status, stderr } = await stopped.ended;
  way.close();
  assert.equal(status, 1, stderr);
  assert.match(stderr, /cursor id \d+ not found/);
  eq(await readdir(inside('stopped')), ['lock']);
  const other = await slowWay(1 << 20);
  const interrupted = start(['backup', '--store', other.uri, inside('stopped')]);
  await other.holding;
  interrupted.child.kill('SIGINT');
  await other.resume();
  const ending = await interrupted.ended;
  other.close();
  assert.equal(ending.status, 1, ending.stderr);
  assert.match(ending.stderr, /interrupted/);
  eq(await readdir(inside('stopped')), ['lock']);
  // killOp meets a backup only while the server works for it: the next one, or one of those after it.
  for (let i = 0; ; ++i) {
    assert.ok(i < 100, 'no backup was killed');
    const each = start(['backup', '--store', server.uri, inside('stopped')]);
    while (each.isAlive()) {
      const running = await admin.aggregate([{ $currentOp: {} }, { $match: { 'command.collection': '$cmd.braidBackup' } }]).toArray();
      for (const { opid } of running) await admin.command({ killOp: 1, op: opid });
    }
    const killed = await each.ended;
    if (killed.status === 1) {
      assert.match(killed.stderr, /interrupted/i);
      break;
    }
    await rm(inside('stopped'), { recursive: true });
  }
  eq(await readdir(inside('stopped')), ['lock']);
  assert.equal(await openCursors(), 0);
});

test('a full disk is said, and leaves nothing', async () => {
  done('backup', '--store', server.uri, inside('sound'));
  const attempts = [
    ['backup', '--store', server.uri, inside('full-disk')], ['backup', '--store', server.uri, inside('full-disk.tar')],
    ['restore', inside('sound'), '--store', inside('full-disk-store')],
  ];
  for (const args of attempts) {
    const limited = spawn('bash', ['-c', 'trap "" XFSZ; ulimit -f 1000; exec "$0" "$@"', binary, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    limited.stderr.setEncoding('utf8').on('data', (data) => (said += data));
    const [status] = await once(limited, 'close');
    assert.equal(status, 1, said);
    assert.match(said, /cannot write .*full-disk.*: File too large/);
  }
  eq(await readdir(inside('full-disk')), ['lock']);
  eq((await readdir(directory)).filter((name) => name.startsWith('full-disk')), ['full-disk']);
});

test('verify names a damaged block by table and by collection, in a directory that may only be read', async () => {
  const store = inside('unsound');
  done('restore', inside('shared'), '--store', store);
  const before = await readdir(store);
  const sizes = await Promise.all((await tablesOf(store)).map(async (name) => [(await stat(join(store, name))).size, name]));
  const [, table] = sizes.sort((a, b) => b[0] - a[0])[0];
  await flip(join(store, table), 0.5);
  await chmod(store, 0o500);
  const { status, stdout } = run('verify', '--store', store, '--json');
  await chmod(store, 0o700);
  assert.equal(status, 1);
  const { ok, damage } = JSON.parse(stdout);
  assert.equal(ok, false);
  assert.ok(damage.some(({ kind, where }) => kind === 'table' && where === table), stdout);
  assert.ok(damage.some(({ kind, what }) => kind === 'collection' && what.includes(table)), stdout);
  eq(await readdir(store), before);
  // What is damaged is not copied as if it were sound.
  refused(1, new RegExp(`${table}.* is damaged`), 'backup', '--store', store, inside('of-unsound'));
  eq(await readdir(inside('of-unsound')), ['lock']);
});
