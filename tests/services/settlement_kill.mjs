// Kills the processes of the settlement log and its views, at random moments, and lets the rest go on. What it leaves
// behind is compared with a plain model: every acknowledged output once, chains that verify, views that are a recount.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { KillableServer } from '../lib/killable.mjs';
import { start } from '../lib/program.mjs';
import { Engine } from './settlement_engine.mjs';
import { Model, expectModel, expectStored, generate, settlementJson, textFrom } from './settlement_model.mjs';

const outputsOfRound = [300, 1200];
const killsOfRound = [1, 2];

/** A store, the outputs so far and what they mean. Subclasses say where the store is. */
class Rounds {
  counts = { rounds: 0, outputs: 0, kills: 0 };
  directory = mkdtempSync(join(tmpdir(), 'braid-settlement-kill-'));
  where = ['--store', join(this.directory, 'store')];
  model = new Model();

  constructor(random) {
    this.random = random;
  }

  async close() {
    rmSync(this.directory, { recursive: true });
  }

  /** Outputs behind those of the model, and in it from now on. */
  async outputs() {
    const options = { outputs: this.random.between(...outputsOfRound), first: this.model.outputSeq + 1, seed: this.random.below(2 ** 31), symbols: 6, cross: 8, hot: 20, users: 60 };
    const lines = await generate(...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]));
    this.model.add(lines);
    this.counts.outputs += lines.length;
    return lines;
  }

  start(action, args, input = undefined) {
    return start(['settlement', action, ...this.where, ...args], input);
  }

  /** Outputs to one whose standard input stays open, so that it is there to be killed: at work, or waiting for more. */
  async feed({ child, isAlive }, lines) {
    for (let begin = 0; begin < lines.length && isAlive(); begin += 100) {
      child.stdin.write(textFrom(lines.slice(begin, begin + 100)));
      await sleep(this.random.below(10));
    }
  }

  /** Kills it at some moment of the next ones, if it still runs. Whether it did. */
  async kill(running, most) {
    await sleep(this.random.below(most));
    running.child.kill('SIGKILL');
    const { status, signal, stderr } = await running.ended;
    assert.ok(signal === 'SIGKILL' || status === 0, `it ended with ${signal ?? status}: ${stderr}`);
    if (signal === 'SIGKILL') ++this.counts.kills;
    return signal === 'SIGKILL';
  }

  /** Starts something that ends by itself until it was killed before that; `prepare` gives it something to do. */
  async killAtWork(action, args, prepare) {
    await prepare();
    for (let most = 150; !(await this.kill(this.start(action, args()), most)); most = Math.max(20, most / 2)) await prepare();
  }

  async verify() {
    await expectModel(this.where, this.model);
    ++this.counts.rounds;
  }
}

/** The store is a directory: it dies with the process that is killed. */
export class DirectoryRounds extends Rounds {
  writers = () => ['--batch', String(this.random.between(5, 200)), '--writers', String(this.random.between(1, 8))];
  workers = () => String(this.random.pick([1, 4, 16]));

  async ingest(options) {
    const lines = await this.outputs();
    for (let kills = this.random.between(...killsOfRound); kills > 0; --kills) {
      const running = this.start('ingest', [...this.writers(), ...options(), '-'], null);
      const fed = this.feed(running, lines);
      assert.ok(await this.kill(running, 200));
      await fed;
    }
    const all = await settlementJson(['ingest', ...this.where, ...options(), '-'], textFrom(lines));
    assert.equal(all.accepted + all.duplicate, lines.length);
    await expectStored(this.where, lines);
    await this.verify();
  }

  /** Outputs of a file, given again after each kill. */
  files = () => this.ingest(() => []);

  /** The same, with the views kept at the same time. */
  following = () => this.ingest(() => ['--follow', '--view-writers', this.workers()]);

  /** An engine that sends what was not acknowledged again, to the next process that listens. */
  async listening() {
    const engine = new PersistentEngine(await this.outputs());
    const follow = this.random.chance(2) ? ['--follow'] : [];
    for (let kills = this.random.between(...killsOfRound); kills > 0; --kills) {
      const listener = await this.#listen(follow);
      const sent = engine.send(listener.port);
      assert.ok(await this.kill(listener, 200));
      await sent;
      await expectStored(this.where, engine.acknowledged);
    }
    const listener = await this.#listen(follow);
    await engine.send(listener.port);
    assert.equal(engine.acknowledged.length, engine.lines.length);
    listener.child.kill('SIGTERM');
    const { status, stderr } = await listener.ended;
    assert.equal(status, 0, stderr);
    await expectStored(this.where, engine.lines);
    await this.verify();
  }

