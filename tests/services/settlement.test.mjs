// braid settlement as a program: outputs in, chains that verify, and what happens when something is wrong with them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { serve, temporary } from '../lib/fixture.mjs';
import { binary } from '../lib/server.mjs';
import { listen, message, stream } from './settlement_engine.mjs';

const directory = await temporary('braid-settlement-');
const { server, client } = await serve();

let databases = 0;
/** A database of the test's own, and the subcommands on it. */
function settlement() {
  const database = `settlement${++databases}`;
  const on = ['--store', server.uri, '-d', database];
  const run = (action, args = [], input = undefined) => {
    const { status, stdout, stderr } = spawnSync(binary, ['settlement', action, ...on, ...args], { input, encoding: 'utf8', maxBuffer: 1 << 28 });
    return { status, stdout, stderr };
  };
  const json = (action, args = [], input = undefined) => {
    const { status, stdout, stderr } = run(action, ['--json', ...args], input);
    assert.notEqual(stdout, '', stderr);
    return { status, stderr, ...JSON.parse(stdout) };
  };
  return { database, on, run, json, db: client.db(database) };
}

function offline(action, args) {
  const { status, stdout, stderr } = spawnSync(binary, ['settlement', action, ...args], { encoding: 'utf8', maxBuffer: 1 << 28 });
  assert.equal(status, 0, stderr);
  return stdout;
}
const generate = (...args) => offline('generate', args).split('\n').filter(Boolean);
const order = (symbol, seq, more = {}) =>
  JSON.stringify({ output_seq: seq, input: {}, order_update: { order_id: seq, user_id: 1, symbol_id: symbol, status: 'NEW' }, ...more });
const text = (lines) => lines.join('\n') + '\n';

test('outputs are stored once, however often they are taken in', async () => {
  const { run, json, db } = settlement();
  const lines = generate('--outputs', '3000', '--symbols', '6', '--hot', '60', '--cross', '10', '--seed', '5');
  const file = join(directory, 'outputs.ndjson');
  await writeFile(file, text(lines));
  const first = json('ingest', [file]);
  assert.equal(first.status, 0, first.stderr);
  assert.equal(first.accepted, 3000);
  assert.ok(first.seconds > 0);
  assert.equal(first.writers.reduce((sum, writer) => sum + writer.records, 0), 3000);
  const before = await db.collection('engine_output_log').countDocuments();
  const second = json('ingest', ['-'], text(lines));
  assert.equal(second.status, 0, second.stderr);
  assert.deepEqual([second.accepted, second.duplicate], [0, 3000]);
  assert.equal(await db.collection('engine_output_log').countDocuments(), before);
  const stats = json('stats');
  assert.equal(stats.output_seq, 3000);
  assert.equal(stats.halted, 0);
  // Every output counts once for each symbol that its trades touch, or for its order's, or for 0.
  const expected = new Map();
  for (const line of lines.map((each) => JSON.parse(each))) {
    const symbols = line.trades.length > 0 ? line.trades.map((trade) => trade.symbol_id) : [line.order_update?.symbol_id ?? 0];
    for (const symbol of new Set(symbols)) expected.set(symbol, (expected.get(symbol) ?? 0) + 1);
  }
  assert.deepEqual(new Map(stats.symbols.map((symbol) => [symbol.symbol_id, symbol.records])), new Map([...expected].sort(([a], [b]) => a - b)));
  const verified = json('verify');
  assert.deepEqual([verified.status, verified.ok, verified.records, verified.damage], [0, true, stats.records, []]);
  assert.match(run('verify').stdout, /every chain is as it was written/);
});

