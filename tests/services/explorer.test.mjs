// braid explorer's queries as scripts see them, compared with a model of the surviving epochs: on a directory, on a server of its
// own, and on what BRAID_TEST_STORE names.
import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { serve, temporary } from '../lib/fixture.mjs';
import { shellFor } from '../lib/mongosh.mjs';
import { start as startProgram } from '../lib/program.mjs';
import { generator, newSeed } from '../lib/random.mjs';
import { allRows, explorer, explorerFails, explorerJson, forEachOf, hex, importEpochs, Model, Source, withSwitches } from './explorer_model.mjs';

const eq = assert.deepEqual;
const seed = newSeed();
const named = `BRAID_SEED=${seed}`;
const nowhere = { hash: `0x${'12'.repeat(32)}`, address: `0x${'34'.repeat(20)}` };
const directory = await temporary('braid-explorer-');
const { server, client } = await serve(['--shards', '8']);
let databases = 0;

/** --store and --db of something new and empty. */
const places = {
  directory: () => ['--store', join(directory, `store${++databases}`)],
  server: () => ['--store', server.uri, '--db', `explorer${++databases}`],
  ...(process.env.BRAID_TEST_STORE && { given: () => ['--store', process.env.BRAID_TEST_STORE, '--db', `braid_test_${Date.now()}_${++databases}`] }),
};
const isDirectory = (where) => where.length === 2;

/** Every query, for some of what the chain has, against the model. */
async function compare(where, model, random, { samples = 8, at = [] } = {}) {
  const some = (items, n = samples) => (items.length <= n ? items : Array.from({ length: n }, () => random.pick(items)));
  const ask = async (expected, ...args) => eq(await explorerJson([...args, ...where, ...at]), { ...expected, at: model.at }, `${args.join(' ')} ${named}`);
  const list = (rows, name) => ({ [name]: rows.slice(0, 1000), next: null });
  const asked = [
    ...some([...model.blocks.keys()]).flatMap((hash) => [
      () => ask({ block: model.blocks.get(hash) }, 'block', hash),
      () => ask(list(model.inBlock.get(hash), 'transactions'), 'block-transactions', hash, '--limit', '1000'),
    ]),
    ...some([...model.transactions.keys()]).map((hash) => () => ask({ transaction: model.transaction(hash) }, 'transaction', hash)),
    ...some([...model.accounts.keys()]).map((address) => () => ask(list(model.account(address), 'transactions'), 'account', address, '--limit', '1000')),
    ...some([...model.byMiner.keys()], 3).map((address) => () => ask(list(model.miner(address), 'blocks'), 'miner', address, '--limit', '1000')),
    ...some([...model.epochs.keys()], 4).map((number) => () => ask(list(model.epochs.get(number), 'blocks'), 'epoch', random.chance(2) ? hex(number) : String(number), '--limit', '1000')),
    () => ask(list([...model.order].reverse(), 'blocks'), 'blocks', '--limit', '1000'),
    () => ask(list([...model.pivots].reverse(), 'pivots'), 'pivot', '--limit', '1000'),
    () => ask(list(model.inOrder(), 'transactions'), 'transactions', '--limit', '1000'),
    () => ask(list([...model.miners.values()].sort((a, b) => (a.miner < b.miner ? -1 : 1)), 'miners'), 'miners', '--limit', '1000'),
    () => ask(model.latest(), 'latest'),
    () => ask(model.latest(7), 'latest', '--window', '7'),
  ];
  // A directory is for one process at a time.
  await forEachOf(asked, (one) => one(), isDirectory(where) ? 1 : 4);
}

for (const [kind, place] of Object.entries(places)) {
  test(`${kind}: every query answers as the surviving epochs say, over pivot switches and pops`, async () => {
    const where = place();
    const random = generator(seed);
    const samples = isDirectory(where) ? 3 : 8;
    const first = random.between(0, 1000);
    const { given, chain } = withSwitches(new Source(random), 40, { first });
    const result = await importEpochs(where, given);
    const model = new Model(chain);
    eq([result.files, result.epochs, result.grown + result.skipped, result.at], [1, given.length, given.length, model.at], named);
    assert.ok(result.popped > 0, named);
    await compare(where, model, random, { samples });
    // As of an epoch in the midst of the chain.
    const middle = chain.slice(0, 25);
    await compare(where, new Model(middle), random, { samples: 2, at: ['--at', middle.at(-1).pivotHash] });
    // What is popped is gone without a trace.
    const popped = random.between(1, 10);
    const left = new Model(chain.slice(0, -popped));
    eq(await explorerJson(['pop', String(popped), ...where]), { popped, at: left.at }, named);
    await compare(where, left, random, { samples: 2 });
    const verified = await explorerJson(['verify', ...where]);
    eq([verified.ok, verified.epochs, verified.blocks, verified.transactions, verified.damage, verified.at], [true, 40 - popped, left.order.length, left.transactions.size, [], left.at], named);
    // The same digest as growing the survivors alone.
    const alone = place();
    await importEpochs(alone, chain.slice(0, -popped));
    eq((await explorerJson(['verify', ...alone])).digest, verified.digest, named);
    assert.match(verified.digest, /^[0-9a-f]{64}$/);
  });
}

