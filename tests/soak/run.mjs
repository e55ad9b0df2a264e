#!/usr/bin/env node
// A soak: every attack (attacks.mjs) in random order beside a normal load (load.mjs) that is verified. Ends with 1 if the load saw an
// error, if the server took more memory than it may, or if the load's p99 was more than five times that of the quiet server.
//   node tests/soak/run.mjs [--minutes 30] [--clients 50] [--at-once 3] [--seed N]
// BRAID_BINARY is the server to attack; only its own memory is judged, and the attackers have a low priority, so that it is the
// server that is measured and not how busy they keep the machine.
import { fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { getPriority, setPriority } from 'node:os';
import { parseArgs } from 'node:util';
import { MongoClient } from 'mongodb';
import { generator, newSeed } from '../lib/random.mjs';
import { startServer } from '../lib/server.mjs';
import { attacks, prepare } from './attacks.mjs';

const MB = 1 << 20;
const options = Object.fromEntries(Object.entries({ minutes: '30', clients: '50', 'at-once': '3', seed: String(newSeed()), only: '' }).map(([name, value]) => [name, { type: 'string', default: value }]));
const { values } = parseArgs({ options });
const [minutes, clients, atOnce, seed] = [values.minutes, values.clients, values['at-once'], values.seed].map(Number);
const names = Object.keys(attacks).filter((name) => name.includes(values.only));
const [limit, cache] = [1024 * MB, 256 * MB];

const server = await startServer(['--memory-limit', '1GB', '--cache-size', '256MB']);
console.log(`soak: ${minutes} minutes, ${clients} clients, ${atOnce} attacks at once, seed ${seed}`);
await prepare(server.uri);

const load = fork(new URL('./load.mjs', import.meta.url), [server.uri, String(clients), String(seed)]);
const report = (what = 'report') => new Promise((resolve) => {
  load.once('message', resolve);
  load.send(what);
});
setPriority(0, Math.min(19, getPriority() + 10));
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const resident = async (name = 'VmRSS') => 1024 * Number((await readFile(`/proc/${server.pid}/status`, 'utf8')).match(new RegExp(`${name}:\\s+(\\d+)`))[1]);
const show = (name, { operations, p50, p99, max, byOperation, errors }) => {
  console.log(`${name}: ${operations} operations, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest ${max.toFixed(0)} ms, ${errors.length} errors`);
  console.log(`  p50 / p99: ${Object.entries(byOperation).map(([kind, of]) => `${kind} ${of.p50.toFixed(1)} / ${of.p99.toFixed(1)}`).join(', ')}`);
  for (const error of errors.slice(0, 5)) console.log(`  ${error}`);
};

const errors = [];
await pause(2000);
await report(); // the first connections and plans
await pause(Math.min(60_000, minutes * 20_000));
const quiet = await report();
show('quiet', quiet);
errors.push(...quiet.errors);

const random = generator(seed);
const until = Date.now() + minutes * 60_000;
const done = Object.fromEntries(names.map((name) => [name, 0]));
async function attacker() {
  while (Date.now() < until) {
    const name = random.pick(names);
    try {
      await attacks[name](server.uri);
    } catch (error) {
      console.log(`  ${name}: ${error}`); // the attacker was sent away
    }
    ++done[name];
  }
}
const watching = (async () => {
  while (Date.now() < until) {
    await pause(Math.min(60_000, until - Date.now() + 1));
    const seen = await report();
    show(`attacked, ${Math.round((await resident()) / MB)} MB`, seen);
    parts.push(seen);
    errors.push(...seen.errors);
  }
})();
const parts = [];
await Promise.all([watching, ...Array.from({ length: atOnce }, attacker)]);
const last = await report('stop');
errors.push(...last.errors);
const peak = await resident('VmHWM');
// The minutes' p99 weighed by their operations.
const p99 = parts.reduce((sum, part) => sum + part.p99 * part.operations, 0) / parts.reduce((sum, part) => sum + part.operations, 0);
await pause(15_000);
const after = await resident();
const client = await new MongoClient(server.uri).connect();
const { memoryBudget } = await client.db('admin').command({ serverStatus: 1 });
await client.close();
const stopping = Date.now();
const ending = await server.stop();
console.log(Object.entries(done).map(([name, n]) => `${name}: ${n}`).join(', '));
console.log(`budget: ${JSON.stringify(memoryBudget)}`);
console.log(`soak: seed ${seed}, p99 ${quiet.p99.toFixed(1)} ms quiet, ${p99.toFixed(1)} ms attacked (${(p99 / quiet.p99).toFixed(1)} times), ${errors.length} errors of the load, at most ${Math.round(peak / MB)} MB, ${Math.round(after / MB)} MB afterwards, ended by ${ending.signal ?? ending.code} in ${Date.now() - stopping} ms`);
// Beside the budget and the cache: the program itself, stacks, and what allocators keep for a while.
if (errors.length > 0 || peak > limit + cache + 512 * MB || p99 > 5 * quiet.p99 || ending.code !== 0) process.exitCode = 1;
