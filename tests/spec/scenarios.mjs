// Tests of our own in the unified test format, written as functions: transactions and sessions as drivers run them, with errors injected at every step.

const [transient, retryable, unknown] = ['TransientTransactionError', 'RetryableWriteError', 'UnknownTransactionCommitResult'];
const [databaseName, collectionName] = ['transaction-scenarios', 'test'];
// Errors after which a driver sends a commit or an abort again.
const sentAgain = [6, 7, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436];

const entities = (client = {}, sessionOptions = {}) => [
  { client: { id: 'client0', observeEvents: ['commandStartedEvent'], ...client } },
  { database: { id: 'database0', client: 'client0', databaseName } },
  { collection: { id: 'collection0', database: 'database0', collectionName } },
  { session: { id: 'session0', client: 'client0', sessionOptions } },
  { session: { id: 'session1', client: 'client0' } },
];
const operation = (object) => (name, args = {}, expected = {}) => ({ object, name, arguments: args, ...expected });
const [session, runner, database] = [operation('session0'), operation('testRunner'), operation('database0')];
const collection = (name, args, expected) => operation('collection0')(name, { session: 'session0', ...args }, expected);
const insert = (_id, expected) => collection('insertOne', { document: { _id } }, expected);
const start = (options) => session('startTransaction', options);
const commit = (expected) => session('commitTransaction', {}, expected);
const abort = () => session('abortTransaction');
/** An error with these labels and without those. */
const error = (errorLabelsContain, errorLabelsOmit, more = {}) => ({ expectError: { errorLabelsContain, errorLabelsOmit, ...more } });
const isTransient = error([transient], [retryable, unknown]);

const failing = (data, times = 1) => ({ configureFailPoint: 'failCommand', mode: { times }, data });
const fail = (failCommands, data, times) => runner('failPoint', { client: 'client0', failPoint: failing({ failCommands, ...data }, times) });
const failPinned = (failCommands, data) => runner('targetedFailPoint', { session: 'session0', failPoint: failing({ failCommands, ...data }) });
const state = (name) => runner('assertSessionTransactionState', { session: 'session0', state: name });
const pinned = runner('assertSessionPinned', { session: 'session0' });
const unpinned = runner('assertSessionUnpinned', { session: 'session0' });

const absent = { $$exists: false };
const majority = { writeConcern: { w: 'majority', wtimeout: 10000 } };
const sent = (commandName, fields = {}, txnNumber = 1) => ({
  commandStartedEvent: { commandName, command: { lsid: { $$sessionLsid: 'session0' }, txnNumber: { $numberLong: `${txnNumber}` }, autocommit: false, ...fields } },
});
const test = (description, operations, { events, ids } = {}) => ({
  description,
  operations,
  ...(events && { expectEvents: [{ client: 'client0', events }] }),
  ...(ids && { outcome: [{ databaseName, collectionName, documents: ids.map((_id) => ({ _id })) }] }),
});

const statements = [
  test('a duplicate key has no label', [start(), collection('insertMany', { documents: [{ _id: 1 }, { _id: 1 }] }, error([], [transient, unknown], { errorContains: 'E11000' })), abort()], {
    events: [sent('insert', { startTransaction: true, readConcern: absent, writeConcern: absent }), sent('abortTransaction', { startTransaction: absent })],
    ids: [],
  }),
  ...[24, 91, 112, 251, 10107].map((errorCode) =>
    test(`an insert that fails with ${errorCode} is transient`, [fail(['insert'], { errorCode }), start(), insert(1, isTransient), abort()], { events: [sent('insert'), sent('abortTransaction')], ids: [] })),
  test('a connection that closes is transient', [
    fail(['insert', 'find', 'aggregate', 'distinct'], { closeConnection: true }, 4), start(), insert(1, isTransient), collection('find', { filter: {} }, isTransient),
    collection('aggregate', { pipeline: [] }, isTransient), collection('distinct', { fieldName: '_id', filter: {} }, isTransient), abort(),
  ], { ids: [] }),
  test('count is refused', [start(), collection('count', { filter: {} }, error([], [transient, unknown], { errorCodeName: 'OperationNotSupportedInTransaction' })), abort()]),
  test('two transactions insert one document', [
    start(), insert(1), operation('session1')('startTransaction'),
    collection('insertOne', { session: 'session1', document: { _id: 1 } }, error([transient], [unknown], { errorCodeName: 'WriteConflict' })), commit(), operation('session1')('abortTransaction'),
  ], { ids: [1] }),
  test('a collection is there with the commit', [
    database('dropCollection', { collection: collectionName }), start(), database('createCollection', { session: 'session0', collection: collectionName }),
    runner('assertCollectionNotExists', { databaseName, collectionName }), commit(), runner('assertCollectionExists', { databaseName, collectionName }),
  ]),
  test('an index is there with the commit', [
    database('dropCollection', { collection: collectionName }), start(), collection('createIndex', { name: 'x_1', keys: { x: 1 } }),
    runner('assertIndexNotExists', { databaseName, collectionName, indexName: 'x_1' }), commit(), runner('assertIndexExists', { databaseName, collectionName, indexName: 'x_1' }),
  ]),
];

