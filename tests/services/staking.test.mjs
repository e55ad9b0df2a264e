// braid staking as its users see it: on a directory, on a server of its own, and on what BRAID_TEST_STORE names.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { startServer } from '../lib/server.mjs';
import { Model, byRank, expectModel, generate, ingestJson, staking, stakingJson, start } from './staking_model.mjs';

let directory;
let server;
let databases = 0;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'braid-staking-'));
  server = await startServer();
});
after(async () => {
  await server?.stop();
  if (directory) await rm(directory, { recursive: true, force: true });
});

/** --store and --db of something new and empty. */
const places = {
  directory: () => ['--store', join(directory, `store${++databases}`)],
  server: () => ['--store', server.uri, '--db', `staking${++databases}`],
  ...(process.env.BRAID_TEST_STORE && { given: () => ['--store', process.env.BRAID_TEST_STORE, '--db', `braid_test_${Date.now()}_${++databases}`] }),
};
const text = (lines) => lines.join('\n') + '\n';

for (const [kind, place] of Object.entries(places)) {
  test(`${kind}: what is generated and ingested are the model's totals, and again changes nothing`, async () => {
    const where = place();
    const lines = await generate(3000, 7, '--duplicates', '10', '--early', '30', '--stakers', '300', '--finality-providers', '9');
    const model = new Model();
    model.add(lines);
    const first = await stakingJson(['ingest', ...where], text(lines));
    assert.equal(first.accepted + first.duplicate + first.parked, lines.length);
    assert.equal(first.rejected, 0);
    await expectModel(where, model);
    const file = join(directory, 'again.ndjson.gz');
    await writeFile(file, gzipSync(text(lines)));
    const again = await stakingJson(['ingest', ...where, file]);
    assert.deepEqual([again.accepted, again.duplicate, again.parked, again.released], [0, lines.length, 0, 0]);
    await expectModel(where, model);
  });

  test(`${kind}: the ranking in pages, and single entities`, async () => {
    const where = place();
    const model = new Model();
    const lines = await generate(400, 3, '--stakers', '25', '--finality-providers', '11');
    model.add(lines);
    await stakingJson(['ingest', ...where, '-'], text(lines));
    for (const [rank, key, option, expected] of [['finality-providers', 'finality_provider_pk_hex', '--finality-provider', model.providers], ['stakers', 'staker_pk_hex', '--staker', model.stakers]]) {
      const rows = [];
      let after = [];
      do {
        const page = await stakingJson(['stats', ...where, '--rank', rank, '--limit', '7', ...after]);
        rows.push(...page.rows);
        after = page.next && ['--after', page.next];
      } while (after);
      const sorted = [...expected].sort(byRank).map(([name, sums]) => ({ [key]: name, ...sums }));
      assert.deepEqual(rows, sorted);
      assert.deepEqual(await stakingJson(['stats', ...where, option, sorted[0][key]]), sorted[0]);
      const unknown = await stakingJson(['stats', ...where, option, '00'.repeat(32)]);
      assert.deepEqual(unknown, { [key]: '00'.repeat(32), active_tvl: 0, total_tvl: 0, active_delegations: 0, total_delegations: 0 });
    }
  });

  test(`${kind}: bad lines are kept and cost only themselves`, async () => {
    const where = place();
    const lines = await generate(50, 4);
    const mixed = [...lines.slice(0, 20), 'hello', '[]', ...lines.slice(20), 'hello'];
    const { status, stdout, stderr } = await staking(['ingest', ...where, '--json'], text(mixed));
    assert.equal(status, 1, stderr);
    assert.equal(JSON.parse(stdout).rejected, 3);
    assert.match(stderr, /standard input, line 21: not valid JSON/);
    assert.match(stderr, /standard input, line 22: not a JSON object/);
    assert.match(stderr, /3 rejected: they are in .*unprocessable_messages, with the reason/);
    const model = new Model();
    model.add(mixed);
    await expectModel(where, model);
  });

  test(`${kind}: the number of logical shards is raised and never lowered`, async () => {
    const where = place();
    const lines = await generate(100, 5);
    await stakingJson(['ingest', ...where, '--logical-shard-count', '4'], text(lines));
    assert.equal((await stakingJson(['shards', ...where])).logical_shard_count, 4);
    await stakingJson(['ingest', ...where, '--logical-shard-count', '15'], text(lines));
    const { logical_shard_count: count, shards } = await stakingJson(['shards', ...where]);
    assert.equal(count, 15);
    assert.deepEqual(shards.map(({ shard }) => shard), Array.from({ length: 15 }, (_, i) => String(i)));
    const { total_delegations: total } = await stakingJson(['stats', ...where]);
    assert.equal(shards.reduce((sum, shard) => sum + shard.total_delegations, 0), total);
    for (const action of ['ingest', 'backfill']) {
      const refused = await staking([action, ...where, '--logical-shard-count', '14'], '');
      assert.equal(refused.status, 1);
      assert.match(refused.stderr, /15 logical shards, and the number can only be raised: 14 would leave shards out .* Use 15 or more/s);
    }
    // Reading covers what the store has, whatever it is told, and raises nothing (A3).
    for (const action of ['stats', 'audit', 'shards']) {
      for (const told of ['14', '40']) await stakingJson([action, ...where, '--logical-shard-count', told]);
    }
    assert.equal((await stakingJson(['stats', ...where, '--logical-shard-count', '4'])).logical_shard_count, 15);
    const model = new Model();
    model.add(lines);
    await expectModel(where, model);
  });

  test(`${kind}: nothing there yet`, async () => {
    const where = place();
    const { accepted, duplicate, parked, rejected } = await stakingJson(['ingest', ...where], '\n \r\n\n');
    assert.deepEqual([accepted, duplicate, parked, rejected], [0, 0, 0, 0]);
    await expectModel(where, new Model());
    assert.deepEqual(await stakingJson(['backfill', ...where]), { keys: 0, filled: 0 });
  });
}