test('records are printed with their fields, of one symbol or of all in the order of outputs', () => {
  const { run, json } = settlement();
  const lines = generate('--outputs', '400', '--symbols', '4', '--cross', '20', '--seed', '11').map((line) => JSON.parse(line));
  const start = Date.now();
  assert.equal(json('ingest', ['-'], text(lines.map((line) => JSON.stringify(line)))).accepted, 400);
  const records = (...args) => {
    const { status, stdout, stderr } = run('records', args);
    assert.equal(status, 0, stderr);
    return stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  };
  const symbolsOf = ({ trades, symbol_id }) => [...new Set(trades.length > 0 ? trades.map((trade) => trade.symbol_id) : [symbol_id])].sort((a, b) => a - b);
  const newest = new Map();
  for (const symbol of [0, 1, 2, 3, 4]) {
    const own = lines.filter((line) => symbolsOf(line).includes(symbol));
    const printed = records('--symbol', String(symbol));
    assert.deepEqual(printed.map(({ output_seq }) => output_seq), own.map(({ output_seq }) => output_seq));
    printed.forEach((record, i) => {
      const { input, order_update, trades, balance_events } = own[i];
      assert.deepEqual(Object.keys(record).slice(0, 7), ['symbol_id', 'output_seq', 'prev_hash', 'hash', 'input_data', 'output_data', 'created_at']);
      assert.deepEqual([record.symbol_id, record.input_data, record.output_data], [symbol, input, { order_update, trades, balance_events }]);
      assert.equal(record.prev_hash, newest.get(symbol) ?? '0'.repeat(64));
      assert.match(record.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.ok(Date.parse(record.created_at) >= start && Date.parse(record.created_at) <= Date.now(), record.created_at);
      const others = symbolsOf(own[i]).filter((other) => other !== symbol);
      assert.deepEqual(record.also, others.length > 0 ? others : undefined);
      newest.set(symbol, record.hash);
    });
  }
  for (const { symbol_id, hash } of json('stats').symbols) assert.equal(newest.get(symbol_id), hash);
  const all = records();
  assert.deepEqual(all.map(({ output_seq }) => output_seq), lines.map(({ output_seq }) => output_seq));
  assert.deepEqual(records('--from', '100', '--to', '120'), all.slice(99, 120));
  assert.deepEqual(records('--from', '399', '--limit', '10'), all.slice(398));
  assert.deepEqual(records('--symbol', '2', '--from', '50', '--limit', '3'), records('--symbol', '2').filter(({ output_seq }) => output_seq >= 50).slice(0, 3));
  assert.deepEqual(records('--symbol', '77'), []);
  assert.deepEqual(json('records', ['--to', '5']).records, all.slice(0, 5));
  assert.deepEqual(json('records', ['--symbol', '77']).records, []);
});

test('made-up outputs give and take the same of every asset', () => {
  const lines = generate('--outputs', '500', '--seed', '9');
  assert.deepEqual(lines, generate('--outputs', '500', '--seed', '9'));
  assert.notDeepEqual(lines, generate('--outputs', '500', '--seed', '10'));
  for (const line of lines) {
    const sums = {};
    for (const { asset, delta } of JSON.parse(line).balance_events) {
      const [whole, fraction = ''] = delta.replace('-', '').split('.');
      const units = BigInt(whole + fraction.padEnd(8, '0'));
      sums[asset] = (sums[asset] ?? 0n) + (delta.startsWith('-') ? -units : units);
    }
    for (const [asset, sum] of Object.entries(sums)) assert.equal(sum, 0n, `${asset} in ${line}`);
  }
});

test('numbers and files that are too large are refused', () => {
  const failing = (code, ...args) => {
    const { status, stderr } = spawnSync(binary, ['settlement', ...args], { encoding: 'utf8', timeout: 60_000 });
    assert.equal(status, code, stderr);
    return stderr;
  };
  assert.match(failing(2, 'generate', '--first', '9223372036854775805', '--outputs', '3'), /only 2 numbers/);
  assert.equal(generate('--first', '9223372036854775805', '--outputs', '2').length, 2);
  const key = join(directory, 'large.pem');
  const publicKey = join(directory, 'large.pub');
  offline('keygen', ['--key', key, '--public-key', publicKey]);
  assert.match(failing(1, 'check-proof', '/dev/zero', '--public-key', publicKey), /has more than 134217728 bytes/);
  assert.match(failing(1, 'check-proof', directory, '--public-key', publicKey), /cannot read/);
});

test('a bad line is refused with its number and reason, and the rest goes on', () => {
  const { json } = settlement();
  const result = json('ingest', ['-'], text([order(1, 1), '{"output_seq":2}', order(1, 3), 'junk', order(1, 5, { symbol_id: 9 })]));
  assert.equal(result.status, 1);
  assert.deepEqual([result.accepted, result.refused], [2, 3]);
  assert.deepEqual(
    result.problems.map(({ line, outcome, reason }) => [line, outcome, reason.split(':')[0]]),
    [
      [2, 'refused', 'input is missing'],
      [4, 'refused', 'not valid JSON'],
      [5, 'refused', 'symbol_id is 9, but the output is of symbol 1'],
    ],
  );
  assert.match(result.stderr, /^line 2: refused: input is missing$/m);
});

test('a wrong prev_hash halts its symbol, the others go on, and repair lets it go on', () => {
  const { json, run } = settlement();
  const wrong = order(1, 3, { prev_hash: 'ee'.repeat(32) });
  const result = json('ingest', ['-'], text([order(1, 1), order(2, 2), wrong, order(1, 4), order(2, 5)]));
  assert.equal(result.status, 1);
  assert.deepEqual([result.accepted, result.refused, result.halted], [3, 1, 1]);
  const stats = json('stats');
  const [one, two] = stats.symbols;
  assert.deepEqual([one.halted, one.output_seq, two.halted, two.output_seq], [true, 1, false, 5]);
  assert.ok(one.halted_because.includes('ee'.repeat(32)) && one.halted_because.includes(one.hash), one.halted_because);
  assert.notEqual(run('repair', ['--symbol', '1', '--by', 'me']).status, 0, 'a reason is needed');
  assert.equal(json('repair', ['--symbol', '1', '--by', 'me', '--reason', 'the engine was wrong']).ok, true);
  const again = json('ingest', ['-'], text([order(1, 3, { prev_hash: one.hash }), order(1, 4)]));
  assert.deepEqual([again.status, again.accepted], [0, 2], again.stderr);
  assert.equal(json('verify').ok, true);
});

test('a changed byte is found, and the symbol and output are named', async () => {
  const { json, run, db } = settlement();
  assert.equal(json('ingest', ['--batch', '20', '-'], text(generate('--outputs', '400', '--symbols', '3', '--seed', '2'))).accepted, 400);
  const log = db.collection('engine_output_log');
  const segments = await log.find({ symbol_id: 2 }).sort({ last_seq: 1 }).toArray();
  const segment = segments[Math.floor(segments.length / 2)];
  const data = Buffer.from(segment.data.buffer);
  data[36] ^= 1; // the first record's hash
  await log.updateOne({ _id: segment._id }, { $set: { data } });
  const verified = json('verify');
  assert.equal(verified.status, 1);
  assert.equal(verified.ok, false);
  assert.deepEqual([verified.damage[0].symbol_id, verified.damage[0].output_seq], [2, Number(segment.first_seq)], JSON.stringify(verified.damage));
  assert.ok(verified.damage.every(({ symbol_id }) => symbol_id === 2));
  assert.equal(json('verify', ['--symbol', '1', '--symbol', '3']).ok, true);
  const unknown = run('verify', ['--symbol', '1', '--symbol', '99']);
  assert.deepEqual([unknown.status, /the log has no symbol 99/.test(unknown.stderr)], [1, true], unknown.stderr);
});

test('a checkpoint shows that history was rewritten although every hash is right, and proves outputs offline', async () => {
  const { json, run, db } = settlement();
  const key = join(directory, 'key.pem');
  const publicKey = join(directory, 'key.pub');
  const checkpoint = join(directory, 'checkpoint.json');
  const proof = join(directory, 'proof.json');
  offline('keygen', ['--key', key, '--public-key', publicKey]);
  const lines = generate('--outputs', '300', '--symbols', '3', '--seed', '4');
  json('ingest', ['-'], text(lines));
  const signed = json('checkpoint', ['--key', key, '--to', checkpoint]);
  assert.deepEqual([signed.status, signed.output_seq], [0, 300], signed.stderr);
  assert.equal(json('checkpoint', ['--list']).checkpoints.length, 1);
  assert.equal(await db.collection('engine_output_log_checkpoints').countDocuments(), 1);
  const compare = ['--checkpoint', checkpoint, '--public-key', publicKey];
  json('ingest', ['-'], text([order(2, 301)]));
  assert.equal(json('verify', compare).ok, true, 'what came after the checkpoint is not its matter');

  const proven = lines.map((line) => JSON.parse(line)).find((line) => line.symbol_id === 1);
  assert.equal(json('prove', ['--symbol', '1', '--seq', String(proven.output_seq), '--to', proof]).status, 0);
  const checked = JSON.parse(offline('check-proof', [proof, '--public-key', publicKey, '--json']));
  assert.equal(checked.ok, true);
  assert.deepEqual(JSON.parse(checked.payload), proven);
  const forged = (await readFile(proof, 'utf8')).replace(/"payload":"../, (found) => `${found.slice(0, -2)}00`);
  await writeFile(proof, forged);
  assert.notEqual(spawnSync(binary, ['settlement', 'check-proof', proof, '--public-key', publicKey]).status, 0);

  for (const name of ['engine_output_log', 'engine_output_log_heads']) await db.collection(name).deleteMany({});
  const rewritten = JSON.parse(lines[10]);
  rewritten.input.forged = true;
  assert.equal(json('ingest', ['-'], text(lines.map((line, i) => (i === 10 ? JSON.stringify(rewritten) : line)))).accepted, 300);
  assert.equal(json('verify').ok, true, 'the hashes alone cannot tell');
  const verified = json('verify', compare);
  assert.deepEqual([verified.status, verified.ok, verified.damage.length], [1, false, 1]);
  assert.equal(verified.damage[0].symbol_id, rewritten.symbol_id);
  assert.match(verified.damage[0].what, /history was changed after the checkpoint/);
  assert.match(run('verify', compare).stdout, /history was changed after the checkpoint/);
});

test('a checkpoint that the store has not taken durably is not written to its file', async () => {
  const { json, database, db } = settlement();
  const key = join(directory, 'careful.pem');
  const to = join(directory, 'careful.json');
  offline('keygen', ['--key', key, '--public-key', join(directory, 'careful.pub')]);
  json('ingest', ['-'], text(generate('--outputs', '20', '--symbols', '2', '--seed', '8')));
  const checkpoints = 'engine_output_log_checkpoints';
  await db.createCollection(checkpoints, { validator: { sequence: { $lt: 0 } } });
  // Over such a connection writes are not answered: a checkpoint is waited for all the same.
  const unacknowledged = server.uri + (server.uri.includes('?') ? '&' : '/?') + 'w=0';
  const checkpoint = () => spawnSync(binary, ['settlement', 'checkpoint', '--store', unacknowledged, '-d', database, '--key', key, '--to', to], { encoding: 'utf8' });
  const refused = checkpoint();
  assert.notEqual(refused.status, 0, refused.stdout);
  assert.match(refused.stderr, /validation/);
  await assert.rejects(readFile(to), { code: 'ENOENT' });
  await db.command({ collMod: checkpoints, validator: {} });
  const signed = checkpoint();
  assert.equal(signed.status, 0, signed.stderr);
  assert.notEqual(await readFile(to, 'utf8'), '');
  assert.equal(await db.collection(checkpoints).countDocuments(), 1);
});

test('engines stream outputs over TCP and get a reply to each, in order', async () => {
  const { on, json } = settlement();
  const listener = await listen(on);
  const lines = generate('--outputs', '2000', '--symbols', '4', '--seed', '6');
  const half = message(lines[1999]);
  const sent = Buffer.concat([...lines.slice(0, 1000).map(message), message('{"output_seq":7}'), ...lines.slice(1000, 1999).map(message), half.subarray(0, 30)]);
  const replies = await stream(listener.port, sent);
  assert.equal(replies.length, 2000);
  assert.deepEqual(replies[1000], { sequence: 0, outcome: 2, reason: 'input is missing' });
  replies.splice(1000, 1);
  assert.deepEqual(replies.map(({ sequence }) => sequence), lines.slice(0, 1999).map((line) => JSON.parse(line).output_seq));
  assert.ok(replies.every(({ outcome, hash }) => outcome === 0 && /^[0-9a-f]{64}$/.test(hash)));
  // The half that was sent counts for nothing; after a new connection everything may be sent again.
  const again = await stream(listener.port, Buffer.concat(lines.map(message)));
  assert.deepEqual(again.slice(0, 1999).map(({ outcome }) => outcome), new Array(1999).fill(1));
  assert.deepEqual(again.slice(0, 1999).map(({ hash }) => hash), replies.map(({ hash }) => hash));
  assert.equal(again[1999].outcome, 0);
  const tooLong = Buffer.from('ffffffff', 'hex');
  const [refused] = await stream(listener.port, tooLong);
  assert.match(refused.reason, /4294967295 bytes/);
  const { code, stderr } = await listener.stop();
  assert.equal(code, 1, stderr); // one message was refused
  assert.match(stderr, /2000 accepted, 1999 duplicate, 1 refused/);
  assert.deepEqual([json('verify').ok, json('stats').output_seq], [true, 2000]);
});

test('two services on one server share the symbols by lease', async () => {
  const { on, json } = settlement();
  const lines = generate('--outputs', '1500', '--symbols', '8', '--seed', '3');
  const bytes = Buffer.concat(lines.map(message));
  const a = await listen(on, ['--owner', 'a', '--leases', '4']);
  const b = await listen(on, ['--owner', 'b']);
  const [byA, byB] = await Promise.all([stream(a.port, bytes), stream(b.port, bytes)]);
  const ownerOf = new Map();
  lines.forEach((line, i) => {
    const symbol = JSON.parse(line).symbol_id;
    const outcomes = [byA[i].outcome, byB[i].outcome];
    assert.deepEqual([...outcomes].sort(), [0, 4], `output ${i + 1} of symbol ${symbol}: ${outcomes}`);
    const owner = outcomes[0] === 0 ? 'a' : 'b';
    assert.equal(ownerOf.get(symbol) ?? owner, owner, `symbol ${symbol} was extended by both`);
    ownerOf.set(symbol, owner);
  });
  for (const symbol of json('stats').symbols) assert.equal(symbol.lease.owner, ownerOf.get(symbol.symbol_id));
  await a.stop();
  // What a has given back is b's as soon as an engine comes with it.
  const replies = await stream(b.port, bytes);
  assert.ok(replies.every(({ outcome }) => outcome === 1));
  await b.stop();
  assert.deepEqual([json('verify').ok, json('stats').output_seq], [true, 1500]);
  // A process without a name of its own cannot write to symbols that are shared by lease.
  const nameless = json('ingest', ['-'], text([order(1, 1501)]));
  assert.deepEqual([nameless.status, nameless.elsewhere], [1, 1]);
});
