// What an operator does to the store while the load runs: chunks move, shards come, indexes are built and dropped. Nothing of it changes a document.
import assert from 'node:assert/strict';
import { RawConnection } from '../lib/wire.mjs';
import { collections } from './operations.mjs';
import { ask, codeOf } from './worker.mjs';

const shardsMax = 6;
// Chunks that the balancer has moved or is moving, an index that is there or being built, a unique build that met a duplicate.
const refusals = [2, 27, 85, 86, 117, 11000];

/** Until the connection breaks; counts what was done. */
export async function chores(uri, random, counts) {
  const connection = await RawConnection.open(uri);
  const rows = async (db, find, filter = {}) => (await ask(connection, { find, filter, batchSize: 10000 }, db))?.cursor.firstBatch;
  const move = async () => {
    const ns = `crash.${random.pick(collections.filter(({ key }) => key)).name}`;
    const uuid = (await rows('config', 'collections', { _id: ns }))?.[0].uuid;
    const chunks = await rows('config', 'chunks', { uuid });
    const shards = await rows('config', 'shards');
    if (!chunks || !shards) return null;
    const { min, max } = random.pick(chunks);
    if (shards.length < shardsMax && random.chance(20)) return ask(connection, { addShard: 'local' }, 'admin');
    return ask(connection, { moveChunk: ns, bounds: [min, max], to: random.pick(shards)._id }, 'admin');
  };
  const build = () => ask(connection, { createIndexes: random.pick(collections).name, indexes: [{ key: { v: 1, n: -1 }, name: 'extra' }] });
  const drop = () => ask(connection, { dropIndexes: random.pick(collections).name, index: 'extra' });
  while (!connection.closed) {
    const reply = await random.weighted([[8, move], [1, build], [1, drop]])();
    if (reply === null) break;
    const code = codeOf(reply);
    assert.ok(code === 0 || refusals.includes(code), JSON.stringify(reply));
    if (code === 0) counts.chores = (counts.chores ?? 0) + 1;
  }
  connection.close();
}
