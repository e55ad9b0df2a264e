// Shards come and go while clients work: only a share moves, nothing is lost, not even by kill -9.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, test } from 'node:test';
import { MongoClient } from 'mongodb';
import { all, fails, times } from '../lib/fixture.mjs';
import { binary, startServer } from '../lib/server.mjs';

const eq = assert.deepEqual;
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

/** Runs with a server of its own, which is stopped in the end unless it ended already. */
async function withServer(options, run, directory = undefined) {
  const server = await startServer(options, directory);
  const client = new MongoClient(server.uri, { serverSelectionTimeoutMS: 5000 });
  try {
    return await run({ server, client, db: client.db('test'), admin: client.db('admin'), config: client.db('config') });
  } finally {
    await client.close();
    await server.stop();
  }
}
async function spread(db, name) {
  const rows = await db.collection(name).aggregate([{ $collStats: { count: {} } }]).toArray();
  return Object.fromEntries(rows.map((row) => [row.shard, row.count]));
}
async function insert(db, name, count, make) {
  for (let i = 0; i < count; i += 10000) await db.collection(name).insertMany(times(Math.min(10000, count - i), (j) => make(i + j)));
}
async function until(what, condition, seconds = 60) {
  for (const end = Date.now() + seconds * 1000; ;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) assert.fail(`waited ${seconds} s for: ${what}`);
    await sleep(20);
  }
}
async function checkWhole(db, name, count) {
  const { valid, errors, nrecords } = await db.command({ validate: name, full: true });
  eq([valid, errors, nrecords], [true, [], count]);
  eq(await db.collection(name).countDocuments({}), count);
}
/** Two rounds of the balancer in which nothing was moved. */
async function settled(admin) {
  let last = await admin.command({ balancerStatus: 1 });
  await until('the balancer has nothing to do', async () => {
    const now = await admin.command({ balancerStatus: 1 });
    if (Number(now.numBalancerRounds) < Number(last.numBalancerRounds) + 2) return false;
    const quiet = Number(now.documentsMoved) === Number(last.documentsMoved) && !now.inBalancerRound;
    last = now;
    return quiet;
  }, 120);
}