test('several processes at once on one server, while N is raised', async () => {
  const where = places.server();
  const lines = await generate(6000, 11, '--duplicates', '20', '--early', '50', '--stakers', '100', '--finality-providers', '3');
  const model = new Model();
  model.add(lines);
  const running = [0, 1, 2, 3].map((i) => {
    // Overlapping halves, so that the processes meet at the same events, stakers and finality providers.
    const half = [...lines.slice(i * 1500), ...lines.slice(0, i * 1500)].slice(0, 3000);
    return stakingJson(['ingest', ...where, '--batch', '100'], text(half));
  });
  for (const n of [11, 30, 64]) await ingestJson([...where, '--logical-shard-count', String(n)], '');
  const audit = await stakingJson(['audit', ...where]);
  assert.equal(audit.ok, true);
  const outcomes = await Promise.all(running);
  assert.equal(outcomes.reduce((sum, one) => sum + one.accepted + one.duplicate + one.parked, 0), 12_000);
  await expectModel(where, model);
  assert.equal((await stakingJson(['stats', ...where])).logical_shard_count, 64);
});

test('a pipe that delivers in pieces is taken in as it comes', async () => {
  const where = places.server();
  const lines = await generate(3, 21, '--unbonded', '0');
  await ingestJson(where, '');
  const slow = start(['ingest', ...where, '--json'], null);
  slow.child.stdin.write(lines[0] + '\n' + lines[1].slice(0, 30));
  // The first line counts while the second is still on its way.
  const deadline = Date.now() + 20_000;
  while ((await stakingJson(['stats', ...where])).total_delegations < 1) assert.ok(Date.now() < deadline);
  slow.child.stdin.end(lines[1].slice(30) + '\r\n' + lines[2]);
  const { status, stdout } = await slow.ended;
  assert.equal(status, 0);
  assert.equal(JSON.parse(stdout).accepted, 3);
});

