// The HTTP API and clients that are wrong, slow, many or gone: none of them disturbs the others.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { MongoClient } from 'mongodb';

import { ask, get, post, raw } from '../lib/http.mjs';
import { binary, startServer } from '../lib/server.mjs';
import { generate } from './staking_model.mjs';

const eq = assert.deepEqual;
const ndjson = 'application/x-ndjson';
const json = 'Content-Type: application/json\r\n';

let server;
let base;
let address;
before(async () => {
  server = await startServer(['--http-port', '0', '--test-commands']);
  base = server.httpUri;
  address = new URL(base);
});
after(() => server?.stop());

const connected = async () => {
  const socket = connect(Number(address.port), address.hostname);
  await once(socket, 'connect');
  return socket;
};
const alive = async () => assert.equal((await get(base, '/healthz')).status, 'ok');
const statusOf = (answer) => Number(answer.match(/^HTTP\/1\.1 (\d+)/)?.[1]);
const bodyOf = (answer) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));

for (const [name, bytes, status, code] of [
  ['bytes that are no HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'BadRequest'],
  ['a MongoDB message', Buffer.concat([Buffer.from([0x30, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xdd, 7, 0, 0]), Buffer.alloc(32)]), 400, 'BadRequest'],
  ['a line without a version', 'GET /healthz\r\n\r\n', 400, 'BadRequest'],
  ['another version', 'GET /healthz HTTP/9.9\r\n\r\n', 400, 'BadRequest'],
  ['a header without a colon', 'GET /healthz HTTP/1.1\r\nbogus\r\n\r\n', 400, 'BadRequest'],
  ['a length that is no number', `POST /v1/events HTTP/1.1\r\n${json}Content-Length: x\r\n\r\n`, 400, 'BadRequest'],
  ['a negative length', `POST /v1/events HTTP/1.1\r\n${json}Content-Length: -1\r\n\r\n`, 400, 'BadRequest'],
  ['two lengths', `POST /v1/events HTTP/1.1\r\n${json}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`, 400, 'BadRequest'],
  ['a length and chunks', `POST /v1/events HTTP/1.1\r\n${json}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400, 'BadRequest'],
  ['a chunk whose size is no number', `POST /v1/events HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 400, 'BadRequest'],
  ['a header of 9 KB', `GET /healthz HTTP/1.1\r\nX: ${'x'.repeat(9000)}\r\n\r\n`, 431, 'HeaderTooLarge'],
  ['many headers', `GET /healthz HTTP/1.1\r\n${'X: y\r\n'.repeat(3000)}\r\n`, 431, 'HeaderTooLarge'],
  ['a path of 9 KB', `GET /${'x'.repeat(9000)} HTTP/1.1\r\n\r\n`, 431, 'HeaderTooLarge'],
  ['a body that says it has 17 MB', `POST /v1/events HTTP/1.1\r\n${json}Content-Length: 17000000\r\n\r\n`, 413, 'BodyTooLarge'],
  ['a body of 17 MB in chunks', `POST /v1/events HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\n${`100000\r\n${' '.repeat(0x100000)}\r\n`.repeat(17)}`, 413, 'BodyTooLarge'],
  ['a host of somebody else', 'GET /v1/stats HTTP/1.1\r\nHost: evil.example\r\n\r\n', 403, 'Unauthorized'],
]) {
  test(`refused: ${name}`, async () => {
    const answer = await raw(base, bytes, (so_far) => /\r\n\r\n.*\}\s*\}$/s.test(so_far));
    assert.equal(statusOf(answer), status, answer.slice(0, 300));
    assert.equal(bodyOf(answer).error.code, code);
    await alive();
  });
}

test('requests of one connection come one after another, also if they are sent at once', async () => {
  const one = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const answers = await raw(base, `${one}HEAD /healthz HTTP/1.1\r\n\r\n${one.replace('healthz', 'nothing')}GET /healthz HTTP/1.0\r\n\r\n`);
  eq([...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status), ['200', '200', '404', '200']);
  assert.equal(answers.match(/"ok"/g).length, 2); // HEAD has no body
  assert.match(answers, /Connection: close/);
});

test('a request that is cut anywhere changes nothing, and the next one is answered', async () => {
  const event = (await generate(1, 5))[0];
  const request = `POST /v1/events HTTP/1.1\r\nHost: localhost\r\n${json}Content-Length: ${event.length}\r\n\r\n${event}`;
  for (let length = 1; length < request.length; length += 23) {
    const socket = await connected();
    await new Promise((resolve) => { socket.end(request.slice(0, length), resolve); });
    socket.resume();
    await once(socket, 'close');
  }
  eq((await ask(base, '/v1/stats')).status, 404); // nothing was ever taken in
  const answer = await raw(base, request, (so_far) => so_far.includes('accepted'));
  assert.equal(statusOf(answer), 200);
  assert.equal(bodyOf(answer).accepted, 1);
});

test('a stream that is cut has taken the lines before, and again changes nothing', async () => {
  const lines = await generate(3000, 6);
  const whole = lines.join('\n') + '\n';
  const before = await get(base, '/v1/stats');
  const socket = await connected();
  socket.on('error', () => {});
  socket.write(`POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${ndjson}\r\nContent-Length: ${whole.length}\r\n\r\n`);
  await new Promise((resolve) => { socket.write(whole.slice(0, whole.length - 1000), resolve); });
  socket.destroy();
  const again = await post(base, '/v1/events', whole, ndjson);
  assert.equal(again.json.accepted + again.json.duplicate + again.json.parked, lines.length);
  const stats = await get(base, '/v1/stats');
  const active = lines.filter((line) => JSON.parse(line).event_type === 'active').length;
  assert.equal(stats.total_delegations - before.total_delegations, active);
});

