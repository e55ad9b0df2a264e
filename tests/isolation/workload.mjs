// A random workload of list-append and register transactions over several clients and collections, recorded as a history (dependencies.mjs).
import assert from 'node:assert/strict';
import { MongoClient } from 'mongodb';
import { generator } from '../lib/random.mjs';

const clientsCount = 8;
const keysAtOnce = 5; // of each collection: few, so that transactions meet
const writesOfKey = 24; // then another takes its place, so that lists stay short
const groups = 3; // documents of one group are read together by an index

/** Where the objects lie; `k` is the shard key of one of them and changes with some writes, so that documents move. */
export const collections = [
  { name: 'lists', list: true, key: null },
  { name: 'listsById', list: true, key: { _id: 'hashed' } },
  { name: 'listsByKey', list: true, key: { k: 'hashed' } },
  { name: 'registers', list: false, key: null },
  { name: 'registersByKey', list: false, key: { k: 1 } },
];

// What ends a transaction without harm: it is recorded as aborted.
const transient = (error) => error.hasErrorLabel?.('TransientTransactionError');

export class Workload {
  history = [];
  moves = 0;
  #values = 0;
  #objects = new Map(collections.map(({ name }) => [name, Array.from({ length: keysAtOnce }, (_, i) => ({ id: i, writes: 0 }))]));

  /** `pretend`: its transactions are none, but single statements. */
  constructor(uri, seed, { pretend = false } = {}) {
    this.uri = uri;
    this.random = generator(seed);
    this.pretend = pretend;
  }

  async prepare() {
    this.client = await new MongoClient(this.uri).connect();
    this.admin = this.client.db('admin');
    this.db = this.client.db('isolation');
    for (const { name, key } of collections) {
      await this.db.createCollection(name);
      await this.db.collection(name).createIndex({ group: 1, _id: 1 });
      if (key) await this.admin.command({ shardCollection: `isolation.${name}`, key });
    }
    for (const at of [5, 30, 60]) await this.admin.command({ split: 'isolation.registersByKey', middle: { k: at } });
  }

