// Bytes no driver would send, and bytes all of them do: an answer or a closed connection, and the server goes on for everyone else.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { deflateSync, inflateSync } from 'node:zlib';
import { BSON } from 'mongodb';
import { serve, times } from '../lib/fixture.mjs';
import { bodySection, command, compressed, message, opcodes, opMsg, opQuery, parse, RawConnection, sequence } from '../lib/wire.mjs';

const f = await serve();
const open = () => RawConnection.open(f.server.uri);
const bystander = await open();
after(() => bystander.close());

/** The connection that was open all along is still answered. */
async function goesOn() {
  const reply = await bystander.ask(command({ ping: 1 }));
  assert.equal(reply?.document.ok, 1);
}

/** Runs with a new connection, and asks on another whether the server still lives. */
const wire = (name, run) =>
  test(name, async () => {
    const connection = await open();
    try {
      await run(connection);
    } finally {
      connection.close();
    }
    await goesOn();
  });

const ping = bodySection({ ping: 1, $db: 'test' });
const bson = (...bytes) => Buffer.from(bytes);
const withLength = (length) => message(opcodes.msg, Buffer.concat([Buffer.alloc(4), ping]), { length });
const damaged = (change) => {
  const bytes = Buffer.from(command({ find: 'c', filter: { a: 'text' } }));
  change(bytes, bytes.indexOf('text'));
  return bytes;
};

// bytes; code of the reply, or null if none may come; whether the connection is closed afterwards.
const malformed = [
  ['a length of 0', withLength(0), null, true],
  ['a length below the header', withLength(15), null, true],
  ['a negative length', withLength(-1), null, true],
  ['a length above the limit', withLength(48000001), null, true],
  ['the largest length there is', withLength(0x7fffffff), null, true],
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'), null, true],
  ['an opcode that never was', message(4711, Buffer.alloc(20)), null, true],
  ['OP_INSERT', message(2002, Buffer.alloc(30)), null, true],
  ['a header and nothing else', message(opcodes.msg, Buffer.alloc(0)), null, true],
  ['flags and nothing else', opMsg([]), 40587, false],
  ['an unknown flag that must be understood', opMsg([ping], { flags: 1 << 5 }), 223, true],
  ['an unknown flag that need not be', opMsg([ping], { flags: 1 << 20 }), 0, false],
  ['two bodies', opMsg([ping, ping]), 40430, false],
  ['no body', opMsg([sequence('documents', [{ a: 1 }])]), 40587, false],
  ['an unknown section', opMsg([ping, bson(7, 0, 0, 0, 0)]), 40432, false],
  ['the same sequence twice', opMsg([bodySection({ insert: 'c', $db: 'test' }), sequence('documents', [{}]), sequence('documents', [{}])]), 40431, false],
  ['a sequence beside a field of its name', opMsg([bodySection({ insert: 'c', documents: [{}], $db: 'test' }), sequence('documents', [{}])]), 40433, false],
  ['three sequences', opMsg([bodySection({ insert: 'c', $db: 'test' }), ...times(3, (i) => sequence(`s${i}`, [{}]))]), 233, true],
  ['a sequence longer than the message', opMsg([bodySection({ insert: 'c', $db: 'test' }), sequence('documents', [{}], 5000)]), 17, true],
  ['a sequence of negative size', opMsg([bodySection({ insert: 'c', $db: 'test' }), sequence('documents', [{}], -1)]), 17, true],
  ['no $db', opMsg([bodySection({ ping: 1 })]), 40571, false],
  ['$db of another type', opMsg([bodySection({ ping: 1, $db: 5 })]), 14, false],
  ['a wrong checksum', opMsg([ping], { flags: 1, checksum: 12345 }), 288, true],
  ['a document longer than its section', opMsg([bson(0, 100, 0, 0, 0, 0)]), 22, false],
  ['a document of negative length', opMsg([bson(0, 255, 255, 255, 255, 0)]), 22, false],
  ['a string without its end', damaged((b, at) => b.writeInt32LE(500, at - 4)), 22, false],
  ['a string of negative length', damaged((b, at) => b.writeInt32LE(-5, at - 4)), 22, false],
  ['a type that does not exist', damaged((b, at) => (b[at - 7] = 0x55)), 22, false],
  ['a document that does not end', damaged((b) => (b[b.length - 1] = 7)), 22, false],
  ['OP_COMPRESSED inside OP_COMPRESSED', compressed(compressed(command({ ping: 1 }), 2, deflateSync), 2, deflateSync), null, true],
  ['a compressor that does not exist', compressed(command({ ping: 1 }), 77, (b) => b), null, true],
  ['compressed bytes that are none', compressed(command({ ping: 1 }), 2, () => Buffer.from('not zlib at all')), null, true],
  ['a compressed message longer than it said', compressed(command({ ping: 1 }), 2, deflateSync, 10), null, true],
  ['a compressed message shorter than it said', compressed(command({ ping: 1 }), 2, deflateSync, 1000), null, true],
  ['a compressed message that claims 2 GiB', compressed(command({ ping: 1 }), 2, deflateSync, 0x7fffffff), null, true],
  ['OP_QUERY of a command that needs OP_MSG', opQuery({ find: 'c' }, { collection: 'test.$cmd' }), 352, false],
  ['OP_QUERY on a collection', opQuery({}, { collection: 'test.c' }), 352, false],
  ['OP_QUERY that wants 2 documents of a command', opQuery({ hello: 1 }, { toReturn: 2 }), 16979, false],
  ['OP_QUERY without an end of its name', message(opcodes.query, Buffer.concat([Buffer.alloc(4), Buffer.from('admin')])), 17, true],
];
for (const [name, bytes, code, closes] of malformed) {
  wire(`malformed: ${name}`, async (connection) => {
    const reply = await connection.ask(bytes);
    if (code === null) return assert.equal(reply, null);
    assert.equal(reply?.document.code ?? 0, code, JSON.stringify(reply?.document));
    assert.equal(reply.document.ok, code === 0 ? 1 : 0);
    assert.equal((await connection.ask(command({ ping: 1 })))?.document.ok, closes ? undefined : 1);
  });
}