test('a body in chunks of one byte, and one that waits for 100 Continue', async () => {
  const event = (await generate(1, 5))[0];
  const chunks = [...event].map((byte) => `1\r\n${byte}\r\n`).join('');
  const sent = await raw(base, `POST /v1/events HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`, (so_far) => so_far.includes('duplicate'));
  assert.equal(statusOf(sent), 200);
  const socket = await connected();
  socket.write(`POST /v1/events HTTP/1.1\r\n${json}Expect: 100-continue\r\nContent-Length: ${event.length}\r\n\r\n`);
  const [go] = await once(socket, 'data');
  assert.match(go.toString(), /^HTTP\/1\.1 100 Continue\r\n\r\n$/);
  socket.write(event);
  const [answer] = await once(socket, 'data');
  assert.equal(statusOf(answer.toString()), 200);
  socket.destroy();
});

test('a line that is too long is refused, what came before it is kept', async () => {
  const event = (await generate(1, 77))[0];
  const answer = await post(base, '/v1/events', `${event}\n${'x'.repeat(5 << 20)}\n`, ndjson);
  eq([answer.status, answer.json.error.code], [413, 'InvalidLength']);
  const again = await post(base, '/v1/events', event);
  assert.equal(again.json.duplicate, 1);
});

test('1000 connections at once, each with a request', async () => {
  const sockets = await Promise.all(Array.from({ length: 1000 }, connected));
  const answers = sockets.map((socket) => once(socket, 'data'));
  for (const socket of sockets) socket.write('GET /v1/stats HTTP/1.1\r\nHost: localhost\r\n\r\n');
  for (const [data] of await Promise.all(answers)) assert.equal(statusOf(data.toString()), 200);
  const metrics = (await ask(base, '/metrics')).text;
  assert.ok(Number(metrics.match(/^braid_http_connections (\d+)$/m)[1]) >= 1000);
  for (const socket of sockets) socket.destroy();
});

test('clients that send slowly, and requests that take long, do not hold up the others', async () => {
  const slow = await Promise.all(Array.from({ length: 100 }, connected));
  slow.forEach((socket, i) => socket.write(i % 2 ? 'GET /v1/st' : `POST /v1/events HTTP/1.1\r\nContent-Type: ${ndjson}\r\nContent-Length: 100\r\n\r\n{`));
  const client = await new MongoClient(server.uri).connect();
  // Queries of the services wait for as long as this says, in the engine.
  const failPoint = { configureFailPoint: 'failCommand', mode: { times: 8 }, data: { failCommands: ['find'], blockConnection: true, blockTimeMS: 60_000 } };
  await client.db('admin').command(failPoint);
  const waiting = Array.from({ length: 8 }, () => ask(base, '/v1/stats').catch((error) => error));
  // Themselves and this question. Not asked over HTTP, whose metrics need a find, too.
  const running = async () => (await client.db('admin').command({ currentOp: 1 })).inprog.length;
  while ((await running()) < 8 + 1) await new Promise(setImmediate);
  await alive();
  await client.db('admin').command({ configureFailPoint: 'failCommand', mode: 'off' });
  const { status } = await ask(base, '/v1/nothing');
  assert.equal(status, 404);
  await client.close();
  for (const socket of slow) socket.destroy();
  // The server ends all the same, and those that wait are answered or cut off.
  await server.stop();
  await Promise.all(waiting);
  server = undefined;
});

test('a port that is taken is said, with what to do; other addresses are refused', async () => {
  const busy = createServer().listen(0, '127.0.0.1');
  await once(busy, 'listening');
  for (const [args, message] of [
    [['--http-port', String(busy.address().port)], /cannot listen for HTTP on 127\.0\.0\.1 port \d+.*--http-port.*--no-http/],
    [['--http-port', '0', '--http-bind', '0.0.0.0'], /0\.0\.0\.0.*authentication/],
    [['--http-port', '70000'], /--http-port/],
  ]) {
    const child = spawn(binary, ['serve', '--store', '/nonexistent/braid', '--port', '0', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (data) => (stderr += data));
    const [code] = await once(child, 'close');
    assert.ok(code > 0);
    assert.match(stderr, message);
  }
  busy.close();
});

test('pages of other origins are refused until they are allowed', async () => {
  const closed = await startServer(['--http-port', '0']);
  const open = await startServer(['--http-port', '0', '--http-allow-origin', 'https://a.example']);
  // fetch() does not let us set Origin and Host.
  const asking = (where, origin, method = 'GET') => raw(where, `${method} /healthz HTTP/1.1\r\nHost: ${new URL(where).host}\r\nOrigin: ${origin}\r\nConnection: close\r\n\r\n`);
  assert.equal(statusOf(await asking(closed.httpUri, 'https://a.example')), 403);
  assert.equal(statusOf(await asking(closed.httpUri, closed.httpUri)), 200);
  const allowed = await asking(open.httpUri, 'https://a.example');
  assert.equal(statusOf(allowed), 200);
  assert.match(allowed, /\r\nAccess-Control-Allow-Origin: https:\/\/a\.example\r\n/);
  assert.equal(statusOf(await asking(open.httpUri, 'https://b.example')), 403);
  assert.match(await asking(open.httpUri, 'https://a.example', 'OPTIONS'), /\r\nAccess-Control-Allow-Methods: GET, HEAD\r\n/);
  await closed.stop();
  await open.stop();
});
