// braid explorer import: what becomes of epochs that follow, come again, switch the pivot, or do not fit.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { serve } from '../lib/fixture.mjs';
import { generator, newSeed } from '../lib/random.mjs';
import { allRows, explorer, explorerFails, explorerJson, hex, importEpochs, Model, Source, start, survivors, text, withSwitches } from './explorer_model.mjs';

const eq = assert.deepEqual;
const seed = newSeed();
const named = `BRAID_SEED=${seed}`;
const directory = await mkdtemp(join(tmpdir(), 'braid-explorer-import-'));
after(() => rm(directory, { recursive: true, force: true }));
const f = await serve(['--shards', '4']);
let databases = 0;
const place = () => ['--store', f.server.uri, '--db', `explorer${++databases}`];

/** Everything in a database but the record of reorganisations, which has times. */
async function everything(where) {
  const db = f.client.db(where[3]);
  const names = (await db.listCollections().toArray()).map(({ name }) => name).filter((name) => name !== 'timeline_reorgs').sort();
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await db.collection(name).find({}).sort({ _id: 1 }).toArray()])));
}
const digestOf = async (where) => {
  const { ok, digest, damage } = await explorerJson(['verify', ...where]);
  eq([ok, damage], [true, []], named);
  return digest;
};
const digestOfGrowing = async (chain) => {
  const alone = place();
  await importEpochs(alone, chain);
  return digestOf(alone);
};
const counts = ({ epochs, grown, skipped, popped }) => ({ epochs, grown, skipped, popped });

test('the next grows, the same again is skipped, another pivot pops back first', async () => {
  const where = place();
  const source = new Source(generator(seed));
  const a = source.chain(8, 100);
  eq(counts(await importEpochs(where, a.slice(0, 5))), { epochs: 5, grown: 5, skipped: 0, popped: 0 });
  const stored = await everything(where);
  eq(counts(await importEpochs(where, a.slice(0, 5))), { epochs: 5, grown: 0, skipped: 5, popped: 0 });
  eq(counts(await importEpochs(where, [a[2]])), { epochs: 1, grown: 0, skipped: 1, popped: 0 });
  eq(await everything(where), stored);
  // Overlapping: what is known is skipped, the rest grows.
  eq(counts(await importEpochs(where, a.slice(3))), { epochs: 5, grown: 3, skipped: 2, popped: 0 });
  const b = a.slice(0, 4);
  while (b.length < 7) b.push(source.next(b));
  eq(counts(await importEpochs(where, b.slice(4))), { epochs: 3, grown: 3, skipped: 0, popped: 4 });
  eq(await digestOf(where), await digestOfGrowing(b));
  // And back to A, in one file with B once more.
  const result = await importEpochs(where, [...a.slice(4), ...b.slice(4), ...a.slice(4)]);
  eq([counts(result), result.at], [{ epochs: 11, grown: 11, skipped: 0, popped: 3 + 4 + 3 }, new Model(a).at]);
  eq(await digestOf(where), await digestOfGrowing(a));
  eq([...result.at.pivot].length, 66);
});

test('any epochs in any order that fits: the digest of growing the survivors alone', async () => {
  const where = place();
  const random = generator(seed);
  const source = new Source(random, { blocks: 2, transactions: 4 });
  const branches = [source.chain(3)];
  for (let round = 0; round < 12; ++round) {
    const from = random.pick(branches);
    const branch = from.slice(0, random.between(1, from.length));
    for (let i = random.between(1, 4); i > 0; --i) branch.push(source.next(branch));
    branches.push(branch);
  }
  let given = [];
  for (const branch of [...branches, ...branches.slice(0, 6)]) {
    given = [...given, ...branch];
    await importEpochs(where, branch);
    const chain = survivors(given);
    eq((await explorerJson(['latest', ...where])), new Model(chain).latest(), named);
  }
  eq(await digestOf(where), await digestOfGrowing(survivors(given)), named);
});

