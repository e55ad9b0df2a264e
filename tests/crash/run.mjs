// Kills the server in the midst of its work, again and again, and compares what it holds afterwards with a record that was kept outside of it.
// usage: node tests/crash/run.mjs [--rounds 25] [--seed N]; BRAID_SEED sets the seed too. The seed repeats the choices, not the timing.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { generator, newSeed } from '../lib/random.mjs';
import { binary, startServer } from '../lib/server.mjs';
import { RawConnection } from '../lib/wire.mjs';
import { chores } from './chores.mjs';
import { State, horizonOf, judge } from './model.mjs';
import { accounts, collections } from './operations.mjs';
import { Record } from './record.mjs';
import { Worker, ask, codeOf } from './worker.mjs';

const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '25' }, seed: { type: 'string' } } });
const rounds = Number(options.rounds);
const seed = options.seed ? Number(options.seed) : newSeed();
const random = generator(seed);
const workersCount = 6;
const operationsOfRound = [30, Number(process.env.BRAID_OPERATIONS ?? 900)]; // begun before the kill, at least and at most
const ledgerMax = 2000;
const opening = 1000;

const directory = mkdtempSync(join(tmpdir(), 'braid-crash-'));
const store = join(directory, 'store');
const serverOptions = ['--shards', '3', '--cache-size', '16MB'];
const problems = [];
const counts = { operations: 0, kills: 0, inFlight: 0, stored: 0, forgotten: 0 };
const workers = Array.from({ length: workersCount }, (_, i) => new Worker(`w${i}`, problems, counts));
let balances = Array(accounts).fill(opening);

const start = () => startServer(serverOptions, store);

/** The reply; a refusal ends the program. */
async function must(connection, command, db = undefined) {
  const reply = await ask(connection, command, db);
  if (reply === null || codeOf(reply) !== 0) throw new Error(`${JSON.stringify(command)}: ${JSON.stringify(reply)}`);
  return reply;
}

async function prepare() {
  const server = await start();
  const connection = await RawConnection.open(server.uri);
  for (const { name, key } of collections) {
    await must(connection, { create: name });
    await must(connection, { createIndexes: name, indexes: [{ key: { u: 1 }, name: 'u', unique: true }, { key: { w: 1, n: 1 }, name: 'wn' }, { key: { tags: 1 }, name: 'tags' }] });
    if (key?.k === 1) await must(connection, { createIndexes: name, indexes: [{ key, name: 'k' }] });
    if (key) await must(connection, { shardCollection: `crash.${name}`, key }, 'admin');
  }
  for (const k of [20, 50, 80]) await must(connection, { split: 'crash.ranged', middle: { k } }, 'admin');
  await must(connection, { shardCollection: 'crash.ledger', key: { _id: 'hashed' } }, 'admin');
  await must(connection, { insert: 'accounts', documents: balances.map((balance, _id) => ({ _id, balance })) });
  connection.close();
  await server.stop('SIGKILL');
}

/** Load until a random moment, then SIGKILL. */
async function load(round, record, states) {
  const server = await start();
  const until = random.between(...operationsOfRound);
  const running = [];
  const killed = new Promise((resolve) => {
    const kill = () => resolve(server.stop('SIGKILL'));
    let count = 0;
    const begun = () => { if (++count === until) setTimeout(kill, random.below(4)); };
    for (const worker of workers) running.push(worker.run(server.uri, { round, record, random: random.fork(), state: new State(states.get(worker.name)), begun }));
    running.push(chores(server.uri, random.fork(), counts));
    // A worker that gives up before the kill has met a problem, or a server that does not answer (RawConnection waits for 30 s).
    for (const one of running) one.finally(() => { if (count < until) problems.push('a connection broke, or was not answered, before the server was killed'); kill(); });
  });
  await killed;
  ++counts.kills;
  await Promise.all(running);
}

/** Sometimes the server is killed again while it starts. */
async function killWhileStarting() {
  if (!random.chance(4)) return;
  const child = spawn(binary, ['serve', '--store', store, '--port', '0', '--no-http', ...serverOptions], { stdio: 'ignore' });
  const ended = new Promise((resolve) => { child.once('exit', resolve); });
  setTimeout(() => child.kill('SIGKILL'), random.below(60));
  await ended;
  ++counts.kills;
}

