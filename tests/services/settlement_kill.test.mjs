// Rounds of kill -9 against `braid settlement` and its server (C3, C5, C8). BRAID_ROUNDS says how many, BRAID_SEED which; the
// seed repeats the choices, not the timing.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { generator, newSeed } from '../lib/random.mjs';
import { DirectoryRounds, ServerRounds } from './settlement_kill.mjs';

const total = Number(process.env.BRAID_ROUNDS ?? 25);
const seed = newSeed();
const random = generator(seed);
console.log(`settlement: seed ${seed}, ${total} rounds`);

const kinds = [
  ['files', 'ingest: every output of a file is stored once', () => new DirectoryRounds(random.fork())],
  ['listening', 'ingest --listen: what an engine was told is durable is', () => new DirectoryRounds(random.fork())],
  ['serving', 'the server: ingest and follow outlive it', () => ServerRounds.open(random.fork())],
  ['recovering', 'recover: a replay goes on where it was', () => new DirectoryRounds(random.fork())],
  ['rebuilding', 'recover --rebuild: views are whole, old or new', () => new DirectoryRounds(random.fork())],
  ['following', 'ingest --follow: the views have each output once', () => new DirectoryRounds(random.fork())],
];

kinds.forEach(([kind, promise, open], i) => {
  const count = Math.floor((total + i) / kinds.length);
  test(promise, async () => {
    const started = performance.now();
    const rounds = await open();
    for (let round = 0; round < count; ++round) await rounds[kind]();
    await rounds.close();
    const { outputs, kills } = rounds.counts;
    assert.equal(rounds.counts.rounds, count);
    assert.ok(kills >= count, `only ${kills} kills hit a living process`);
    console.log(`settlement ${kind}: ${count} rounds, ${outputs} outputs, ${kills} kills, lost: 0, twice: 0, ${Math.round((performance.now() - started) / 1000)} s`);
  });
});
