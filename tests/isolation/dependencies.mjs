// Which transaction of a history depends on which, as Adya defines it, and the anomalies that show without a cycle.
//
// A history is a list of transactions { status: 'committed' | 'aborted' | 'unknown', begin, end, ops }; begin and end are points in time (end:
// when the outcome was known), left out if they do not matter. An op is one of
//   { f: 'append', key, value }           to a list; every value is appended once in the whole history
//   { f: 'read', key, value: [...] }      of a list; absent: []
//   { f: 'write', key, value, was }       of a register, which had `was` before (null: nothing); every value is written once
//   { f: 'get', key, value }              of a register
// A list tells the order of its versions itself; a register's are a chain, because a write knows what it replaces.

const isPrefix = (a, b) => a.length <= b.length && a.every((value, i) => value === b[i]);
const show = (value) => JSON.stringify(value);

/** The versions of one object, in order: [{ value, writer }], `value` being what was appended or written last. */
class Versions {
  constructor(key) {
    this.key = key;
    this.order = [];
    this.at = new Map(); // value → place in the order
  }

  add(value, writer) {
    this.at.set(value, this.order.length);
    this.order.push({ value, writer });
  }
}

export class Dependencies {
  /** @param {object[]} history */
  constructor(history) {
    this.history = history;
    this.anomalies = []; // { type, text, transactions }
    this.edges = history.map(() => new Map()); // from → to → kind → key
    this.writers = new Map(); // key → value → { transaction, last: no later one of the same transaction }
    this.reads = new Map(); // key → [{ transaction, value, last: of a list, or the value }] of committed transactions
    this.versions = new Map();
    this.#collectWriters();
    history.forEach((transaction, index) => this.#checkWithin(transaction, index));
    this.#orderLists();
    this.#orderRegisters();
    for (const versions of this.versions.values()) this.#connect(versions);
  }

  report(type, text, ...transactions) {
    this.anomalies.push({ type, text, transactions });
  }

  #collectWriters() {
    this.history.forEach(({ ops }, transaction) => {
      for (const op of ops) {
        if (op.f !== 'append' && op.f !== 'write') continue;
        if (!this.writers.has(op.key)) this.writers.set(op.key, new Map());
        const values = this.writers.get(op.key);
        if (values.has(op.value)) throw new Error(`${op.value} was written to ${op.key} twice: the history is not usable`);
        for (const other of values.values()) if (other.transaction === transaction) other.last = false;
        values.set(op.value, { transaction, last: true });
      }
    });
  }