test('nothing imported yet: empty answers at no epoch', async () => {
  const where = places.server();
  await compare(where, new Model([]), generator(1));
  for (const args of [['block', nowhere.hash], ['transaction', nowhere.hash]]) eq((await explorerFails([...args, ...where])).json, { [args[0]]: null, at: { epoch: null, pivot: null } });
  const { ok, epochs, digest } = await explorerJson(['verify', ...where]);
  eq([ok, epochs, digest], [true, 0, null]);
  assert.match((await explorerFails(['pop', '1', ...where])).stderr, /fewer/);
});

test('a directory without a store is an error for whoever reads, and stays as it is', async () => {
  const mistyped = join(directory, 'mistyped');
  for (const args of [['blocks'], ['latest'], ['verify'], ['status'], ['reorgs'], ['pop', '1']]) {
    const { stderr } = await explorerFails([...args, '--store', mistyped]);
    assert.match(stderr, /mistyped/, args.join(' '));
  }
  await assert.rejects(stat(mistyped), { code: 'ENOENT' });
});

test('pages stay what they are while the chain grows', async () => {
  const where = places.server();
  const random = generator(seed);
  const source = new Source(random, { accounts: 3, miners: 2, blocks: 4 });
  const chain = source.chain(12);
  await importEpochs(where, chain);
  const grow = async () => {
    chain.push(source.next(chain));
    await importEpochs(where, [chain.at(-1)]);
  };
  const block = [...new Model(chain).inBlock].sort(([, a], [, b]) => b.length - a.length)[0][0];
  const [account] = [...new Model(chain).accounts.keys()];
  const [miner] = [...new Model(chain).byMiner.keys()];
  for (const [args, name, rows] of [
    [['blocks'], 'blocks', (model) => [...model.order].reverse()],
    [['account', account], 'transactions', (model) => model.account(account)],
    [['miner', miner], 'blocks', (model) => model.miner(miner)],
    [['pivot'], 'pivots', (model) => [...model.pivots].reverse()],
    [['transactions'], 'transactions', (model) => model.inOrder()],
    [['block-transactions', block], 'transactions', (model) => model.inBlock.get(block)],
    [['epoch', '5'], 'blocks', (model) => model.epochs.get(5)],
    [['miners'], 'miners', (model) => [...model.miners.values()].sort((a, b) => (a.miner < b.miner ? -1 : 1))],
  ]) {
    const expected = rows(new Model(chain));
    assert.ok(expected.length > 0, args.join(' '));
    let grown = 0;
    // A created account may get an entry of an older transaction with a later receipt; these accounts are no such ones.
    eq(await allRows([...args, ...where], name, 2, async () => grown++ < 2 && grow()), expected, `${args.join(' ')} ${named}`);
  }
});

