// What must never pass for "all is well": stores that are not there, totals that would overflow, events that contradict what is known.
import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, readdirSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { binary, startServer } from '../lib/server.mjs';
import { start } from '../lib/program.mjs';
import { generate, ingestJson, staking, stakingJson } from './staking_model.mjs';

let directory;
let server;
let places = 0;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'braid-integrity-'));
  server = await startServer();
});
after(async () => {
  await server?.stop();
  if (directory) await rm(directory, { recursive: true, force: true });
});
const newStore = () => join(directory, `store${++places}`);
const hex = (kind, number) => kind.repeat(64 - String(number).length) + number;
const active = (number, staker, value, provider = 1) => JSON.stringify({ event_type: 'active', staking_tx_hash_hex: hex('a', number), staker_pk_hex: hex('b', staker), finality_provider_pk_hex: hex('f', provider), staking_value: value });
const text = (lines) => lines.join('\n') + '\n';

const reading = [
  ['staking', 'stats'], ['staking', 'audit'], ['staking', 'audit', '--repair'], ['staking', 'shards'], ['staking', 'backfill'],
  ['settlement', 'verify'], ['settlement', 'stats'], ['settlement', 'records'], ['settlement', 'recover'],
  ['shop', 'report'], ['export', '--db', 'x', '--collection', 'y'], ['init', '--diff'],
];

test('what reads neither creates a store nor finds nothing wrong with one that is not there', async () => {
  for (const command of reading) {
    const store = newStore();
    const missing = await start([...command, '--store', store]).ended;
    assert.equal(missing.status, 1, command.join(' ') + missing.stdout);
    assert.match(missing.stderr, /there is no (such )?directory/, command.join(' '));
    assert.equal(existsSync(store), false, command.join(' '));
    // A directory without a store stays as it is.
    await mkdir(store);
    const empty = await start([...command, '--store', store]).ended;
    assert.equal(empty.status, 1, command.join(' '));
    assert.match(empty.stderr, /holds no store; nothing was created/, command.join(' '));
    assert.deepEqual(readdirSync(store), [], command.join(' '));
  }
});

test('a database without statistics is an error, and is not made', async () => {
  for (const action of [['stats'], ['audit'], ['audit', '--repair'], ['shards']]) {
    const { status, stderr } = await staking([...action, '--store', server.uri, '--db', 'nosuch']);
    assert.equal(status, 1, action.join(' '));
    assert.match(stderr, /the store has no staking statistics in the database 'nosuch'/);
  }
  const { MongoClient } = await import('mongodb');
  const client = await new MongoClient(server.uri).connect();
  const { databases } = await client.db().admin().listDatabases();
  await client.close();
  assert.ok(!databases.some(({ name }) => name === 'nosuch'));
});

test('a store of an unknown scheme is an error, not a directory', async () => {
  for (const command of [['staking', 'ingest'], ['staking', 'stats'], ['settlement', 'verify'], ['export', '--db', 'x', '--collection', 'y']]) {
    const { status, stderr } = await start([...command, '--store', 'http://x'], '').ended;
    assert.equal(status, 2, command.join(' '));
    assert.match(stderr, /the scheme of http:\/\/x is unknown/);
  }
  assert.equal(existsSync('http:'), false);
});

test('a failed write to standard output is an error', async () => {
  const store = newStore();
  await ingestJson(['--store', store], text([active(1, 1, 5)]));
  const full = openSync('/dev/full', 'w');
  try {
    for (const args of [['staking', 'stats', '--store', store], ['staking', 'audit', '--json', '--store', store], ['staking', 'generate', '--events', '3'], ['--help'], ['--version']]) {
      const { status, stderr } = spawnSync(binary, args, { stdio: ['ignore', full, 'pipe'], encoding: 'utf8' });
      assert.equal(status, 1, args.join(' '));
      assert.match(stderr, /cannot write to standard output/, args.join(' '));
    }
  } finally {
    closeSync(full);
  }
});

test('--json prints an object also where nothing could be done', async () => {
  for (const command of [['staking', 'stats'], ['staking', 'audit'], ['settlement', 'verify'], ['settlement', 'records']]) {
    const { status, stdout, stderr } = await start([...command, '--json', '--store', newStore()]).ended;
    assert.equal(status, 1);
    const { ok, error } = JSON.parse(stdout);
    assert.deepEqual([ok, error.code], [false, 'NamespaceNotFound'], command.join(' '));
    assert.ok(stderr.includes(error.message));
  }
});

