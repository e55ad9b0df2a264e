// Clients that take without reading, send without ending or send more than it looks: memory stays within its limit, and everybody else is answered.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { BSON } from 'mongodb';
import { fill, serve, times } from '../lib/fixture.mjs';
import { bodySection, bomb, command, message, opcodes, opMsg, parse, RawConnection } from '../lib/wire.mjs';

const MB = 1 << 20;
const limit = 256 * MB;
const cache = 64 * MB;
const enough = (limit / 2 / 4) * 3; // of what waits for clients: below this nobody is disconnected
const f = await serve(['--memory-limit', '256MB', '--cache-size', '64MB']);

const status = () => f.admin.command({ serverStatus: 1 });
const resident = async () => 1024 * Number((await readFile(`/proc/${f.server.pid}/status`, 'utf8')).match(/VmRSS:\s+(\d+)/)[1]);
const greeted = (count) => Promise.all(times(count, () => RawConnection.greet(f.server.uri)));
const ping = async () => assert.equal((await f.db.command({ ping: 1 })).ok, 1);

/** Asks for figures until they are as expected; pings in between. */
async function until(condition) {
  let now;
  for (let asked = 0; asked < 20000; ++asked) {
    now = await status();
    if (condition(now)) return now;
    await ping();
  }
  assert.fail(JSON.stringify([now.memoryBudget, now.network, now.connections]));
}

/** The highest figure of memory while `work` goes on, with pings beside it. */
async function watch(work) {
  let peak = 0;
  let pings = 0;
  let over = false;
  const done = work.finally(() => (over = true));
  while (!over) {
    await ping();
    ++pings;
    peak = Math.max(peak, await resident());
  }
  await done;
  return { peak, pings };
}

test('bombs are opened a few at a time, beside the work of others', async () => {
  const packed = bomb({ ping: 1 }, 47_900_000);
  assert.ok(packed.length < 2000);
  const before = (await status()).network.decompression;
  const connections = await greeted(320);
  const [stay, leave] = [connections.slice(0, 40), connections.slice(40)];
  for (const connection of connections) connection.send(packed);
  for (const connection of leave) connection.socket.end();
  const { peak, pings } = await watch(
    Promise.all(
      stay.map(async (connection) => {
        const reply = await connection.next();
        // Opened, run and answered in kind; or refused because there was no memory.
        assert.ok(reply.readInt32LE(12) === opcodes.compressed || parse(reply).document.code === 146);
        connection.close();
      }),
    ),
  );
  assert.ok(pings >= 3, `${pings} pings were answered before the bombs were`);
  assert.ok(peak < limit + cache + 200 * MB, `${peak / MB} MB resident`);
  const after = await until(({ network, memoryBudget }) => network.decompression.waiting + network.decompression.running + memoryBudget.holders.messages === 0);
  const { begun, abandoned } = after.network.decompression;
  assert.ok(abandoned - before.abandoned >= 100, `${abandoned} of those that left were not opened`);
  assert.ok(begun - before.begun >= 40 && begun - before.begun + abandoned - before.abandoned <= 320);
});

test('messages that do not end are charged, and pass unread when memory is short', async () => {
  const connections = await greeted(300);
  const whole = message(opcodes.msg, Buffer.alloc(47_000_000)); // what is in it is not read
  const { peak } = await watch(Promise.all(connections.map((connection) => new Promise((sent) => connection.socket.write(whole.subarray(0, MB), sent)))));
  const { memoryBudget } = await until((now) => now.memoryBudget.refused >= 100);
  assert.ok(memoryBudget.holders.messages > 50 * MB && memoryBudget.holders.messages <= limit / 2, JSON.stringify(memoryBudget));
  assert.ok(Math.max(peak, await resident()) < limit + cache + 200 * MB);
  // The last one was not thrown out: it ends its message, is refused, and goes on.
  const last = connections.at(-1);
  assert.equal((await last.ask(whole.subarray(MB))).document.code, 146);
  assert.equal((await last.ask(command({ ping: 1 }))).document.ok, 1);
  // Clients that keep others from working are, so that large messages get through again.
  await until((now) => now.memoryBudget.holders.messages <= enough);
  await until(() => connections.some((connection) => connection.closed));
  await fill(f.db, 'work', times(40, (_id) => ({ _id, text: 'y'.repeat(MB) })));
  assert.equal((await f.db.collection('work').find().sort({ text: 1, _id: -1 }).toArray()).length, 40);
  for (const connection of connections) connection.close();
  await until((now) => now.memoryBudget.holders.messages === 0);
});

