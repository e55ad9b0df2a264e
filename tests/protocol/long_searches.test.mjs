// Writes that search for long: they keep neither their collection's gate nor a lock nor a thread from anybody.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { all, fill, serve, times } from '../lib/fixture.mjs';
import { ask } from '../lib/session.mjs';
import { RawConnection } from '../lib/wire.mjs';

const f = await serve(['--shards', '3', '--threads', '4']);

/** An expression over the numbers of `list` that takes hours for a single document. */
const hours = (depth = 8) => (depth === 0 ? 1 : { $sum: { $map: { input: '$list', in: hours(depth - 1) } } });
const endless = { $expr: { $eq: [hours(), 0] } };
const list = times(1000, (i) => i);

const writes = {
  updateMany: (name) => ({ update: name, updates: [{ q: endless, u: { $set: { changed: true } }, multi: true }] }),
  updateOne: (name) => ({ update: name, updates: [{ q: endless, u: { $set: { changed: true } }, upsert: true }] }),
  deleteMany: (name) => ({ delete: name, deletes: [{ q: endless, limit: 0 }] }),
  findAndModify: (name) => ({ findAndModify: name, query: endless, sort: { n: 1 }, remove: true }),
};

async function connections(count) {
  const opened = await Promise.all(times(count, () => RawConnection.open(f.server.uri)));
  after(() => opened.forEach((connection) => connection.close()));
  return opened;
}

const searching = async (name) => (await f.admin.command({ currentOp: 1 })).inprog
  .filter(({ command }) => [command?.update, command?.delete, command?.findAndModify].includes(name));
async function until(what) {
  while (!(await what())) await new Promise((resolve) => setImmediate(resolve));
}

for (const sharded of [false, true]) {
  test(`a search of hours in ${sharded ? 'a sharded' : 'a'} collection holds up nobody`, async () => {
    const name = sharded ? 'spread' : 'plain';
    const c = await fill(f.db, name, times(30, (_id) => ({ _id, n: _id, list })));
    if (sharded) await f.admin.command({ shardCollection: `test.${name}`, key: { _id: 1 } });
    // More of them than there are threads.
    const makers = Object.values(writes);
    const opened = await connections(12);
    const answers = opened.map((connection, i) => ask(connection, makers[i % makers.length](name)));
    await until(async () => (await searching(name)).length === 12);

    assert.equal(await c.createIndex({ n: 1 }, { name: 'n' }), 'n');
    const writers = await connections(20);
    await Promise.all(writers.map(async (connection, i) => {
      const reply = await ask(connection, { insert: name, documents: [{ _id: 100 + i, n: i, list: [] }] });
      assert.equal(reply.n, 1);
    }));
    assert.equal((await c.updateOne({ _id: 3 }, { $set: { n: -3 } })).modifiedCount, 1);
    await f.db.command({ collMod: name, validationLevel: 'moderate' });
    if (sharded) {
      await f.admin.command({ split: `test.${name}`, middle: { _id: 20 } });
      await f.admin.command({ moveChunk: `test.${name}`, find: { _id: 100 }, to: 'shard1' });
    }
    await c.dropIndex('n');
    const session = f.client.startSession();
    await session.withTransaction(() => c.updateOne({ _id: 4 }, { $set: { n: -4 } }, { session }));
    await session.endSession();
    assert.equal((await searching(name)).length, 12);

    for (const { opid } of await searching(name)) await f.admin.command({ killOp: 1, op: opid });
    assert.deepEqual((await Promise.all(answers)).map((reply) => reply.code), times(12, () => 11601));
    const documents = await all(c);
    assert.equal(documents.length, 50);
    assert.ok(documents.every((document) => !document.changed));
    assert.equal((await f.db.command({ validate: name })).valid, true);
  });
}

test('a collection that is dropped and made again under a search stays as it is', async () => {
  const c = await fill(f.db, 'gone', times(3, (_id) => ({ _id, list: _id < 2 ? [] : list })));
  // The first documents match at once, the last one is hours away: what was found is not changed any more.
  const filter = { $or: [{ list: { $size: 0 } }, endless] };
  const [connection] = await connections(1);
  const answer = ask(connection, { update: 'gone', updates: [{ q: filter, u: { $set: { changed: true } }, multi: true }] });
  await until(async () => (await searching('gone')).length === 1);
  assert.equal(await c.drop(), true);
  await c.insertOne({ _id: 0, list: [] });
  await f.admin.command({ killOp: 1, op: (await searching('gone'))[0].opid });
  assert.equal((await answer).code, 11601);
  assert.deepEqual(await all(c), [{ _id: 0, list: [] }]);
});