test('exit codes: 0 done, 1 refused, 2 usage', async () => {
  const where = ['--store', newStore()];
  for (const [args, expected] of [
    [['ingest', ...where], 0],
    [['stats', ...where], 0],
    [['stats', ...where, '--nosuch'], 2],
    [['stats', ...where, '--rank', 'whales'], 2],
    [['stats', ...where, '--staker', 'zz'], 2],
    [['stats', ...where, '--finality-provider', 'AB'.repeat(32) + 'x'], 2],
    [['nosuch'], 2],
    [[], 2],
    [['stats', '--help'], 0],
  ]) {
    const { status, stderr } = await staking(args, '');
    assert.equal(status, expected, args.join(' ') + stderr);
  }
});

// All bitcoin there can be, 12 000 times: 2.52e19 does not fit in 64 bits.
test('totals that would overflow refuse the events by name, and the audit agrees with what is left', async () => {
  const where = ['--store', newStore()];
  const value = 2_100_000_000_000_000n;
  const events = 12_000;
  const file = join(directory, 'overflow.ndjson');
  await writeFile(file, text(Array.from({ length: events }, (_, i) => active(i, i % 50, Number(value)))));
  const outcome = await ingestJson([...where, file]);
  assert.equal(outcome.accepted + outcome.rejected, events);
  assert.ok(outcome.accepted > 3900 && outcome.accepted < 4393, `${outcome.accepted}`);
  const { stdout } = await staking(['stats', ...where, '--json']);
  assert.equal(/"total_tvl"\s*:\s*(\d+)/.exec(stdout)[1], String(BigInt(outcome.accepted) * value));
  const stats = JSON.parse(stdout);
  assert.equal(stats.total_delegations, outcome.accepted);
  assert.equal(stats.unprocessable_messages, outcome.rejected);
  assert.equal((await stakingJson(['audit', ...where])).ok, true);
});

test('an active event that contradicts a known one is counted apart and kept', async () => {
  const where = ['--store', server.uri, '--db', 'conflicts'];
  await ingestJson(where, text([active(1, 1, 500)]));
  const file = join(directory, 'conflicts.ndjson');
  await writeFile(file, text([active(1, 1, 500), active(1, 1, 501), '', active(1, 2, 500)]));
  const { status, stdout, stderr } = await staking(['ingest', ...where, '--json', file]);
  assert.equal(status, 1);
  const { accepted, duplicate, conflicting, rejected } = JSON.parse(stdout);
  assert.deepEqual([accepted, duplicate, conflicting, rejected], [0, 1, 2, 0]);
  assert.match(stderr, /conflicts\.ndjson, line 2: staking_value is 501, but the delegation of this hash has 500/);
  assert.match(stderr, /2 conflicting: .*conflicts\.conflicting_events/);
  const stats = await stakingJson(['stats', ...where]);
  assert.deepEqual([stats.total_tvl, stats.total_stakers, stats.conflicting_events], [500, 1, 2]);
  const { MongoClient } = await import('mongodb');
  const client = await new MongoClient(server.uri).connect();
  const kept = await client.db('conflicts').collection('conflicting_events').find().sort({ line: 1 }).toArray();
  await client.close();
  assert.deepEqual(kept.map(({ file: name, line }) => [name, line]), [[file, 2], [file, 4]]);
  assert.match(kept[1].reason, /staker_pk_hex is b+2, but the delegation of this hash has b+1/);
});

test('an unbonded event counts whatever its other fields are', async () => {
  const where = ['--store', newStore()];
  const unbonded = JSON.stringify({ staking_value: -5, event_type: 'unbonded', staking_tx_hash_hex: hex('a', 1), timestamp: 'x' });
  assert.equal((await ingestJson(where, text([active(1, 1, 500), unbonded]))).accepted, 2);
  assert.equal((await stakingJson(['stats', ...where])).active_tvl, 0);
});

test('a staker that another program has counted is not counted again', async () => {
  const where = ['--store', server.uri, '--db', 'halfdone'];
  await ingestJson(where, '');
  const { MongoClient } = await import('mongodb');
  const client = await new MongoClient(server.uri).connect();
  const db = client.db('halfdone');
  await db.collection('stats_lock').insertOne({ _id: `${hex('a', 1)}:active`, overall_stats: true });
  await db.collection('overall_stats').insertOne({ _id: '4', active_tvl: 500, total_tvl: 500, active_delegations: 1, total_delegations: 1, total_stakers: 1 });
  await client.close();
  await ingestJson(where, text([active(1, 1, 500), active(2, 1, 7)]));
  const { total_stakers: stakers, total_tvl: tvl } = await stakingJson(['stats', ...where]);
  assert.deepEqual([stakers, tvl], [1, 507]);
  assert.equal((await stakingJson(['audit', ...where])).ok, true);
});

