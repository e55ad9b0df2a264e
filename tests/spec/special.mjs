// The operations of the unified test format that the test runner does itself: fail points, assertions, waiting.

/** The driver's names of a transaction's states, as the format calls them. */
const transactionStates = {
  none: ['NO_TRANSACTION'],
  starting: ['STARTING_TRANSACTION'],
  in_progress: ['TRANSACTION_IN_PROGRESS'],
  committed: ['TRANSACTION_COMMITTED', 'TRANSACTION_COMMITTED_EMPTY'],
  aborted: ['TRANSACTION_ABORTED'],
};
function expect(condition, otherwise) {
  if (!condition) throw new Error(otherwise);
}
async function indexNames({ databaseName, collectionName }, test) {
  const cursor = test.internal.db(databaseName).collection(collectionName).listIndexes();
  return (await cursor.toArray().catch((error) => (error.code === 26 ? [] : Promise.reject(error)))).map((index) => index.name);
}
const seenEvents = ({ client, event: [[name]] }, entities) => entities.events(client).filter((seen) => seen[name]).length;
const lastLsids = (client, entities) => entities.events(client).filter((e) => e.commandStartedEvent).slice(-2).map((e) => e.commandStartedEvent.command.lsid.id.toString('hex'));

/** What the test runner itself does, by name. */
export const special = {
  failPoint: async ({ failPoint, client }, entities, test) => {
    await entities.get(client).db('admin').command(failPoint);
    test.failPoints.push(failPoint.configureFailPoint);
  },
  assertCollectionExists: async ({ databaseName, collectionName }, _, test) => {
    const found = await test.internal.db(databaseName).listCollections({ name: collectionName }).toArray();
    if (found.length === 0) throw new Error(`${databaseName}.${collectionName} does not exist`);
  },
  assertCollectionNotExists: async ({ databaseName, collectionName }, _, test) => {
    const found = await test.internal.db(databaseName).listCollections({ name: collectionName }).toArray();
    if (found.length > 0) throw new Error(`${databaseName}.${collectionName} exists`);
  },
  // All addresses are of one server.
  targetedFailPoint: async ({ failPoint }, _, test) => {
    await test.internal.db('admin').command(failPoint);
    test.failPoints.push(failPoint.configureFailPoint);
  },
  createEntities: ({ entities: specs }, entities) => entities.create(specs),
  wait: ({ ms }) => new Promise((resolve) => { setTimeout(resolve, Number(ms)); }),
  waitForEvent: async ({ client, event, count }, entities) => {
    const until = Date.now() + 10000;
    while (seenEvents({ client, event: Object.entries(event) }, entities) < count) {
      expect(Date.now() < until, `${client} did not see ${Object.keys(event)} ${count} times`);
      await special.wait({ ms: 10 });
    }
  },
  assertEventCount: ({ client, event, count }, entities) => {
    const seen = seenEvents({ client, event: Object.entries(event) }, entities);
    expect(seen === Number(count), `expected ${count} times ${Object.keys(event)}, got ${seen}`);
  },
  assertIndexExists: async (args, _, test) => expect((await indexNames(args, test)).includes(args.indexName), `no index ${args.indexName}`),
  assertIndexNotExists: async (args, _, test) => expect(!(await indexNames(args, test)).includes(args.indexName), `there is an index ${args.indexName}`),
  assertSessionTransactionState: ({ session, state }, entities) => {
    const actual = entities.get(session).transaction.state;
    expect(transactionStates[state].includes(actual), `expected the transaction to be ${state}, it is ${actual}`);
  },
  assertSessionPinned: ({ session }, entities) => expect(entities.get(session).isPinned, `${session} is not pinned`),
  assertSessionUnpinned: ({ session }, entities) => expect(!entities.get(session).isPinned, `${session} is pinned`),
  assertSessionDirty: ({ session }, entities) => expect(entities.get(session).serverSession.isDirty, `${session} is not dirty`),
  assertSessionNotDirty: ({ session }, entities) => expect(!entities.get(session).serverSession.isDirty, `${session} is dirty`),
  assertSameLsidOnLastTwoCommands: ({ client }, entities) => {
    const [a, b] = lastLsids(client, entities);
    expect(a === b, 'the last two commands have different sessions');
  },
  assertDifferentLsidOnLastTwoCommands: ({ client }, entities) => {
    const [a, b] = lastLsids(client, entities);
    expect(a !== b, 'the last two commands have the same session');
  },
  assertNumberConnectionsCheckedOut: ({ client, connections }, entities) => {
    const servers = entities.get(client).topology?.s?.servers ?? new Map();
    const out = [...servers.values()].reduce((sum, server) => sum + server.pool.currentCheckedOutCount, 0);
    if (out !== connections) throw new Error(`expected ${connections} connections checked out, got ${out}`);
  },
};
