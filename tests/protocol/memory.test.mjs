// One limit on the memory of all requests together: what would go past it is refused, everything else goes on.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { fill, serve, times } from '../lib/fixture.mjs';
import { RawSession } from '../lib/session.mjs';

const MB = 1 << 20;
const limit = 256 * MB;
const cache = 64 * MB;
const f = await serve(['--memory-limit', '256MB', '--cache-size', '64MB']);

const budget = async () => (await f.admin.command({ serverStatus: 1 })).memoryBudget;
const resident = async () => 1024 * Number((await readFile(`/proc/${f.server.pid}/status`, 'utf8')).match(/VmRSS:\s+(\d+)/)[1]);

test('open transactions hold no more than the limit, and memory stays near it', async () => {
  await fill(f.db, 'large', []);
  await f.db.createCollection('large');
  const text = 'x'.repeat(10 * MB);
  const outcomes = [];
  const sessions = [];
  let peak = 0;
  for (let i = 0; i < 60; ++i) {
    const session = await RawSession.open(f.server.uri);
    sessions.push(session);
    after(() => session.close());
    const reply = await session.start({ insert: 'large', documents: [{ _id: i, text }] });
    const [refused] = reply.writeErrors ?? [];
    outcomes.push(refused ? refused.code : 'ok');
    if (refused) assert.match(refused.errmsg, /memory limit .* --memory-limit/);
    peak = Math.max(peak, await resident());
    assert.equal((await f.db.command({ ping: 1 })).ok, 1);
  }
  const taken = outcomes.filter((outcome) => outcome === 'ok').length;
  assert.equal(taken + outcomes.filter((outcome) => outcome === 146).length, 60);
  assert.ok(taken >= 20 && taken <= 25, `${taken} transactions were let in`);
  const held = await budget();
  assert.ok(held.usedBytes <= limit && held.holders.transactions >= taken * 10 * MB, JSON.stringify(held));
  assert.ok(held.refused >= 60 - taken);
  assert.ok(peak < limit + cache + 160 * MB, `${peak / MB} MB resident`);
  // A small write needs little and is still possible.
  assert.equal((await f.db.collection('small').insertOne({ _id: 1 })).acknowledged, true);
  for (const session of sessions) await session.abort();
  assert.equal((await budget()).holders.transactions, 0);
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