test('what does not fit is refused by name, with file and line, and changes nothing', async () => {
  const where = place();
  const source = new Source(generator(seed), { blocks: 3, transactions: 5 });
  const chain = source.chain(6, 50);
  await importEpochs(where, chain);
  const before = await everything(where);
  const known = chain[2].blocks[0];
  const good = () => {
    let epoch;
    do epoch = structuredClone(source.next(chain)); while (epoch.blocks.length < 2 || epoch.blocks.some(({ transactions }) => transactions.length < 2));
    return epoch;
  };
  const withPivot = (epoch, change) => {
    change(epoch.blocks.at(-1), epoch);
    return epoch;
  };
  const block = (change) => (epoch) => change(epoch.blocks[0], epoch);
  const transaction = (change) => (epoch) => change(epoch.blocks[0].transactions[0], epoch.blocks[0]);
  const cases = [
    ['a gap', (epoch) => { epoch.epochNumber = hex(57); for (const one of epoch.blocks) one.epochNumber = hex(57); withPivot(epoch, (pivot) => (pivot.height = hex(57))); }, /epoch 57.*(55|56)/],
    ['another parent', (epoch) => withPivot(epoch, (pivot) => (pivot.parentHash = source.hash())), /epoch 56.*parent/i],
    ['before the first', (epoch) => { epoch.epochNumber = hex(49); for (const one of epoch.blocks) one.epochNumber = hex(49); withPivot(epoch, (pivot) => (pivot.height = hex(49))); }, /epoch 49/],
    ['an older number whose parent is unknown', (epoch) => { epoch.epochNumber = hex(53); for (const one of epoch.blocks) one.epochNumber = hex(53); withPivot(epoch, (pivot) => { pivot.height = hex(53); pivot.parentHash = source.hash(); }); }, /epoch 53.*parent/i],
    ['a wrong height', (epoch) => withPivot(epoch, (pivot) => (pivot.height = '0x1')), /epoch 56, blocks\[\d\]\.height/],
    ["a block's own epochNumber", block((one) => (one.epochNumber = '0x1')), /epoch 56, blocks\[0\]\.epochNumber/],
    ['a block twice', (epoch) => { epoch.blocks[0] = structuredClone(epoch.blocks.at(-1)); }, /epoch 56, blocks\[\d\]\.hash.*twice/],
    ['a block that another epoch has', block((one) => (one.hash = known.hash)), new RegExp(`epoch 56.*${known.hash}`)],
    ['a transaction twice in a block', block((one) => { one.transactions[1].hash = one.transactions[0].hash; }), /epoch 56, blocks\[0\]\.transactions\[1\]\.hash.*twice/],
    ['the pivot is not the last block', (epoch) => (epoch.pivotHash = epoch.blocks[0].hash), /epoch 56, pivotHash/],
    ['a hash that is too short', block((one) => (one.hash = '0x1234')), /epoch 56, blocks\[0\]\.hash.*0x1234/],
    ['a hash with other letters', transaction((one) => (one.hash = `0x${'z'.repeat(64)}`)), /blocks\[0\]\.transactions\[0\]\.hash/],
    ['an address that is none', transaction((one) => (one.from = '0x12')), /blocks\[0\]\.transactions\[0\]\.from.*0x12/],
    ['a receiver that is none', transaction((one) => (one.to = 'nobody')), /transactions\[0\]\.to/],
    ['a quantity without 0x', transaction((one) => (one.value = '12')), /transactions\[0\]\.value/],
    ['a quantity that is a number', block((one) => (one.difficulty = 12)), /blocks\[0\]\.difficulty/],
    ['an empty quantity', block((one) => (one.difficulty = '0x')), /blocks\[0\]\.difficulty/],
    ['no timestamp', block((one) => delete one.timestamp), /blocks\[0\]\.timestamp.*missing/],
    ['no miner', block((one) => (one.miner = null)), /blocks\[0\]\.miner.*missing/],
    ['no sender', transaction((one) => delete one.from), /transactions\[0\]\.from.*missing/],
    ['no parent of the pivot', (epoch) => withPivot(epoch, (pivot) => delete pivot.parentHash), /parentHash.*missing/],
    ['no blocks', (epoch) => (epoch.blocks = []), /epoch 56, blocks/],
    ['blocks that are no list', (epoch) => (epoch.blocks = {}), /epoch 56, blocks/],
    ['transactions that are no list', block((one) => (one.transactions = 7)), /blocks\[0\]\.transactions/],
    ['no number', (epoch) => delete epoch.epochNumber, /epochNumber.*missing/],
    ['a number that is too large', (epoch) => (epoch.epochNumber = `0x${'f'.repeat(20)}`), /epochNumber/],
    ['no pivot', (epoch) => delete epoch.pivotHash, /pivotHash.*missing/],
    ['a receipt of nothing', (epoch) => (epoch.receipts = { [source.hash()]: { gasUsed: '0x1' } }), /epoch 56.*receipt/i],
    ['a receipt by no hash', (epoch) => (epoch.receipts = { x: {} }), /epoch 56, receipts/],
    ['referees that are none', block((one) => (one.refereeHashes = ['0x1'])), /blocks\[0\]\.refereeHashes\[0\]/],
    ['a field that is too large', transaction((one) => (one.data = `0x${'00'.repeat(4 << 20)}`)), /transactions\[0\].*bytes/],
  ];
  for (const [name, spoil, hint] of cases) {
    const epoch = good();
    spoil(epoch);
    const { json, stderr } = await explorerFails(['import', ...where, '-'], `\n${text([chain[5], epoch])}`);
    assert.match(stderr, /^braid explorer: standard input:3: /, `${name}: ${stderr}`);
    assert.match(stderr, hint, `${name}: ${stderr}`);
    eq([counts(json), json.at.epoch, stderr.includes(json.error.message)], [{ epochs: 1, grown: 0, skipped: 1, popped: 0 }, 55, true], name);
    eq(await everything(where), before, name);
  }
  for (const [name, line] of [['no JSON', 'hello'], ['half a line', text([good()]).slice(0, 200)], ['a list', '[]'], ['a number', '5'], ['two objects', '{} {}']]) {
    const { stderr } = await explorerFails(['import', ...where, '-'], line);
    assert.match(stderr, /standard input:1: /, `${name}: ${stderr}`);
    eq(await everything(where), before, name);
  }
  // And the good one still fits.
  eq((await importEpochs(where, [good()])).grown, 1);
});

