// What the tests of `braid explorer` share: running it, chains of random epochs, and a model that answers the same queries from
// the surviving epochs alone.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

import { start as startProgram } from '../lib/program.mjs';

/** `braid explorer …`, started. */
export const start = (args, input = undefined) => startProgram(['explorer', ...args], input);

/** `braid explorer …`, from start to end. */
export const explorer = (args, input = undefined) => start(args, input).ended;

/** The JSON object that it writes; any failure is one. */
export async function explorerJson(args, input = undefined) {
  const { status, signal, stdout, stderr } = await explorer([...args, '--json'], input);
  assert.equal(status, 0, `${args.join(' ')} ended with ${signal ?? status}: ${stderr}${stdout.slice(0, 2000)}`);
  return JSON.parse(stdout);
}

/** The same for a command that must fail with 1: what it writes, and what it says on standard error. */
export async function explorerFails(args, input = undefined) {
  const { status, signal, stdout, stderr } = await explorer([...args, '--json'], input);
  assert.equal(status, 1, `${args.join(' ')} ended with ${signal ?? status}: ${stderr}${stdout.slice(0, 2000)}`);
  return { json: stdout === '' ? null : JSON.parse(stdout), stderr };
}

export const text = (epochs) => epochs.map((epoch) => `${typeof epoch === 'string' ? epoch : JSON.stringify(epoch)}\n`).join('');
export const importEpochs = (where, epochs) => explorerJson(['import', ...where, '-'], text(epochs));

/** The rows of a list, page by page; every page but the last has `limit` rows. */
export async function allRows(args, name, limit, between = async () => {}) {
  const rows = [];
  let after = null;
  do {
    const page = await explorerJson([...args, '--limit', String(limit), ...(after ? ['--after', after] : [])]);
    assert.ok(page[name].length === limit || page.next === null, JSON.stringify(page).slice(0, 500));
    rows.push(...page[name]);
    after = page.next;
    await between();
  } while (after !== null);
  return rows;
}

export const hex = (number) => `0x${number.toString(16)}`;
const digest = (...parts) => createHash('sha256').update(parts.join(' ')).digest('hex');

