// Rounds of kill -9 during merges and checkouts. BRAID_ROUNDS says how many (a third of them on a directory), BRAID_SEED which; the
// seed repeats the choices, not the timing.
import { test } from 'node:test';

import { generator, newSeed } from '../lib/random.mjs';
import { Rounds } from './shop_kill.mjs';

const total = Number(process.env.BRAID_ROUNDS ?? 9);
const seed = newSeed();
const random = generator(seed);
console.log(`shop: seed ${seed}, ${total} rounds`);

async function rounds(what, count, round) {
  const started = performance.now();
  const all = await Rounds.open(random.fork());
  for (let i = 0; i < count; ++i) await round(all);
  await all.close();
  const { orders, refused, kills, answered } = all.counts;
  console.log(`shop ${what}: ${count} rounds, ${kills} kills, ${answered} answers before them, ${orders} orders, ${refused} out of stock, twice: 0, units lost: 0, ${Math.round((performance.now() - started) / 1000)} s`);
}

const third = Math.floor(total / 3);

test('a server: whoever is killed, a key is one order and every unit is accounted for', () => rounds('server', total - third, (all) => all.server()));

test('a directory: the store dies with the one who sells', () => rounds('directory', third, (all) => all.directory()));