test('reading does not change the number of logical shards', async () => {
  const where = ['--store', newStore()];
  await ingestJson([...where, '--logical-shard-count', '12'], text(await generate(50, 3)));
  for (const told of ['1', '40']) {
    assert.equal((await stakingJson(['stats', ...where, '--logical-shard-count', told])).logical_shard_count, 12);
  }
  assert.equal((await stakingJson(['shards', ...where])).logical_shard_count, 12);
});

test('delegations and refused messages are looked up, as JSON, as CSV and in pages', async () => {
  const where = ['--store', newStore()];
  const events = Array.from({ length: 9 }, (_, i) => ({ ...JSON.parse(active(i, i % 2, 10 + i)), timestamp: Date.UTC(2024, 0, 1 + i) / 1000 }));
  const file = join(directory, 'lookups.ndjson');
  await writeFile(file, text([...events.map((event) => JSON.stringify(event)), 'hello, "world"', active(3, 1, 99)]));
  await ingestJson([...where, file]);
  const rows = [];
  let after = [];
  do {
    const page = await stakingJson(['delegations', ...where, '--staker', hex('b', 1), '--limit', '3', ...after]);
    rows.push(...page.rows);
    after = page.next && ['--after', page.next];
  } while (after);
  assert.deepEqual(rows.map(({ staking_value: value }) => value), [11, 13, 15, 17]);
  const { rows: days } = await stakingJson(['delegations', ...where, '--from', '2024-01-03', '--to', '2024-01-05T00:00:00Z']);
  assert.deepEqual(days.map(({ staking_value: value }) => value), [12, 13]);
  const csv = await staking(['delegations', ...where, '--hash', hex('a', 2), '--csv']);
  assert.equal(csv.stdout, `_id,staker_pk_hex,finality_provider_pk_hex,staking_value,state,timestamp\n${hex('a', 2)},${hex('b', 0)},${hex('f', 1)},12,active,${events[2].timestamp}\n`);
  const { rows: bad } = await stakingJson(['unprocessable', ...where]);
  assert.deepEqual(bad.map(({ message, file: name, line }) => [message, name, line]), [['hello, "world"', file, 10]]);
  const { rows: conflicting } = await stakingJson(['unprocessable', '--conflicting', ...where]);
  assert.deepEqual(conflicting.map(({ line }) => line), [11]);
  const retried = await staking(['unprocessable', '--retry', '--json', ...where]);
  assert.equal(retried.status, 1);
  assert.deepEqual(JSON.parse(retried.stdout), { tried: 1, removed: 0, left: 1, accepted: 0 });
  for (const [args, hint] of [[['--from', 'yesterday'], /is not a time/], [['--csv', '--json'], /excludes/], [['--staker', 'zz'], /not a public key/]]) {
    const { status, stderr } = await staking(['delegations', ...where, ...args]);
    assert.equal(status, 2, args.join(' '));
    assert.match(stderr, hint);
  }
});

test('what reads works beside a running server, and where nothing may be written', async () => {
  const beside = ['--db', 'beside'];
  await ingestJson(['--store', server.uri, ...beside], text(await generate(200, 5)));
  const expected = await stakingJson(['stats', '--store', server.uri, ...beside]);
  assert.deepEqual(await stakingJson(['stats', '--store', server.store, ...beside]), expected);
  assert.equal((await stakingJson(['audit', '--store', server.store, ...beside])).ok, true);
  // A copy that belongs to another user, for a user with read permission only.
  const store = newStore();
  await ingestJson(['--store', store], text(await generate(200, 5)));
  const { total_tvl: tvl } = await stakingJson(['stats', '--store', store]);
  spawnSync('chmod', ['-R', 'a-w,a+rX', store]);
  spawnSync('chmod', ['a+rx', directory]);
  const as = process.getuid() === 0 ? { uid: 65534, gid: 65534 } : {};
  // Such a user may not be able to get at the checkout, in root's home for example.
  const program = join(directory, 'braid');
  await copyFile(binary, program);
  const run = (...args) => spawnSync(program, ['staking', ...args, '--store', store], { encoding: 'utf8', input: '', ...as });
  const read = run('stats', '--json');
  assert.equal(read.status, 0, read.stderr);
  assert.equal(JSON.parse(read.stdout).total_tvl, tvl);
  const written = run('ingest');
  assert.equal(written.status, 1);
  assert.match(written.stderr, /there is no permission to write to the directory/);
  spawnSync('chmod', ['-R', 'u+w', store]);
});
