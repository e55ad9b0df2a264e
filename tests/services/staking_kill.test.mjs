// Rounds of kill -9 against `braid staking ingest`, its server and its broker. BRAID_ROUNDS says how many (a third of them with the
// broker, whose restart takes seconds), BRAID_SEED which; the seed repeats the choices, not the timing.
import { test } from 'node:test';

import { startBroker } from '../lib/broker.mjs';
import { generator, newSeed } from '../lib/random.mjs';
import { Rounds } from './staking_kill.mjs';

const total = Number(process.env.BRAID_ROUNDS ?? 27);
const seed = newSeed();
const random = generator(seed);
console.log(`staking: seed ${seed}, ${total} rounds`);

async function run(what, count, round) {
  const started = performance.now();
  const rounds = await Rounds.open(random.fork());
  for (let i = 0; i < count; ++i) await round(rounds);
  await rounds.close();
  const { events, kills } = rounds.counts;
  console.log(`staking ${what}: ${count} rounds, ${events} events, ${kills} kills, lost: 0, twice: 0, ${Math.round((performance.now() - started) / 1000)} s`);
}

const third = Math.floor(total / 3);
const sixth = Math.floor(total / 6);

test('files: whoever is killed, every event counts once', () => run('files', total - third - sixth, (rounds) => rounds.files()));

test('a directory: the store dies with the one who writes', () => run('directory', sixth, (rounds) => rounds.directory()));

test('a queue: every confirmed message counts once and the queue is empty', async () => {
  const broker = await startBroker();
  try {
    const queues = Array.from({ length: third }, (_, i) => `events${i}`);
    await broker.makeQueues(queues);
    await run('queue', third, (rounds) => rounds.queue(broker, queues.shift()));
  } finally {
    await broker.stop();
  }
});
