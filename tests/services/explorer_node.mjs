// `braid explorer node` as a process, and its chain read by its JSON-RPC, independently of `braid explorer sync`.
import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';

import { start } from './explorer_model.mjs';

export class Node {
  /** Options of the command; it listens on a port of its own unless they name one. */
  static async start(options) {
    const node = new Node();
    node.process = start(['node', ...options]);
    const { child, ended } = node.process;
    const abandon = () => child.kill('SIGKILL'); // a test that failed before its stop()
    process.once('exit', abandon);
    ended.then(() => process.off('exit', abandon));
    node.url = await Promise.race([
      new Promise((resolve) => createInterface({ input: child.stdout }).on('line', (line) => resolve(line.match(/http:\S+/)[0]))),
      ended.then(({ stderr }) => assert.fail(`braid explorer node ended before it was ready: ${stderr}`)),
    ]);
    return node;
  }

  async stop(signal = 'SIGTERM') {
    this.process.child.kill(signal);
    return this.process.ended;
  }

  /** The results of [method, ...params] calls, in one batch. */
  async call(...calls) {
    const body = JSON.stringify(calls.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params })));
    const reply = await fetch(this.url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    const answers = await reply.json();
    return calls.map((_, i) => {
      const { result, error } = answers.find(({ id }) => id === i);
      assert.equal(error, undefined, JSON.stringify(error));
      return result;
    });
  }

  state = async () => (await this.call(['braid_state']))[0];
  advance = async (steps = 1) => (await this.call(['braid_advance', steps]))[0];
  faults = async (faults = {}) => (await this.call(['braid_faults', faults]))[0];

  /** Its chain as epochs to import; faults must be off. Receipts come so many epochs after their transactions, as long as the node has them. */
  async chain(receiptsAfter = 5) {
    const { epoch: last } = await this.state();
    const numbers = Array.from({ length: last + 1 }, (_, i) => `0x${i.toString(16)}`);
    const lists = await this.call(...numbers.map((number) => ['cfx_getBlocksByEpoch', number]));
    const epochs = [];
    for (const [i, hashes] of lists.entries()) {
      const blocks = await this.call(...hashes.map((hash) => ['cfx_getBlockByHash', hash, true]));
      const executed = epochs[i - receiptsAfter];
      const transactions = executed ? [...new Set(executed.blocks.flatMap((block) => block.transactions.map(({ hash }) => hash)))] : [];
      const found = transactions.length > 0 ? await this.call(...transactions.map((hash) => ['cfx_getTransactionReceipt', hash])) : [];
      const receipts = Object.fromEntries(found.filter((receipt) => receipt && executed.blocks.some(({ hash }) => hash === receipt.blockHash)).map((receipt) => [receipt.transactionHash, receipt]));
      epochs.push({ epochNumber: numbers[i], pivotHash: hashes.at(-1), blocks, receipts });
    }
    return epochs;
  }
}
