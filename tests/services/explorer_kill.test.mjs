// Rounds of kill -9 during imports, syncs and pops, on a server and on a directory. BRAID_ROUNDS says how many, BRAID_SEED which; the
// seed repeats the choices, not the timing.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { generator, newSeed } from '../lib/random.mjs';
import { Rounds } from './explorer_kill.mjs';

const total = Number(process.env.BRAID_ROUNDS ?? 25);
const seed = newSeed();
const random = generator(seed);
console.log(`explorer: seed ${seed}, ${total} rounds`);

const kinds = [
  ['importing', 'a server', 'import: each epoch is there wholly or not at all'],
  ['syncing', 'a server', 'sync: it goes on where it was'],
  ['popping', 'a server', 'pop: what is left is a chain'],
  ['importing', 'a directory', 'import: the store dies with it'],
  ['syncing', 'a directory', 'sync: the store dies with it'],
  ['popping', 'a directory', 'pop: the store dies with it'],
];

kinds.forEach(([kind, store, promise], i) => {
  const count = Math.floor((total + i) / kinds.length);
  test(`${store}, ${promise}`, async () => {
    const started = performance.now();
    const rounds = await (store === 'a server' ? Rounds.onServer(random.fork()) : Rounds.onDirectory(random.fork()));
    for (let round = 0; round < count; ++round) await rounds[kind]();
    await rounds.close();
    assert.equal(rounds.counts.rounds, count);
    if (kind !== 'syncing') assert.ok(rounds.counts.kills >= count, `only ${rounds.counts.kills} kills hit a living process`);
    console.log(`explorer ${kind} on ${store}: ${count} rounds, ${rounds.counts.kills} kills, ${rounds.counts.epochs} epochs, damage: 0, ${Math.round((performance.now() - started) / 1000)} s`);
  });
});