test('a ninth shard gets a ninth of 100000 documents and nothing else moves; it leaves again without a loss', async () => {
  await withServer(['--shards', '8'], async ({ db, admin, client, config }) => {
    await admin.command({ shardCollection: 'test.c', key: { k: 'hashed' } });
    await insert(db, 'c', 100000, (_id) => ({ _id, k: `user-${_id}` }));
    await settled(admin);
    const before = await spread(db, 'c');
    const movedBefore = Number((await admin.command({ balancerStatus: 1 })).documentsMoved);
    eq(Object.keys(before).length, 8);

    eq((await admin.command({ addShard: 'local' })).shardAdded, 'shard8');
    await until('the ninth shard has its share', async () => (await spread(db, 'c')).shard8 >= (0.9 * 100000) / 9);
    await settled(admin);
    const share = await spread(db, 'c');
    const moved = Number((await admin.command({ balancerStatus: 1 })).documentsMoved) - movedBefore;
    assert.ok(moved <= 100000 / 9 + 1 && moved >= (0.9 * 100000) / 9, `${moved} documents were moved`);
    eq(share.shard8, moved);  // all that moved went there
    for (const [name, count] of Object.entries(before)) assert.ok(share[name] <= count, `${name} grew`);
    eq(sum(Object.values(share)), 100000);
    assert.ok(Math.max(...Object.values(share)) / (100000 / 9) <= 1.1, JSON.stringify(share));
    await checkWhole(db, 'c', 100000);
    for (let i = 0; i < 100000; i += 5003) eq((await db.collection('c').find({ k: `user-${i}` }).toArray()).map((d) => d._id), [i]);

    // A database of its own keeps the shard until it is moved.
    await admin.command({ enableSharding: 'resident', primaryShard: 'shard8' });
    const resident = client.db('resident').collection('plain');
    await resident.insertMany(times(500, (_id) => ({ _id })));
    const started = await admin.command({ removeShard: 'shard8' });
    eq([started.state, started.dbsToMove], ['started', ['resident']]);
    const ongoing = await admin.command({ removeShard: 'shard8' });
    eq([ongoing.state, ongoing.dbsToMove], ['ongoing', ['resident']]);
    await until('the chunks have gone', async () => Number((await admin.command({ removeShard: 'shard8' })).remaining.chunks) === 0);
    eq((await admin.command({ removeShard: 'shard8' })).state, 'ongoing');
    eq((await config.collection('shards').findOne({ _id: 'shard8' })).draining, true);
    await fails(admin.command({ moveChunk: 'test.c', find: { k: 'user-1' }, to: 'shard8' }), 70);
    await fails(admin.command({ movePrimary: 'resident', to: 'shard8' }), 70);
    await admin.command({ movePrimary: 'resident', to: 'shard2' });
    eq(await resident.countDocuments({}), 500);
    eq(Object.keys(await spread(client.db('resident'), 'plain')), ['shard2']);
    eq((await admin.command({ removeShard: 'shard8' })).state, 'completed');
    await fails(admin.command({ removeShard: 'shard8' }), 70);
    eq((await admin.command({ listShards: 1 })).shards.map((s) => s._id), times(8, (i) => `shard${i}`));
    const drained = await spread(db, 'c');
    eq([Object.keys(drained).length, sum(Object.values(drained))], [8, 100000]);
    await checkWhole(db, 'c', 100000);
    // The name may come back, as another shard.
    eq((await admin.command({ addShard: 'shard8/local' })).shardAdded, 'shard8');
    await fails(admin.command({ addShard: 'local', name: 'shard8' }), 20);
    await fails(admin.command({ addShard: 'elsewhere.example:27017' }), 20);
    await fails(admin.command({ addShard: 'local', name: 'a/b' }), 2);
    await until('it gets its share again', async () => (await spread(db, 'c')).shard8 >= (0.9 * 100000) / 9);
    await settled(admin);
    await checkWhole(db, 'c', 100000);
  });
});

test('any shard can be removed but the last', async () => {
  await withServer(['--shards', '3'], async ({ db, admin, config, client }) => {
    await admin.command({ shardCollection: 'test.c', key: { k: 'hashed' } });
    await insert(db, 'c', 300, (_id) => ({ _id, k: _id }));
    await insert(client.db('other'), 'plain', 10, (_id) => ({ _id }));
    await insert(client.db('third'), 'plain', 10, (_id) => ({ _id }));
    await config.collection('settings').updateOne({ _id: 'chunksize' }, { $set: { value: 64 } }, { upsert: true });
    for (const name of ['shard0', 'shard1']) {
      const done = await until(`${name} is gone`, async () => {
        const reply = await admin.command({ removeShard: name });
        for (const database of reply.dbsToMove ?? []) await admin.command({ movePrimary: database, to: 'shard2' });
        return reply.state === 'completed';
      }, 30);
      assert.ok(done);
    }
    await fails(admin.command({ removeShard: 'shard2' }), 20, /last shard/);
    eq((await admin.command({ listShards: 1 })).shards.map((s) => s._id), ['shard2']);
    eq(await spread(db, 'c'), { shard2: 300 });
    eq([await client.db('other').collection('plain').countDocuments({}), await client.db('third').collection('plain').countDocuments({})], [10, 10]);
    eq((await config.collection('settings').findOne({ _id: 'chunksize' })).value, 64);
    await checkWhole(db, 'c', 300);
  });
});

test('a ranged key is cut and spread as it fills', async () => {
  await withServer(['--shards', '4'], async ({ db, admin }) => {
    await admin.command({ shardCollection: 'test.r', key: { at: 1 } });
    await insert(db, 'r', 20000, (_id) => ({ _id, at: _id }));
    await until('all four have their share', async () => {
      const counts = Object.values(await spread(db, 'r'));
      return counts.length === 4 && Math.max(...counts) <= 1.15 * 5000;
    });
    await settled(admin);
    eq((await all(db.collection('r'), { at: { $gte: 9990, $lt: 10010 } })).length, 20);
    await checkWhole(db, 'r', 20000);
  });
});

