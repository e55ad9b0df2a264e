// A random history over sharded and unsharded collections, while chunks move, is one that snapshot isolation allows.
// BRAID_SEED=… repeats the choices, not the timing; BRAID_TRANSACTIONS=… sets how many.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { newSeed } from '../lib/random.mjs';
import { startServer } from '../lib/server.mjs';
import { check } from './checker.mjs';
import { Workload } from './workload.mjs';

const seed = newSeed();
const transactions = Number(process.env.BRAID_TRANSACTIONS ?? 4000);

/** Runs it on a server of its own. */
async function run(count, options = {}) {
  const server = await startServer(['--shards', '3']);
  const workload = new Workload(server.uri, seed, options);
  try {
    await workload.prepare();
    await workload.run(count);
    return workload;
  } finally {
    await workload.close();
    const { code } = await server.stop();
    assert.equal(code, 0, `BRAID_SEED=${seed}`);
  }
}

test(`random transactions of 8 clients keep snapshot isolation (seed ${seed})`, async () => {
  const { history, moves } = await run(transactions);
  const { anomalies, writeSkews, edges } = check(history);
  if (anomalies.length > 0) {
    const file = join(tmpdir(), `braid-history-${seed}.json`);
    await writeFile(file, JSON.stringify(history));
    const involved = [...new Set(anomalies.slice(0, 3).flatMap((anomaly) => anomaly.transactions))].map((index) => `T${index} ${JSON.stringify(history[index])}`);
    assert.fail([`BRAID_SEED=${seed}; the history is in ${file}`, ...anomalies.slice(0, 20).map(({ type, text }) => `${type}: ${text}`), ...involved].join('\n'));
  }
  const committed = history.filter(({ status }) => status === 'committed').length;
  console.log(`isolation: seed ${seed}, ${committed} transactions committed, ${history.length - committed} aborted, ${edges} dependencies, ${moves} moves, ${writeSkews} write skews, 0 forbidden anomalies`);
  // Nothing is shown by transactions that never met.
  assert.ok(edges > transactions && committed > transactions / 4, 'the workload had too few conflicts or too few commits to show anything');
});

test('the same statements without transactions do not, and the checker says so', async () => {
  const { history } = await run(Math.min(transactions, 600), { pretend: true });
  const found = new Set(check(history).anomalies.map(({ type }) => type));
  assert.ok(found.has('internal') && [...found].some((type) => type.startsWith('G')), `BRAID_SEED=${seed}: ${[...found]}`);
});
