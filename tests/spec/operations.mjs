// The operations of the unified test format as calls of the Node driver.
import { strict as assert } from 'node:assert';

const { entries, fromEntries } = Object;
const without = (object, ...names) => fromEntries(entries(object ?? {}).filter(([name]) => !names.includes(name)));

/** Options as the driver wants them: sessions are entities, returnDocument is a word in lower case. */
function optionsOf(args, entities, ...own) {
  const options = without(args, ...own);
  if (options.session) options.session = entities.get(options.session);
  if (options.returnDocument) options.returnDocument = options.returnDocument.toLowerCase();
  return options;
}

/** {insertOne: {document}} → what bulkWrite takes; its models have the same names. */
const bulkModel = (model) => model;

function clientBulkModel(model) {
  const [[name, { namespace, ...rest }]] = entries(model);
  return { name, namespace, ...rest };
}

const collectionOperations = {
  aggregate: (c, a, e) => c.aggregate(a.pipeline, optionsOf(a, e, 'pipeline')).toArray(),
  bulkWrite: (c, a, e) => c.bulkWrite(a.requests.map(bulkModel), optionsOf(a, e, 'requests')).then(bulkResult),
  count: (c, a, e) => c.count(a.filter, optionsOf(a, e, 'filter')),
  countDocuments: (c, a, e) => c.countDocuments(a.filter, optionsOf(a, e, 'filter')),
  createChangeStream: (c, a, e) => watch(c, a, e),
  createFindCursor: async (c, a, e) => {
    const cursor = c.find(a.filter, optionsOf(a, e, 'filter'));
    await cursor.cursorInit();  // runs the command, fetches nothing
    return cursor;
  },
  createIndex: (c, a, e) => c.createIndex(a.keys, optionsOf(a, e, 'keys')),
  createSearchIndex: (c, a) => c.createSearchIndex(a.model),
  createSearchIndexes: (c, a) => c.createSearchIndexes(a.models),
  deleteMany: (c, a, e) => c.deleteMany(a.filter, optionsOf(a, e, 'filter')),
  deleteOne: (c, a, e) => c.deleteOne(a.filter, optionsOf(a, e, 'filter')),
  distinct: (c, a, e) => c.distinct(a.fieldName, a.filter, optionsOf(a, e, 'fieldName', 'filter')),
  dropIndex: (c, a, e) => c.dropIndex(a.name, optionsOf(a, e, 'name')),
  dropSearchIndex: (c, a) => c.dropSearchIndex(a.name),
  estimatedDocumentCount: (c, a, e) => c.estimatedDocumentCount(optionsOf(a, e)),
  find: (c, a, e) => c.find(a.filter, optionsOf(a, e, 'filter')).toArray(),
  findOne: (c, a, e) => c.findOne(a.filter, optionsOf(a, e, 'filter')),
  findOneAndDelete: (c, a, e) => c.findOneAndDelete(a.filter, optionsOf(a, e, 'filter')),
  findOneAndReplace: (c, a, e) => c.findOneAndReplace(a.filter, a.replacement, optionsOf(a, e, 'filter', 'replacement')),
  findOneAndUpdate: (c, a, e) => c.findOneAndUpdate(a.filter, a.update, optionsOf(a, e, 'filter', 'update')),
  insertMany: (c, a, e) => c.insertMany(a.documents, optionsOf(a, e, 'documents')),
  insertOne: (c, a, e) => c.insertOne(a.document, optionsOf(a, e, 'document')),
  listIndexes: (c, a, e) => c.listIndexes(optionsOf(a, e)).toArray(),
  listIndexNames: async (c, a, e) => (await c.listIndexes(optionsOf(a, e)).toArray()).map((index) => index.name),
  listSearchIndexes: (c, a) => c.listSearchIndexes(a?.name, a?.aggregationOptions).toArray(),
  rename: (c, a, e) => c.rename(a.to, optionsOf(a, e, 'to')),
  replaceOne: (c, a, e) => c.replaceOne(a.filter, a.replacement, optionsOf(a, e, 'filter', 'replacement')),
  updateMany: (c, a, e) => c.updateMany(a.filter, a.update, optionsOf(a, e, 'filter', 'update')),
  updateOne: (c, a, e) => c.updateOne(a.filter, a.update, optionsOf(a, e, 'filter', 'update')),
  updateSearchIndex: (c, a) => c.updateSearchIndex(a.name, a.definition),
};