test('a refused epoch in the midst: those before it are stored, nothing after it', async () => {
  const where = place();
  const source = new Source(generator(seed));
  const chain = source.chain(20);
  const bad = structuredClone(chain[12]);
  bad.blocks.at(-1).parentHash = source.hash();
  const file = join(directory, 'midst.ndjson');
  await writeFile(file, text([...chain.slice(0, 12), bad, ...chain.slice(13)]));
  const { json, stderr } = await explorerFails(['import', ...where, file]);
  assert.ok(stderr.includes(`${file}:13: `), stderr);
  eq([counts(json), json.files, json.at], [{ epochs: 12, grown: 12, skipped: 0, popped: 0 }, 0, new Model(chain.slice(0, 12)).at]);
  await writeFile(file, text(chain));
  eq(counts(await explorerJson(['import', ...where, file])), { epochs: 20, grown: 8, skipped: 12, popped: 0 });
  eq(await digestOf(where), await digestOfGrowing(chain));
});

test('files: packed, several, with other ends of lines, from a pipe; and files that cannot be read', async () => {
  const source = new Source(generator(seed));
  const chain = source.chain(9);
  const [one, two, three] = ['one.ndjson', 'two.ndjson.gz', 'three.ndjson'].map((name) => join(directory, name));
  await writeFile(one, text(chain.slice(0, 3)).replaceAll('\n', '\r\n\r\n'));
  await writeFile(two, gzipSync(text(chain.slice(3, 6))));
  await writeFile(three, text(chain.slice(6)).trimEnd());
  const where = place();
  const result = await explorerJson(['import', ...where, one, two, three, '--quiet']);
  const model = new Model(chain);
  eq([result.files, counts(result), result.blocks, result.at], [3, { epochs: 9, grown: 9, skipped: 0, popped: 0 }, model.order.length, model.at]);
  eq(result.transactions, [...model.inBlock.values()].reduce((sum, rows) => sum + rows.length, 0));
  const expected = await digestOf(where);

  const packed = join(directory, 'cut.gz');
  const whole = gzipSync(text(chain), { level: 0 });
  await writeFile(packed, whole.subarray(0, whole.length - 500));
  const cut = place();
  const { stderr, json } = await explorerFails(['import', ...cut, packed]);
  assert.match(stderr, /cut\.gz/);
  assert.ok(json.grown >= 6 && json.grown < 9, JSON.stringify(json));
  assert.match((await explorerFails(['import', ...cut, join(directory, 'none')])).stderr, /none: No such file/);
  await explorerFails(['import', ...cut, directory]);
  // A file that comes after a bad one is not read.
  const late = place();
  await explorerFails(['import', ...late, one, join(directory, 'none'), two]);
  eq((await explorerJson(['latest', ...late])).at, new Model(chain.slice(0, 3)).at);

  // A pipe is stored as it comes, and an interrupt ends it tidily.
  const slow = place();
  const { child, ended } = start(['import', ...slow, '-', '--json'], null);
  child.stdin.write(text(chain.slice(0, 4)));
  const db = f.client.db(slow[3]);
  while ((await db.collection('timeline_head').findOne())?.epoch !== 3) await new Promise((resolve) => { setImmediate(resolve); });
  child.kill('SIGINT');
  const end = await ended;
  eq([end.status, counts(JSON.parse(end.stdout))], [1, { epochs: 4, grown: 4, skipped: 0, popped: 0 }], end.stderr);
  assert.match(end.stderr, /interrupted/);
  await importEpochs(slow, chain);
  eq(await digestOf(slow), expected);
});