wire('a message cut off anywhere leaves the server alone', async () => {
  const bytes = opMsg([bodySection({ insert: 'cut', $db: 'test' }), sequence('documents', [{ _id: 1 }])]);
  for (let cut = 1; cut < bytes.length; cut += 3) {
    const connection = await open();
    connection.socket.end(bytes.subarray(0, cut));
    assert.equal(await connection.next(), null);
  }
  assert.equal(await f.db.collection('cut').countDocuments(), 0);
});

wire('a message that comes byte by byte is answered', async (connection) => {
  connection.socket.setNoDelay(true);
  for (const byte of command({ ping: 1 })) {
    connection.send(Buffer.from([byte]));
    await new Promise(setImmediate);
  }
  assert.equal(parse(await connection.next()).document.ok, 1);
});

wire('random changes to a valid message never end the server', async () => {
  const valid = opMsg([bodySection({ update: 'fuzz', $db: 'test' }), sequence('updates', [{ q: { a: { $in: [1, 'x'] } }, u: { $set: { b: [1, { c: null }] } }, upsert: false }])]);
  let seed = Number(process.env.BRAID_SEED ?? 12345);
  const random = (n) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
  for (let round = 0; round < 300; ++round) {
    const bytes = Buffer.from(valid);
    for (let i = 0; i <= random(4); ++i) bytes[16 + random(bytes.length - 16)] = random(256);
    const connection = await open();
    connection.socket.end(bytes);
    await connection.next();
    connection.close();
  }
});

wire('a checksum that fits is accepted, and answered with one', async (connection) => {
  const reply = await connection.ask(command({ ping: 1 }, { flags: 1 }));
  assert.deepEqual([reply.document.ok, reply.checksumOk], [1, true]);
});

wire('document sequences before or after the body are one command', async (connection) => {
  const sections = [bodySection({ insert: 'sequences', $db: 'test' }), sequence('documents', times(5, (_id) => ({ _id })))];
  assert.equal((await connection.ask(opMsg(sections))).document.n, 5);
  const deletes = [sequence('deletes', [{ q: { _id: 1 }, limit: 1 }, { q: {}, limit: 0 }]), bodySection({ delete: 'sequences', $db: 'test' })];
  assert.equal((await connection.ask(opMsg(deletes))).document.n, 5);
});

wire('moreToCome runs the command and answers nothing, not even an error', async (connection) => {
  connection.send(command({ insert: 'quiet', documents: [{ _id: 1 }] }, { flags: 2, id: 10 }));
  connection.send(command({ insert: 'quiet', documents: [{ _id: 1 }] }, { flags: 2, id: 11 }));
  connection.send(command({ nosuch: 1 }, { flags: 2, id: 12 }));
  const reply = await connection.ask(command({ count: 'quiet' }, { id: 13 }));
  assert.deepEqual([reply.responseTo, reply.document.n], [13, 1]);
});

wire('pipelined requests are answered in order, each to its own', async (connection) => {
  const count = 500;
  connection.send(Buffer.concat(times(count, (i) => command(i % 2 ? { ping: 1, comment: 'x'.repeat(i) } : { insert: 'pipelined', documents: [{ _id: i }] }, { id: 1000 + i }))));
  for (let i = 0; i < count; ++i) {
    const reply = parse(await connection.next());
    assert.deepEqual([reply.responseTo, reply.document.ok, reply.document.n], [1000 + i, 1, i % 2 ? undefined : 1]);
  }
  assert.equal(await f.db.collection('pipelined').countDocuments(), count / 2);
});

