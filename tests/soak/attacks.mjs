// What one client may try against a server, each attack a function of the server's address that takes some seconds at most. What the
// attacker is answered does not matter here (tests/protocol says what is right): only that everybody else does not notice.
import { once } from 'node:events';
import { connect } from 'node:net';
import { deflateSync } from 'node:zlib';
import { MongoClient } from 'mongodb';
import { RawSession } from '../lib/session.mjs';
import { bodySection, command, compressed, message, opcodes, opMsg, RawConnection } from '../lib/wire.mjs';

const MB = 1 << 20;
const times = (n, make) => Array.from({ length: n }, (_, i) => make(i));
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const anyhow = (promise) => promise.then(() => {}, () => {});

/** The collections that the attacks read. */
export async function prepare(uri) {
  const client = await new MongoClient(uri).connect();
  const db = client.db('attacked');
  const thousand = times(1000, (i) => i);
  await db.collection('large').insertOne({ _id: 1, text: 'a'.repeat(MB), thousand, list: times(30_000, (i) => i) });
  await db.collection('rows').insertMany(times(60, (_id) => ({ _id, text: 'y'.repeat(MB) })));
  for (let i = 0; i < 10; ++i) await db.collection('many').insertMany(times(10_000, (j) => ({ n: i * 10_000 + j, text: 'z'.repeat(50) })));
  await client.close();
}

/** With a driver; closed at the end, in the middle of what runs if `milliseconds` are over. */
async function driven(uri, milliseconds, attack) {
  const client = await new MongoClient(uri, { maxPoolSize: 80, retryReads: false, retryWrites: false }).connect();
  await Promise.race([anyhow(attack(client.db('attacked'))), pause(milliseconds)]);
  await client.close(true);
}

/** Sockets without a driver. */
async function sockets(uri, count, use) {
  const { hostname, port } = new URL(uri);
  const open = [];
  for (let i = 0; i < count; ++i) {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => {});
    open.push(socket);
    await anyhow(once(socket, 'connect'));
    use(socket, i);
  }
  await pause(3000);
  for (const socket of open) socket.destroy();
}

const doubled = (from, twice) => ({ $reduce: { input: { $range: [0, 40] }, initialValue: from, in: twice } });
const nested = (depth) => (depth === 0 ? 1 : { $sum: { $map: { input: '$thousand', as: `v${depth}`, in: nested(depth - 1) } } });
const announced = (bytes, length) => message(opcodes.msg, bytes, { length });
const hello = (extra = {}) => command({ hello: 1, ...extra });

