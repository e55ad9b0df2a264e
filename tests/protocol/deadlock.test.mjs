// Random statements, transactions and changes of collections meet at a few documents, for thousands of rounds: all of
// them end. BRAID_SEED=… repeats the choices, not the timing; BRAID_ROUNDS=… sets how many rounds each client has.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fill, serve, times } from '../lib/fixture.mjs';
import { generator, newSeed } from '../lib/random.mjs';
import { RawSession } from '../lib/session.mjs';

const seed = newSeed();
const rounds = Number(process.env.BRAID_ROUNDS ?? 250);
const clients = 16;
const ids = [-2, -1, 0, 1, 2];
// Fewer threads than clients: one that kept its thread while it waits would be noticed.
const f = await serve(['--shards', '2', '--threads', '2']);

// What may come of statements whose collections are dropped, renamed and moved beside them. No 50: nothing has a
// maxTimeMS, so a request that waits for ever is one that is not answered, and fails the test.
const expected = new Set([
  0,
  11000, // DuplicateKey: the unique index
  20, // IllegalOperation
  26, // NamespaceNotFound
  27, // IndexNotFound
  48, // NamespaceExists
  112, // WriteConflict, of transactions
  117, // ConflictingOperationInProgress
  125, // CommandFailed: the target of $out was changed meanwhile
  175, // QueryPlanKilled: the collection was dropped
  251, // NoSuchTransaction: aborted by the error before
  276, // IndexBuildAborted
]);
const expectedInTransactions = new Set([...expected, 246]); // SnapshotUnavailable: the collection was renamed after the snapshot

function statements(random) {
  const name = () => random.pick(['d0', 'd1', 'd2', 'spread']);
  const _id = () => random.pick(ids);
  const u = () => random.pick([{ $inc: { n: 1 } }, { $set: { u: random.below(4) } }, { $unset: { u: 1 } }]);
  const statement = () => random.weighted([
    [4, () => ({ update: name(), updates: [{ q: { _id: _id() }, u: u(), upsert: true }] })],
    [2, () => ({ update: name(), updates: [{ q: { n: { $gte: 0 } }, u: u() }] })],
    [2, () => ({ findAndModify: name(), query: { n: { $gte: 0 } }, sort: { n: 1 }, update: u() })],
    [1, () => ({ delete: name(), deletes: [{ q: { _id: _id() }, limit: 1 }] })],
    [1, () => ({ insert: name(), documents: [{ _id: _id(), n: 0, u: random.below(4) }] })],
    [2, () => ({ find: name(), filter: { n: { $gte: 0 } } })],
  ])();
  const many = () => random.pick([
    () => ({ update: name(), updates: [{ q: {}, u: { $inc: { n: 1 } }, multi: true }] }),
    () => ({ delete: name(), deletes: [{ q: { n: { $gte: 20 } }, limit: 0 }] }),
    () => ({ aggregate: name(), pipeline: [{ $merge: name() }], cursor: {} }),
  ])();
  const change = () => random.weighted([
    [3, () => [{ createIndexes: name(), indexes: [{ key: { n: 1 }, name: 'n' }] }]],
    [2, () => [{ createIndexes: name(), indexes: [{ key: { u: 1 }, name: 'u', unique: true, sparse: true }] }]],
    [3, () => [{ dropIndexes: name(), index: random.pick(['n', 'u']) }]],
    [2, () => [{ collMod: name(), validationLevel: random.pick(['off', 'strict']) }]],
    [1, () => [{ drop: random.pick(['d0', 'd1', 'd2']) }]],
    [1, () => [{ aggregate: 'd0', pipeline: [{ $out: random.pick(['d1', 'd2']) }], cursor: {} }]],
    [1, () => [{ renameCollection: 'test.d1', to: 'test.d2', dropTarget: random.chance(2) }, 'admin']],
    [1, () => [{ renameCollection: 'test.d2', to: 'test.d1', dropTarget: random.chance(2) }, 'admin']],
    [3, () => [{ moveChunk: 'test.spread', find: { _id: _id() }, to: random.pick(['shard0', 'shard1']) }, 'admin']],
  ])();
  return { statement, many, change };
}

const codeOf = (reply) => reply.code ?? reply.writeErrors?.[0].code ?? 0;

test(`requests of ${clients} clients at a few documents always end (seed ${seed})`, async () => {
  for (const name of ['d0', 'd1', 'spread']) await fill(f.db, name, ids.map((_id) => ({ _id, n: 0 })));
  await f.admin.command({ shardCollection: 'test.spread', key: { _id: 1 } });
  await f.admin.command({ split: 'test.spread', middle: { _id: 0 } });
  await f.admin.command({ balancerStop: 1 });
  const sessions = await Promise.all(times(clients, () => RawSession.open(f.server.uri)));
  after(() => sessions.forEach((session) => session.close()));
  const root = generator(seed);
  const counts = new Map();
  let committed = 0;

  const note = (reply, what, allowed = expected) => {
    const code = codeOf(reply);
    counts.set(code, (counts.get(code) ?? 0) + 1);
    assert.ok(allowed.has(code), `BRAID_SEED=${seed}: ${JSON.stringify(what)}: ${JSON.stringify(reply)}`);
    return code;
  };
  async function transaction(session, random, { statement }) {
    let what = statement();
    let code = note(await session.start(what), what, expectedInTransactions);
    for (let i = random.below(4); i > 0 && code === 0; --i) {
      what = statement();
      code = note(await session.next(what), what, expectedInTransactions);
    }
    if (code !== 0) return;
    if (random.chance(5)) {
      note(await session.abort(), 'abort');
    } else if (note(await session.commit(), 'commit') === 0) {
      ++committed;
    }
  }
  await Promise.all(sessions.map(async (session) => {
    const random = root.fork();
    const make = statements(random);
    for (let round = 0; round < rounds; ++round) {
      await random.weighted([
        [4, () => transaction(session, random, make)],
        [4, async () => {
          const what = make.statement();
          note(await (what.find ? session.plain(what) : session.write(what)), what);
        }],
        [2, async () => {
          const what = make.many();
          note(await session.plain(what), what);
        }],
        [1, async () => {
          const [what, database] = make.change();
          note(await session.plain(what, database), what);
        }],
      ])();
    }
  }));

  assert.ok(committed > clients && counts.get(112) > 0, `they hardly met: ${JSON.stringify([...counts])}`);
  const { inprog } = await f.admin.command({ currentOp: 1 });
  assert.deepEqual(inprog.filter(({ command }) => command && !command.currentOp && !command.hello && !command.aggregate), []);
  for (const { name } of await f.db.listCollections().toArray()) {
    assert.equal((await f.db.command({ validate: name })).valid, true, name);
    assert.equal((await f.db.collection(name).insertOne({ _id: 'last' })).acknowledged, true);
  }
  const status = await f.admin.command({ serverStatus: 1 });
  assert.equal(status.documentLocks.waiting, 0);
  assert.equal(status.transactions.currentOpen, 0);
});
