// A server to be killed: it restarts on the same port, so that waiting clients find it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

import { binary } from './server.mjs';

export class KillableServer {
  #child = null;
  #exited = null;

  static async open(store, random) {
    return new KillableServer(store, await freePort(random));
  }

  constructor(store, port) {
    this.store = store;
    this.port = port;
    this.uri = `mongodb://127.0.0.1:${port}`;
    process.once('exit', () => this.#child?.kill('SIGKILL'));
  }

  async start() {
    // The transaction of a killed client stays open for its lifetime, and other clients that need the same documents
    // wait for its end.
    const options = ['--port', String(this.port), '--no-http', '--cache-size', '16MB', '--transaction-lifetime', '3'];
    const child = spawn(binary, ['serve', '--store', this.store, ...options], { stdio: ['ignore', 'pipe', 'ignore'] });
    this.#child = child;
    this.#exited = once(child, 'exit');
    await Promise.race([
      new Promise((resolve) => createInterface({ input: child.stdout }).on('line', (line) => line.includes('mongodb://') && resolve())),
      this.#exited.then(() => assert.fail('braid serve ended before it was ready')),
    ]);
    // A test that failed before its kill() must end all the same, and the server with it.
    child.unref();
    child.stdout.unref();
  }

  async kill() {
    this.#child.ref();
    assert.ok(this.#child.kill('SIGKILL'));
    const [, signal] = await this.#exited;
    assert.equal(signal, 'SIGKILL');
    this.#child = null;
  }
}

/** A free port below the range of ephemeral ports, so that no client can take it while the server is down. */
async function freePort(random) {
  for (;;) {
    const port = random.between(10_000, 19_999);
    const probe = createServer();
    const free = await new Promise((resolve) => probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true)));
    if (!free) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
}