test('a file again, with all its switches, some of them older than the history', async () => {
  const where = place();
  const { given, chain } = withSwitches(new Source(generator(seed)), 90, { depth: 2 });
  const file = join(directory, 'switches.ndjson');
  await writeFile(file, text(given));
  const take = (...files) => explorerJson(['import', ...where, '--history', '20', ...files]);
  // Stopped somewhere, as by a kill; then the whole of it, twice.
  const part = join(directory, 'part.ndjson.gz');
  await writeFile(part, gzipSync(text(given.slice(0, -20))));
  await take(part);
  const rest = await take(file);
  eq([rest.epochs, rest.skipped >= given.length - 20, rest.at], [given.length, true, new Model(chain).at], named);
  const stored = await everything(where);
  const again = await take(part, file);
  eq([counts(again), again.files], [{ epochs: 2 * given.length - 20, grown: 0, skipped: 2 * given.length - 20, popped: 0 }, 2], named);
  eq(await everything(where), stored);
  eq(await digestOf(where), await digestOfGrowing(chain), named);
  // What does not fit on the way is refused as ever: nothing is passed over.
  const source = new Source(generator(seed + 1), { name: 'other' });
  const bad = source.next(chain.slice(0, 87));
  bad.blocks.at(-1).parentHash = source.hash();
  await writeFile(file, text([chain[86], bad, ...chain.slice(87)]));
  assert.match((await explorerFails(['import', ...where, file])).stderr, /switches\.ndjson:2: epoch 87/);
  eq(await everything(where), stored);
});

