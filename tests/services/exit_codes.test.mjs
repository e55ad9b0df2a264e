// Every command of settlement and staking: 0 done, 1 refused or damaged, 2 usage, and one object for --json in each case.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { binary } from '../lib/server.mjs';

let directory;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'braid-exit-'));
});
after(async () => {
  if (directory) await rm(directory, { recursive: true, force: true });
});
const inside = (name) => join(directory, name);
const run = (args, input = '') => spawnSync(binary, args, { input, encoding: 'utf8', maxBuffer: 1 << 28 });

const order = (symbol, seq, more = {}) =>
  `${JSON.stringify({ output_seq: seq, input: {}, order_update: { order_id: seq, user_id: 1, symbol_id: symbol, status: 'NEW' }, ...more })}\n`;

/** Runs a command as it is and with --json; the object must be there whatever the outcome. */
function expectCode(expected, words, input) {
  const plain = run(words, input);
  assert.equal(plain.status, expected, `${words.join(' ')}\n${plain.stderr}`);
  const { status, stdout, stderr } = run([...words, '--json'], input);
  assert.equal(status, expected, `${words.join(' ')} --json\n${stderr}`);
  const object = JSON.parse(stdout);
  if (expected === 0) return object;
  assert.notEqual(stderr, '', words.join(' '));
  if (expected === 2) assert.deepEqual([object.ok, object.error.code], [false, 'FailedToParse'], words.join(' '));
  return object;
}

test('wrong usage is 2 in every command, and nothing is touched', () => {
  const store = ['--store', inside('nowhere')];
  const by = ['--by', 'ann', '--reason', 'r'];
  const settlement = [
    [], ['nosuch'], ['checkpoint'], ['migrate'], ['ingest', '--nosuch'], ['ingest', '--batch', '0'], ['ingest', '--listen', 'x'], ['ingest', '--leases', '1'],
    ['verify', '--from', '0'], ['verify', '--checkpoint', 'f'], ['recover', '--workers', '0'], ['follow', '--workers', '0'],
    ['stats', '--symbol'], ['records', '--from', 'x'], ['records', '--limit', '0'],
    ['balances', '--after', 'x'], ['trades', '--limit', '0'], ['orders', '--after', '7'], ['orders', '--from', '2024-04-31'],
    ['repair', '--unplaced'], ['repair', '--unplaced', '--skip', ...by],
    ['repair', ...by], ['repair', '--all', '--symbol', '1', ...by], ['repair', '--all', '--head-from-log', ...by],
    ['repair', '--symbol', '1'], ['repair', '--symbol', '1', '--by', 'ann'], ['repair', '--symbol', '1', '--tree', '--skip', ...by],
    ['checkpoint', '--key', 'k', '--list'], ['checkpoint', '--to', 'f'],
    ['prove', '--symbol', '1'], ['check-proof', 'f'], ['keygen', '--nosuch'],
    ['generate', '--outputs', '2', '--first', '9223372036854775806'], ['generate', '--hot', '101'],
    ['migrate', 'drop'], ['migrate', 'run', '--batch', '0'], ['migrate', 'write', '--file', 'f', '--rate', '5'],
    ['migrate', 'follow', '--from', '0'], ['migrate', 'generate', '--outputs', '0'],
  ];
  const staking = [
    [], ['nosuch'], ['ingest', '--batch', '0'], ['ingest', '--queue', 'http://x'], ['ingest', '--prefetch', '5'], ['stats', '--staker', 'zz'],
    ['stats', '--rank', 'whales'], ['stats', '--rank', 'stakers', '--after', 'x'], ['delegations', '--hash', 'zz'], ['delegations', '--from', '2023-02-29'], ['audit', '--nosuch'], ['delegations', '--state', 'gone'], ['delegations', '--after', 'x', '--limit', '0'],
    ['unprocessable', '--retry', '--limit', '5'], ['shards', '--logical-shard-count', '0'], ['backfill', '--nosuch'], ['generate', '--early', '101'],
    ['publish'], ['publish', '--queue', 'amqp://'],
  ];
  const without = new Set(['keygen', 'check-proof', 'generate', 'publish']);
  for (const [service, lines] of [['settlement', settlement], ['staking', staking]]) {
    for (const words of lines) {
      const takesStore = words.length > 1 && !without.has(words[0]);
      expectCode(2, [service, ...words, ...(takesStore ? store : [])]);
    }
    for (const bad of ['', 'http://x']) expectCode(2, [service, 'stats', '--store', bad]);
  }
  for (const action of ['checkpoint', 'prove']) {
    const more = action === 'prove' ? ['--symbol', '1', '--seq', '1'] : ['--key', 'k', '--to', '-'];
    const { status, stdout } = run(['settlement', action, ...store, ...more, '--json']);
    assert.deepEqual([status, JSON.parse(stdout).ok], [2, false], action);
  }
  assert.equal(existsSync(inside('nowhere')), false);
});