test('clients that never read hold half of the memory at most, and are disconnected if it is short', async () => {
  await fill(f.db, 'read', times(16, (_id) => ({ _id, text: 'z'.repeat(MB - 100) })));
  const before = await status();
  const connections = await greeted(100);
  let held = 0;
  const { peak } = await watch(
    (async () => {
      for (const connection of connections) {
        connection.socket.pause();
        connection.send(command({ find: 'read' }));
        connection.send(command({ insert: 'unread', documents: [{ a: 1 }] })); // not looked at before the reply is sent
      }
      await until((now) => {
        held = Math.max(held, now.memoryBudget.holders.replies);
        return now.network.numRequests - before.network.numRequests >= 200 && now.connections.active <= 8 && now.memoryBudget.holders.replies <= enough;
      });
    })(),
  );
  assert.ok(held > 20 * MB && held <= limit / 2, `${held / MB} MB held by replies`);
  assert.ok(peak < limit + cache + 400 * MB, `${peak / MB} MB resident`);
  // Those whose connections are left read their replies now, and what they asked next is done.
  let inserted = 0;
  const codes = await Promise.all(
    connections.map(async (connection) => {
      connection.socket.resume();
      const answer = await connection.next();
      if (answer === null) return 'closed';
      const { n } = parse(await connection.next()).document;
      inserted += n; // 0 if there was no memory for it either
      return parse(answer).document.code;
    }),
  );
  const closed = codes.filter((code) => code === 'closed').length;
  assert.ok(closed >= 1 && codes.every((code) => ['closed', 146, undefined].includes(code)), String(codes));
  assert.equal(await f.db.collection('unread').countDocuments(), inserted);
  for (const connection of connections) connection.close();
});

test('before hello a message has at most 1 MB, and hello itself 512 bytes of metadata', async () => {
  for (const large of [opMsg([bodySection({ ping: 1, $db: 'test', pad: 'x'.repeat(MB) })]), bomb({ ping: 1 }, MB)]) {
    const stranger = await RawConnection.open(f.server.uri);
    assert.equal(await stranger.ask(large.subarray(0, 500)), null);
    const known = await RawConnection.greet(f.server.uri);
    assert.ok((known.send(large), await known.next()).length > 0);
    known.close();
  }
  const client = { driver: { name: 'n', version: '1' }, os: { type: 'Linux' } };
  const room = 512 - BSON.calculateObjectSize({ ...client, x: '' });
  const hello = async (document, connection) => {
    connection ??= await RawConnection.open(f.server.uri);
    const reply = (await connection.ask(command({ hello: 1, client: document }))).document;
    return [reply.code ?? 0, connection];
  };
  for (const [document, code] of [
    [{ ...client, x: 'x'.repeat(room) }, 0],
    [{ ...client, x: 'x'.repeat(room + 1) }, 185],
    [{ ...client, application: { name: 'x'.repeat(129) } }, 184],
    [{ os: client.os }, 183],
    ['me', 14],
  ]) {
    const [answered, connection] = await hello(document);
    assert.equal(answered, code, JSON.stringify(document));
    // A hello that failed may be said again, one that did not keeps what it said.
    assert.equal((await hello(client, connection))[0], code === 0 ? 186 : 0);
    connection.close();
  }
});