/** Every document of the store, by worker; what belongs to none is a problem. */
async function readAll(connection) {
  const states = new Map(workers.map(({ name }) => [name, new State()]));
  const names = (await must(connection, { listCollections: 1, nameOnly: true, cursor: { batchSize: 100000 } })).cursor.firstBatch.map(({ name }) => name);
  let balance = [];
  for (const name of names) {
    const { cursor } = await must(connection, { find: name, sort: { _id: 1 }, batchSize: 1000000 });
    if (cursor.id.toString() !== '0') throw new Error(`${name} is too big for one answer`);
    const { valid, errors, nrecords } = await must(connection, { validate: name, full: true });
    if (!valid || nrecords !== cursor.firstBatch.length) problems.push(`${name} is damaged: ${JSON.stringify(errors)}, ${nrecords} records, ${cursor.firstBatch.length} found`);
    if (name === 'accounts') {
      balance = cursor.firstBatch.map((account) => account.balance);
      continue;
    }
    for (const document of cursor.firstBatch) {
      const state = states.get(String(document._id).split('/')[0]);
      if (state) state.put(name, document._id, document);
      else problems.push(`${name} has ${JSON.stringify(document)}, which is nobody's`);
    }
  }
  return { states, balance };
}

function checkBalances({ states, balance }) {
  const expected = [...balances];
  for (const state of states.values()) {
    for (const [key, { from, to, amount }] of state) {
      if (!key.startsWith('ledger:')) continue;
      expected[from] -= amount;
      expected[to] += amount;
    }
  }
  if (String(expected) !== String(balance)) problems.push(`accounts have ${balance}, by the ledger they must have ${expected}`);
}

/** Compares the store with the record, sends again what each worker asked last, and compares once more. */
async function verify(bases, record) {
  const server = await start();
  const connection = await RawConnection.open(server.uri);
  const before = await readAll(connection);
  checkBalances(before);
  const operations = Record.read(record.path);
  const horizon = horizonOf(operations);
  const after = new Map();
  for (const worker of workers) {
    const own = operations.filter((operation) => operation.worker === worker.name);
    const actual = before.states.get(worker.name);
    const { problem, stored, lost } = judge(bases.get(worker.name), own, horizon, actual);
    if (problem) problems.push(`worker ${worker.name}: ${problem}`);
    else if (own.length > 0) {
      const inFlight = own.at(-1).outcome === 'unknown';
      if (inFlight) ++counts.inFlight;
      if (inFlight && stored > 0) ++counts.stored;
      counts.forgotten += lost;
      worker.state = new State(actual);
      // A write that was meant for what has been lost would find something else.
      if (lost === 0 || worker.last.kind !== 'retryable') await worker.repeat(connection, stored);
    }
    after.set(worker.name, worker.state);
  }
  const { states, balance } = await readAll(connection);
  checkBalances({ states, balance });
  for (const { name } of workers) {
    const differences = after.get(name)?.differences(states.get(name)) ?? [];
    for (const key of differences.slice(0, 5)) problems.push(`worker ${name}: after its last operation was sent again, ${key} is ${states.get(name).text(key)}, expected ${after.get(name).text(key)}`);
  }
  await tidyUp(connection, states, balance);
  connection.close();
  const { signal } = await server.stop('SIGKILL');
  if (signal !== 'SIGKILL') problems.push('the server ended by itself');
  return states;
}

/** Keeps the store small, however many rounds there are. */
async function tidyUp(connection, states, balance) {
  const entries = [...states.values()].flatMap((state) => [...state.keys()]).filter((key) => key.startsWith('ledger:') || key.startsWith('made_'));
  if (entries.length < ledgerMax) return;
  await must(connection, { delete: 'ledger', deletes: [{ q: {}, limit: 0 }] });
  for (const name of new Set(entries.map((key) => key.split(':')[0]))) if (name !== 'ledger') await must(connection, { drop: name });
  balances = balance;
  for (const state of states.values()) for (const key of entries) state.delete(key);
}

const started = performance.now();
console.log(`crash: seed ${seed}, ${rounds} rounds`);
await prepare();
let states = new Map(workers.map(({ name }) => [name, new State()]));
for (let round = 1; round <= rounds && problems.length === 0; ++round) {
  const record = new Record(join(directory, `record${round}`));
  await load(round, record, states);
  await killWhileStarting();
  states = await verify(states, record);
  record.close();
  counts.operations += record.ids;
  if (problems.length > 0) console.log(`round ${round}:`);
  else rmSync(record.path);
}
const kinds = Object.entries(counts).filter(([kind]) => !['operations', 'kills', 'inFlight', 'stored', 'forgotten'].includes(kind)).map(([kind, count]) => `${count} ${kind}`);
console.log(`crash: ${counts.operations} operations (${kinds.join(', ')}), ${counts.kills} kills, ${counts.inFlight} in flight of which ${counts.stored} were stored, ${counts.forgotten} of j: false gone, ${problems.length === 0 ? 'lost: 0, ' : ''}${Math.round((performance.now() - started) / 1000)} s`);
if (problems.length === 0) {
  rmSync(directory, { recursive: true });
} else {
  console.log(`${problems.slice(0, 20).join('\n')}\n${problems.length} problems; BRAID_SEED=${seed}; the store and the record are in ${directory}`);
  process.exitCode = 1;
}
