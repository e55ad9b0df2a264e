// What the shell prints about the cluster: sh.status() and the like.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve, times } from '../lib/fixture.mjs';
import { shellFor } from '../lib/mongosh.mjs';

const f = await serve(['--shards', '2']);
const { typed } = await shellFor(f.server.uri);

await f.db.collection('plain').insertMany(times(5, (i) => ({ _id: i })));
await f.admin.command({ shardCollection: 'test.c', key: { k: 'hashed' } });
await f.db.collection('c').insertMany(times(200, (i) => ({ _id: i, k: i })));

const session = [
  ['sh.status()', /^shardingVersion\n\{ _id: 1, clusterId: ObjectId\('[0-9a-f]{24}'\) \}/],
  ['sh.getShardedDataDistribution()', /ns: 'test\.c',\s+shards: \[/],
  ['db.c.getShardDistribution()', /(?=.*Shard shard0 at shard0\/)(?=.*Shard shard1 at shard1\/).*Totals\n.*docs: 200,\s+chunks: 4/s],
  ['db.plain.getShardDistribution()', /Collection plain is not sharded/],
  ['db.c.stats().count', /^200$/],
  ['db.c.stats().sharded', /^true$/],
  ['Object.keys(db.c.stats().shards).sort().join()', /^shard0,shard1$/],
  ['db.plain.stats().sharded', /^false$/],
  ['db.plain.stats().count', /^5$/],
  ['sh.listShards().length', /^2$/],
  ['sh.disableBalancing("test.c").modifiedCount', /^1$/],
  ['db.getSiblingDB("config").collections.findOne().noBalance', /^true$/],
  ['sh.enableBalancing("test.c").modifiedCount', /^1$/],
  ['db.c.getShardVersion().ok', /^1$/],
  ['sh.balancerCollectionStatus("test.c").balancerCompliant', /^true$/],
  ['db.getSiblingDB("config").getCollectionNames().includes("chunks")', /^true$/],
];
const answers = await typed(session.map(([line]) => line));
for (const [i, [line, expected]] of session.entries()) {
  test(`mongosh: ${line}`, () => assert.match(answers[i] ?? '(nothing)', expected));
}

test('sh.status() lists shards, databases and collections with their chunks', () => {
  const [status] = answers;
  assert.match(status, /^shards$.*_id: 'shard0',\s+host: 'shard0\/.*_id: 'shard1',\s+host: 'shard1\//ms);
  assert.match(status, /^active mongoses$\n\[ \{ '7\.0\.\d+': 1 \} \]/m);
  assert.match(status, /database: \{\s+_id: 'test',\s+primary: 'shard[01]'/);
  assert.match(status, /'test\.c': \{\s+shardKey: \{ k: 'hashed' \},\s+unique: false,\s+balancing: true,\s+allowMigrations: true,\s+chunkMetadata: \[\s+\{ shard: 'shard0', nChunks: 2 \},\s+\{ shard: 'shard1', nChunks: 2 \}\s+\]/);
  assert.match(status, /min: \{ k: MinKey\(\) \}, max: \{ k: (Long\(')?-4611686018427387902/);
  assert.doesNotMatch(status, /test\.plain/);
});
