// Slow operations in the log, as text and as JSON: what a line says, and what it does not.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { MongoClient } from 'mongodb';
import { times } from '../lib/fixture.mjs';
import { startServer } from '../lib/server.mjs';

const directory = await mkdtemp(join(tmpdir(), 'braid-slow-'));
after(() => rm(directory, { recursive: true, force: true }));
let files = 0;

/** The lines that a server has logged by its end. */
async function logged(options, use) {
  const file = join(directory, `log${++files}`);
  const server = await startServer(['--log-file', file, ...options]);
  const client = await new MongoClient(server.uri, { appName: 'the app' }).connect();
  try {
    await use(client.db('test'), client);
  } finally {
    await client.close();
    await server.stop();
  }
  return (await readFile(file, 'utf8')).trimEnd().split('\n');
}

const secret = 'hunter2';
async function work(db) {
  await db.collection('c').insertMany(times(10, (i) => ({ a: i, password: secret })));
  await db.collection('c').find({ password: secret, a: { $in: times(9, String) } }).sort({ a: -1 }).limit(3).toArray();
  await db.collection('c').updateOne({ a: 3 }, { $set: { password: `${secret}!` } });
}

test('JSON: one object per line, with what an operation cost and without values of documents', async () => {
  const lines = await logged(['--log-format', 'json', '--slow-ms', '0'], work);
  const events = lines.map((line) => JSON.parse(line));
  for (const event of events) {
    assert.deepEqual(Object.keys(event), ['t', 'level', 'component', 'message', 'attributes']);
    assert.ok(!Number.isNaN(Date.parse(event.t)));
  }
  const slow = events.filter((event) => event.message === 'slow operation');
  assert.ok(slow.every((event) => event.component === 'command' && event.level === 'info'));
  const find = slow.find((event) => event.attributes.command.startsWith('{ find:')).attributes;
  assert.equal(find.command, '{ find: "c", filter: { password: ?, a: { $in: [?, ?, ?, …] } }, sort: { a: -1 }, limit: 3 }');
  assert.deepEqual([find.ns, find.docsExamined, find.keysExamined, find.nreturned, find.planSummary, find.appName], ['test.c', 10, 0, 0, 'COLLSCAN', 'the app']);
  for (const name of ['durationMillis', 'cpuMicros', 'waitedMicros', 'writeConflicts']) assert.ok(Number.isInteger(find[name]), name);
  assert.match(find.client, /^127\.0\.0\.1:\d+$/);
  const commands = slow.map((event) => event.attributes.command);
  assert.ok(commands.some((command) => command.startsWith('{ insert: "c", documents: [{ a: ?, password: ?, _id: ? }, ')), commands.join('\n'));
  assert.ok(!lines.some((line) => line.includes(secret)));
});

test('text: name=value behind the message', async () => {
  const lines = await logged(['--slow-ms', '0'], work);
  const find = lines.find((line) => line.includes('{ find: \\"c\\"'));
  assert.match(find, /^\S+ info slow operation ns="test\.c" command="\{ find: .* durationMillis=\d+ cpuMicros=\d+ .*planSummary="COLLSCAN" client="127/);
  assert.ok(!lines.some((line) => line.includes(secret)));
});

test('a long command is cut', async () => {
  const fields = Object.fromEntries(times(5000, (i) => [`field${i}`, i]));
  const lines = await logged(['--slow-ms', '0'], (db) => db.collection('c').find(fields).toArray());
  const find = lines.find((line) => line.includes('{ find: \\"c\\"'));
  assert.ok(find.includes('field10: ?') && find.includes('…') && find.length < 4096, find);
});

test('operations below the limit are not logged, and the limit can be changed', async () => {
  const lines = await logged(['--slow-ms', '86400000'], async (db) => {
    await work(db);
    await db.command({ profile: 0, slowms: 0 });
    await db.collection('c').findOne();
  });
  const commands = lines.filter((line) => line.includes('slow operation')).map((line) => line.match(/command="\{ (\w+)/)[1]);
  assert.deepEqual(commands.filter((name) => name !== 'endSessions'), ['find']);
});

test('serverStatus counts waits for a thread, and says how old the last TTL pass is', async () => {
  await logged([], async (db, client) => {
    const status = () => client.db('admin').command({ serverStatus: 1 });
    await db.collection('c').insertMany(times(2000, (a) => ({ a })));
    const before = await status();
    // Long enough to give way to others.
    const walk = { $reduce: { input: { $range: [0, 500] }, initialValue: 0, in: { $add: ['$$value', '$$this'] } } };
    await db.collection('c').find({ $expr: { $lt: [walk, 0] } }).toArray();
    const { requestQueue, metrics } = await status();
    assert.ok(requestQueue.waits > before.requestQueue.waits && requestQueue.waitedMicros >= before.requestQueue.waitedMicros);
    assert.equal(requestQueue.waiting, 0);
    assert.ok(Number.isInteger(metrics.ttl.lagMillis) && metrics.ttl.lagMillis >= 0);
  });
});
