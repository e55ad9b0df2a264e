// braid settlement migrate as programs (C6): writers, a reader and the migrator are processes of their own; the migrator and the writers are killed with
// SIGKILL at random moments and started again, or stopped for a while. The oracle is outside: what a writer has acknowledged must be there in the end, and the
// reader never misses one.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';

import { generator, newSeed } from '../lib/random.mjs';
import { binary, startServer } from '../lib/server.mjs';

const seed = newSeed();
const random = generator(seed);
const order = ['rolled_back', 'none', 'preflight', 'dual_write', 'backfill', 'verify', 'verified', 'switching', 'switched', 'dropping', 'dropped'];
let server;
let client;
before(async () => {
  server = await startServer();
  client = await new MongoClient(server.uri).connect();
});
after(async () => {
  await client.close();
  await server.stop();
});

/** A process `braid settlement migrate …`; `done` resolves to { code, signal, stdout, stderr }. */
function start(database, ...args) {
  const child = spawn(binary, ['settlement', 'migrate', ...args, '--store', server.uri, '--db', database]);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const done = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr })));
  return { child, done };
}

/** Runs to the end and gives its JSON; an error if it fails. */
async function run(database, ...args) {
  const { code, stdout, stderr } = await start(database, ...args, '--json').done;
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

/** The migrator, which is killed at random moments; `hits` are the phases in which that happened before it was done. */
class Migrator {
  hits = [];
  constructor(database) {
    this.database = database;
    this.state = client.db(database).collection('settlement_migration');
  }
  async phase() {
    return (await this.state.findOne({ _id: 'migration' }, { projection: { phase: 1 } })).phase;
  }
  /** Started for each of the phases and killed a moment after it was reached, or passed; in the end left to end. */
  async run(phases, ...args) {
    for (const phase of phases) {
      const { child, done } = start(this.database, ...args);
      const goal = order.indexOf(phase);
      while (child.exitCode === null && order.indexOf(await this.phase()) < goal) await sleep(2);
      const timer = setTimeout(() => child.kill('SIGKILL'), random.below(120));
      const { code, signal, stderr } = await done;
      clearTimeout(timer);
      assert.ok(signal === 'SIGKILL' || code === 0, stderr);
      if (signal !== 'SIGKILL') break;
      this.hits.push(await this.phase());
    }
    return run(this.database, ...args);
  }
}

/** A writer that is killed now and then and started again. */
class Writer {
  acknowledged = []; // [first, last, phase] of batches
  kills = 0;
  figures; // of the last process, which was not killed
  #stopping = false;
  #child;
  constructor(database) {
    this.ended = this.#loop(database);
  }
  async #loop(database) {
    while (!this.#stopping) {
      const { child, done } = start(database, 'write', '--rate', '1500', '--commit', '20', '--batch', '200', '--acknowledge', '--json');
      this.#child = child;
      createInterface({ input: child.stdout }).on('line', (line) => {
        const match = line.match(/^(\d+) (\d+) (\w+)$/);
        if (match) this.acknowledged.push([Number(match[1]), Number(match[2]), match[3]]);
        else if (line.startsWith('{')) this.figures = JSON.parse(line);
      });
      const { code, signal, stderr } = await done;
      if (signal === 'SIGKILL') ++this.kills;
      else assert.ok(code === 0 || (this.#stopping && signal === 'SIGTERM'), stderr); // SIGTERM may come before the program knows of it
    }
  }
  kill(signal = 'SIGKILL') {
    this.#child.kill(signal);
  }
  async stop() {
    this.#stopping = true;
    this.#child.kill('SIGTERM');
    await this.ended;
  }
  abandon() {
    this.#stopping = true;
    this.kill();
  }
}

/** A reader and two writers; they end with the test, even if it fails. */
function underLoad(t, database) {
  const reader = start(database, 'follow', '--json');
  const writers = [new Writer(database), new Writer(database)];
  t.after(() => {
    reader.child.kill('SIGKILL');
    for (const writer of writers) writer.abandon();
  });
  return { reader, writers };
}

/** Resolves once the writer has acknowledged something in a phase. */
async function acknowledgedIn(writer, phase) {
  const end = Date.now() + 20_000;
  while (!writer.acknowledged.some(([, , p]) => p === phase)) {
    assert.ok(Date.now() < end, `nothing was written in the phase ${phase}`);
    await sleep(20);
  }
}

/** All that was acknowledged is there, once, and the log is whole. */
async function expectWhole(database, writers) {
  const all = await run(database, 'follow', '--once');
  assert.deepEqual([all.ok, all.gaps, all.outputs], [true, 0, all.output_seq]);
  const owners = new Set();
  for (const [first, last] of writers.flatMap((writer) => writer.acknowledged)) {
    assert.ok(last <= all.output_seq, `output ${last} was acknowledged and is lost`);
    for (let sequence = first; sequence <= last; ++sequence) {
      assert.ok(!owners.has(sequence), `output ${sequence} was acknowledged twice`);
      owners.add(sequence);
    }
  }
  const verify = spawn(binary, ['settlement', 'verify', '--store', server.uri, '--db', database, '--json']);
  assert.equal(await new Promise((resolve) => verify.once('close', resolve)), 0);
  const status = await run(database, 'status');
  assert.deepEqual([status.phase, status.old_table_exists, status.mirrored_seq], ['dropped', false, status.output_seq]);
}

test('a migration under load, with kills of everybody', { timeout: 120_000 }, async (t) => {
  t.diagnostic(`BRAID_SEED=${seed}`);
  const database = 'load';
  await run(database, 'generate', '--outputs', '6000', '--cross', '5');
  const { reader, writers } = underLoad(t, database);
  const migrator = new Migrator(database);
  await acknowledgedIn(writers[0], 'none');
  const killer = setInterval(() => writers[random.below(2)].kill(), 1000);
  t.after(() => clearInterval(killer));

  await migrator.run(['preflight', 'dual_write', 'backfill', 'backfill', 'verify'], 'run', '--batch', '200');
  await migrator.run(['verified', 'switching'], 'switch', '--batch', '200');
  await acknowledgedIn(writers[0], 'switched');
  assert.equal((await run(database, 'status')).reads, 'chains');
  await migrator.run(['switched'], 'rollback');
  assert.equal((await run(database, 'status')).reads, 'old_table');
  await acknowledgedIn(writers[1], 'rolled_back');
  // A seed whose kills came too late goes round again: each migration begins anew, with more to bring in.
  for (let round = 0; round < 30 && (round === 0 || migrator.hits.length < 12); ++round) {
    await run(database, 'rollback');
    await migrator.run(['preflight', 'backfill', 'verify'], 'run', '--batch', '200');
    await migrator.run(['verified', 'switching'], 'switch', '--batch', '200');
  }
  await migrator.run(['switched', 'dropping'], 'drop', '--yes', '--batch', '200');
  await acknowledgedIn(writers[0], 'dropped');
  await acknowledgedIn(writers[1], 'dropped');
  t.diagnostic(`the migrator was killed ${migrator.hits.length} times: ${migrator.hits.join(', ')}`);
  assert.ok(migrator.hits.length >= 12, 'not killed often enough');

  clearInterval(killer);
  await Promise.all(writers.map((writer) => writer.stop()));
  assert.ok(writers[0].kills + writers[1].kills > 0);
  for (const { figures } of writers) {
    if (figures) assert.ok(figures.brought_in_most <= figures.barriers_most * 200 + figures.ahead_most + 200, JSON.stringify(figures));
  }
  await run(database, 'drop', '--yes'); // brings in what a killed writer left on its way
  reader.child.kill('SIGTERM');
  const followed = await reader.done;
  assert.equal(followed.code, 0, followed.stderr);
  assert.equal(JSON.parse(followed.stdout).gaps, 0);
  await expectWhole(database, writers);
});

// It may be stopped inside a transaction, with the lock on the head: the others end its session and go on.
test('a writer is stopped across switch and drop, and wakes', { timeout: 60_000 }, async (t) => {
  const database = 'stopped';
  await run(database, 'generate', '--outputs', '300');
  const { reader, writers } = underLoad(t, database);
  await run(database, 'run');
  await acknowledgedIn(writers[0], 'verified');
  writers[0].kill('SIGSTOP');
  await run(database, 'switch');
  await acknowledgedIn(writers[1], 'switched');
  writers[0].kill('SIGCONT');
  await acknowledgedIn(writers[0], 'switched');
  writers[0].kill('SIGSTOP');
  await run(database, 'drop', '--yes');
  await acknowledgedIn(writers[1], 'dropped');
  writers[0].kill('SIGCONT');
  await acknowledgedIn(writers[0], 'dropped');
  await Promise.all(writers.map((writer) => writer.stop()));
  reader.child.kill('SIGTERM');
  const followed = await reader.done;
  assert.equal(followed.code, 0, followed.stderr);
  assert.equal(JSON.parse(followed.stdout).gaps, 0);
  await expectWhole(database, writers);
});

test('outputs with sequences of their own may be sent again', async () => {
  const database = 'lines';
  const lines = Array.from({ length: 50 }, (_, i) => JSON.stringify({ output_seq: 1 + i, input: { n: i }, order_update: { order_id: i, user_id: 1, symbol_id: i % 3, status: 'NEW' } }));
  const send = async (text) => {
    const { child, done } = start(database, 'write', '--file', '-', '--commit', '7', '--json');
    child.stdin.end(text);
    return done;
  };
  assert.equal(JSON.parse((await send(`${lines.slice(0, 30).join('\n')}\n`)).stdout).duplicates, 0);
  await run(database, 'run');
  assert.equal(JSON.parse((await send(`${lines.join('\n')}\n`)).stdout).duplicates, 30);
  await run(database, 'switch');
  await run(database, 'drop', '--yes');
  assert.equal(JSON.parse((await send(`${lines.join('\n')}\n`)).stdout).duplicates, 50);
  const { code, stderr } = await send('{"output_seq": 51}\n');
  assert.equal(code, 1);
  assert.match(stderr, /line 1 :: caused by :: input is missing/);
});

test('differences are named, and a drop asks', async () => {
  const database = 'damage';
  await run(database, 'generate', '--outputs', '200');
  await run(database, 'start');
  const old = client.db(database).collection('engine_output_log_single');
  const record = await old.findOne({ _id: 77 }, { promoteLongs: false });
  await old.updateOne({ _id: 77 }, { $set: { created_at: 1n } });
  await run(database, 'run'); // created_at is not part of the contents
  await run(database, 'rollback');
  await old.deleteOne({ _id: 77 });
  const { code, stderr } = await start(database, 'run').done;
  assert.equal(code, 1);
  assert.match(stderr, /output 78 of the old table: expected prev_hash/);
  await old.insertOne(record);
  await run(database, 'run');
  const refused = await start(database, 'drop').done;
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /--yes/);
  const early = await start(database, 'drop', '--yes').done;
  assert.equal(early.code, 1);
  assert.match(early.stderr, /after the switch/);
});
