// What a worker asks for: commands, what they change, and what the answer must be. A worker knows its documents, so it knows the answer before it asks.

/** Collections of the load. `u` is unique in each of them, over all shards and workers. */
export const collections = [
  { name: 'plain', key: null },
  { name: 'byId', key: { _id: 'hashed' } },
  { name: 'byKey', key: { k: 'hashed' } },
  { name: 'ranged', key: { k: 1 } },
];
export const accounts = 6;
const uniqueValues = 400; // few enough that workers meet
const ownMax = 25; // documents of a worker in a collection

/** A statement: `command`, `changes` as in the record, `expect`: fields of the reply. `may`: codes that refuse it. */
export class Operations {
  #made = 0;

  constructor(worker, round, random, state) {
    Object.assign(this, { worker, round, random, state });
  }

  #own(collection) {
    const prefix = `${collection}:${this.worker}/`;
    return [...this.state].filter(([key]) => key.startsWith(prefix)).map(([, document]) => document);
  }

  #newId() {
    return `${this.worker}/${this.round}.${++this.#made}`;
  }

  #fields() {
    const { random } = this;
    return { w: this.worker, k: random.below(100), u: random.below(uniqueValues), n: 1, v: random.below(1e6), tags: Array.from({ length: random.below(4) }, () => random.below(20)), pad: 'x'.repeat(random.chance(8) ? 3000 : random.below(200)) };
  }

  /** A way to write to a collection; `used`: documents that the same transaction has touched. */
  statement(used = new Set()) {
    const { random } = this;
    const { name } = random.pick(collections);
    const own = this.#own(name).filter(({ _id }) => !used.has(`${name}:${_id}`));
    const document = random.pick(own);
    const made = document === undefined || (own.length < ownMax && random.chance(3)) ? this.#insertOrUpsert(name)
      : own.length > ownMax ? this.#remove(name, document)
        : random.weighted([[6, () => this.#update(name, document)], [2, () => this.#remove(name, document)], [1, () => this.#replace(name, document)], [2, () => this.#findAndModify(name, document)]])();
    for (const [collection, id] of made.changes) used.add(`${collection}:${id}`);
    return made;
  }

  #insertOrUpsert(name) {
    const { random } = this;
    const document = { _id: this.#newId(), ...this.#fields() };
    const { _id, n, ...set } = document;
    const changes = [[name, _id, document]];
    if (random.chance(4)) {
      const command = { update: name, updates: [{ q: { _id }, u: { $set: set, $inc: { n } }, upsert: true }] };
      return { command, changes, expect: { n: 1, nModified: 0, upserted: [{ index: 0, _id }] }, may: [11000] };
    }
    if (random.chance(6)) {
      const command = { findAndModify: name, query: { _id }, update: { $set: set, $inc: { n } }, upsert: true, new: true };
      return { command, changes, expect: { lastErrorObject: { n: 1, updatedExisting: false, upserted: _id } }, may: [11000] };
    }
    return { command: { insert: name, documents: [document] }, changes, expect: { n: 1 }, may: [11000] };
  }

  /** Sometimes by the unique field, sometimes with a new shard key or a new unique value. */
  #change(document) {
    const { random } = this;
    const set = { v: random.below(1e6) };
    if (random.chance(3)) set.k = random.below(100);
    if (random.chance(5)) set.u = random.below(uniqueValues);
    if (random.chance(4)) set.tags = [random.below(20), 100 + random.below(5)];
    return { q: random.chance(4) ? { u: document.u, w: this.worker } : { _id: document._id }, u: { $inc: { n: 1 }, $set: set }, after: { ...document, n: document.n + 1, ...set } };
  }

  #update(name, document) {
    const { q, u, after } = this.#change(document);
    return { command: { update: name, updates: [{ q, u }] }, changes: [[name, document._id, after]], expect: { n: 1, nModified: 1 }, may: [11000] };
  }

  #replace(name, document) {
    const after = { ...this.#fields(), n: document.n + 1 };
    return { command: { update: name, updates: [{ q: { _id: document._id }, u: after }] }, changes: [[name, document._id, { _id: document._id, ...after }]], expect: { n: 1, nModified: 1 }, may: [11000] };
  }

  #findAndModify(name, document) {
    if (this.random.chance(3)) return { command: { findAndModify: name, query: { _id: document._id }, remove: true }, changes: [[name, document._id, null]], expect: { value: document }, may: [] };
    const { q, u, after } = this.#change(document);
    const shown = this.random.chance(2);
    return { command: { findAndModify: name, query: q, update: u, new: shown }, changes: [[name, document._id, after]], expect: { value: shown ? after : document }, may: [11000] };
  }

  #remove(name, document) {
    return { command: { delete: name, deletes: [{ q: { _id: document._id }, limit: 1 }] }, changes: [[name, document._id, null]], expect: { n: 1 }, may: [] };
  }

  /** Several statements in one command: each is atomic, and they are done in order. No unique value changes, so none is refused. */
  batch() {
    const { random } = this;
    const { name } = random.pick(collections);
    const documents = this.#own(name).slice(0, random.between(2, 4));
    if (documents.length < 2) return this.statement();
    const changes = documents.map((document) => [name, document._id, { ...document, n: document.n + 1 }]);
    return { command: { update: name, updates: documents.map(({ _id }) => ({ q: { _id }, u: { $inc: { n: 1 } } })) }, changes, expect: { n: documents.length, nModified: documents.length }, may: [], how: 'prefix' };
  }

  /** Many documents by one statement; cannot be retried. */
  many() {
    const { random } = this;
    const { name } = random.pick(collections);
    const own = this.#own(name);
    if (own.length > ownMax - 5 || random.chance(6)) {
      const gone = own.filter(({ n }) => n > 3);
      return { command: { delete: name, deletes: [{ q: { w: this.worker, n: { $gt: 3 } }, limit: 0 }] }, changes: gone.map(({ _id }) => [name, _id, null]), expect: { n: gone.length }, may: [], how: 'any' };
    }
    const changes = own.map((document) => [name, document._id, { ...document, n: document.n + 1 }]);
    return { command: { update: name, updates: [{ q: { w: this.worker }, u: { $inc: { n: 1 } }, multi: true }] }, changes, expect: { n: own.length, nModified: own.length }, may: [], how: 'any' };
  }

  /** Money from one account to another, which all workers use, and a line in the ledger that says so. */
  transfer() {
    const { random } = this;
    const [from, amount] = [random.below(accounts), random.between(1, 9)];
    const to = (from + random.between(1, accounts - 1)) % accounts;
    const entry = { _id: this.#newId(), from, to, amount };
    const add = (_id, $inc) => ({ command: { update: 'accounts', updates: [{ q: { _id }, u: { $inc: { balance: $inc } } }] }, changes: [], expect: { n: 1, nModified: 1 }, may: [] });
    return [add(from, -amount), { command: { insert: 'ledger', documents: [entry] }, changes: [['ledger', entry._id, entry]], expect: { n: 1 }, may: [] }, add(to, amount)];
  }

  /** A collection that the transaction makes. */
  newCollection() {
    const name = `made_${this.worker}_${this.round}_${++this.#made}`;
    const document = { _id: this.#newId(), n: 1 };
    return { command: { insert: name, documents: [document] }, changes: [[name, document._id, document]], expect: { n: 1 }, may: [] };
  }

  transaction() {
    const { random } = this;
    const used = new Set();
    const statements = Array.from({ length: random.between(1, 3) }, () => this.statement(used));
    if (random.chance(2)) statements.push(...this.transfer());
    if (random.chance(25)) statements.push(this.newCollection());
    return statements;
  }
}
