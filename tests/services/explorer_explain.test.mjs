// Which shards each query of the explorer asks: its own queries, recorded by the server while it runs, explained one by one, and
// compared with the table of docs/explorer.md.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { serve } from '../lib/fixture.mjs';
import { generator } from '../lib/random.mjs';
import { explorerJson, importEpochs, Model, Source } from './explorer_model.mjs';

const shards = 8;
const f = await serve(['--shards', String(shards)]);
await f.admin.command({ balancerStop: 1 });
const where = ['--store', f.server.uri, '--db', 'explorer'];
const db = f.client.db('explorer');
const collections = ['blocks', 'transactions', 'receipts', 'block_transactions', 'blocks_in_order', 'account_transactions', 'miner_blocks', 'miners'];

/** {query: {asked: 'one' or 'all', of: the collections}}, as documented: the rows of the table under "Which shards a query asks". */
async function documented() {
  const page = await readFile(join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'docs', 'explorer.md'), 'utf8');
  const section = page.split('\n## ').find((part) => part.startsWith('Which shards a query asks'));
  assert.ok(section, 'docs/explorer.md has the section');
  const rows = section.split('\n').map((line) => line.split('|').map((cell) => cell.trim())).filter((cells) => cells[1]?.startsWith('`'));
  return Object.fromEntries(rows.flatMap(([, names, queries, asked]) => names.split(',').map((name) => [name.trim().replaceAll('`', ''), { asked, of: [...queries.matchAll(/`([a-z_]+) \{/g)].map(([, of]) => of) }])));
}

const seen = new Set();
/** What the server has recorded since the last call. */
async function recorded() {
  const rows = await f.admin.aggregate([{ $listSampledQueries: {} }]).toArray();
  const fresh = rows.filter(({ _id }) => !seen.has(_id.toString()));
  for (const { _id } of fresh) seen.add(_id.toString());
  return fresh;
}

// What is not recorded: the index that the explorer asks for, and one row more than a page of ten.
const hints = { receipts: { transaction: 'hashed' } };
const hintOf = (name, sort) => hints[name] ?? (sort?.score ? { score: 1 } : { _id: 1 });
const limit = 11;

async function explained({ ns, cmdName, cmd }) {
  const name = ns.slice(ns.indexOf('.') + 1);
  assert.equal(cmdName, 'find', JSON.stringify(cmd));
  const { queryPlanner, executionStats } = await db.command({ explain: { find: name, filter: cmd.filter, ...(cmd.sort && { sort: cmd.sort }), hint: hintOf(name, cmd.sort), limit }, verbosity: 'executionStats' });
  const plan = queryPlanner.winningPlan;
  const stages = [];
  for (let stage = plan.shards[0].winningPlan; stage; stage = stage.inputStage) stages.push(stage.stage);
  return { name, filter: cmd.filter, sort: cmd.sort, stage: plan.stage, shards: plan.shards.length, stages, stats: executionStats };
}

// 300 blocks with some 900 transactions; one block has 250, so that its list is of several documents.
const source = new Source(generator(7), { accounts: 20, miners: 5, blocks: 3 });
const chain = source.chain(150);
const large = source.next(chain);
large.blocks.at(-1).transactions = Array.from({ length: 250 }, (_, i) => ({ ...source.transaction(i), to: source.accounts[0] }));
delete large.receipts;
chain.push(large);
const model = new Model(chain);
await importEpochs(where, chain);
for (const name of collections) await f.admin.command({ configureQueryAnalyzer: `explorer.${name}`, mode: 'full', samplesPerSecond: 50 });

const hash = chain[70].blocks[0].hash;
const ofPage = async (...args) => {
  const { next } = await explorerJson([...args, ...where, '--limit', '10']);
  assert.ok(next, args.join(' '));
  await explorerJson([...args, ...where, '--limit', '10', '--after', next]);
};
const [miner] = [...model.byMiner].sort(([, a], [, b]) => b.size - a.size)[0];
const cases = {
  block: () => explorerJson(['block', hash, ...where]),
  transaction: () => explorerJson(['transaction', [...model.transactions.keys()][5], ...where]),
  'block-transactions': () => ofPage('block-transactions', large.pivotHash),
  blocks: () => ofPage('blocks'),
  account: () => ofPage('account', source.accounts[0]),
  miner: () => ofPage('miner', miner),
  latest: () => explorerJson(['latest', ...where, '--window', '100']),
  epoch: () => explorerJson(['epoch', '70', ...where]),
  transactions: () => ofPage('transactions'),
  miners: () => explorerJson(['miners', ...where]),
};

const asDocumented = await documented();
for (const [name, operate] of Object.entries(cases)) {
  test(`${name} asks ${asDocumented[name]?.asked} shard${asDocumented[name]?.asked === 'all' ? 's' : ''}`, async () => {
    await recorded();
    await operate();
    const queries = await Promise.all((await recorded()).map(explained));
    assert.deepEqual([...new Set(queries.map((query) => query.name))].sort(), [...asDocumented[name].of].sort());
    for (const query of queries) {
      const said = JSON.stringify(query);
      if (asDocumented[name].asked === 'one') assert.deepEqual([query.shards, query.stage], [1, 'SINGLE_SHARD'], said);
      // In the order of an index, and no more entries than the page has rows, but for one more on each shard.
      assert.ok(!query.stages.includes('SORT') && !query.stages.includes('COLLSCAN'), said);
      assert.ok(query.stats.totalDocsExamined <= limit * query.shards, said);
    }
  });
}

test('every query that is documented is tried here', () => {
  assert.deepEqual(Object.keys(asDocumented).sort(), Object.keys(cases).sort());
});