test('a line that is longer than a line may be', async () => {
  const where = place();
  const { child, ended } = start(['import', ...where, '-', '--json'], null);
  const piece = Buffer.alloc(1 << 20, 'x');
  for (let i = 0; i < 130 && !child.stdin.destroyed; ++i) {
    if (!child.stdin.write(piece)) await Promise.race([ended, new Promise((resolve) => { child.stdin.once('drain', resolve); })]);
  }
  child.stdin.end();
  const { status, stderr } = await ended;
  assert.equal(status, 1, stderr);
  assert.match(stderr, /line is longer than 134217728 bytes/);
});

test('history: what is older than it cannot be popped any more', async () => {
  const where = place();
  const source = new Source(generator(seed));
  const chain = source.chain(12);
  await explorerJson(['import', ...where, '--history', '5', '-'], text(chain));
  const branch = chain.slice(0, 5);
  branch.push(source.next(branch));
  const before = await everything(where);
  const { json, stderr } = await explorerFails(['import', ...where, '--history', '5', '-'], text(branch.slice(5)));
  assert.equal(json.error.code, 'TimelineFinal', stderr);
  assert.equal((await explorerFails(['pop', '6', ...where])).json.error.code, 'TimelineFinal');
  eq(await everything(where), before);
  // Five below the highest tip.
  eq((await explorerJson(['pop', '5', ...where])).at.epoch, 6);
  assert.equal((await explorerFails(['pop', '1', ...where])).json.error.code, 'TimelineFinal');
});

test('an epoch with 100 000 transactions is added and popped whole', async () => {
  const where = place();
  const source = new Source(generator(seed), { accounts: 5000 });
  const chain = source.chain(2);
  const huge = source.next(chain);
  const many = (block, n, offset) => {
    block.transactions = Array.from({ length: n }, (_, i) => ({
      hash: `0x${(offset + i + 1).toString(16).padStart(64, '0')}`, from: source.accounts[(offset + i) % 5000], to: source.accounts[(i * 7) % 5000], value: hex(i), gas: '0x5208', gasPrice: '0x1', nonce: '0x0', data: '0x', transactionIndex: hex(i),
    }));
  };
  huge.blocks = [source.block(2, 1_556_000_000, []), { ...source.block(2, 1_556_000_001, []), height: '0x2', parentHash: chain[1].pivotHash }];
  many(huge.blocks[0], 60_000, 0);
  many(huge.blocks[1], 40_000, 60_000);
  huge.pivotHash = huge.blocks[1].hash;
  delete huge.receipts;
  await importEpochs(where, chain);
  const started = performance.now();
  const grown = await importEpochs(where, [huge]);
  const importMs = performance.now() - started;
  eq([grown.grown, grown.transactions], [1, 100_000]);
  const model = new Model([...chain, huge]);
  eq(await explorerJson(['latest', ...where]), model.latest());
  const list = ['block-transactions', huge.blocks[0].hash, ...where, '--limit', '1000'];
  let after = null;
  for (let i = 0; i < 3; ++i) {
    const page = await explorerJson([...list, ...(after ? ['--after', after] : [])]);
    eq(page.transactions, model.inBlock.get(huge.blocks[0].hash).slice(i * 1000, (i + 1) * 1000));
    after = page.next;
  }
  const account = source.accounts[77];
  eq(await allRows(['account', account, ...where], 'transactions', 30), model.account(account));
  const last = huge.blocks[1].transactions.at(-1).hash;
  eq((await explorerJson(['transaction', last, ...where])).transaction, model.transaction(last));
  assert.match(await digestOf(where), /^[0-9a-f]{64}$/);
  const popping = performance.now();
  const other = source.next(chain);
  eq(counts(await importEpochs(where, [other])), { epochs: 1, grown: 1, skipped: 0, popped: 1 });
  console.log(`explorer: an epoch of 100000 transactions: import ${Math.round(importMs)} ms, switch to another ${Math.round(performance.now() - popping)} ms`);
  eq(await digestOf(where), await digestOfGrowing([...chain, other]));
  assert.equal((await explorer(['transaction', last, ...where])).status, 1);
});