  async #listen(options) {
    const running = this.start('ingest', ['--listen', '0', ...this.writers(), ...options]);
    const port = await new Promise((resolve, reject) => {
      createInterface({ input: running.child.stdout }).on('line', (line) => {
        const match = line.match(/^listening on 127\.0\.0\.1 port (\d+)$/);
        if (match) resolve(Number(match[1]));
      });
      running.ended.then(({ stderr }) => reject(new Error(`ingest --listen ended: ${stderr}`)));
    });
    return { ...running, port };
  }

  async #ingestMore() {
    const lines = await this.outputs();
    assert.equal((await settlementJson(['ingest', ...this.where, '-'], textFrom(lines))).accepted, lines.length);
  }

  /** The views' replay. */
  async recovering() {
    for (let kills = this.random.between(...killsOfRound); kills > 0; --kills) {
      await this.killAtWork('recover', () => ['--workers', this.workers()], () => this.#ingestMore());
    }
    await this.verify();
  }

  /** Rebuilds the views. The next rebuild continues with the half-built ones, and so does a process that only follows. */
  async rebuilding() {
    await this.#ingestMore();
    await settlementJson(['follow', ...this.where, '--once']);
    for (let kills = this.random.between(...killsOfRound); kills > 0; --kills) {
      await this.killAtWork('recover', () => ['--rebuild', '--workers', this.workers()], () => {});
    }
    if (this.random.chance(2)) await settlementJson(['recover', ...this.where, '--rebuild']);
    await this.verify();
  }
}

/** The store is a server, which is killed under the processes that write the log and those that keep the views. */
export class ServerRounds extends Rounds {
  static async open(random) {
    const rounds = new ServerRounds(random);
    rounds.server = await KillableServer.open(join(rounds.directory, 'store'), random);
    rounds.where = ['--store', rounds.server.uri];
    await rounds.server.start();
    return rounds;
  }

  async close() {
    await this.server.kill();
    await super.close();
  }

  async serving() {
    const lines = await this.outputs();
    const follower = this.start('follow', ['--quiet']);
    const ingest = this.start('ingest', ['--batch', String(this.random.between(5, 200)), '-'], null);
    const fed = this.feed(ingest, lines);
    for (let kills = this.random.between(...killsOfRound); kills > 0; --kills) {
      await sleep(this.random.below(300));
      await this.server.kill();
      ++this.counts.kills;
      // Away for a moment, longer or shorter than the others wait between two tries.
      if (this.random.chance(2)) await sleep(this.random.below(300));
      await this.server.start();
    }
    await fed;
    ingest.child.stdin.end();
    if (this.#survived(await ingest.ended)) await expectStored(this.where, lines);
    else assert.equal((await settlementJson(['ingest', ...this.where, '-'], textFrom(lines))).failed, 0);
    if (follower.isAlive()) await this.#caughtUp(follower);
    follower.child.kill('SIGTERM');
    this.#survived(await follower.ended);
    await this.verify();
  }

  /** A process that has begun continues with the next server; one that found none, or a dead one, at its start says so and ends. */
  #survived({ status, stderr }) {
    const unreachable = status === 1 && /socket|connect|No suitable servers/i.test(stderr);
    assert.ok(status === 0 || unreachable, `it ended with ${status}: ${stderr}`);
    return status === 0;
  }

  async #caughtUp(follower) {
    for (const deadline = Date.now() + 60_000; follower.isAlive(); await sleep(50)) {
      const { views } = await settlementJson(['stats', ...this.where]);
      if (views.length === 3 && views.every(({ behind }) => behind === 0)) return;
      assert.ok(Date.now() < deadline, `the views are not followed: ${JSON.stringify(views)}`);
    }
  }
}

/** A matching engine that sends again what was not acknowledged. */
class PersistentEngine {
  #acknowledged = 0; // replies come in the order of the messages

  constructor(lines) {
    this.lines = lines;
  }

  get acknowledged() {
    return this.lines.slice(0, this.#acknowledged);
  }

  /** Sends what is not acknowledged, until all is or the connection is lost. */
  async send(port) {
    const engine = await Engine.connect(port).catch(() => null);
    if (engine === null) return;
    for (let begin = this.#acknowledged; begin < this.lines.length && !engine.isLost(); begin += 50) {
      engine.send(this.lines.slice(begin, begin + 50));
      await sleep(2);
    }
    for (const { sequence, outcome, reason } of await engine.close()) {
      assert.ok(outcome <= 1, `output ${sequence} was answered with ${outcome}: ${reason}`);
      assert.equal(sequence, JSON.parse(this.lines[this.#acknowledged++]).output_seq);
    }
  }
}