test('--at: as of a pivot that is in the chain, an error for one that was reorganised away', async () => {
  const where = places.server();
  const random = generator(seed);
  const source = new Source(random);
  const chain = source.chain(10);
  await importEpochs(where, chain);
  const old = chain[7].pivotHash;
  const { next } = await explorerJson(['blocks', ...where, '--limit', '3', '--at', old]);
  const branch = chain.slice(0, 6);
  for (let i = 0; i < 3; ++i) branch.push(source.next(branch));
  await importEpochs(where, branch.slice(6));
  for (const args of [['blocks', '--after', next], ['latest'], ['block', chain[0].pivotHash], ['transactions'], ['epoch', '1'], ['pivot'], ['account', nowhere.address]]) {
    const { json, stderr } = await explorerFails([...args, ...where, '--at', old]);
    assert.equal(json.error.code, 'TimelineReorganised', JSON.stringify(json));
    assert.ok(json.error.message.includes(old) && stderr.includes(old), stderr);
  }
  // The same place in capital letters, and an epoch that both chains have.
  const common = chain[4].pivotHash;
  eq(await explorerJson(['latest', ...where, '--at', `0x${common.slice(2).toUpperCase()}`]), new Model(chain.slice(0, 5)).latest());
  // Blocks of the popped branch are unknown now, those of the new one were unknown then.
  const { json } = await explorerFails(['block', old, ...where]);
  eq(json, { block: null, at: { epoch: 8, pivot: branch.at(-1).pivotHash } });
  await explorerFails(['block', branch.at(-1).pivotHash, ...where, '--at', common]);
  const { reorgs, next: rest, at } = await explorerJson(['reorgs', ...where]);
  eq([reorgs.length, rest, at.epoch], [1, null, 8]);
  const [{ time, ...reorg }] = reorgs;
  eq(reorg, { depth: 4, fork: 5, old: { epoch: 9, pivot: chain[9].pivotHash }, new: { epoch: 6, pivot: branch[6].pivotHash } });
  assert.ok(Math.abs(Date.parse(time) - Date.now()) < 600_000, time);
});

test('reorganisations in pages, newest first', async () => {
  const where = places.server();
  const source = new Source(generator(seed));
  const chain = source.chain(4);
  const tips = [chain.at(-1)];
  while (tips.length < 6) tips.push(source.next(chain.slice(0, 3)));
  await importEpochs(where, [...chain, ...tips.slice(1)]);
  const rows = await allRows(['reorgs', ...where], 'reorgs', 2);
  eq(rows.map(({ depth, old, new: now }) => [depth, old.pivot, now.pivot]), tips.slice(1).map((tip, i) => [1, tips[i].pivotHash, tip.pivotHash]).reverse());
});

test('unknown things and malformed arguments', async () => {
  const where = places.server();
  const source = new Source(generator(seed));
  await importEpochs(where, source.chain(3, 7));
  const at = (await explorerJson(['latest', ...where])).at;
  // An address that nobody has used has an empty list.
  eq(await explorerJson(['account', nowhere.address, ...where]), { transactions: [], next: null, at });
  eq(await explorerJson(['miner', nowhere.address, ...where]), { blocks: [], next: null, at });
  for (const [args, expected] of [
    [['block', nowhere.hash], { block: null, at }],
    [['transaction', nowhere.hash], { transaction: null, at }],
    [['block-transactions', nowhere.hash], { transactions: [], next: null, at }],
    [['epoch', '6'], { blocks: [], next: null, at }],
    [['epoch', '10'], { blocks: [], next: null, at }],
  ]) {
    const { json, stderr } = await explorerFails([...args, ...where]);
    eq(json, expected, args.join(' '));
    assert.match(stderr, /there is no/);
    const plain = await explorer([...args, ...where]);
    eq([plain.status, plain.stdout], [1, ''], args.join(' '));
  }
  const cursor = (await explorerJson(['blocks', ...where, '--limit', '1'])).next;
  for (const [args, hint] of [
    [['block', '0x12'], /hash '0x12' is not 0x and 64 hexadecimal digits/], [['block', nowhere.hash.slice(2)], /64 hexadecimal/], [['transaction', `0x${'g'.repeat(64)}`], /64 hexadecimal/],
    [['block-transactions', 'x'], /64 hexadecimal/], [['account', nowhere.hash], /address .* 40 hexadecimal/], [['miner', '0x'], /40 hexadecimal/], [['epoch', '-1x'], /./], [['epoch', '0xzz'], /number of an epoch/],
    [['blocks', '--at', '0x1'], /pivot hash/], [['blocks', '--after', 'zzz'], /cursor/], [['pivot', '--after', cursor], /cursor/], [['transactions', '--after', cursor], /cursor/], [['miners', '--after', 'w12'], /cursor/],
    [['blocks', '--after', 'b-1'], /cursor/], [['blocks', '--after', `b${'f'.repeat(30)}`], /cursor/], [['reorgs', '--after', cursor], /cursor/],
  ]) {
    const { status, stderr, stdout } = await explorer([...args, ...where]);
    assert.notEqual(status, 0, args.join(' '));
    assert.match(stderr + stdout, hint, args.join(' '));
  }
  for (const args of [['blocks', '--limit', '0'], ['blocks', '--limit', '1001'], ['pop', '0'], ['pop'], ['pop', 'x'], ['block'], ['latest', '--window', '0'], []]) {
    assert.notEqual((await explorer([...args, ...(args.length ? where : [])])).status, 0, args.join(' '));
  }
});

