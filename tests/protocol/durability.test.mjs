// What was acknowledged survives kill -9; what was made survives a restart; a server ends as it was asked to.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { MongoClient } from 'mongodb';
import { all, fails, fill, times } from '../lib/fixture.mjs';
import { binary, startServer } from '../lib/server.mjs';

const directories = [];
after(() => Promise.all(directories.map((directory) => rm(directory, { recursive: true, force: true }))));
async function newDirectory() {
  directories.push(await mkdtemp(join(tmpdir(), 'braid-durable-')));
  return directories.at(-1);
}

/** Runs with a server on the directory, which is stopped in the end unless it ended already. */
async function withServer(directory, run, options = []) {
  const server = await startServer(options, directory);
  const client = new MongoClient(server.uri, { serverSelectionTimeoutMS: 5000 });
  try {
    return await run(client.db('test'), server, client);
  } finally {
    await client.close();
    await server.stop();
  }
}

async function checkWhole(db, name) {
  const { valid, errors, nrecords } = await db.command({ validate: name, full: true });
  assert.deepEqual([valid, errors], [true, []]);
  const count = (await db.command({ count: name })).n;
  assert.deepEqual([nrecords, count], [count, await db.collection(name).countDocuments({}, { hint: { $natural: 1 } })]);
}

test('kill -9 during writes of 4 connections: every acknowledged one is there, whole, with its index entries', async () => {
  const directory = await newDirectory();
  for (let round = 0; round < 3; ++round) {
    const acknowledged = times(4, () => ({ inserted: [], counted: 0 }));
    await withServer(directory, async (db, server) => {
      if (round === 0) {
        await db.collection('log').createIndex({ writer: 1, n: 1 }, { unique: true });
        await db.collection('log').createIndex({ tags: 1 });
      }
      const clients = await Promise.all(times(4, () => new MongoClient(server.uri, { retryWrites: false, serverSelectionTimeoutMS: 2000, maxPoolSize: 1 }).connect()));
      const writers = Promise.allSettled(clients.map(async (client, writer) => {
        const log = client.db('test').collection('log');
        for (let n = 0; ; ++n) {
          const documents = times(3, (i) => ({ _id: `${round}/${writer}/${n}/${i}`, writer: `${round}/${writer}`, n: n * 3 + i, tags: [n % 10, `t${i}`], pad: 'x'.repeat(100) }));
          await log.insertMany(documents);
          acknowledged[writer].inserted.push(...documents);
          await client.db('test').collection('counter').updateOne({ _id: `${round}/${writer}` }, { $inc: { n: 1 } }, { upsert: true });
          acknowledged[writer].counted = n + 1;
        }
      }));
      // The crash comes when enough was acknowledged, not after some time.
      while (acknowledged.some((writer) => writer.counted < 60 + 20 * round)) await new Promise((resolve) => { setTimeout(resolve, 1); });
      await server.stop('SIGKILL');
      for (const outcome of await writers) assert.equal(outcome.status, 'rejected');
      await Promise.all(clients.map((client) => client.close()));
    });
    await withServer(directory, async (db) => {
      for (const [writer, { inserted, counted }] of acknowledged.entries()) {
        const key = `${round}/${writer}`;
        const stored = await db.collection('log').find({ writer: key }).sort({ n: 1 }).toArray();
        assert.deepEqual(stored.slice(0, inserted.length), inserted);
        // One batch more may have been stored without its acknowledgement, and only as a whole.
        assert.ok([0, 3].includes(stored.length - inserted.length), `${stored.length} stored, ${inserted.length} acknowledged`);
        const { n } = await db.collection('counter').findOne({ _id: key });
        assert.ok(n === counted || n === counted + 1, `${n} counted, ${counted} acknowledged`);
      }
      await checkWhole(db, 'log');
      await checkWhole(db, 'counter');
    });
  }
});