const databaseOperations = {
  aggregate: (d, a, e) => d.aggregate(a.pipeline, optionsOf(a, e, 'pipeline')).toArray(),
  createChangeStream: (d, a, e) => watch(d, a, e),
  createCollection: (d, a, e) => d.createCollection(a.collection, optionsOf(a, e, 'collection')),
  createCommandCursor: async (d, a, e) => {
    const cursor = commandCursor(d, a, e);
    await cursor.cursorInit();  // runs the command, fetches nothing
    return cursor;
  },
  dropCollection: (d, a, e) => d.dropCollection(a.collection, optionsOf(a, e, 'collection')),
  listCollections: (d, a, e) => d.listCollections(a?.filter, optionsOf(a, e, 'filter')).toArray(),
  listCollectionNames: async (d, a, e) => (await d.listCollections(a?.filter, { ...optionsOf(a, e, 'filter'), nameOnly: true }).toArray()).map((c) => c.name),
  listCollectionObjects: (d, a, e) => d.listCollections(a?.filter, optionsOf(a, e, 'filter')).toArray(),
  modifyCollection: (d, a) => d.command({ collMod: a.collection, ...without(a, 'collection') }),
  runCommand: (d, a, e) => d.command(a.command, optionsOf(a, e, 'command', 'commandName')),
  runCursorCommand: (d, a, e) => commandCursor(d, a, e).toArray(),
};

function commandCursor(database, args, entities) {
  const cursor = database.runCursorCommand(args.command, optionsOf(args, entities, 'command', 'commandName', 'batchSize', 'maxTimeMS', 'comment'));
  if (args.batchSize !== undefined) cursor.setBatchSize(args.batchSize);
  if (args.maxTimeMS !== undefined) cursor.setMaxTimeMS(args.maxTimeMS);
  if (args.comment !== undefined) cursor.setComment(args.comment);
  return cursor;
}

const bulkResult = (result) => ({
  insertedCount: result.insertedCount,
  insertedIds: result.insertedIds,
  matchedCount: result.matchedCount,
  modifiedCount: result.modifiedCount,
  deletedCount: result.deletedCount,
  upsertedCount: result.upsertedCount,
  upsertedIds: result.upsertedIds,
});

/** Maps of the client's bulk results become plain documents. */
const plainMap = (map) => (map instanceof Map ? fromEntries([...map].map(([key, value]) => [String(key), value])) : map);
function clientBulkResult(result) {
  return { ...result, insertResults: plainMap(result.insertResults), updateResults: plainMap(result.updateResults), deleteResults: plainMap(result.deleteResults) };
}

/** A change stream whose first command has run. */
async function watch(target, args, entities) {
  const stream = target.watch(args.pipeline, optionsOf(args, entities, 'pipeline'));
  await stream.cursor.cursorInit();
  return stream;
}

const listDatabases = (client, args, entities) => client.db().admin().listDatabases(optionsOf(args, entities));
const clientOperations = {
  createChangeStream: (c, a, e) => watch(c, a, e),
  listDatabaseNames: async (c, a, e) => (await listDatabases(c, { ...a, nameOnly: true }, e)).databases.map((d) => d.name),
  listDatabaseObjects: async (c, a, e) => (await listDatabases(c, a, e)).databases,
  listDatabases: async (c, a, e) => (await listDatabases(c, a, e)).databases,
  clientBulkWrite: (c, a, e) => c.bulkWrite(a.models.map(clientBulkModel), optionsOf(a, e, 'models')).then(clientBulkResult),
};

const cursorOperations = {
  close: (cursor) => cursor.close(),
  iterateOnce: (cursor) => cursor.tryNext(),
  iterateUntilDocumentOrError: (cursor) => cursor.next(),
};

const read = async (stream) => {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
};
const bucketOperations = {
  delete: (b, a) => b.delete(a.id),
  download: (b, a) => read(b.openDownloadStream(a.id)),
  downloadByName: (b, a) => read(b.openDownloadStreamByName(a.filename, without(a, 'filename'))),
};

const sessionOperations = {
  abortTransaction: (session) => session.abortTransaction(),
  commitTransaction: (session) => session.commitTransaction(),
  endSession: (session) => session.endSession(),
  startTransaction: (session, args) => session.startTransaction(args),
  withTransaction: (session, args, entities, runner) =>
    session.withTransaction(async () => {
      for (const operation of args.callback) await runner.run(operation, true);
    }, without(args, 'callback')),
};

const byKind = { bucket: bucketOperations, client: clientOperations, collection: collectionOperations, cursor: cursorOperations, database: databaseOperations, session: sessionOperations };

/** Runs one operation on the entity it names. */
export function perform(operation, entities, runner) {
  const kind = entities.kindOf(operation.object);
  const call = byKind[kind]?.[operation.name];
  assert(call, `the runner does not know ${kind}.${operation.name}`);
  return call(entities.get(operation.object), operation.arguments ?? {}, entities, runner);
}
