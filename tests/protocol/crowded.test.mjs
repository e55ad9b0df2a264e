// Many long requests at a time: others are answered meanwhile, clients that leave take their requests with them, and
// the server ends when it is told to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MongoClient } from 'mongodb';
import { fails, times } from '../lib/fixture.mjs';
import { startServer } from '../lib/server.mjs';
import { RawConnection, command, parse } from '../lib/wire.mjs';

// Hours of work, if nobody interrupts it: each document takes about a millisecond.
const long = { $expr: { $lt: [{ $reduce: { input: { $range: [0, 20000] }, initialValue: 0, in: { $add: ['$$value', '$v', '$$this'] } } }, -1] } };
const stages = [
  { $match: { _id: { $lt: 1000 } } }, { $addFields: { more: { $range: [0, 10000] } } }, { $unwind: '$more' }, { $match: long }, { $count: 'n' },
];

async function start(documents) {
  const server = await startServer();
  const client = await new MongoClient(server.uri, { maxPoolSize: 5 }).connect();
  const db = client.db('test');
  await db.collection('c').insertMany(documents);
  const inprog = async (name) => (await client.db('admin').command({ currentOp: 1 })).inprog.filter(({ command: of }) => of?.[name]);
  const until = async (ask) => { while (!(await ask())); };
  return { server, client, db, inprog, until };
}

/** Connections that have sent a request each, and a ping behind it. */
async function send(uri, count, request) {
  const connections = await Promise.all(times(count, () => RawConnection.open(uri)));
  for (const connection of connections) connection.socket.write(Buffer.concat([command(request), command({ ping: 1 })]));
  return connections;
}

const numbered = (n) => times(n, (i) => ({ _id: i, v: i }));

test('long requests of clients that have left end, and others are answered', async () => {
  const { server, client, db, inprog, until } = await start(numbered(1000));
  const connections = await send(server.uri, 70, { aggregate: 'c', cursor: {}, pipeline: stages });
  await until(async () => (await inprog('aggregate')).length === 70);
  for (const { socket } of connections) socket.destroy();
  assert.equal((await db.collection('c').findOne({ _id: 7 })).v, 7);
  await until(async () => (await inprog('aggregate')).length === 0);
  await client.close();
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

test('beside any number of scans point reads, writes and diagnostics are answered', async () => {
  const { server, client, db, inprog, until } = await start(numbered(1000));
  const connections = await send(server.uri, 200, { aggregate: 'c', cursor: {}, pipeline: stages });
  await until(async () => (await inprog('aggregate')).length === 200);
  for (let i = 0; i < 40; ++i) {
    assert.equal((await db.collection('c').findOne({ _id: i })).v, i);
    await db.collection('d').insertOne({ _id: i });
    await db.command({ ping: 1 });
  }
  const running = await inprog('aggregate');
  assert.equal(running.length, 200);
  // killOp is heard by those that wait for their turn too.
  for (const { opid } of running.slice(0, 20)) await client.db('admin').command({ killOp: 1, op: opid });
  await until(async () => (await inprog('aggregate')).length === 180);
  await fails(db.collection('c').aggregate(stages, { maxTimeMS: 50 }).toArray(), 50);
  for (const { socket } of connections) socket.destroy();
  await until(async () => (await inprog('aggregate')).length === 0);
  await client.close();
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

test('scans that give way to each other find what they would have found alone', async () => {
  const { server, client, db } = await start(numbered(2000));
  await client.db('admin').command({ shardCollection: 'test.spread', key: { _id: 'hashed' } });
  await db.collection('spread').insertMany(numbered(2000));
  const slow = { $expr: { $gte: [{ $reduce: { input: { $range: [0, 200] }, initialValue: 0, in: { $add: ['$$value', 1] } } }, 200] }, pad: { $not: /a.*a.*c/ } };
  const group = { $group: { _id: { $mod: ['$v', 10] }, sum: { $sum: '$v' }, n: { $sum: 1 } } };
  await Promise.all(times(10, async (k) => {
    const collection = db.collection(k % 2 === 0 ? 'c' : 'spread');
    const [found] = await collection.aggregate([{ $match: slow }, group, { $sort: { _id: 1 } }, { $skip: k % 10 }, { $limit: 1 }]).toArray();
    assert.deepEqual(found, { _id: k % 10, sum: 200 * (k % 10) + 10 * (199 * 200 / 2), n: 200 });
    const read = await collection.find(slow, { batchSize: 500 }).sort({ v: -1 }).map(({ v }) => v).toArray();
    assert.deepEqual(read, numbered(2000).map(({ v }) => v).reverse());
    const changed = await collection.updateMany({ ...slow, v: { $gte: 0 } }, { $inc: { changes: 1 } });
    assert.equal(changed.matchedCount, 2000);
  }));
  for (const name of ['c', 'spread']) assert.equal(await db.collection(name).countDocuments({ changes: 5 }), 2000, name);
  await client.close();
  await server.stop();
});

test('SIGTERM ends a server full of regular expressions that take minutes', async () => {
  // Minutes for each document, and yet at no place in it as many steps as a regular expression may take.
  const { server, client, db, inprog, until } = await start(times(20, (i) => ({ _id: i, text: 'a'.repeat(4000) })));
  const connections = await send(server.uri, 71, { aggregate: 'c', cursor: {}, pipeline: [{ $match: { text: { $regex: 'a.*a.*[cd]' } } }] });
  await until(async () => (await inprog('aggregate')).length === 71);
  assert.equal((await db.collection('c').findOne({ _id: 7 }, { projection: { text: 0 } }))._id, 7);
  await client.close();
  // Its own words: what still runs is interrupted, none of it ends by itself.
  const answers = Promise.all(connections.map(async (connection) => {
    const reply = await connection.next();
    return reply && parse(reply).document.code;
  }));
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  assert.deepEqual(new Set(await answers), new Set([11600]));
});
