// Kills the processes of an import, a sync or a pop, at random moments, and does the same again. In the end the index must be
// whole, and the same as if only the surviving epochs had ever been imported.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { KillableServer } from '../lib/killable.mjs';
import { explorer, explorerJson, start, text } from './explorer_model.mjs';
import { Node } from './explorer_node.mjs';

const lines = (stdout) => stdout.trimEnd().split('\n');

export class Rounds {
  counts = { rounds: 0, kills: 0, epochs: 0 };
  #directory = mkdtempSync(join(tmpdir(), 'braid-explorer-kill-'));
  #random;
  #server = null; // none: the store is in the process that is killed

  static async onServer(random) {
    const rounds = new Rounds();
    rounds.#random = random;
    rounds.#server = await KillableServer.open(join(rounds.#directory, 'server'), random);
    await rounds.#server.start();
    return rounds;
  }

  static async onDirectory(random) {
    const rounds = new Rounds();
    rounds.#random = random;
    return rounds;
  }

  async close() {
    await this.#server?.kill();
    rmSync(this.#directory, { recursive: true });
  }

  /** An index of its own. */
  #place(name = 'index') {
    const own = `${name}${this.counts.rounds}`;
    return this.#server ? ['--store', this.#server.uri, '--db', own] : ['--store', join(this.#directory, own)];
  }

  #chainOptions(epochs) {
    return ['--seed', String(this.#random.below(2 ** 31)), '--epochs', String(epochs), '--switches', '20', '--transactions', '12'];
  }

  async #digest(where) {
    const { ok, digest, damage } = await explorerJson(['verify', ...where]);
    assert.deepEqual([ok, damage], [true, []]);
    return digest;
  }

  /** The digest after an import of just these lines. */
  async #digestOf(survivors) {
    const where = this.#place('alone');
    await explorerJson(['import', ...where, '-'], text(survivors));
    return this.#digest(where);
  }

  /** Kills the process, its server or both after a while; false if it had ended before. Input that it was not given is the caller's: it ends here. */
  async #killSoon({ child, ended, isAlive }, patience) {
    await Promise.race([sleep(this.#random.below(patience)), ended]);
    if (!isAlive()) return false;
    const victims = this.#server ? this.#random.pick([['client'], ['server'], ['client', 'server'], ['server', 'client']]) : ['client'];
    for (const victim of victims) {
      ++this.counts.kills;
      if (victim === 'client') {
        child.kill('SIGKILL');
        continue;
      }
      await this.#server.kill();
      if (this.#random.chance(2)) await sleep(this.#random.below(100));
      await this.#server.start();
    }
    child.stdin?.end();
    const { status, signal, stderr } = await ended;
    // Transactions are tried again; what met a dead server outside of one says so.
    const unreachable = victims.includes('server') && status === 1 && /socket|connect|No suitable servers/i.test(stderr);
    assert.ok(status === 0 || signal === 'SIGKILL' || unreachable, `ended with ${signal ?? status}: ${stderr}`);
    return true;
  }

  /** Starts the command a few times, and kills it; then it may end. With input, this stays open so that there is something to kill. */
  async #untilItEnds(args, input) {
    for (let i = this.#random.between(1, 3); i > 0; --i) {
      const process = start(args, input === undefined ? undefined : null);
      process.child.stdin?.write(input);
      await this.#killSoon(process, 600);
    }
    const { status, signal, stderr } = await explorer(args, input);
    assert.equal(status, 0, `${args[0]} ended with ${signal ?? status}: ${stderr}`);
  }

  async importing() {
    const options = this.#chainOptions(this.#random.between(60, 200));
    const { stdout: all } = await explorer(['generate', ...options]);
    const { stdout: survivors } = await explorer(['generate', ...options, '--survivors']);
    const where = this.#place();
    await this.#untilItEnds(['import', ...where, '-'], all);
    await this.#end(where, lines(survivors));
  }

  async syncing() {
    const epochs = this.#random.between(60, 150);
    const node = await Node.start(['--paced', '--start', String(this.#random.between(1, epochs)), '--errors', '2', '--inconsistent', '1', ...this.#chainOptions(epochs)]);
    const where = this.#place();
    const args = ['sync', ...where, '--node', node.url, '--poll', '1', '--until', String(epochs - 1)];
    await this.#untilItEnds(args, undefined);
    await node.faults();
    await explorerJson(args);
    const chain = await node.chain();
    await node.stop();
    assert.equal(chain.length, epochs);
    await this.#end(where, chain);
  }

  async popping() {
    const epochs = this.#random.between(60, 150);
    const { stdout } = await explorer(['generate', ...this.#chainOptions(epochs), '--survivors']);
    const where = this.#place();
    await explorerJson(['import', ...where, '-'], stdout);
    const asked = this.#random.between(30, epochs - 5);
    // One that was too quick to be killed is undone, and has less time the next time.
    for (let patience = 400; !(await this.#killSoon(start(['pop', ...where, String(asked)]), patience)); patience /= 2) {
      await explorerJson(['import', ...where, '-'], stdout);
    }
    const { at } = await explorerJson(['pivot', ...where, '--limit', '1']);
    assert.ok(at.epoch <= epochs - 1 && at.epoch >= epochs - 1 - asked, `at ${at.epoch} after a pop of ${asked} from ${epochs - 1}`);
    const survivors = lines(stdout).slice(0, at.epoch + 1);
    assert.equal(JSON.parse(survivors.at(-1)).pivotHash, at.pivot);
    const rest = this.#random.between(0, Math.min(3, at.epoch));
    if (rest > 0) await explorerJson(['pop', ...where, String(rest)]);
    await this.#end(where, survivors.slice(0, survivors.length - rest));
    // And it grows again from there.
    await explorerJson(['import', ...where, '-'], stdout);
    assert.equal((await explorerJson(['pivot', ...where, '--limit', '1'])).at.epoch, epochs - 1);
  }

  async #end(where, survivors) {
    assert.equal(await this.#digest(where), await this.#digestOf(survivors));
    this.counts.epochs += survivors.length;
    ++this.counts.rounds;
  }
}
