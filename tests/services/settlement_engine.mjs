// A matching engine's side of `braid settlement ingest --listen`, as docs/settlement.md has it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

import { binary } from '../lib/server.mjs';

/** The bytes that an output is sent as. */
export function message(line) {
  const body = Buffer.from(line);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
}

/** Takes the whole replies off the front of some bytes: [{sequence, outcome, hash or reason}], and what is left. */
export function takeReplies(bytes) {
  const replies = [];
  let at = 0;
  for (;;) {
    if (bytes.length < at + 9) break;
    const reply = { sequence: Number(bytes.readBigUInt64BE(at)), outcome: bytes[at + 8] };
    let end = at + 9 + 32;
    if (reply.outcome > 1) {
      if (bytes.length < at + 11) break;
      end = at + 11 + bytes.readUInt16BE(at + 9);
    }
    if (bytes.length < end) break;
    if (reply.outcome <= 1) reply.hash = bytes.subarray(at + 9, end).toString('hex');
    else reply.reason = bytes.subarray(at + 11, end).toString();
    replies.push(reply);
    at = end;
  }
  return { replies, rest: bytes.subarray(at) };
}

/** A connection that stays open. */
export class Engine {
  #socket;
  #rest = Buffer.alloc(0);
  #waiting = [];
  #lost = null;
  replies = [];

  static async connect(port) {
    const engine = new Engine();
    engine.#socket = connect(port, '127.0.0.1');
    await once(engine.#socket, 'connect');
    engine.#socket.on('data', (data) => engine.#take(data));
    engine.#socket.on('error', () => {}); // the end of the connection follows
    engine.closed = new Promise((resolve) => engine.#socket.once('close', resolve)).then(() => engine.#end());
    return engine;
  }

  /** Without waiting for replies. */
  send(lines) {
    this.#socket.write(Buffer.concat(lines.map(message)));
  }

  /** The replies, as soon as there are so many in all. */
  async received(count) {
    while (this.replies.length < count) {
      if (this.#lost) throw this.#lost;
      await new Promise((resolve) => this.#waiting.push(resolve));
    }
    return this.replies;
  }

  isLost() {
    return this.#lost !== null;
  }

  /** Ends its side; what was sent is still answered, unless the connection is lost. */
  async close() {
    this.#socket.end();
    await this.closed;
    return this.replies;
  }

  #take(data) {
    const { replies, rest } = takeReplies(Buffer.concat([this.#rest, data]));
    this.replies.push(...replies);
    this.#rest = rest;
    this.#wake();
  }

  #end() {
    this.#lost = new Error(`the connection ended after ${this.replies.length} replies`);
    this.#wake();
  }

  #wake() {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Sends all bytes at once, ends its side, and gives the replies up to the end of the connection. */
export async function stream(port, bytes) {
  const socket = connect(port, '127.0.0.1');
  const chunks = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  const closed = new Promise((resolve, reject) => socket.once('close', resolve).once('error', reject));
  socket.end(bytes);
  await closed;
  return takeReplies(Buffer.concat(chunks)).replies;
}

/** Starts `ingest --listen 0`; gives its port and how to end it. */
export async function listen(on, args = []) {
  const child = spawn(binary, ['settlement', 'ingest', ...on, '--listen', '0', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const abandon = () => child.kill('SIGKILL');
  process.once('exit', abandon);
  let stderr = '';
  child.stderr.on('data', (data) => (stderr += data));
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const port = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const match = line.match(/^listening on 127\.0\.0\.1 port (\d+)$/);
      if (match) resolve(Number(match[1]));
    });
    exited.then((code) => reject(new Error(`ingest --listen ended with ${code}: ${stderr}`)));
  });
  return {
    port,
    signal: (name) => child.kill(name),
    async stop() {
      child.kill('SIGTERM');
      const code = await exited;
      process.off('exit', abandon);
      return { code, stderr };
    },
  };
}