test('people get tables', async () => {
  const where = places.server();
  const chain = new Source(generator(seed)).chain(5);
  const model = new Model(chain);
  await importEpochs(where, chain);
  const hash = [...model.transactions.keys()][0];
  for (const [args, expected] of [
    [['block', chain[0].pivotHash], [chain[0].pivotHash, 'parentHash', 'at epoch 4']], [['transaction', hash], [hash, 'gasPrice', 'at epoch 4']], [['blocks', '--limit', '2'], ['score', 'more: --after b', 'at epoch 4']],
    [['latest'], ['difficulty', model.latest().difficulty]], [['pivot'], chain.map(({ pivotHash }) => pivotHash)], [['verify'], ['digest']], [['reorgs'], ['at epoch 4']], [['miners'], [...model.miners.keys()]],
  ]) {
    const { status, stdout } = await explorer([...args, ...where]);
    assert.equal(status, 0, args.join(' '));
    for (const part of expected) assert.ok(stdout.includes(part), `${args.join(' ')}: ${part} in ${stdout}`);
  }
});

test('the collections in mongosh: as documented, with the shard keys of the page', async () => {
  const initialised = await startProgram(['init', 'explorer', '--store', server.uri, '--db', 'seen', '--json']).ended;
  assert.equal(initialised.status, 0, initialised.stderr);
  const chain = new Source(generator(seed)).chain(6);
  const model = new Model(chain);
  await importEpochs(['--store', server.uri, '--db', 'seen'], chain);
  const rows = await client.db('config').collection('collections').find({ _id: /^seen\./ }).toArray();
  const keys = Object.fromEntries(rows.map(({ _id, key }) => [_id.slice(5), JSON.stringify(key).replace(/"(\w+)":/, '$1:').replace(':"hashed"', ': "hashed"')]));
  const page = await readFile(join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'docs', 'explorer.md'), 'utf8');
  const table = page.split('\n## ').find((part) => part.startsWith('Collections')).split('\n').map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', ''))).filter((cells) => /^\{.*hashed/.test(cells[2] ?? ''));
  eq(keys, Object.fromEntries(table.map(([, name, key]) => [name, key])));
  const { mongosh } = await shellFor(server.uri);
  const pivot = chain.at(-1).pivotHash;
  const said = await mongosh(['--quiet', '--eval', `const d = db.getSiblingDB('seen'); print(JSON.stringify([d.blocks.countDocuments({}), d.transactions.countDocuments({}), d.blocks.findOne({_id: '${pivot}'}).isPivot, Number(d.timeline_head.findOne().epoch), d.miner_blocks.countDocuments({epoch: 3})]))`]);
  eq(JSON.parse(said), [model.order.length, model.transactions.size, '0x1', 5, model.epochs.get(3).length]);
});

test('verify names what somebody has changed', async () => {
  const where = places.server();
  const chain = new Source(generator(seed)).chain(8);
  await importEpochs(where, chain);
  const db = client.db(where[3]);
  const { digest } = await explorerJson(['verify', ...where]);
  const hash = chain[3].blocks[0].hash;
  const { miner } = await db.collection('blocks').findOne({ _id: hash });
  for (const [collection, filter, change, undo] of [
    ['blocks', { _id: hash }, { $set: { miner: nowhere.address } }, { $set: { miner } }],
    ['account_transactions', { epoch: { $gt: 0 } }, { $set: { type: 'thief' } }, null],
  ]) {
    const found = await db.collection(collection).findOne(filter);
    await db.collection(collection).updateOne({ _id: found._id }, change);
    const { json } = await explorerFails(['verify', ...where]);
    assert.equal(json.ok, false);
    assert.ok(json.damage.length > 0 && json.damaged >= json.damage.length, JSON.stringify(json));
    assert.ok(json.damage.every(({ what }) => typeof what === 'string' && what.length > 0) && json.damage.some(({ epoch }) => epoch === Number(found.epoch)), JSON.stringify(json.damage));
    await db.collection(collection).updateOne({ _id: found._id }, undo ?? { $set: { type: found.type } });
    eq((await explorerJson(['verify', ...where])).digest, digest);
  }
});