wire('OP_QUERY is the handshake of old drivers', async (connection) => {
  for (const document of [{ ismaster: 1, helloOk: true }, { isMaster: 1 }, { hello: 1 }, { $query: { ismaster: 1 }, $readPreference: { mode: 'primary' } }, { buildInfo: 1 }]) {
    const reply = await connection.ask(opQuery(document, { id: 77 }));
    assert.deepEqual([reply.opcode, reply.responseTo, reply.flags, reply.document.ok], [opcodes.reply, 77, 8, 1]);
  }
  const hello = (await connection.ask(opQuery({ ismaster: 1, helloOk: true, compression: ['snappy', 'zlib', 'zstd', 'none', 'bogus'] }))).document;
  assert.deepEqual([hello.ismaster, hello.msg, hello.helloOk, hello.compression], [true, 'isdbgrid', true, ['snappy', 'zlib', 'zstd']]);
});

for (const [name, id, pack, unpack] of [
  ['no compression at all', 0, (b) => b, (b) => b],
  ['zlib', 2, deflateSync, inflateSync],
  // Literals only: valid snappy and no library needed.
  ['snappy', 1, snappyLiteral, snappyRead],
]) {
  wire(`OP_COMPRESSED: ${name}`, async (connection) => {
    const text = 'compress me '.repeat(id === 1 ? 1 : 500);
    connection.send(compressed(command({ insert: `packed${id}`, documents: [{ _id: 1, text }] }, { id: 5 }), id, pack));
    const inserted = parse(await connection.next(), unpack);
    assert.deepEqual([inserted.opcode, inserted.compressor, inserted.responseTo, inserted.document.n], [opcodes.compressed, id, 5, 1]);
    connection.send(compressed(command({ find: `packed${id}` }), id, pack));
    assert.equal(parse(await connection.next(), unpack).document.cursor.firstBatch[0].text, text);
    connection.send(compressed(command({ hello: 1 }), id, pack));
    assert.equal(parse(await connection.next(), unpack).document.ok, 1);
  });
}

function snappyLiteral(bytes) {
  const length = [];
  for (let n = bytes.length; ; n >>= 7) {
    length.push((n & 127) | (n > 127 ? 128 : 0));
    if (n <= 127) break;
  }
  return Buffer.concat([Buffer.from(length), Buffer.from([61 << 2, (bytes.length - 1) & 255, (bytes.length - 1) >> 8]), bytes]);
}

function snappyRead(bytes) {
  let at = 0;
  while (bytes[at++] & 128);
  const out = [];
  while (at < bytes.length) {
    const tag = bytes[at++];
    if ((tag & 3) === 0) {
      let length = tag >> 2;
      if (length >= 60) {
        const width = length - 59;
        length = bytes.readUIntLE(at, width);
        at += width;
      }
      for (let i = 0; i <= length; ++i) out.push(bytes[at++]);
      continue;
    }
    const [length, offset] = (tag & 3) === 1 ? [4 + ((tag >> 2) & 7), ((tag >> 5) << 8) | bytes[at]] : [1 + (tag >> 2), bytes.readUInt16LE(at)];
    at += tag & 3;
    for (let i = 0; i < length; ++i) out.push(out[out.length - offset]);
  }
  return Buffer.from(out);
}

wire('a streamed hello is held, then answered', async (connection) => {
  const { document: first } = await connection.ask(command({ hello: 1 }));
  if (!first.topologyVersion) return assert.equal('topologyVersion' in first, false);
  const start = Date.now();
  const held = await connection.ask(command({ hello: 1, topologyVersion: first.topologyVersion, maxAwaitTimeMS: 200 }));
  assert.equal(held.document.ok, 1);
  assert.ok(Date.now() - start >= 190);
});

wire('a message of the full 48 million bytes is taken', async (connection) => {
  await connection.ask(command({ hello: 1 })); // before it 1 MB is the limit
  const documents = times(3, (_id) => ({ _id, text: 'x'.repeat(15900000) }));
  const reply = await connection.ask(opMsg([bodySection({ insert: 'big', $db: 'test' }), sequence('documents', documents)]));
  assert.equal(reply.document.n, 3);
  const tooLarge = { _id: 9, text: 'x'.repeat(16777216) };
  const refused = await connection.ask(opMsg([bodySection({ insert: 'big', $db: 'test' }), sequence('documents', [tooLarge])]));
  assert.ok(refused.document.code === 10334 || refused.document.writeErrors?.[0].code === 2 || refused.document.writeErrors?.[0].code === 10334, BSON.EJSON.stringify(refused.document));
  assert.equal((await connection.ask(command({ count: 'big' }))).document.n, 3);
});

wire('1000 idle connections do not get in the way', async (connection) => {
  const idle = [];
  for (let i = 0; i < 10; ++i) idle.push(...(await Promise.all(times(100, open))));
  assert.equal((await connection.ask(command({ ping: 1 }))).document.ok, 1);
  // Connections are accepted in their order: once the last is answered, all are there.
  assert.equal((await idle[999].ask(command({ ping: 1 }))).document.ok, 1);
  const { connections } = await f.admin.command({ serverStatus: 1 });
  assert.ok(connections.current >= 1000, JSON.stringify(connections));
  for (const each of idle) each.close();
});