test('what is not there is 1, and is not made', () => {
  const store = ['--store', inside('typo')];
  for (const words of [
    ['verify'], ['recover'], ['follow', '--once'], ['stats'], ['records'], ['balances'], ['trades'], ['orders'], ['repair', '--symbol', '1', '--by', 'a', '--reason', 'r'],
    ['repair', '--tree', '--all', '--dry-run'], ['checkpoint', '--list'], ['prove', '--symbol', '1', '--seq', '1', '--to', inside('p')], ['migrate', 'status'], ['migrate', 'run'],
    ['migrate', 'drop', '--yes'], ['migrate', 'follow', '--once'],
  ]) {
    assert.equal(expectCode(1, ['settlement', ...words, ...store]).ok, false, words.join(' '));
  }
  for (const words of [['stats'], ['audit'], ['delegations'], ['unprocessable'], ['unprocessable', '--retry'], ['shards'], ['backfill']]) {
    assert.equal(expectCode(1, ['staking', ...words, ...store]).ok, false, words.join(' '));
  }
  for (const words of [['settlement', 'ingest', inside('nofile')], ['staking', 'ingest', inside('nofile')]]) {
    expectCode(1, [...words, '--store', inside('made')]);
  }
  expectCode(1, ['settlement', 'check-proof', inside('nofile'), '--public-key', inside('nokey')]);
  assert.equal(existsSync(inside('typo')), false);
});

test('done is 0 and refused is 1, in every command of settlement', async () => {
  const store = ['--store', inside('settlement')];
  const settlement = (expected, words, input) => expectCode(expected, ['settlement', ...words, ...store], input);
  settlement(0, ['ingest'], order(1, 1) + order(2, 2));
  for (const words of [['verify'], ['recover'], ['follow', '--once'], ['stats'], ['records'], ['balances'], ['trades'], ['orders'], ['checkpoint', '--list']]) settlement(0, words);
  const key = ['--key', inside('key.pem')];
  assert.equal(run(['settlement', 'keygen', ...key, '--public-key', inside('key.pub'), '--json']).status, 0);
  expectCode(1, ['settlement', 'keygen', ...key, '--public-key', inside('key.pub')]);
  settlement(1, ['prove', '--symbol', '1', '--seq', '1', '--to', inside('proof')]);
  settlement(0, ['checkpoint', ...key]);
  settlement(0, ['prove', '--symbol', '1', '--seq', '1', '--to', inside('proof')]);
  settlement(1, ['prove', '--symbol', '1', '--seq', '9', '--to', inside('none')]);
  expectCode(0, ['settlement', 'check-proof', inside('proof'), '--public-key', inside('key.pub')]);
  await writeFile(inside('forged'), '{"checkpoint":{}}');
  expectCode(1, ['settlement', 'check-proof', inside('forged'), '--public-key', inside('key.pub')]);
  settlement(1, ['ingest'], 'no output\n');
  settlement(1, ['ingest'], order(1, 3, { prev_hash: 'ee'.repeat(32) }));
  settlement(0, ['repair', '--all', '--dry-run']);
  settlement(1, ['repair', '--symbol', '2', '--by', 'ann', '--reason', 'is not halted']);
  assert.equal(run(['settlement', 'repair', '--all', '--by', 'ann', '--reason', 'r', '--json', ...store]).status, 0);
  settlement(1, ['verify', '--symbol', '99']);
  settlement(1, ['migrate', 'switch']);
});

test('done is 0 and refused is 1, in every command of staking', () => {
  const store = ['--store', inside('staking')];
  const staking = (expected, words, input) => expectCode(expected, ['staking', ...words, ...store], input);
  const { stdout } = run(['staking', 'generate', '--events', '50', '--seed', '3']);
  staking(0, ['ingest'], stdout);
  for (const words of [['stats'], ['stats', '--rank', 'stakers'], ['audit'], ['delegations'], ['unprocessable'], ['unprocessable', '--retry'], ['shards'], ['backfill']]) staking(0, words);
  assert.equal(staking(1, ['ingest'], 'no event\n').rejected, 1);
  assert.ok(staking(1, ['unprocessable', '--retry']).left >= 1);
  const away = run(['staking', 'publish', '--queue', 'amqp://u:p@127.0.0.1:1/', '--json'], '{}\n');
  assert.deepEqual([away.status, JSON.parse(away.stdout).ok], [1, false]);
});
