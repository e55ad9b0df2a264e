// braid bench ledger as a program: every scenario and every reading is there, verified, and nothing is left behind.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { binary } from '../lib/server.mjs';

let directory;
before(async () => (directory = await mkdtemp(join(tmpdir(), 'braid-ledger-'))));
after(() => rm(directory, { recursive: true, force: true }));
const bench = (...args) => spawnSync(binary, ['bench', 'ledger', '--store', join(directory, 'store'), '--seconds', '0.2', ...args], { encoding: 'utf8' });

/** `ratio`, of four decimals, is that of two rates of one decimal, which on a busy machine may be small. */
function isRatio(ratio, rate, alone) {
  const rounded = 0.05 * (1 + ratio) + 0.00005 * alone;
  assert.ok(Math.abs(ratio * alone - rate) <= rounded + 1e-6, `${ratio}: ${rate} to ${alone}`);
}

test('every scenario is measured and verified', async () => {
  const { status, stdout, stderr } = bench('--records', '400', '--symbols', '4', '--writers', '1,2', '--batch', '50', '--parts', 'appends,reads', '--json');
  assert.equal(status, 0, stderr);
  const result = JSON.parse(stdout);
  assert.equal(result.benchmark, 'ledger');
  assert.deepEqual(result.appends.map(({ scenario, chains, writers }) => [scenario, chains, writers]), [
    ['bare RocksDB', 0, 1], ['bare RocksDB', 0, 2], ['one global chain', 1, 1],
    ...['equal symbols', 'one symbol 90 %', 'real skew'].flatMap((scenario) => [[scenario, 4, 1], [scenario, 4, 2]]),
  ]);
  for (const row of result.appends) {
    const bare = row.scenario === 'bare RocksDB';
    assert.deepEqual([row.batch, row.verified], [50, !bare]);
    assert.ok(row.records > 0 && row.records <= 400 && row.recordsPerSecond > 0 && row.recordsPerCommit > 0 && row.recordsPerCommit <= 50);
    assert.ok(row.latencyMs.p50 <= row.latencyMs.p99 && row.latencyMs.p99 <= row.latencyMs.p999);
    for (const ratio of [row.toGlobalChain, row.toBare]) assert.ok(bare ? ratio === null : ratio > 0 || ratio === null);
  }
  for (const recordsOf of ['one global chain', 'real skew']) {
    const rows = result.reads.filter((row) => row.recordsOf === recordsOf);
    for (const reading of ['SHA-256, one stream', 'SHA-256, each record', 'scan of the log', 'verification', 'merge (recovery)']) {
      const row = rows.find((each) => each.reading === reading && each.threads === 1);
      assert.ok(row.records > 0 && row.megabytesPerSecond > 0, reading);
      assert.equal(row.toSha256 === null, reading.startsWith('SHA-256'));
    }
  }
  assert.match(stderr, /^one symbol 90 % +4 +2 +50 +\d+ /m);
  assert.deepEqual(await readdir(directory), ['store']);
});

test('one record in flight, random bytes, no baseline', () => {
  const { status, stdout, stderr } = bench('--records', '20', '--record-size', '1000', '--random-bytes', '--symbols', '1', '--writers', '1', '--batch', '10', '--in-flight', '1', '--no-baseline', '--parts', 'appends,reads', '--json');
  assert.equal(status, 0, stderr);
  const { appends, reads } = JSON.parse(stdout);
  assert.equal(appends.length, 4);
  for (const row of appends) assert.deepEqual([row.inFlight, row.recordsPerCommit, row.toBare], [1, 1, null]);
  assert.equal(reads[0].payloadBytes, reads[0].records * 1000);
});

test('recovery during load, and engines by calls and over TCP', async () => {
  const { status, stdout, stderr } = bench('--records', '400', '--symbols', '4', '--writers', '2', '--batch', '50', '--parts', 'recovery,engines', '--engines', '1,3', '--json');
  assert.equal(status, 0, stderr);
  const { appends, reads, recoveries, engines } = JSON.parse(stdout);
  assert.deepEqual([appends, reads], [[], []]);
  assert.deepEqual(recoveries.map(({ reading }) => reading), ['verification', 'replay into the views']);
  for (const row of recoveries) {
    assert.ok(row.records >= 100 && row.recordsPerSecond > 0 && row.recordsPerSecondAlone > 0 && row.appendsPerSecondAlone > 0, JSON.stringify(row));
    isRatio(row.toAlone, row.recordsPerSecond, row.recordsPerSecondAlone);
    isRatio(row.appendsToAlone, row.appendsPerSecond, row.appendsPerSecondAlone);
  }
  assert.deepEqual(engines.map((row) => [row.way, row.engines, row.inFlight]), [['calls', 1, 200], ['TCP', 1, 200], ['calls', 3, 200], ['TCP', 3, 200]]);
  for (const row of engines) {
    assert.ok(row.outputs > 0 && row.outputs <= 400 && row.outputsPerSecond > 0 && row.cpuMicrosPerOutput > 0, JSON.stringify(row));
    assert.ok(row.latencyMs.p50 <= row.latencyMs.p99 && row.latencyMs.p99 <= row.latencyMs.p999);
    assert.equal(row.toCalls === null, row.way === 'calls');
  }
  assert.match(stderr, /^TCP +3 +200 +\d+ /m);
  assert.deepEqual(await readdir(directory), ['store']);
  assert.notEqual(bench('--parts', 'nothing').status, 0);
});
