// The normal load of a soak, in a process of its own: clients that write, change, read and remove documents of their own, each knowing
// what must be there. Says every answer that is wrong, and at "report" how long the operations since the last report took, all of them and each kind.
import { MongoClient } from 'mongodb';
import { generator } from '../lib/random.mjs';

const [uri, count, seed] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
let taken = {}; // operation: [nanoseconds, …]
const errors = [];
let stopped = false;

const wrong = (what) => errors.push(what);

async function timed(name, operation) {
  const start = process.hrtime.bigint();
  const result = await operation();
  (taken[name] ??= []).push(Number(process.hrtime.bigint() - start));
  return result;
}

function summary(nanos) {
  nanos.sort((a, b) => a - b);
  const at = (part) => nanos[Math.min(nanos.length - 1, Math.floor(part * nanos.length))] / 1e6;
  return { operations: nanos.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

class Client {
  #known = new Map(); // _id: n
  #next = 0;

  constructor(number) {
    this.number = number;
    this.random = generator(seed + number);
    this.client = new MongoClient(uri, { maxPoolSize: 2, retryReads: false, retryWrites: true });
    this.documents = this.client.db('load').collection('documents');
    this.balances = this.client.db('load').collection('balances');
  }

  #any() {
    const ids = [...this.#known.keys()];
    return ids[this.random.below(ids.length)];
  }

  async insert() {
    const _id = `${this.number}:${this.#next++}`;
    await timed('insert', () => this.documents.insertOne({ _id, owner: this.number, n: 0, text: 'x'.repeat(200) }));
    this.#known.set(_id, 0);
  }

  async change() {
    const _id = this.#any();
    const result = await timed('change', () => this.documents.updateOne({ _id }, { $inc: { n: 1 } }));
    if (result.modifiedCount !== 1) wrong(`${_id}: ${result.modifiedCount} changed`);
    this.#known.set(_id, this.#known.get(_id) + 1);
  }

  async read() {
    const _id = this.#any();
    const found = await timed('read', () => this.documents.findOne({ _id }));
    if (found?.n !== this.#known.get(_id)) wrong(`${_id}: n is ${found?.n}, not ${this.#known.get(_id)}`);
  }

  async remove() {
    const _id = this.#any();
    const result = await timed('remove', () => this.documents.deleteOne({ _id }));
    if (result.deletedCount !== 1) wrong(`${_id}: ${result.deletedCount} removed`);
    this.#known.delete(_id);
  }

  async all() {
    const found = await timed('all', () => this.documents.find({ owner: this.number }).toArray());
    const same = found.length === this.#known.size && found.every(({ _id, n }) => this.#known.get(_id) === n);
    if (!same) wrong(`client ${this.number}: ${found.length} documents, not the ${this.#known.size} that were written`);
  }

  /** Moves an amount between two documents that no other client has: their sum stays 0. */
  async transfer() {
    const session = this.client.startSession();
    try {
      await timed('transfer', () => session.withTransaction(async () => {
        await this.balances.updateOne({ _id: `${this.number}:a` }, { $inc: { n: 1 } }, { upsert: true, session });
        await this.balances.updateOne({ _id: `${this.number}:b` }, { $inc: { n: -1 } }, { upsert: true, session });
      }));
    } finally {
      await session.endSession();
    }
    const [sum] = await timed('aggregate', () => this.balances.aggregate([{ $match: { _id: { $in: [`${this.number}:a`, `${this.number}:b`] } } }, { $group: { _id: null, n: { $sum: '$n' } } }]).toArray());
    if (sum.n !== 0) wrong(`client ${this.number}: the sum is ${sum.n}`);
  }

  /** The number of documents stays about the same, so that the last minute is comparable with the first. */
  async run() {
    await this.client.connect();
    while (!stopped) {
      const choice = this.#known.size < 5 ? 0 : this.random.below(100);
      const name = choice < 35 ? (this.#known.size > 40 ? 'remove' : 'insert') : choice < 65 ? 'change' : choice < 95 ? 'read' : choice < 98 ? 'transfer' : 'all';
      try {
        await this[name]();
      } catch (error) {
        wrong(`client ${this.number}, ${name}: ${error}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 10 + this.random.below(40)));
    }
    await this.all().catch((error) => wrong(`client ${this.number} at the end: ${error}`));
    await this.client.close();
  }
}

process.on('message', async (what) => {
  if (what === 'stop') {
    stopped = true;
    await running;
  }
  const byOperation = Object.fromEntries(Object.entries(taken).map(([name, nanos]) => [name, summary(nanos)]));
  process.send({ ...summary(Object.values(taken).flat()), byOperation, errors: errors.splice(0) });
  taken = {};
  if (what === 'stop') process.disconnect();
});

const running = Promise.all(Array.from({ length: count }, (_, i) => new Client(i).run()));