test('the balancer can be stopped, for all or for one collection', async () => {
  await withServer(['--shards', '2'], async ({ db, admin, config }) => {
    eq((await admin.command({ balancerStatus: 1 })).mode, 'full');
    await admin.command({ balancerStop: 1 });
    eq((await admin.command({ balancerStatus: 1 })).mode, 'off');
    await admin.command({ shardCollection: 'test.c', key: { k: 1 } });
    await insert(db, 'c', 3000, (_id) => ({ _id, k: _id }));
    const rounds = async () => Number((await admin.command({ balancerStatus: 1 })).numBalancerRounds);
    const then = await rounds();
    await until('two rounds', async () => (await rounds()) >= then + 2);
    eq(Object.values(await spread(db, 'c')), [3000]);
    await config.collection('collections').updateOne({ _id: 'test.c' }, { $set: { noBalance: true } });
    await admin.command({ balancerStart: 1 });
    const now = await rounds();
    await until('two rounds', async () => (await rounds()) >= now + 2);
    eq(Object.values(await spread(db, 'c')), [3000]);
    await config.collection('collections').updateOne({ _id: 'test.c' }, { $set: { noBalance: false } });
    await until('it is spread', async () => Object.values(await spread(db, 'c')).length === 2);
    await settled(admin);
    eq(Object.values(await spread(db, 'c')).map((n) => Math.abs(n - 1500) <= 150), [true, true]);
  });
});

test('kill -9 while documents move: all are there, whole, and the rest follows', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'braid-balance-'));
  after(() => rm(directory, { recursive: true, force: true }));
  const count = 40000;
  await withServer(['--shards', '2'], async ({ db, admin }) => {
    await db.collection('c').createIndex({ u: 1 }, { unique: true });
    await admin.command({ shardCollection: 'test.c', key: { k: 'hashed' } });
    await insert(db, 'c', count, (_id) => ({ _id, k: `user-${_id}`, u: _id }));
  }, directory);
  let interrupted = 0;
  for (let round = 0; round < 3; ++round) {
    await withServer(['--shards', '2'], async ({ server, db, admin }) => {
      const { shardAdded } = await admin.command({ addShard: 'local' });
      const some = 500 + 1500 * round;
      await until('some documents have moved', async () => ((await spread(db, 'c'))[shardAdded] ?? 0) > some);
      await server.stop('SIGKILL');
    }, directory);
    await withServer(['--shards', '2'], async ({ db, config }) => {
      const found = await spread(db, 'c');
      eq(sum(Object.values(found)), count);
      const { uuid } = await config.collection('collections').findOne({ _id: 'test.c' });
      assert.ok(await config.collection('chunks').countDocuments({ uuid }) > 0);
      if (Object.values(found).some((n) => n < count / (round + 3) / 1.2)) ++interrupted;
      for (let i = round; i < count; i += 1999) {
        eq((await all(db.collection('c'), { k: `user-${i}` })).map((d) => d._id), [i]);
        eq((await all(db.collection('c'), { u: i })).map((d) => d._id), [i]);
      }
      await fails(db.collection('c').insertOne({ _id: 'x', k: 'y', u: 77 }), 11000);
      await checkWhole(db, 'c', count);
    }, directory);
  }
  await withServer(['--shards', '2'], async ({ db, admin }) => {
    await settled(admin);
    const found = Object.values(await spread(db, 'c'));
    eq([found.length, sum(found)], [5, count]);
    assert.ok(Math.max(...found) / (count / 5) <= 1.15, found.join());
    await checkWhole(db, 'c', count);
  }, directory);
  assert.ok(interrupted > 0, 'no move was interrupted');
});

