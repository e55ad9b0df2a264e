// braid bench ycsb --shards as a program: rows for each number of shards, and nothing left behind.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { binary } from '../lib/server.mjs';

let directory;
before(async () => (directory = await mkdtemp(join(tmpdir(), 'braid-bench-'))));
after(() => rm(directory, { recursive: true, force: true }));
const bench = (...args) => spawnSync(binary, ['bench', 'ycsb', ...args], { encoding: 'utf8' });

test('--shards measures reads of one shard and of all', async () => {
  const { status, stdout, stderr } = bench('--store', join(directory, 'store'), '--shards', '1,2', '--records', '500', '--seconds', '0.2', '--threads', '2', '--no-durable', '--json');
  assert.equal(status, 0, stderr);
  const result = JSON.parse(stdout);
  assert.equal(result.benchmark, 'ycsb-shards');
  assert.deepEqual(result.rows.map(({ shards, workload, phase }) => [shards, workload, phase]), [1, 2].flatMap((shards) => [
    [shards, 'load', 'load'], [shards, 'find', 'run'], [shards, 'merge', 'run'], [shards, 'search', 'run'],
  ]));
  for (const { shards, workload, server, ratio, cpuRatio } of result.rows) {
    assert.ok(server.operations > 0 && server.opsPerSecond > 0 && server.latencyMicros.p99 >= server.latencyMicros.p50);
    assert.ok(server.cpuMicrosPerOperation >= 0);
    if (shards === 1) assert.deepEqual([ratio, cpuRatio ?? 1], [1, 1]);
    const one = result.rows.find((row) => row.shards === 1 && row.workload === workload).server;
    // Both have three decimals. How large they are is up to the machine.
    assert.ok(Math.abs(ratio - server.opsPerSecond / one.opsPerSecond) < 0.001, `${workload}: ${ratio}`);
  }
  assert.match(stderr, /^workload +\| shards \| threads \| +ops\/s \| +ratio /m);
  assert.match(stderr, /^search +\| +2 \| +2 \| /m);
  assert.deepEqual(await readdir(directory), []);
});

test('without one shard there is nothing to compare with', () => {
  const { status, stdout, stderr } = bench('--store', join(directory, 'store'), '--shards', '3', '--records', '50', '--seconds', '0.05', '--no-durable', '--json');
  assert.equal(status, 0, stderr);
  assert.deepEqual(JSON.parse(stdout).rows.map(({ ratio, cpuRatio }) => [ratio, cpuRatio]), Array(4).fill([null, null]));
});

test('the shards of a server that runs cannot be changed', () => {
  const { status, stderr } = bench('--store', 'mongodb://127.0.0.1:1', '--shards', '1,2');
  assert.equal(status, 1);
  assert.match(stderr, /--shards .*mongodb:\/\/127\.0\.0\.1:1.* cannot be changed: give a directory/);
  for (const more of [['--workload', 'a'], ['--operations', '5'], ['--keep'], ['--no-baseline']]) {
    assert.match(bench('--shards', '1', ...more).stderr, /excludes/);
  }
});
