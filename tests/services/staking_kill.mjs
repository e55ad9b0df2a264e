// Kills the processes of the staking statistics, at random moments and in random order, and lets the rest go on. What it
// leaves behind is compared with a plain model: nothing lost, nothing twice.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KillableServer } from '../lib/killable.mjs';
import { Model, expectModel, generate, ingestJson, start } from './staking_model.mjs';

const eventsOfRound = [500, 3000];
const killsOfRound = [1, 3];

/** A store, its server, the events so far and what they mean. */
export class Rounds {
  counts = { rounds: 0, events: 0, kills: 0 };
  #directory = mkdtempSync(join(tmpdir(), 'braid-staking-kill-'));
  #model = new Model();
  #random;
  #server;
  #where;

  static async open(random) {
    const rounds = new Rounds();
    rounds.#random = random;
    rounds.#server = await KillableServer.open(join(rounds.#directory, 'store'), random);
    rounds.#where = ['--store', rounds.#server.uri];
    await rounds.#server.start();
    // The first round has no easier a start than the others.
    await ingestJson(rounds.#where, '');
    await rounds.#verify();
    return rounds;
  }

  async close() {
    await this.#server.kill();
    rmSync(this.#directory, { recursive: true });
  }

  async #events() {
    const lines = await generate(this.#random.between(...eventsOfRound), this.#random.below(2 ** 31), '--duplicates', '15', '--early', '30', '--unbonded', '35', '--stakers', '150', '--finality-providers', '5');
    for (let i = this.#random.below(4); i > 0; --i) lines.splice(this.#random.below(lines.length), 0, `bad ${this.#random.below(1e9)}`);
    this.#model.add(lines);
    this.counts.events += lines.length;
    return lines;
  }

  async #verify() {
    await expectModel(this.#where, this.#model);
    ++this.counts.rounds;
  }

  async #restartServer() {
    await this.#server.kill();
    ++this.counts.kills;
    // Away for a moment, longer or shorter than the others wait between two tries.
    if (this.#random.chance(2)) await sleep(this.#random.below(300));
    await this.#server.start();
  }

  /** One or two processes take in a file; they and the server are killed; then the same file once more, to the end. */
  async files() {
    const lines = await this.#events();
    const file = join(this.#directory, 'events.ndjson');
    await writeFile(file, lines.join('\n'));
    const ingest = () => start(['ingest', ...this.#where, '--batch', String(this.#random.between(20, 500)), '--json', file]);
    for (let kills = this.#random.between(...killsOfRound); kills > 0; --kills) {
      const running = Array.from({ length: this.#random.between(1, 2) }, ingest);
      await sleep(this.#random.below(250));
      const victims = this.#random.pick([['ingest'], ['server'], ['ingest', 'server'], ['server', 'ingest']]);
      for (const victim of victims) {
        if (victim === 'server') await this.#restartServer();
        else this.#killOne(running);
      }
      for (const { ended } of running) {
        const { status, signal, stderr } = await ended;
        // Transactions are tried again; a process that meets a dead server before its first one says so and ends.
        const unreachable = victims.includes('server') && status === 1 && /socket|connect|No suitable servers/.test(stderr);
        assert.ok(doneOrRefused(status, stderr) || signal === 'SIGKILL' || unreachable, `ingest ended with ${status}: ${stderr}`);
      }
    }
    await ingestJson([...this.#where, file]);
    const again = await ingestJson([...this.#where, file]);
    assert.deepEqual([again.accepted, again.parked, again.released], [0, 0, 0]);
    assert.equal(again.duplicate + again.rejected, lines.length);
    await this.#verify();
  }

  /** The store in the process that is killed, in a directory of its own. */
  async directory() {
    const where = ['--store', join(this.#directory, `store${this.counts.rounds}`)];
    const file = join(this.#directory, 'events.ndjson');
    const lines = await generate(this.#random.between(...eventsOfRound), this.#random.below(2 ** 31), '--early', '30');
    await writeFile(file, lines.join('\n'));
    const model = new Model();
    model.add(lines);
    for (let kills = this.#random.between(...killsOfRound); kills > 0; --kills) {
      // Its standard input stays open, so that it is there to be killed, at work or waiting for more.
      const running = start(['ingest', ...where, '--batch', '50', '-'], null);
      running.child.stdin.write(lines.slice(0, this.#random.between(1, lines.length)).join('\n') + '\n');
      await sleep(this.#random.below(250));
      this.#killOne([running]);
      const { status, signal, stderr } = await running.ended;
      assert.equal(signal, 'SIGKILL', `ingest ended with ${status}: ${stderr}`);
    }
    await ingestJson([...where, file]);
    await expectModel(where, model);
    this.counts.events += lines.length;
    ++this.counts.rounds;
  }

  #killOne(running) {
    if (this.#random.pick(running).child.kill('SIGKILL')) ++this.counts.kills;
  }

  /** Events come through a broker; consumer, server and broker are killed while they are published and consumed. */
  async queue(broker, queue) {
    const lines = await this.#events();
    const consumer = new Consumer([...this.#where, '--queue', broker.uri, '--queue-name', queue, '--batch', String(this.#random.between(20, 500))]);
    const published = publish(broker, queue, lines);
    const victims = ['broker', this.#random.pick(['broker', 'consumer', 'server']), this.#random.pick(['consumer', 'server'])];
    for (const victim of this.#random.chance(2) ? victims.slice(1).reverse() : victims) {
      await sleep(this.#random.below(400));
      if (victim === 'server') await this.#restartServer();
      else if (victim === 'consumer') this.counts.kills += await consumer.kill();
      else {
        await broker.kill();
        ++this.counts.kills;
        await broker.restart();
      }
    }
    await published;
    const deadline = Date.now() + 100_000;
    while ((await broker.count(queue)) > 0) {
      assert.ok(Date.now() < deadline, `the consumer does not consume ${queue}: ${consumer.said()}`);
      await sleep(20);
    }
    await consumer.stop();
    // Told to stop, it has acknowledged what it had applied. What it had not applied comes back, but not at once: until then the
    // broker counts it nowhere, and the queue looks empty.
    for (const returned = Date.now() + 30_000; ; ) {
      await ingestJson([...this.#where, '--queue', broker.uri, '--queue-name', queue, '--idle-exit', '0.2']);
      assert.equal(await broker.count(queue), 0);
      try {
        await this.#verify();
        break;
      } catch (error) {
        if (Date.now() > returned) throw error;
      }
    }
    await broker.deleteQueue(queue);
  }
}

/** It took in everything, or everything but the bad lines among them. */
const doneOrRefused = (status, stderr) => status === 0 || (status === 1 && /\d+ rejected: they are in/.test(stderr));

/** A consumer that is started again whenever it ends before it is told to, as by systemd: it was killed, or found no broker. */
class Consumer {
  #args;
  #running = null;
  #startedAt = 0;
  #stopping = false;
  #over;

  constructor(args) {
    this.#args = args;
    this.#over = this.#keepRunning();
  }

  async #keepRunning() {
    for (;;) {
      this.#running = start(['ingest', ...this.#args]);
      this.#startedAt = Date.now();
      const ending = await this.#running.ended;
      if (this.#stopping) return ending;
      await sleep(20);
    }
  }

  said() {
    return this.#running.said();
  }

  /** 1 if there was one to kill; then the next one runs. */
  async kill() {
    const victim = this.#running;
    if (!victim.child.kill('SIGKILL')) return 0;
    while (this.#running === victim) await sleep(5);
    return 1;
  }

  async stop() {
    // One that has only just been started would not know yet what SIGTERM means.
    await sleep(Math.max(0, this.#startedAt + 1000 - Date.now()));
    this.#stopping = true;
    this.#running.child.kill('SIGTERM');
    const { status, signal, stderr } = await this.#over;
    assert.ok(doneOrRefused(status, stderr), `the consumer ended with ${signal ?? status}: ${stderr}`);
  }
}

/** Confirmed by the broker, in pieces; a piece that was not confirmed is published again, and may then be there twice. */
async function publish(broker, queue, lines) {
  for (let begin = 0; begin < lines.length; begin += 250) {
    for (const deadline = Date.now() + 60_000; ; ) {
      try {
        await broker.publish(queue, lines.slice(begin, begin + 250));
        break;
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await sleep(50);
      }
    }
  }
}