  /** Runs this many transactions, then reads everything once more, which shows what was lost. */
  async run(transactions) {
    const clients = await Promise.all(Array.from({ length: clientsCount }, () => new MongoClient(this.uri, { maxPoolSize: 1 }).connect()));
    this.left = transactions;
    try {
      await Promise.all([...clients.map((client) => this.#worker(client, this.random.fork())), this.#mover(this.random.fork())]);
    } finally {
      await Promise.all(clients.map((client) => client.close()));
    }
    const ops = [];
    for (const collection of collections) {
      for (const { _id, ...document } of await this.db.collection(collection.name).find().toArray()) ops.push(this.#seen(collection, _id, document));
      assert.equal((await this.db.command({ validate: collection.name, full: true })).valid, true, `${collection.name} is damaged`);
    }
    this.#record('committed', performance.now(), ops);
  }

  async close() {
    await this.client.close();
  }

  #record(status, begin, ops) {
    this.history.push({ status, begin, end: performance.now(), ops });
  }

  /** Chunks move and are cut all the time, one after so many transactions, and the cluster grows. */
  async #mover(random) {
    const sharded = collections.filter(({ key }) => key);
    while (this.left > 0) {
      const before = this.history.length;
      while (this.left > 0 && this.history.length < before + 15) await new Promise((resolve) => { setImmediate(resolve); });
      const ns = `isolation.${random.pick(sharded).name}`;
      const { uuid } = await this.client.db('config').collection('collections').findOne({ _id: ns });
      const chunk = random.pick(await this.client.db('config').collection('chunks').find({ uuid }).toArray());
      const shards = (await this.admin.command({ listShards: 1 })).shards.map(({ _id }) => _id);
      if (shards.length < 6 && random.chance(20)) await this.admin.command({ addShard: 'local' });
      // The balancer may be at the same chunk, or have changed it.
      await this.admin.command({ moveChunk: ns, bounds: [chunk.min, chunk.max], to: random.pick(shards) }).catch((error) => assert.ok([2, 117].includes(error.code), String(error)));
      ++this.moves;
    }
  }

  async #worker(client, random) {
    const db = client.db('isolation');
    while (this.left-- > 0) {
      const size = random.between(1, 5);
      await random.weighted([
        [10, () => (this.pretend ? this.#pretended(db, random, size) : this.#transaction(client, db, random, size))],
        [2, () => this.#snapshot(client, db, random, size)],
        [2, () => this.#plain(db, random)],
      ])();
    }
  }

  async #transaction(client, db, random, size) {
    const session = client.startSession();
    const ops = [];
    const begin = performance.now();
    try {
      session.startTransaction({ writeConcern: { w: 1, j: random.chance(4) } });
      for (let i = 0; i < size; ++i) await (random.chance(2) ? this.#read : this.#write).call(this, db, random, { session }, ops);
      if (random.chance(12)) {
        await session.abortTransaction();
        this.#record('aborted', begin, ops);
      } else {
        await session.commitTransaction();
        this.#record('committed', begin, ops);
      }
    } catch (error) {
      if (!transient(error)) throw error;
      await session.abortTransaction().catch(() => {});
      this.#record('aborted', begin, ops);
    } finally {
      await session.endSession();
    }
  }

  async #pretended(db, random, size) {
    const ops = [];
    const begin = performance.now();
    for (let i = 0; i < size; ++i) await (random.chance(2) ? this.#read : this.#write).call(this, db, random, {}, ops, true);
    this.#record('committed', begin, ops);
  }

  /** Reads only, all of one moment. */
  async #snapshot(client, db, random, size) {
    const session = client.startSession({ snapshot: true });
    const ops = [];
    const begin = performance.now();
    try {
      for (let i = 0; i < size + 1; ++i) await this.#read(db, random, { session }, ops);
      this.#record('committed', begin, ops);
    } finally {
      await session.endSession();
    }
  }

  /** One statement by itself. */
  async #plain(db, random) {
    const ops = [];
    const begin = performance.now();
    await (random.chance(2) ? this.#read : this.#write).call(this, db, random, {}, ops, true);
    this.#record('committed', begin, ops);
  }

  /** An object's name in the history, and its value there. */
  #seen({ name, list }, id, document) {
    return list ? { f: 'read', key: `${name}/${id}`, value: document?.values ?? [] } : { f: 'get', key: `${name}/${id}`, value: document?.value ?? null };
  }

  async #read(db, random, options, ops) {
    const collection = random.pick(collections);
    const c = db.collection(collection.name);
    const { id } = random.pick(this.#objects.get(collection.name));
    const one = async (found) => ops.push(this.#seen(collection, id, await found));
    // A group by its index: what is not found is absent, so a phantom shows.
    const group = async (read) => {
      const wanted = this.#objects.get(collection.name).filter((object) => object.id % groups === id % groups).map((object) => object.id);
      const found = new Map((await read(id % groups)).map((document) => [document._id, document]));
      for (const each of wanted) ops.push(this.#seen(collection, each, found.get(each)));
    };
    await random.weighted([
      [4, () => one(c.findOne({ _id: id }, options))],
      [2, () => one(c.findOne({ group: id % groups, _id: id }, { ...options, hint: { group: 1, _id: 1 } }))],
      [1, () => one(c.aggregate([{ $match: { _id: id } }], options).next())],
      [2, () => group((g) => c.find({ group: g }, { ...options, hint: { group: 1, _id: 1 } }).toArray())],
      [1, () => group((g) => c.find({ group: g }, { ...options, batchSize: 2 }).sort({ _id: -1 }).toArray())],
    ])();
  }

  async #write(db, random, options, ops, plain = false) {
    const collection = random.pick(collections);
    const c = db.collection(collection.name);
    const objects = this.#objects.get(collection.name);
    const object = random.pick(objects);
    if (++object.writes === writesOfKey) objects[objects.indexOf(object)] = { id: Math.max(...objects.map(({ id }) => id)) + 1, writes: 0 };
    const { id } = object;
    const value = ++this.#values;
    const key = `${collection.name}/${id}`;
    // Its shard key is set when it is made, and then now and then.
    const place = { k: random.below(80) };
    const set = { group: id % groups, ...(random.chance(4) ? place : {}) };
    const setOnInsert = 'k' in set ? {} : { $setOnInsert: place };
    const before = async (update) => c.findOneAndUpdate({ _id: id }, update, { ...options, upsert: true, returnDocument: 'before' });
    if (collection.list) {
      const push = { $push: { values: value }, $set: set, ...setOnInsert };
      const append = async () => {
        await c.updateOne({ _id: id }, push, { ...options, upsert: true });
        ops.push({ f: 'append', key, value });
      };
      const appendAndTell = async () => ops.push(this.#seen(collection, id, await before(push)), { f: 'append', key, value });
      const again = async () => {
        const old = await c.findOneAndDelete({ _id: id }, options);
        ops.push(this.#seen(collection, id, old));
        await c.insertOne({ _id: id, ...place, ...set, values: [...(old?.values ?? []), value] }, options);
        ops.push({ f: 'append', key, value });
      };
      return random.weighted([[6, append], [3, appendAndTell], ...(plain ? [] : [[2, again]])])();
    }
    const update = { $set: { ...set, value }, ...setOnInsert };
    const known = ops.findLast((op) => op.key === key && (op.f === 'get' || op.f === 'write'));
    if (known && random.chance(2)) {
      await c.updateOne({ _id: id }, update, { ...options, upsert: true });
      return ops.push({ f: 'write', key, value, was: known.value });
    }
    const old = await before(update);
    return ops.push({ f: 'write', key, value, was: old?.value ?? null });
  }
}