export const attacks = {
  'long paths': (uri) => driven(uri, 5000, (db) => Promise.all(times(20, () => anyhow(db.collection('large').updateOne({ _id: 1 }, { $set: { [Array(25_000).fill('d').join('.')]: 1 } }))))),
  'values that double': (uri) => driven(uri, 8000, async (db) => {
    const bombs = [doubled('x', { $concat: ['$$value', '$$value'] }), doubled([1], { $concatArrays: ['$$value', '$$value'] }), { $replaceAll: { input: '$text', find: 'a', replacement: '$text' } }, { $regexFindAll: { input: '$text', regex: 'a' } }];
    await Promise.all(bombs.flatMap((x) => times(5, () => anyhow(db.collection('large').aggregate([{ $project: { x } }]).toArray()))));
    await Promise.all(times(5, () => anyhow(db.collection('large').aggregate(times(30, () => ({ $set: { text: { $concat: ['$text', '$text'] } } }))).toArray())));
  }),
  'regular expressions': (uri) => driven(uri, 5000, (db) => Promise.all(times(71, () => anyhow(db.collection('large').find({ text: /a.*a.*c/ }).toArray())))),
  'loops in loops': (uri) => driven(uri, 5000, (db) => Promise.all(times(70, () => anyhow(db.collection('large').aggregate([{ $project: { x: nested(4) } }]).toArray())))),
  'loops with maxTimeMS': (uri) => driven(uri, 5000, (db) => Promise.all(times(70, () => anyhow(db.collection('large').aggregate([{ $project: { x: nested(4) } }], { maxTimeMS: 1000 }).toArray())))),
  'thrice $unwind': (uri) => driven(uri, 5000, (db) => Promise.all(times(20, () => anyhow(db.collection('large').aggregate([{ $set: { b: '$list', c: '$list' } }, { $unwind: '$list' }, { $unwind: '$b' }, { $unwind: '$c' }, { $match: { x: 1 } }]).toArray())))),
  'many fields': (uri) => driven(uri, 5000, (db) => {
    const fields = Object.fromEntries(times(50_000, (i) => [`f${i}`, 1]));
    return Promise.all(times(5, (i) => anyhow(i % 2 ? db.collection('fields').updateOne({ _id: i }, { $set: fields }, { upsert: true }) : db.collection('large').find({}, { projection: fields }).toArray())));
  }),
  'lists of 30 000': (uri) => driven(uri, 5000, (db) => {
    const $each = times(30_000, (i) => -i);
    return Promise.all([anyhow(db.collection('lists').updateOne({ _id: 1 }, { $addToSet: { list: { $each } } }, { upsert: true })), anyhow(db.collection('lists').updateOne({ _id: 1 }, { $pullAll: { list: $each } }))]);
  }),
  'scans by clients that leave': async (uri) => {
    for (let i = 0; i < 70; ++i) {
      const connection = await RawConnection.open(uri);
      connection.send(opMsg([bodySection({ aggregate: 'many', pipeline: [{ $lookup: { from: 'many', let: { n: '$n' }, pipeline: [{ $match: { $expr: { $eq: ['$text', '$$n'] } } }], as: 'x' } }], cursor: {}, $db: 'attacked' })]));
      await pause(5);
      connection.socket.destroy();
    }
  },
  'scans of everything': (uri) => driven(uri, 5000, (db) => Promise.all(times(70, () => anyhow(db.collection('many').countDocuments({ text: /q.*q/ }))))),
  'sorts that stay open': (uri) => driven(uri, 5000, (db) => Promise.all(times(30, async () => { await db.collection('rows').find().sort({ text: 1 }).batchSize(1).next(); await pause(3000); }).map(anyhow))),
  'large transactions': async (uri) => {
    const sessions = await Promise.all(times(30, () => RawSession.open(uri)));
    await Promise.all(sessions.map((session, i) => anyhow(session.start({ insert: 'held', documents: [{ _id: `${session.lsid.id}${i}`, text: 't'.repeat(10 * MB) }] }, { database: 'attacked' }))));
    await pause(2000);
    for (const session of sessions) session.connection.socket.destroy();
  },
  'writers of one document': (uri) => driven(uri, 4000, async (db) => {
    const session = db.client.startSession();
    session.startTransaction();
    await db.collection('hot').updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session, upsert: true });
    const writers = times(70, () => anyhow(db.collection('hot').updateOne({ _id: 1 }, { $inc: { n: 1 } })));
    await pause(1000);
    await anyhow(session.commitTransaction());
    await Promise.all(writers);
  }),
  'compressed bombs': (uri) => {
    const bomb = compressed(opMsg([bodySection({ ping: 1, text: 'b'.repeat(15 * MB), $db: 'admin' })]), 2, (bytes) => deflateSync(bytes));
    return sockets(uri, 100, (socket, i) => { if (i % 2) socket.write(hello({ compression: ['zlib'] })); socket.write(bomb); });
  },
  'half-sent messages': (uri) => {
    const half = announced(Buffer.alloc(2 * MB), 47 * MB);
    return sockets(uri, 100, (socket, i) => { if (i % 2) socket.write(hello()); socket.write(half); });
  },
  'clients that never read': (uri) => sockets(uri, 50, (socket) => {
    socket.pause();
    socket.write(hello());
    for (let i = 0; i < 20; ++i) socket.write(opMsg([bodySection({ find: 'rows', batchSize: 20, $db: 'attacked' })]));
  }),
  'idle connections': (uri) => sockets(uri, 300, () => {}),
  'dripping connections': (uri) => sockets(uri, 100, (socket) => {
    const bytes = hello();
    let at = 0;
    const drip = setInterval(() => (at < 20 && !socket.destroyed ? socket.write(bytes.subarray(at, ++at)) : clearInterval(drip)), 100);
  }),
  'client metadata': (uri) => sockets(uri, 30, (socket) => socket.write(hello({ client: { application: { name: 'x'.repeat(900_000) }, driver: { name: 'x', version: '1' }, os: { type: 'x' } } }))),
  'noise': (uri) => sockets(uri, 50, (socket, i) => {
    if (i % 5 === 0) return socket.write(Buffer.from('16030100f8010000f40303', 'hex')); // a TLS hello
    if (i % 5 === 1) return socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    if (i % 5 === 2) return socket.write(command({ ping: 1 }).map((byte, at) => (at > 20 && Math.random() < 0.1 ? Math.random() * 256 : byte)));
    if (i % 5 === 3) return socket.write(command({ insert: 'a\nforged line', documents: [{ a: 1 }] }));
    return socket.write(Buffer.from(times(500, () => Math.random() * 256)));
  }),
};