test('damage is named, repaired when asked, and then gone', async () => {
  const where = places.server();
  const lines = await generate(100, 31);
  const model = new Model();
  model.add(lines);
  await stakingJson(['ingest', ...where], text(lines));
  const { MongoClient } = await import('mongodb');
  const client = await new MongoClient(server.uri).connect();
  const db = client.db(where[3]);
  await db.collection('overall_stats').updateOne({ _id: '0' }, { $inc: { active_tvl: 5 } }, { upsert: true });
  await client.close();
  const found = await staking(['audit', ...where, '--json']);
  assert.equal(found.status, 1);
  const report = JSON.parse(found.stdout);
  const { active_tvl: tvl } = model.overall;
  assert.equal(report.ok, false);
  assert.deepEqual(report.differences, [{ collection: 'overall_stats', id: '', field: 'active_tvl', expected: tvl, found: tvl + 5 }]);
  assert.match(found.stderr, /--repair/);
  const words = await staking(['audit', ...where]);
  assert.match(words.stdout, /^overall_stats \(all\): active_tvl is \d+, the delegations say \d+$/m);
  const repaired = await staking(['audit', ...where, '--repair', '--json']);
  assert.equal(repaired.status, 1);
  assert.equal(JSON.parse(repaired.stdout).repaired, 1);
  await expectModel(where, model);
});

test('mistakes are answered with what to do', async () => {
  const where = places.server();
  const taken = await staking(['ingest', '--store', server.store], '');
  assert.equal(taken.status, 1);
  assert.match(taken.stderr, /in use by another process \(pid \d+\).*--store mongodb:\/\//s);
  for (const [args, hint] of [
    [['ingest', ...where, join(directory, 'no such file')], /cannot read .*no such file: No such file or directory/],
    [['ingest', ...where, directory], /directory/],
    [['stats', '--store', 'mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200'], /127\.0\.0\.1:1/],
    [['stats', ...where, '--rank', 'whales'], /finality-providers/],
    [['stats', ...where, '--rank', 'stakers', '--after', 'x'], /`next`/],
    [['stats', ...where, '--limit', '5'], /--rank/],
    [['ingest', ...where, '--logical-shard-count', '0'], /range 1 to 10000/],
    [['ingest', ...where, '--batch', '20001'], /20000/],
    [[], /A subcommand is required\nRun with --help/],
  ]) {
    const { status, stdout, stderr } = await staking(args, '');
    assert.notEqual(status, 0, args.join(' '));
    assert.match(stderr + stdout, hint, args.join(' '));
  }
});

test('every subcommand explains itself', async () => {
  for (const [action, option] of [['ingest', '--workers'], ['stats', '--rank'], ['audit', '--repair'], ['shards', '--json'], ['backfill', '--store'], ['generate', '--seed']]) {
    const { status, stdout } = await staking([action, '--help']);
    assert.equal(status, 0);
    assert.ok(stdout.includes(option) && stdout.includes(`Usage: braid staking ${action}`), stdout);
    assert.ok((await staking(['--help'])).stdout.includes(action));
  }
});

test('the same seed makes the same events', async () => {
  assert.deepEqual(await generate(200, 9), await generate(200, 9));
  assert.notDeepEqual(await generate(200, 9), await generate(200, 10));
});

test('interrupted, it ends after what it was doing and says so', async () => {
  const where = places.server();
  await ingestJson(where, '');
  const { child, ended } = start(['ingest', ...where], null);
  const [line] = await generate(1, 41);
  child.stdin.write(line + '\n');
  const deadline = Date.now() + 20_000;
  while ((await stakingJson(['stats', ...where])).total_delegations < 1) assert.ok(Date.now() < deadline);
  child.kill('SIGINT');
  // It waits for a line: the next one, or the end, lets it see the signal.
  child.stdin.end();
  const { status, stderr } = await ended;
  assert.notEqual(status, 0);
  assert.match(stderr, /interrupted\n1 accepted/);
});