const ends = [
  ...sentAgain.flatMap((errorCode) => [
    test(`a commit is sent again after ${errorCode}`, [fail(['commitTransaction'], { errorCode }), start(), insert(1), commit()], { events: [sent('insert'), sent('commitTransaction', { writeConcern: absent }), sent('commitTransaction', majority)], ids: [1] }),
    test(`an abort is sent again after ${errorCode}`, [fail(['abortTransaction'], { errorCode }), start(), insert(1), abort()], { events: [sent('insert'), sent('abortTransaction'), sent('abortTransaction')], ids: [] }),
  ]),
  test('a commit whose connection closes twice is unknown, and may be asked for again', [fail(['commitTransaction'], { closeConnection: true }, 2), start(), insert(1), commit(error([retryable, unknown], [transient])), commit()], {
    events: [sent('insert'), sent('commitTransaction', { writeConcern: absent }), sent('commitTransaction', majority), sent('commitTransaction', majority)],
    ids: [1],
  }),
  test('a commit of a transaction that is not known is transient', [fail(['commitTransaction'], { errorCode: 251 }), start(), insert(1), commit(isTransient)], { events: [sent('insert'), sent('commitTransaction')], ids: [] }),
  test('a commit that is interrupted has no label', [fail(['commitTransaction'], { errorCode: 11601 }), start(), insert(1), commit(error([], [retryable, transient, unknown])), commit()], { ids: [1] }),
  test('a commit that runs out of time is unknown', [fail(['commitTransaction'], { errorCode: 50 }), start({ maxCommitTimeMS: 60000 }), insert(1), commit(error([unknown], [retryable, transient])), commit()], {
    events: [sent('insert', { maxTimeMS: absent }), sent('commitTransaction', { maxTimeMS: 60000 }), sent('commitTransaction', { maxTimeMS: 60000 })],
    ids: [1],
  }),
  ...[[64, [unknown]], [79, []], [100, []]].map(([code, labels]) =>
    test(`a commit with the write concern error ${code}`, [fail(['commitTransaction'], { writeConcernError: { code, errmsg: 'failed' } }), start(), insert(1), commit(error(labels, [transient])), commit()], { ids: [1] })),
  test('a commit with a write concern error to try again', [
    fail(['commitTransaction'], { errorLabels: [retryable], writeConcernError: { code: 91, errmsg: 'failed' } }, 2), start(), insert(1), commit(error([retryable, unknown], [transient])), commit(),
  ], { ids: [1] }),
  test('commits carry the recovery token', [start(), insert(1), commit(), commit()], { events: [sent('insert'), ...[1, 2].map(() => sent('commitTransaction', { recoveryToken: { $$exists: true } }))], ids: [1] }),
  test('aborts carry the recovery token', [start(), insert(1), failPinned(['abortTransaction'], { closeConnection: true }), abort()], {
    events: [sent('insert'), ...[1, 2].map(() => sent('abortTransaction', { recoveryToken: { $$exists: true } }))],
    ids: [],
  }),
];

const pins = [
  test('pinned from the first statement to the next transaction', [start(), state('starting'), insert(1), state('in_progress'), pinned, commit(), state('committed'), pinned, start(), unpinned, insert(2), abort(), state('aborted')], { ids: [1] }),
  test('unpinned by a transient error of the commit', [start(), insert(1), failPinned(['commitTransaction'], { errorCode: 24 }), commit(error([transient], [unknown], { errorCode: 24 })), unpinned]),
  test('pinned after an error that is not transient', [start(), insert(1), failPinned(['insert'], { errorCode: 11601 }), insert(2, error([], [transient])), pinned, abort()], { ids: [] }),
  test('unpinned by a shutdown', [start(), insert(1), failPinned(['insert'], { errorCode: 91 }), insert(2, error([transient], [])), unpinned, abort()], { ids: [] }),
];

const callbacks = [
  test('the body is run again after a conflict', [fail(['insert'], { errorCode: 112 }), session('withTransaction', { callback: [insert(1)] })], {
    events: [sent('insert'), sent('abortTransaction'), sent('insert', {}, 2), sent('commitTransaction', {}, 2)],
    ids: [1],
  }),
  test('the commit is sent again until it is known', [fail(['commitTransaction'], { closeConnection: true }, 3), session('withTransaction', { callback: [insert(1)] })], { ids: [1] }),
  test('an error of the body ends it', [session('withTransaction', { callback: [insert(1), insert(1, error([], [transient]))] }, error([], [transient], { errorContains: 'E11000' }))], { ids: [] }),
];

const refusedInSnapshot = [
  collection('insertOne', { document: { _id: 2 } }), collection('insertMany', { documents: [{ _id: 2 }] }), collection('updateOne', { filter: { _id: 1 }, update: { $inc: { x: 1 } } }),
  collection('deleteOne', { filter: {} }), collection('findOneAndUpdate', { filter: { _id: 1 }, update: { $inc: { x: 1 } } }), collection('listIndexes'),
  database('listCollections', { session: 'session0' }), operation('client0')('listDatabases', { session: 'session0' }),
].map((refused) => ({
  ...test(`a snapshot session refuses ${refused.name}`, [{ ...refused, expectError: { isClientError: false, errorCodeName: 'InvalidOptions' } }], {
    events: [{ commandStartedEvent: { command: { readConcern: { level: 'snapshot', atClusterTime: absent } } } }],
    ids: [1],
  }),
}));

const file = (name, tests, createEntities, ids = []) => ({
  group: 'scenarios',
  name,
  file: { createEntities, initialData: [{ databaseName, collectionName, documents: ids.map((_id) => ({ _id })) }], tests },
});

/** As files: {group, name, file}. */
export const scenarios = [
  file('statements', statements, entities()),
  file('ends', ends, entities()),
  file('ends over two addresses', ends, entities({ useMultipleMongoses: true })),
  file('pins', pins, entities({ useMultipleMongoses: true })),
  file('callbacks', callbacks, entities()),
  file('snapshots', refusedInSnapshot, entities({}, { snapshot: true }), [1]),
];