/** Random epochs: several blocks, transactions that many blocks carry, receipts that come with them or later. */
export class Source {
  constructor(random, { blocks = 3, transactions = 6, accounts = 12, miners = 4, name = 'chain' } = {}) {
    Object.assign(this, { random, blocks, transactions, name, made: 0, pool: [] }); // the pool: of all branches
    this.accounts = Array.from({ length: accounts }, (_, i) => `0x${digest(name, 'account', i).slice(0, 40)}`);
    this.miners = Array.from({ length: miners }, (_, i) => `0x${digest(name, 'miner', i).slice(0, 40)}`);
  }
  hash() {
    return `0x${digest(this.name, this.made++)}`;
  }
  transaction(i) {
    const { random } = this;
    const creates = random.chance(6);
    return {
      hash: this.hash(), from: random.pick(this.accounts), to: creates ? null : random.pick(this.accounts), value: hex(random.below(1e9)), gas: '0x989680', gasPrice: '0x2',
      nonce: hex(random.below(100)), data: random.chance(3) ? '0xa9059cbb' : '0x', v: '0x0', r: `0x${digest('r', this.made)}`, s: `0x${digest('s', this.made)}`, transactionIndex: hex(i), blockHash: null, contractCreated: null,
    };
  }
  /** A receipt as nodes give it: fields that the transaction has too are the transaction's. */
  receipt(transaction) {
    const { random } = this;
    return {
      transactionHash: transaction.hash, from: transaction.from, to: transaction.to, gasUsed: hex(random.below(1e6)), outcomeStatus: random.chance(4) ? '0x1' : '0x0', logs: [],
      contractCreated: transaction.to === null ? `0x${digest('contract', transaction.hash).slice(0, 40)}` : null, stateRoot: this.hash(), epochNumber: null,
    };
  }
  block(number, time, transactions) {
    const { random } = this;
    return {
      hash: this.hash(), parentHash: this.hash(), epochNumber: hex(number), height: hex(random.below(number + 1)), miner: random.pick(this.miners), timestamp: hex(time),
      difficulty: random.chance(5) ? `0x${'f'.repeat(30)}` : hex(1e9 + random.below(1e9)), gasLimit: '0xb2d05e00', nonce: `0x${digest('n', this.made).slice(0, 16)}`, size: random.chance(4) ? null : hex(random.below(9999)),
      refereeHashes: Array.from({ length: random.below(3) }, () => this.hash()), transactionsRoot: this.hash(), ...(random.chance(3) ? {} : { deferredStateRoot: this.hash(), deferredReceiptsRoot: this.hash() }),
      ...(random.chance(4) && { adaptive: false, blame: 0 }), transactions,
    };
  }
  /** The epoch after those of `chain`, which is left as it is. */
  next(chain, first = 0) {
    const { random } = this;
    const number = chain.length > 0 ? Number(chain.at(-1).epochNumber) + 1 : first;
    const before = chain.slice(-5).flatMap((epoch) => epoch.blocks.flatMap((block) => block.transactions));
    const own = [];
    const blocks = Array.from({ length: random.between(1, this.blocks) }, (_, b) => {
      const carried = new Map();
      for (let i = random.below(this.transactions + 1); i > 0; --i) {
        const known = [...before, ...own];
        const again = random.chance(5) ? known : random.chance(8) ? this.pool : [];
        const transaction = again.length > 0 ? random.pick(again) : this.transaction(carried.size);
        if (!carried.has(transaction.hash)) carried.set(transaction.hash, { ...transaction, transactionIndex: hex(carried.size) });
      }
      own.push(...carried.values());
      this.pool.push(...carried.values());
      return this.block(number, 1_555_000_000 + number * 2 + b, [...carried.values()]);
    });
    const pivot = blocks.at(-1);
    pivot.height = hex(number);
    if (chain.length > 0) pivot.parentHash = chain.at(-1).pivotHash;
    const receipts = Object.fromEntries([...before, ...own].filter(() => random.chance(4)).map((transaction) => [transaction.hash, this.receipt(transaction)]));
    return { epochNumber: hex(number), pivotHash: pivot.hash, blocks, ...(random.chance(3) && Object.keys(receipts).length === 0 ? {} : { receipts }) };
  }
  /** A chain of `count` epochs. */
  chain(count, first = 0) {
    const chain = [];
    while (chain.length < count) chain.push(this.next(chain, first));
    return chain;
  }
}

const blockFields = ['deferredReceiptsRoot', 'deferredStateRoot', 'difficulty', 'epochNumber', 'gasLimit', 'hash', 'height', 'miner', 'nonce', 'parentHash', 'refereeHashes', 'size', 'timestamp', 'transactionsRoot'];
const transactionFields = ['blockHash', 'contractCreated', 'data', 'from', 'gas', 'gasPrice', 'hash', 'nonce', 'r', 's', 'v', 'to', 'transactionIndex', 'timestamp', 'value'];
const given = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
const nulls = (names) => Object.fromEntries(names.map((name) => [name, null]));