test('movePrimary takes the unsharded collections along, while they are written to', async () => {
  await withServer(['--shards', '3'], async ({ client, admin, config }) => {
    await admin.command({ enableSharding: 'p', primaryShard: 'shard0' });
    const db = client.db('p');
    await db.collection('a').createIndex({ n: 1 });
    await insert(db, 'a', 3000, (_id) => ({ _id, n: _id % 10 }));
    await insert(db, 'b', 10, (_id) => ({ _id }));
    await admin.command({ shardCollection: 'p.s', key: { k: 'hashed' } });
    await insert(db, 's', 300, (_id) => ({ _id, k: _id }));
    const sharded = await spread(db, 's');
    let moving = true;
    let writes = 0;
    const write = (async () => {
      for (; moving; ++writes) {
        await db.collection('a').insertOne({ _id: 10000 + writes, n: 77 });
        await db.collection('a').updateOne({ _id: writes }, { $set: { n: 78 } });
        eq(await db.collection('a').countDocuments({ _id: { $lt: 3000 } }), 3000);
      }
    })();
    for (const to of ['shard1', 'shard2', 'shard0', 'shard1']) await admin.command({ movePrimary: 'p', to });
    moving = false;
    await write;
    assert.ok(writes > 0);
    eq((await config.collection('databases').findOne({ _id: 'p' })).primary, 'shard1');
    eq(await spread(db, 'a'), { shard1: 3000 + writes });
    eq(await spread(db, 'b'), { shard1: 10 });
    eq(await spread(db, 's'), sharded);
    eq(await db.collection('a').countDocuments({ n: 78 }), writes);
    await checkWhole(db, 'a', 3000 + writes);
    await db.collection('new').insertOne({});
    eq(await spread(db, 'new'), { shard1: 1 });
    await fails(admin.command({ movePrimary: 'p', to: 'nowhere' }), 70);
    await fails(admin.command({ movePrimary: 'config', to: 'shard1' }), 72);
    await admin.command({ movePrimary: 'p', to: 'shard1' });
  });
});

test('the log warns of operations that ask all shards, and of a key that most documents share', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'braid-log-'));
  const child = spawn(binary, ['serve', '--store', directory, '--port', '0', '--no-http', '--shards', '4'], { stdio: ['ignore', 'pipe', 'pipe'] });
  after(async () => {
    child.kill('SIGKILL');
    await rm(directory, { recursive: true, force: true });
  });
  let log = '';
  child.stderr.on('data', (data) => (log += data));
  const uri = await new Promise((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const match = line.match(/mongodb:\/\/\S+/);
      if (match) resolve(match[0]);
    });
  });
  const client = await new MongoClient(uri).connect();
  const db = client.db('test');
  const admin = client.db('admin');
  for (const name of ['scattered', 'targeted', 'guests', 'users']) await admin.command({ shardCollection: `test.${name}`, key: { user_id: 'hashed' } });
  await insert(db, 'guests', 1500, (_id) => ({ _id, user_id: null }));
  await insert(db, 'users', 1500, (_id) => ({ _id, user_id: _id }));
  for (const name of ['scattered', 'targeted']) await db.collection(name).insertOne({ user_id: 1 });
  for (let i = 0; i < 1100; ++i) await Promise.all([db.collection('scattered').findOne({ n: i }), db.collection('targeted').findOne({ user_id: i })]);
  await until('both warnings', () => /test\.scattered: \d+ of the last \d+ operations/.test(log) && /test\.guests: 1500 of 1500 documents/.test(log), 20);
  assert.match(log, /test\.guests: .*user_id: null/);
  assert.doesNotMatch(log, /test\.(targeted|users): \d+ of/);
  const rounds = Number((await admin.command({ balancerStatus: 1 })).numBalancerRounds);
  await until('two more looks', async () => Number((await admin.command({ balancerStatus: 1 })).numBalancerRounds) > rounds + 2, 20);
  eq(log.match(/test\.scattered: \d+ of the last/g).length, 1);  // once, not every second
  eq(log.match(/test\.guests: 1500 of 1500/g).length, 1);
  await client.close();
});
