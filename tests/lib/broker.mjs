// Starts a real RabbitMQ on a free port of 127.0.0.1 with a directory of its own, kills it, brings it back, and stops it.
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import amqp from 'amqplib';

const program = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'src', 'services', 'queue', 'testing', 'run_broker');

/**
 * A free port below the range of ephemeral ports, so that no client can take it while the
 * broker is down.
 */
async function freePort() {
  for (;;) {
    const port = 20000 + Math.floor(Math.random() * 12000);
    const free = await new Promise((resolve) => {
      const probe = createServer();
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
}

/** True if a broker answers the first bytes of AMQP. */
function answers(port) {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => socket.write('AMQP\0\0\x09\x01'));
    const end = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1000, () => end(false));
    socket.once('data', () => end(true));
    socket.once('error', () => end(false));
    socket.once('close', () => end(false));
  });
}

/**
 * A broker that takes connections; a start takes 3 to 6 seconds. User and password are guest.
 * @param {{ port?: number }} [options] the port; a free one if left out
 */
export async function startBroker({ port = undefined } = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'braid-broker-'));
  const broker = new Broker(directory, port ?? (await freePort()));
  await broker.restart();
  return broker;
}

class Broker {
  #directory;
  #child = null; // the broker's process; null while there is none
  #exited = null;
  #abandon;

  constructor(directory, port) {
    this.#directory = directory;
    this.port = port;
    this.uri = `amqp://guest:guest@127.0.0.1:${port}/`;
    this.#abandon = () => {
      this.#child?.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    };
    process.once('exit', this.#abandon);
  }

  get pid() {
    return this.#child?.pid;
  }

  /** After kill(): the same directory and port, and with them all that was durable. Resolves when it takes connections. */
  async restart() {
    // setpriv, as a process that dies by SIGKILL runs no exit handler: the system then kills the broker for it.
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, this.#directory, String(this.port)], { stdio: 'ignore' });
    const started = new Promise((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    await started;
    this.#child = child;
    this.#exited = exited;
    // A test that failed before its stop() must end all the same, and its broker with it.
    child.unref();
    const deadline = Date.now() + 120_000;
    while (!(await answers(this.port))) {
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
        const log = readFileSync(join(this.#directory, 'broker.log'), 'utf8').slice(-4000);
        throw new Error(`the broker did not start; the end of its log:\n${log}`);
      }
      await sleep(50);
    }
  }

  /** Ends the process, SIGKILL by default: a crash. SIGTERM lets it close its connections properly. The directory stays. */
  async kill(signal = 'SIGKILL') {
    if (!this.#child) return;
    this.#child.ref();
    this.#child.kill(signal);
    await this.#exited;
    this.#child = null;
  }

  /** Ends the process and removes the directory. */
  async stop() {
    await this.kill();
    process.off('exit', this.#abandon);
    await rm(this.#directory, { recursive: true, force: true });
  }

  /**
   * Makes durable queues, on the disk: the broker is stopped in good order and started again. One that is killed soon after it has
   * made a queue may forget the queue, and with it whatever it has confirmed.
   * @param {string[]} queues
   */
  async makeQueues(queues) {
    await this.#withChannel(async (channel) => {
      for (const queue of queues) await channel.assertQueue(queue, { durable: true });
    });
    await this.kill('SIGTERM');
    await this.restart();
  }

  /**
   * Puts messages into a durable queue, which is made if it is not there. Resolves when the broker has confirmed all of them;
   * what it had not when it fails, may be there or not.
   * @param {string} queue
   * @param {(string | Buffer)[]} bodies
   */
  async publish(queue, bodies) {
    await this.#withChannel(async (channel) => {
      await channel.assertQueue(queue, { durable: true });
      for (const body of bodies) {
        const room = channel.sendToQueue(queue, Buffer.from(body), { persistent: true });
        if (!room) await channel.waitForConfirms();
      }
      await channel.waitForConfirms();
    });
  }

  /** Messages that wait for a consumer; not those that one has and has not acknowledged. 0 if there is no such queue. */
  async count(queue) {
    return await this.#withChannel(async (channel) => {
      try {
        return (await channel.checkQueue(queue)).messageCount;
      } catch (error) {
        if (error.code === 404) return 0;
        throw error;
      }
    });
  }

  async deleteQueue(queue) {
    await this.#withChannel((channel) => channel.deleteQueue(queue));
  }

  async #withChannel(use) {
    const connection = await amqp.connect(this.uri);
    // A broker that dies leaves some calls waiting for ever: the end of the connection ends them.
    const ended = new Promise((resolve) => connection.once('close', resolve));
    const lost = ended.then(() => Promise.reject(new Error('the broker closed the connection')));
    lost.catch(() => {});
    connection.on('error', () => {}); // without a listener it would end the process; 'close' follows
    try {
      const channel = await Promise.race([connection.createConfirmChannel(), lost]);
      channel.on('error', () => {});
      return await Promise.race([use(channel), lost]);
    } finally {
      await Promise.race([connection.close().catch(() => {}), ended]);
    }
  }
}