test('kill -9 during an index build: the index is there as a whole or not at all', async () => {
  const directory = await newDirectory();
  await withServer(directory, async (db, server, client) => {
    await fill(db, 'c', times(60000, (_id) => ({ _id, a: _id % 100 })));
    const build = db.collection('c').createIndex({ a: 1 }).catch((error) => error);
    for (let seen = false; !seen; ) {
      const { inprog } = await client.db('admin').command({ currentOp: 1 });
      seen = inprog.some((op) => op.command?.createIndexes) || (await db.collection('c').indexes()).length > 1;
    }
    await server.stop('SIGKILL');
    await build;
  });
  await withServer(directory, async (db) => {
    await checkWhole(db, 'c');
    await db.collection('c').createIndex({ a: 1 });
    assert.equal(await db.collection('c').countDocuments({ a: 7 }, { hint: { a: 1 } }), 600);
    await checkWhole(db, 'c');
  });
});

test('kill -9 in the middle of $out: the target is as it was, and nothing is left of the new documents', async () => {
  const directory = await newDirectory();
  await withServer(directory, async (db, server) => {
    await db.collection('source').insertMany(times(3000, (_id) => ({ _id, text: 'x'.repeat(1000) })));
    await fill(db, 'target', [{ _id: 'kept' }]);
    await db.collection('target').createIndex({ a: 1 });
    // 300 000 documents: the first ones are stored long before the last are made.
    const copies = [{ $set: { n: { $range: [0, 100] } } }, { $unwind: '$n' }, { $unset: '_id' }, { $out: 'target' }];
    const out = assert.rejects(db.collection('source').aggregate(copies).toArray());
    const staged = () => db.listCollections({ name: /^tmp/ }).toArray();
    while ((await staged()).length === 0) await new Promise((resolve) => setImmediate(resolve));
    const [{ name }] = await staged();
    while ((await db.command({ count: name })).n === 0) await new Promise((resolve) => setImmediate(resolve));
    await server.stop('SIGKILL');
    await out;
  });
  await withServer(directory, async (db) => {
    assert.deepEqual(await all(db.collection('target')), [{ _id: 'kept' }]);
    assert.deepEqual((await db.listCollections().toArray()).map(({ name }) => name).sort(), ['source', 'target']);
    assert.deepEqual((await db.collection('target').indexes()).map(({ name }) => name), ['_id_', 'a_1']);
    await checkWhole(db, 'source');
  });
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGKILL']) {
  test(`after ${signal} a restart keeps collections, options, validators, indexes, documents`, async () => {
    const directory = await newDirectory();
    const describe = async (db) => ({
      collections: (await db.listCollections().toArray()).map(({ name, options, info }) => ({ name, options, uuid: info.uuid.toString() })).sort((a, b) => (a.name < b.name ? -1 : 1)),
      indexes: await db.collection('full').indexes(),
      documents: await all(db.collection('full')),
    });
    const before = await withServer(directory, async (db, server) => {
      await db.createCollection('full', { validator: { a: { $gte: 0 } }, validationAction: 'error', collation: { locale: 'en', strength: 2 } });
      await db.createCollection('empty');
      await db.createCollection('dropped');
      await db.collection('dropped').insertOne({ a: 1 });
      await db.collection('dropped').drop();
      const c = db.collection('full');
      await c.createIndexes([
        { key: { a: 1 }, unique: true },
        { key: { b: -1, c: 1 }, sparse: true, name: 'bc' },
        { key: { t: 1 }, expireAfterSeconds: 3600 },
        { key: { h: 'hashed' }, hidden: true },
        { key: { p: 1 }, partialFilterExpression: { p: { $gt: 5 } } },
      ]);
      await c.insertMany(times(100, (_id) => ({ _id, a: _id, b: [_id, 1], p: _id })));
      const described = await describe(db);
      const { code } = await server.stop(signal);
      assert.equal(code, signal === 'SIGKILL' ? null : 0);
      return described;
    });
    await withServer(directory, async (db) => {
      assert.deepEqual(await describe(db), before);
      await fails(db.collection('full').insertOne({ a: -1 }), 121);
      await fails(db.collection('full').insertOne({ a: 5 }), 11000);
      await checkWhole(db, 'full');
    });
  });
}

test('SIGTERM while a slow find runs: it is answered or interrupted, and the exit is clean', async () => {
  await withServer(undefined, async (db, server, client) => {
    await fill(db, 'slow', times(20000, (_id) => ({ _id })));
    const walk = { $gt: [{ $reduce: { input: { $range: [0, 2000] }, initialValue: 0, in: { $add: ['$$value', '$$this'] } } }, -1] };
    const query = db.command({ find: 'slow', filter: { $expr: walk }, comment: 'slow', batchSize: 100000 }).then((reply) => reply, (error) => error);
    for (let seen = false; !seen; ) seen = (await client.db('admin').command({ currentOp: 1 })).inprog.some((op) => op.command?.comment === 'slow');
    const ending = await server.stop('SIGTERM');
    assert.deepEqual(ending, { code: 0, signal: null });
    const outcome = await query;
    assert.ok(outcome.code === 11600 || outcome.cursor?.firstBatch.length === 20000, String(outcome));
  });
});

/** The files of a store with their bytes, but for the lock. */
async function filesOf(directory) {
  const names = (await readdir(directory)).filter((name) => name !== 'LOCK').sort();
  return Promise.all(names.map(async (name) => [name, (await readFile(join(directory, name))).toString('base64')]));
}

/** The end of a server that does not start, or that is stopped as soon as it listens. */
async function serveOnce(directory, options = []) {
  const child = spawn(binary, ['serve', '--store', directory, '--port', '0', '--no-http', ...options]);
  let errors = '';
  child.stderr.on('data', (text) => { errors += text; });
  child.stdout.on('data', () => child.kill('SIGTERM'));
  const code = await new Promise((resolve) => { child.once('close', resolve); });
  return { code, errors };
}

const newest = async (directory, part) => (await readdir(directory)).filter((name) => name.includes(part)).sort().at(-1);
const cut = async (path, bytes) => truncate(path, (await stat(path)).size - bytes);

/** The start is refused, says what is missing, and changes nothing; then --accept-loss opens what is left, once and for all. */
async function checkLoss(directory, damaged) {
  const before = await filesOf(directory);
  const refused = await serveOnce(directory);
  assert.notEqual(refused.code, 0);
  assert.ok(refused.errors.includes(damaged) && refused.errors.includes('--accept-loss'), refused.errors);
  assert.deepEqual(await filesOf(directory), before);
  const accepted = await serveOnce(directory, ['--accept-loss']);
  assert.equal(accepted.code, 0, accepted.errors);
  assert.ok(accepted.errors.includes('accepted loss: ') && accepted.errors.includes(damaged), accepted.errors);
}

test('kill -9, and a manifest that lost its last 100 bytes', async () => {
  const directory = await newDirectory();
  const inserted = await withServer(directory, async (db, server, client) => {
    // So much does not stay in memory: a new log begins, the manifest gets a table, and the old log goes. Nothing more
    // is written then, for a second table might be half-way into the manifest, and no loss to miss, when the kill comes.
    const log = await newest(directory, '.log');
    let count = 0;
    for (; (await newest(directory, '.log')) === log; count += 100) {
      await db.collection('c').insertMany(times(100, (i) => ({ _id: count + i, pad: 'x'.repeat(3000) })));
    }
    while ((await client.db('admin').command({ serverStatus: 1 })).rocksdb.diskBytes === 0) await new Promise((resolve) => setImmediate(resolve));
    await client.close();
    await server.stop('SIGKILL');
    return count;
  }, ['--cache-size', '16MB']);
  const manifest = await newest(directory, 'MANIFEST-');
  await cut(join(directory, manifest), 100);
  await checkLoss(directory, manifest);
  await withServer(directory, async (db) => { assert.ok((await db.collection('c').find().toArray()).length <= inserted); });
});

for (const [how, damage] of Object.entries({ gone: rm, empty: truncate, 'without its last 1000 bytes': (path) => cut(path, 1000) })) {
  test(`kill -9, and a newest log that is ${how}`, async () => {
    const directory = await newDirectory();
    await withServer(directory, async (db) => { await fill(db, 'tables', times(3000, (_id) => ({ _id }))); });  // an orderly end
    await withServer(directory, async (db, server, client) => {
      await fill(db, 'log', times(3000, (_id) => ({ _id })));
      await client.close();
      await server.stop('SIGKILL');
    });
    const log = await newest(directory, '.log');
    await damage(join(directory, log));
    await checkLoss(directory, log);
    await withServer(directory, async (db) => {
      assert.equal(await db.collection('tables').countDocuments(), 3000);
      await checkWhole(db, 'tables');
      assert.ok((await db.collection('log').countDocuments()) < 3000);
    });
  });
}