  /** What a transaction reads must agree with what it read and wrote before, and come from a transaction that it may read from. */
  #checkWithin({ status, ops }, index) {
    const known = new Map(); // key → the value as this transaction must see it
    const appended = new Map(); // key → what it appended to a list that it had not read
    const wrong = (key, read, expected) => this.report('internal', `${key} is ${show(read)}, but the same transaction must see ${expected}`, index);
    for (const { f, key, value, was } of ops) {
      const read = f === 'write' ? was : value;
      if (f !== 'append' && read !== undefined) {
        const own = appended.get(key) ?? [];
        if (known.has(key) && show(known.get(key)) !== show(read)) wrong(key, read, show(known.get(key)));
        if (!known.has(key) && own.length > 0 && show(read.slice(-own.length)) !== show(own)) wrong(key, read, `its ${show(own)} in the end`);
        if (!known.has(key) && status === 'committed') this.#noteRead(key, own.length > 0 ? read.slice(0, -own.length) : read, index);
        known.set(key, read);
      }
      if (f === 'append' && known.has(key)) known.set(key, [...known.get(key), value]);
      else if (f === 'append') appended.set(key, [...(appended.get(key) ?? []), value]);
      if (f === 'write') known.set(key, value);
    }
  }

  /** The version that a committed transaction has read of others. */
  #noteRead(key, value, transaction) {
    if (!this.reads.has(key)) this.reads.set(key, []);
    const values = Array.isArray(value) ? value : value === null ? [] : [value];
    this.reads.get(key).push({ transaction, value, last: values.at(-1) ?? null });
    this.#checkSources(key, values, transaction);
  }

  #checkSources(key, values, reader) {
    const writers = this.writers.get(key) ?? new Map();
    values.forEach((value, i) => {
      const writer = writers.get(value);
      if (!writer) return this.report('phantom write', `${key} has ${show(value)}, which nobody wrote`, reader);
      if (this.history[writer.transaction].status === 'aborted') this.report('G1a', `${key} has ${show(value)} of an aborted transaction`, reader, writer.transaction);
      // Of the last version only: in the midst of a list an intermediate value is followed by its transaction's next one.
      if (i === values.length - 1 && !writer.last && writer.transaction !== reader) {
        this.report('G1b', `${key} was read at ${show(value)}, in the midst of a transaction`, reader, writer.transaction);
      }
    });
  }

  #versionsOf(key) {
    if (!this.versions.has(key)) this.versions.set(key, new Versions(key));
    return this.versions.get(key);
  }

  #orderLists() {
    for (const [key, reads] of this.reads) {
      const lists = reads.filter(({ value }) => Array.isArray(value));
      if (lists.length === 0) continue;
      const longest = lists.reduce((a, b) => (b.value.length > a.value.length ? b : a));
      for (const { value, transaction } of lists) {
        if (!isPrefix(value, longest.value)) this.report('incompatible order', `${key} was read as ${show(value)} and as ${show(longest.value)}`, transaction, longest.transaction);
      }
      if (new Set(longest.value).size !== longest.value.length) this.report('duplicate', `${key} has a value twice: ${show(longest.value)}`, longest.transaction);
      const versions = this.#versionsOf(key);
      for (const value of new Set(longest.value)) versions.add(value, this.writers.get(key)?.get(value)?.transaction);
    }
  }

  #orderRegisters() {
    const chains = new Map(); // key → value before → [{ value, transaction }]
    const seen = new Map(); // key → values that committed transactions have read
    for (const [key, reads] of this.reads) seen.set(key, new Set(reads.map(({ last }) => last)));
    this.history.forEach(({ status, ops }, transaction) => {
      for (const { f, key, value, was } of ops) {
        if (f !== 'write' || status === 'aborted' || (status === 'unknown' && !seen.get(key)?.has(value))) continue;
        if (!chains.has(key)) chains.set(key, new Map());
        const next = chains.get(key);
        if (!next.has(was)) next.set(was, []);
        next.get(was).push({ value, transaction });
      }
    });
    for (const [key, next] of chains) {
      const versions = this.#versionsOf(key);
      let at = null;
      while (next.has(at)) {
        const followers = next.get(at);
        if (followers.length > 1) this.report('lost update', `${key}: ${followers.length} transactions replaced ${show(at)}`, ...followers.map(({ transaction }) => transaction));
        next.delete(at);
        versions.add(followers[0].value, followers[0].transaction);
        at = followers[0].value;
      }
      for (const [was, [{ value, transaction }]] of next) {
        if (was !== undefined) this.report('broken chain', `${key}: ${show(value)} replaced ${show(was)}, which is not in its history`, transaction);
      }
    }
  }

  #edge(from, to, kind, key) {
    if (from === undefined || to === undefined || from === to) return;
    const edges = this.edges[from];
    if (!edges.has(to)) edges.set(to, new Map());
    if (!edges.get(to).has(kind)) edges.get(to).set(kind, key);
  }

  #connect({ key, order, at }) {
    for (let i = 1; i < order.length; ++i) this.#edge(order[i - 1].writer, order[i].writer, 'ww', key);
    // Appends that no read has seen come after all that were seen; among themselves they have no order.
    const unseen = [...(this.writers.get(key) ?? [])].filter(([value, { transaction }]) => !at.has(value) && this.history[transaction].status === 'committed').map(([, { transaction }]) => transaction);
    for (const writer of unseen) this.#edge(order.at(-1)?.writer, writer, 'ww', key);
    for (const { transaction, last } of this.reads.get(key) ?? []) {
      const place = last === null ? -1 : at.get(last);
      if (place === undefined) continue;
      if (place >= 0) this.#edge(order[place].writer, transaction, 'wr', key);
      // The next version of somebody else: its own next version is no anti-dependency.
      if (place + 1 < order.length) this.#edge(transaction, order[place + 1].writer, 'rw', key);
      else for (const writer of unseen) this.#edge(transaction, writer, 'rw', key);
    }
  }
}
