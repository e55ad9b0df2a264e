// braid settlement, nothing skipped and nothing silently wrong: what is held back, refused, repeated, too long or not there at all.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { serve, temporary } from '../lib/fixture.mjs';
import { binary } from '../lib/server.mjs';
import { listen, message, stream } from './settlement_engine.mjs';

const directory = await temporary('braid-integrity-');
const { server, client } = await serve();

let databases = 0;
/** A database of the test's own, and the subcommands on it. */
function settlement() {
  const database = `integrity${++databases}`;
  const on = ['--store', server.uri, '-d', database];
  const run = (action, args = [], input = undefined) =>
    spawnSync(binary, ['settlement', ...action.split(' '), ...on, ...args], { input, encoding: 'utf8', maxBuffer: 1 << 28, timeout: 60_000 });
  const json = (action, args = [], input = undefined) => {
    const { status, stdout, stderr } = run(action, ['--json', ...args], input);
    assert.notEqual(stdout, '', stderr);
    return { status, stderr, ...JSON.parse(stdout) };
  };
  const ingest = (...lines) => json('ingest', ['-'], lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n') + '\n');
  return { database, on, run, json, ingest, db: client.db(database) };
}
const order = (symbol, seq, more = {}) => ({ output_seq: seq, input: {}, order_update: { order_id: seq, user_id: 1, symbol_id: symbol, status: 'NEW' }, ...more });
const trades = (seq, ...symbols) => ({
  output_seq: seq,
  input: {},
  trades: symbols.map((symbol) => ({ trade_id: seq, symbol_id: symbol, price: '1', qty: '1', buyer_id: 1, seller_id: 2 })),
});
const deposit = (seq, user, delta) => ({ output_seq: seq, input: {}, balance_events: [{ user_id: user, asset: 'USDT', delta, reason: 'deposit' }] });
const withoutStatus = (symbol, seq) => order(symbol, seq, { order_update: { order_id: seq, user_id: 1, symbol_id: symbol, status: '' } });
const outcomes = ({ accepted, duplicate, refused, halted }) => ({ accepted, duplicate, refused, halted });
const who = ['--by', 'a test', '--reason', 'because'];

test('an output that is held back holds back what follows it in every symbol it touches', () => {
  const { run, json, ingest } = settlement();
  const wrong = order(1, 3, { prev_hash: 'ee'.repeat(32) });
  const first = ingest(order(1, 1), order(2, 2), wrong, trades(4, 1, 2), order(2, 5));
  assert.deepEqual(outcomes(first), { accepted: 2, duplicate: 0, refused: 1, halted: 2 });
  const [one, two] = json('stats').symbols;
  assert.deepEqual([one.broken, two.broken, two.awaits[0].output_seq, two.awaits[0].held_by], [true, false, 4, 1]);
  const early = run('repair', ['--symbol', '2', ...who]);
  assert.equal(early.status, 1);
  assert.match(early.stderr, /chain 1 has to be repaired first/);
  assert.equal(run('repair', ['--symbol', '1', ...who]).status, 0);
  const again = ingest(order(1, 1), order(2, 2), order(1, 3), trades(4, 1, 2), order(2, 5));
  assert.deepEqual(outcomes(again), { accepted: 3, duplicate: 2, refused: 0, halted: 0 });
  assert.deepEqual([again.status, json('stats').halted, json('verify').ok], [0, 0, true]);
});

test('a refused output halts its symbol until it is corrected, and is kept with its reason, file and line', async () => {
  const { ingest, json, db } = settlement();
  const file = join(directory, 'refused.ndjson');
  await writeFile(file, [order(1, 1), withoutStatus(1, 2), order(1, 3)].map((line) => JSON.stringify(line)).join('\n') + '\n');
  const first = json('ingest', [file]);
  assert.equal(first.status, 1);
  assert.deepEqual(outcomes(first), { accepted: 1, duplicate: 0, refused: 1, halted: 1 });
  const kept = await db.collection('engine_output_log_refused').find().toArray();
  assert.deepEqual(
    kept.map(({ file: from, line, reason, output_seq, symbols }) => ({ from, line, reason, output_seq: Number(output_seq), symbols: symbols.map(Number) })),
    [{ from: file, line: 2, reason: 'order_update.status is empty', output_seq: 2, symbols: [1] }],
  );
  assert.equal(json('stats').refused, 1);
  const again = ingest(order(1, 1), order(1, 2), order(1, 3));
  assert.deepEqual(outcomes(again), { accepted: 2, duplicate: 1, refused: 0, halted: 0 });
  assert.deepEqual([again.status, json('verify').ok, json('stats').halted], [0, true, 0]);
});

test('a refused line is named as an editor numbers it, also behind empty lines', async () => {
  const { json, run, db } = settlement();
  const file = join(directory, 'empty_lines.ndjson');
  await writeFile(file, `\n${JSON.stringify(order(1, 1))}\n\r\n\n${JSON.stringify(withoutStatus(1, 2))}\n\njunk\n`);
  const { problems } = json('ingest', [file]);
  assert.deepEqual(problems.map(({ file: from, line, output_seq }) => [from, line, output_seq]), [[file, 5, 2], [file, 7, 0]]);
  const kept = await db.collection('engine_output_log_refused').find().sort({ line: 1 }).toArray();
  assert.deepEqual(kept.map(({ file: from, line }) => [from, line]), [[file, 5], [file, 7]]);
  assert.match(json('stats').symbols[0].halted_because, /empty_lines\.ndjson, line 5/);
  assert.match(run('ingest', [file]).stderr, /empty_lines\.ndjson: line 5: refused: order_update\.status is empty/);
});

test('a refused output is given up only for a reason that is kept', async () => {
  const { run, ingest, db } = settlement();
  ingest(withoutStatus(1, 1));
  assert.deepEqual(outcomes(ingest(order(1, 2))), { accepted: 0, duplicate: 0, refused: 0, halted: 1 });
  assert.equal(run('repair', ['--symbol', '1', ...who]).status, 1);
  assert.equal(run('repair', ['--symbol', '1', '--skip', ...who]).status, 0);
  const [{ action, reason, skipped }] = await db.collection('engine_output_log_repairs').find().toArray();
  assert.deepEqual([action, reason, skipped.map(Number)], ['skip', 'because', [1]]);
  assert.equal(ingest(order(1, 2)).status, 0);
});

test('a line of which nothing can be told ends the ingest; later files are not read', async () => {
  const { json, run } = settlement();
  const [bad, next] = [join(directory, 'bad.ndjson'), join(directory, 'next.ndjson')];
  await writeFile(bad, `${JSON.stringify(order(1, 1))}\njunk\n${JSON.stringify(order(2, 2))}\n`);
  await writeFile(next, `${JSON.stringify(order(3, 3))}\n`);
  const stopped = json('ingest', [bad, next]);
  assert.deepEqual([stopped.status, outcomes(stopped)], [1, { accepted: 1, duplicate: 0, refused: 1, halted: 1 }]);
  assert.match(stopped.stderr, /bad\.ndjson: line 2 is no output/);
  const skipped = run('ingest', ['--skip-refused', 'a test of the disk', bad, next]);
  assert.equal(skipped.status, 1, 'a line was refused');
  assert.match(skipped.stderr, /2 accepted, 1 duplicate, 1 refused, 0 halted/);
});

test('a line of which nothing can be told is not passed by a later ingest, until it is corrected or given up', async () => {
  for (const [line, sequence] of [['junk', undefined], [JSON.stringify(order('x', 2)), 2], [JSON.stringify(order(1, '2')), undefined]]) {
    const { database, ingest, json, run } = settlement();
    const file = join(directory, `${database}.ndjson`);
    const write = (...lines) => writeFile(file, lines.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n') + '\n');
    await write(order(1, 1), line, order(1, 3));
    assert.deepEqual(outcomes(json('ingest', [file])), { accepted: 1, duplicate: 0, refused: 1, halted: 1 });
    const [{ reason, ...place }] = json('stats').unplaced;
    assert.deepEqual(place, { file, line: 2, ...(sequence && { output_seq: sequence }) }, reason);
    assert.match(run('stats').stdout, /\.ndjson was refused, and of which symbol it is cannot be told/);
    // The rest of the file as another ingest: output 2 must not be skipped.
    assert.deepEqual(outcomes(ingest(order(1, 3))), { accepted: 0, duplicate: 0, refused: 0, halted: 1 });
    await write(order(1, 1), order(1, 2), order(1, 3));
    assert.deepEqual(outcomes(json('ingest', [file])), { accepted: 2, duplicate: 1, refused: 0, halted: 0 });
    assert.deepEqual([json('stats').unplaced, json('verify').ok], [[], true]);
  }
  const { ingest, json, run, db } = settlement();
  ingest(order(1, 1), 'junk');
  assert.equal(ingest(order(1, 3)).status, 1);
  assert.equal(run('repair', ['--unplaced']).status, 2, 'who and why are needed');
  assert.equal(run('repair', ['--unplaced', '--all', ...who]).status, 2);
  assert.deepEqual([json('repair', ['--unplaced', '--dry-run']).unplaced.length, json('stats').unplaced.length], [1, 1]);
  assert.equal(json('repair', ['--unplaced', ...who]).repaired, 1);
  const [{ action, reason, line }] = await db.collection('engine_output_log_repairs').find().toArray();
  assert.deepEqual([action, reason, Number(line)], ['skip_line', 'because', 2]);
  assert.equal(ingest(order(1, 3)).status, 0);
});

test('one sequence in several symbols is refused, and found by verify if several processes took it in', () => {
  const { ingest, json } = settlement();
  const all = [deposit(1, 7, '5'), order(1, 1), order(2, 1)];
  assert.deepEqual(outcomes(ingest(...all)), { accepted: 1, duplicate: 0, refused: 2, halted: 0 });
  const apart = settlement();
  for (const output of all) assert.equal(apart.ingest(output).accepted, 1);
  const verified = apart.json('verify');
  assert.deepEqual([verified.status, verified.ok, verified.damage.map(({ symbol_id, output_seq }) => [symbol_id, output_seq])], [1, false, [[1, 1], [2, 1]]]);
  assert.match(verified.damage[0].what, /sequences are unique/);
  assert.equal(json('verify').ok, true);
});

test('a balance of more than 34 digits is exact, and nobody else waits for it', async () => {
  const { ingest, run, json, db } = settlement();
  const nines = '9'.repeat(34);
  ingest(deposit(1, 7, nines), deposit(2, 7, '0.1'), deposit(3, 8, '1'));
  const followed = json('follow', ['--once']);
  assert.deepEqual([followed.status, followed.ok], [0, true], followed.stderr);
  const balances = async (collection) => Object.fromEntries((await db.collection(collection).find().toArray()).map(({ _id, balance }) => [_id, String(balance)]));
  assert.deepEqual(await balances('balances'), { '7:USDT': `${nines}.1`, '8:USDT': '1' });
  assert.equal(run('recover', ['--rebuild', '--check']).status, 0);
  ingest(deposit(4, 7, `-${nines}`));
  assert.equal(json('follow', ['--once']).status, 0);
  assert.equal(run('recover', ['--check']).status, 0);
});

test('a view that is stuck says why in stats', async () => {
  const { ingest, json, db } = settlement();
  ingest(deposit(1, 7, '1'));
  json('follow', ['--once']);
  await db.collection('balances').updateOne({ _id: '7:USDT' }, { $set: { balance: 'much' } });
  ingest(deposit(2, 7, '1'));
  const { status } = json('follow', ['--once']);
  const stuck = json('stats').views.find(({ view }) => view === 'balances').stuck;
  assert.deepEqual([status, /user 7 in USDT after output 2/.test(stuck)], [1, true], stuck);
});

test('nothing is taken in beside a migration', () => {
  const { ingest, run, json } = settlement();
  assert.equal(run('migrate generate', ['--outputs', '50']).status, 0);
  assert.equal(run('migrate run').status, 0);
  const refused = run('ingest', ['-'], `${JSON.stringify(order(1, 1000))}\n`);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /a migration from engine_output_log_single to engine_output_log is under way \(phase verified\)/);
  assert.equal(run('migrate write', ['--outputs', '20']).status, 0);
  assert.equal(run('migrate switch').status, 0);
  assert.equal(run('migrate drop', ['--yes']).status, 0);
  assert.equal(ingest(order(1, 1000)).status, 0);
  assert.equal(json('verify').ok, true);
});

test('a log that is not there is an error, and is not made', async () => {
  const { ingest, run, db } = settlement();
  for (const [action, ...args] of [['verify'], ['stats'], ['records'], ['recover'], ['repair', '--symbol', '1', ...who], ['migrate status']]) {
    const { status, stderr } = run(action, args);
    const why = action === 'migrate status' ? /has no migration/ : /there is no log engine_output_log in the database/;
    assert.deepEqual([status, why.test(stderr)], [1, true], `${action}: ${stderr}`);
  }
  assert.deepEqual(await db.listCollections().toArray(), []);
  ingest(order(1, 1));
  assert.equal(run('verify').status, 0);
  assert.equal(run('verify', ['--log', 'nosuch']).status, 1);
  const typo = join(directory, 'typo');
  for (const action of ['verify', 'stats', 'records', 'recover']) {
    assert.equal(spawnSync(binary, ['settlement', action, '--store', typo]).status, 1, action);
  }
  assert.equal(existsSync(typo), false);
});

test('an ingest that listens says what it refused, and does not exit with 0', async () => {
  const { on, json } = settlement();
  const listener = await listen(on);
  const replies = await stream(listener.port, Buffer.concat([order(1, 1), withoutStatus(1, 2), order(1, 3)].map((each) => message(JSON.stringify(each)))));
  assert.deepEqual(replies.map(({ outcome }) => outcome), [0, 2, 3]);
  const { code, stderr } = await listener.stop();
  assert.equal(code, 1, stderr);
  assert.match(stderr, /connection 127\.0\.0\.1:\d+: line 2: refused: order_update\.status is empty/);
  assert.equal(json('stats').refused, 1);
});

test('repair --all mends what is broken; a dry run says what would be accepted and what comes first', async () => {
  const { run, json, ingest, db } = settlement();
  const wrong = (symbol, seq) => order(symbol, seq, { prev_hash: 'ee'.repeat(32) });
  ingest(order(1, 1), order(2, 2), order(3, 3), wrong(1, 4), wrong(3, 5), trades(6, 1, 2));
  const dry = json('repair', ['--all', '--dry-run']);
  assert.deepEqual(
    dry.symbols.map(({ symbol_id, action, accepts_after, awaits, repair_first }) => [symbol_id, action, accepts_after, awaits, repair_first]),
    [
      [1, 'resume', 1, 6, 1],
      [2, 'wait', 2, 6, 1],
      [3, 'resume', 3, undefined, undefined],
    ],
  );
  assert.deepEqual([dry.repaired, json('stats').halted, await db.collection('engine_output_log_repairs').countDocuments()], [0, 3, 0]);
  assert.match(run('repair', ['--symbol', '2', '--dry-run']).stdout, /symbol 2: waits for output 6: repair symbol 1 first/);
  assert.equal(run('repair', ['--all']).status, 2, 'who and why are needed');
  assert.equal(json('repair', ['--all', ...who]).repaired, 2);
  assert.equal(ingest(order(1, 4), order(3, 5), trades(6, 1, 2), order(2, 7)).status, 0);
  assert.equal(json('stats').halted, 0);
});

test('balances, trades and orders are looked up a page at a time', () => {
  const { ingest, run, json } = settlement();
  const missing = run('balances');
  assert.deepEqual([missing.status, /there is no view balances/.test(missing.stderr)], [1, true], missing.stderr);
  const outputs = [];
  for (let seq = 1; seq <= 30; ++seq) outputs.push({ ...trades(seq, 1 + (seq % 2)), ...deposit(seq, `u${seq % 5}`, '1.50'), order_update: order(1 + (seq % 2), seq).order_update });
  ingest(...outputs);
  assert.equal(run('follow', ['--once']).status, 0);
  const { at, ...balance } = json('balances', ['--user', 'u3']).balances[0];
  assert.deepEqual(balance, { user_id: 'u3', asset: 'USDT', balance: '9', output_seq: 28 });
  assert.match(at, /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(run('balances', ['--csv']).stdout.replace(/,at$|,20[^,]*Z$/gm, ''), `user_id,asset,balance,output_seq\n${[30, 26, 27, 28, 29].map((seq, i) => `u${i},USDT,9,${seq}\n`).join('')}`);
  for (const [view, filter] of [['trades', ['--symbol', '2']], ['trades', []], ['orders', ['--user', '1']], ['orders', ['--symbol', '1']]]) {
    const all = json(view, [...filter, '--limit', '1000'])[view];
    assert.equal(all.length, filter[0] === '--symbol' ? 15 : 30);
    const paged = [];
    for (let after = []; ; ) {
      const page = json(view, [...filter, '--limit', '4', ...after]);
      paged.push(...page[view]);
      if (page.next === undefined) break;
      after = ['--after', page.next];
    }
    assert.deepEqual(paged, all, `${view} ${filter}`);
  }
  assert.equal(json('trades', ['--user', '2']).trades.length, 30);
  assert.equal(json('orders', ['--status', 'FILLED']).orders.length, 0);
  assert.equal(run('orders', ['--after', 'nonsense']).status, 2);
});

test('look-ups take the times when the log stored the outputs', () => {
  const { ingest, run, json } = settlement();
  ingest(order(1, 1), order(2, 2), deposit(3, 7, '1'));
  ingest(order(1, 4), order(3, 5), deposit(6, 8, '1'));
  json('follow', ['--once']);
  const sequences = (view, ...filter) => json(view, filter)[view].map(({ output_seq }) => output_seq).sort();
  const rows = [...json('orders').orders, ...json('balances').balances];
  const [later] = rows.filter(({ output_seq }) => output_seq >= 4).map(({ at }) => at).sort();
  for (const [view, before, after] of [['orders', [1, 2], [4, 5]], ['balances', [3], [6]]]) {
    assert.deepEqual(sequences(view, '--to', later), before, view);
    assert.deepEqual(sequences(view, '--from', later), after, view);
    assert.deepEqual(sequences(view, '--from', '2000-01-01', '--to', '2000-01-02'), [], view);
    assert.deepEqual(sequences(view, '--from', '2000-01-01').length, before.length + after.length, view);
  }
  assert.equal(run('orders', ['--from', 'soon']).status, 2);
  const names = json('recover', ['--rebuild', '--check']) && json('stats').views.map(({ view, collection, generation }) => [view, collection, generation]);
  assert.deepEqual(names, [['balances', 'balances', 2], ['trades', 'trades', 2], ['orders', 'orders', 2]]);
  assert.deepEqual(sequences('orders', '--from', later), [4, 5]);
});