/** What the queries must answer after the epochs of a chain. */
export class Model {
  constructor(chain) {
    Object.assign(this, { blocks: new Map(), order: [], transactions: new Map(), inBlock: new Map(), accounts: new Map(), miners: new Map(), byMiner: new Map(), epochs: new Map(), pivots: [], at: { epoch: null, pivot: null } });
    for (const epoch of chain) this.#grow(epoch);
  }
  #listed(map, key, score, row) {
    const rows = map.get(key) ?? new Map();
    if (!rows.has(score)) rows.set(score, row);
    map.set(key, rows);
  }
  #account(address, type, { hash, score, timestamp }) {
    if (address) this.#listed(this.accounts, address, score, { hash, type, timestamp });
  }
  #grow(epoch) {
    const number = Number(epoch.epochNumber);
    const rows = epoch.blocks.map((block) => {
      const { transactions, ...fields } = block;
      const score = this.order.length;
      const fresh = transactions.filter(({ hash }) => !this.transactions.has(hash));
      const counts = { isPivot: block.hash === epoch.pivotHash ? '0x1' : '0x0', transactionCount: hex(transactions.length), newTransactionCount: hex(fresh.length) };
      this.blocks.set(block.hash, { ...nulls(blockFields), ...given(fields), ...counts, score });
      const row = { hash: block.hash, score, epochNumber: hex(number), miner: block.miner, timestamp: block.timestamp, difficulty: block.difficulty, ...counts };
      this.order.push(row);
      this.#listed(this.byMiner, block.miner, score, row);
      if (!this.miners.has(block.miner)) this.miners.set(block.miner, { miner: block.miner, block: block.hash, score });
      this.inBlock.set(block.hash, transactions.map(({ hash, transactionIndex, from, to, value }) => ({ hash, transactionIndex, from, to, value })));
      for (const transaction of fresh) this.#insert(transaction, block);
      return row;
    });
    for (const [hash, receipt] of Object.entries(epoch.receipts ?? {})) this.#receipt(hash, given(receipt));
    this.epochs.set(number, rows);
    this.pivots.push({ epoch: number, hash: epoch.pivotHash });
    this.at = { epoch: number, pivot: epoch.pivotHash };
  }
  #insert(transaction, block) {
    const own = { ...given(transaction), timestamp: block.timestamp };
    const stored = { own, receipt: {}, score: this.transactions.size };
    this.transactions.set(transaction.hash, stored);
    const listed = { hash: own.hash, score: stored.score, timestamp: own.timestamp };
    this.#account(own.from, 'sender', listed);
    this.#account(own.to, 'receiver', listed);
    this.#account(own.contractCreated, 'created', listed);
  }
  #receipt(hash, receipt) {
    const stored = this.transactions.get(hash);
    stored.receipt = { ...stored.receipt, ...receipt };
    this.#account(receipt.contractCreated, 'created', { hash, score: stored.score, timestamp: stored.own.timestamp });
  }
  transaction(hash) {
    const { own, receipt, score } = this.transactions.get(hash);
    return { ...nulls(transactionFields), ...receipt, ...own, score };
  }
  newestFirst(map, key) {
    return [...(map.get(key) ?? new Map())].sort(([a], [b]) => b - a).map(([, row]) => row);
  }
  account(address) {
    return this.newestFirst(this.accounts, address);
  }
  miner(address) {
    return this.newestFirst(this.byMiner, address);
  }
  latest(window = 1000) {
    const rows = this.order.slice(-window);
    const sum = (name) => rows.reduce((total, row) => total + BigInt(row[name]), 0n);
    const seconds = rows.length === 0 ? 0 : Math.max(0, Number(rows.at(-1).timestamp) - Number(rows[0].timestamp));
    const transactions = Number(sum('transactionCount'));
    return { blocks: rows.length, difficulty: String(sum('difficulty')), transactions, seconds, tps: seconds > 0 ? transactions / seconds : 0, at: this.at };
  }
  inOrder() {
    return [...this.transactions].reverse().map(([hash, { own, score }]) => ({ hash, score, from: own.from, to: own.to ?? null, value: own.value ?? null, timestamp: own.timestamp }));
  }
}

/** What import does with epochs one after another: the chain that is left. */
export function survivors(epochs) {
  const chain = [];
  for (const epoch of epochs) {
    const at = chain.findIndex(({ epochNumber }) => epochNumber === epoch.epochNumber);
    if (at >= 0 && chain[at].pivotHash === epoch.pivotHash) continue;
    if (at >= 0) chain.length = at;
    chain.push(epoch);
  }
  return chain;
}

/** A line of epochs with pivot switches, A→B→A among them, and epochs that come twice; and the chain that is left. */
export function withSwitches(source, count, { depth = 4, first = 0 } = {}) {
  const { random } = source;
  const given = [];
  let chain = [];
  const add = (epoch) => {
    given.push(epoch);
    chain = survivors([...chain, epoch]);
  };
  while (chain.length < count) {
    if (chain.length < 3 || !random.chance(4)) {
      add(source.next(chain, first));
      continue;
    }
    const kept = chain.length - random.between(1, Math.min(depth, chain.length - 1));
    const popped = chain.slice(kept);
    if (random.chance(4)) add(chain.at(-1)); // again
    for (const branch = chain.slice(0, kept); branch.length < kept + random.between(1, depth);) {
      const epoch = source.next(branch, first);
      branch.push(epoch);
      add(epoch);
    }
    if (random.chance(3)) for (const epoch of popped) add(epoch); // and back
  }
  return { given, chain };
}

/** Calls `work` for each item, a few at a time. */
export async function forEachOf(items, work, parallel = 4) {
  const queue = [...items];
  await Promise.all(Array.from({ length: parallel }, async () => {
    while (queue.length > 0) await work(queue.shift());
  }));
}
