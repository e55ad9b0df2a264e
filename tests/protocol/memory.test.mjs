// One limit on the memory of all requests together: what would go past it is refused, everything else goes on.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { BSON, Long } from 'mongodb';
import { fill, serve, times } from '../lib/fixture.mjs';
import { startServer } from '../lib/server.mjs';
import { RawSession } from '../lib/session.mjs';
import { bodySection, message, opcodes, parse } from '../lib/wire.mjs';

const MB = 1 << 20;
const limit = 256 * MB;
const cache = 64 * MB;
const f = await serve(['--memory-limit', '256MB', '--cache-size', '64MB']);

const budget = async () => (await f.admin.command({ serverStatus: 1 })).memoryBudget;
const resident = async (pid = f.server.pid) => 1024 * Number((await readFile(`/proc/${pid}/status`, 'utf8')).match(/VmRSS:\s+(\d+)/)[1]);

/** Starts transactions with the insert of a document of so many bytes, which are made only once. */
function largeInsert(size) {
  const document = BSON.serialize({ _id: 0, bytes: Buffer.alloc(size) });
  const idAt = 4 + 1 + '_id\0'.length;
  const head = Buffer.from('\x01????documents\0', 'latin1');
  head.writeInt32LE(head.length - 1 + document.length, 1);
  return async ({ connection, lsid }, _id) => {
    new DataView(document.buffer, document.byteOffset).setInt32(idAt, _id, true);
    const body = bodySection({ insert: 'large', $db: 'test', lsid, txnNumber: Long.fromNumber(1), startTransaction: true, autocommit: false });
    const first = Buffer.concat([Buffer.alloc(4), body, head]);
    connection.send(message(opcodes.msg, first, { length: 16 + first.length + document.length }));
    connection.send(document);
    return parse(await connection.next()).document;
  };
}

test('of 500 transactions of 10 MB a limit of 1 GB refuses most, and memory stays near it', async () => {
  const gigabyte = 1024 * MB;
  const server = await startServer(['--memory-limit', '1GB', '--cache-size', '64MB', '--transaction-lifetime', '3600']);
  const other = await RawSession.open(server.uri);
  after(() => other.close());
  const held = async () => (await other.plain({ serverStatus: 1 }, 'admin')).memoryBudget;
  await other.plain({ create: 'large' });
  const insert = largeInsert(10 * MB);
  const outcomes = [];
  const sessions = [];
  let peak = 0;
  for (let _id = 0; _id < 500; ++_id) {
    const session = await RawSession.open(server.uri);
    after(() => session.close());
    sessions.push(session);
    const reply = await insert(session, _id);
    const refused = reply.writeErrors?.[0] ?? (reply.ok ? undefined : reply);
    outcomes.push(refused ? refused.code : 'ok');
    if (refused) assert.match(refused.errmsg, /memory limit .* --memory-limit/);
    if (_id % 10 === 0) peak = Math.max(peak, await resident(server.pid));
  }
  const taken = outcomes.filter((outcome) => outcome === 'ok').length;
  assert.equal(taken + outcomes.filter((outcome) => outcome === 146).length, 500);
  assert.ok(taken >= 90 && taken <= 102, `${taken} transactions were let in`);
  const status = await held();
  assert.ok(status.usedBytes <= gigabyte && status.holders.transactions >= taken * 10 * MB, JSON.stringify(status));
  assert.ok(status.refused >= 500 - taken);
  assert.ok(peak < gigabyte + cache + 160 * MB, `${peak / MB} MB resident`);
  // Everything else goes on: what is small needs no memory that is not there, and those that were let in can commit.
  assert.equal((await other.plain({ ping: 1 })).ok, 1);
  assert.equal((await other.plain({ insert: 'small', documents: [{ _id: 1 }] })).n, 1);
  assert.equal((await other.plain({ find: 'small' })).cursor.firstBatch.length, 1);
  assert.equal((await sessions[0].commit({}, 1)).ok, 1);
  for (const session of sessions) session.close();
  while ((await held()).holders.transactions > 0) await new Promise((resolve) => setImmediate(resolve));
  assert.equal((await other.plain({ count: 'large' })).n, 1);
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

test('idle sorts hold half of the memory at most, and go on from disk', async () => {
  const rows = 40;
  await fill(f.db, 'rows', times(rows, (_id) => ({ _id, order: (_id * 7) % rows, text: 'y'.repeat(MB) })));
  const before = (await budget()).holders;
  const sorted = () => f.db.collection('rows').find().sort({ order: 1 }).batchSize(1);
  // The second kind sorts what the pipeline made, which could not be read again.
  const made = () => f.db.collection('rows').aggregate([{ $set: { made: '$order' } }, { $match: { made: { $gte: 0 } } }, { $sort: { made: 1 } }], { cursor: { batchSize: 1 } });
  const open = [];
  for (let i = 0; i < 10; ++i) {
    open.push(i % 2 ? made() : sorted());
    assert.equal((await open.at(-1).next()).order, 0);
  }
  const held = await budget();
  assert.ok(held.holders.sorts - before.sorts >= 35 * MB && held.usedBytes <= limit / 2 + 45 * MB, JSON.stringify(held));
  assert.ok(held.spilledFiles >= 6 && held.spilledBytes >= held.spilledFiles * 35 * MB, JSON.stringify(held));
  assert.ok((await resident()) < limit + cache + 200 * MB);
  for (const cursor of open.slice(-2)) {
    for (let order = 1; order < rows; ++order) assert.equal((await cursor.next()).order, order);
    assert.equal(await cursor.hasNext(), false);
  }
  for (const cursor of open) await cursor.close();
  const left = await budget();
  assert.deepEqual([left.holders.sorts, left.spilledFiles, left.spilledBytes], [before.sorts, 0, 0]);
});

test('groups are charged while their cursors are open', async () => {
  await fill(f.db, 'rows', times(40, (_id) => ({ _id, text: 'y'.repeat(MB) })));
  const before = (await budget()).holders;
  const open = [];
  let refused = 0;
  for (let i = 0; i < 8; ++i) {
    const cursor = f.db.collection('rows').aggregate([{ $group: { _id: '$_id', all: { $push: '$text' } } }], { cursor: { batchSize: 1 } });
    try {
      await cursor.next();
      open.push(cursor);
    } catch (error) {
      assert.equal(error.code, 146);
      ++refused;
    }
  }
  const held = (await budget()).holders;
  assert.ok(held.groups - before.groups >= open.length * 35 * MB, JSON.stringify(held));
  assert.ok(open.length >= 1 && refused >= 1, `${open.length} open, ${refused} refused`);
  for (const cursor of open) await cursor.close();
  assert.equal((await budget()).holders.groups, before.groups);
});
