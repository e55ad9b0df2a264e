// Runs MongoDB's driver specification tests (unified test format, shared/data/spec-tests) against a real server with the Node driver.
// The scenarios of scenarios.mjs are run the same way. What cannot apply is listed with its reason in inapplicable.json; a listed test that passes fails the run, so the list stays true.
//
//   node tests/spec/runner.mjs [part of a file's path or of a test's name]
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MongoBulkWriteError, MongoClient, MongoServerError } from 'mongodb';
import { fromJson } from '../lib/ejson.mjs';
import { outsideData } from '../lib/not_run.mjs';
import { startServer } from '../lib/server.mjs';
import { Entities } from './entities.mjs';
import { match } from './match.mjs';
import { perform } from './operations.mjs';
import { applies } from './requirements.mjs';
import { scenarios } from './scenarios.mjs';
import { special } from './special.mjs';

const folder = outsideData(['spec-tests'], { what: "MongoDB's driver specification tests", why: 'their licence keeps them out of this repository' });
/** Every file of tests: ours, and those of the specifications if they are there. */
function* files() {
  for (const { group, name, file } of scenarios) yield { group, name, file: fromJson(file) };
  if (!folder) return;
  for (const group of readdirSync(folder)) {
    for (const name of readdirSync(join(folder, group)).sort()) yield { group, name: name.replace('.json', ''), file: fromJson(JSON.parse(readFileSync(join(folder, group, name)))) };
  }
}
const inapplicable = JSON.parse(readFileSync(new URL('./inapplicable.json', import.meta.url)));
const majority = { writeConcern: { w: 'majority' } };

/** The expectations on an error, as the format lists them. */
function checkError(expected, error, entities) {
  if (!error) throw new Error('expected an error, got none');
  const isServerError = error instanceof MongoServerError;
  if (expected.isClientError === true && isServerError && !(error instanceof MongoBulkWriteError)) throw new Error(`expected an error of the driver, got ${error}`);
  if (expected.isClientError === false && !isServerError) throw new Error(`expected an error of the server, got ${error}`);
  if (expected.errorContains && !String(error.message).toLowerCase().includes(expected.errorContains.toLowerCase())) {
    throw new Error(`expected a message with "${expected.errorContains}", got ${error.message}`);
  }
  if (expected.errorCode !== undefined) match(expected.errorCode, error.code ?? error.cause?.code, entities);
  if (expected.errorCodeName) match(expected.errorCodeName, error.codeName, entities);
  for (const label of expected.errorLabelsContain ?? []) if (!error.hasErrorLabel?.(label)) throw new Error(`the label ${label} is missing`);
  for (const label of expected.errorLabelsOmit ?? []) if (error.hasErrorLabel?.(label)) throw new Error(`the label ${label} should not be there`);
  if (expected.errorResponse) match(expected.errorResponse, error.errorResponse ?? error.cause?.errorResponse ?? error.result, entities);
  if (expected.writeErrors) {
    for (const [index, wanted] of Object.entries(expected.writeErrors)) match(wanted, { ...error.writeErrors.get(Number(index)) }, entities);
  }
  if (expected.writeConcernErrors) match(expected.writeConcernErrors, error.writeConcernErrors.map((e) => ({ ...e })), entities);
  if (expected.expectResult !== undefined) {
    const partial = error.partialResult ?? error.result ?? {};
    match(expected.expectResult, partial, entities);
  }
}

class TestRun {
  failPoints = [];
  constructor(internal, entities) {
    this.internal = internal;
    this.entities = entities;
  }

  /** `rethrow`: an error that was expected is thrown all the same, for withTransaction to see. */
  async run(operation, rethrow = false) {
    if (operation.object === 'testRunner') {
      if (!special[operation.name]) throw new Error(`the runner does not know testRunner.${operation.name}`);
      return special[operation.name](operation.arguments ?? {}, this.entities, this);
    }
    let result;
    let error;
    try {
      result = await perform(operation, this.entities, this);
    } catch (thrown) {
      error = thrown;
    }
    if (operation.ignoreResultAndError) return;
    if (operation.expectError) {
      checkError(operation.expectError, error, this.entities);
      if (rethrow) throw error;
      return;
    }
    if (error) throw error;
    if (operation.saveResultAsEntity) {
      const cursor = typeof result?.next === 'function';
      this.entities.set(operation.saveResultAsEntity, cursor ? 'cursor' : 'value', result);
    }
    if (operation.expectResult !== undefined) match(operation.expectResult, result === undefined ? null : result, this.entities);
  }

  checkEvents({ client, eventType = 'command', events, ignoreExtraEvents }) {
    const seen = this.entities.events(client).filter((event) => event.kind === eventType);
    if (ignoreExtraEvents ? seen.length < events.length : seen.length !== events.length) {
      throw new Error(`expected ${events.length} events of ${client}, got ${seen.length}: ${seen.map((e) => Object.values(e)[1].commandName)}`);
    }
    events.forEach((expected, i) => {
      const [[name, wanted]] = Object.entries(expected);
      if (!seen[i][name]) throw new Error(`event ${i} of ${client}: expected ${name}`);
      // Commands and replies are root documents of their own: more fields than expected are fine.
      for (const [field, value] of Object.entries(wanted)) match(value, seen[i][name][field], this.entities, { path: `events[${i}].${field}` });
    });
  }

  async checkOutcome({ databaseName, collectionName, documents }) {
    const found = await this.internal.db(databaseName).collection(collectionName).find({}, { promoteLongs: false }).sort({ _id: 1 }).toArray();
    match(documents, found, this.entities, { root: false, path: `${databaseName}.${collectionName}` });
  }
}

async function loadInitialData(internal, initialData) {
  for (const { databaseName, collectionName, documents, createOptions } of initialData ?? []) {
    const db = internal.db(databaseName);
    await db.collection(collectionName).drop(majority).catch((error) => {
      if (error.code !== 26) throw error;
    });
    if (documents.length === 0 || createOptions) await db.createCollection(collectionName, { ...createOptions, ...majority });
    if (documents.length > 0) await db.collection(collectionName).insertMany(documents, majority);
  }
}

/** Every file starts from an empty server. */
async function dropDatabases(internal) {
  const { databases } = await internal.db('admin').command({ listDatabases: 1, nameOnly: true });
  for (const { name } of databases) if (!['admin', 'config', 'local'].includes(name)) await internal.db(name).dropDatabase();
}

async function runTest(internal, uris, file, test) {
  await internal.db('admin').command({ killAllSessions: [] });
  await loadInitialData(internal, file.initialData);
  const entities = new Entities(uris);
  const run = new TestRun(internal, entities);
  try {
    await entities.create(file.createEntities);
    for (const operation of test.operations) await run.run(operation);
    for (const expectation of test.expectEvents ?? []) run.checkEvents(expectation);
    for (const outcome of test.outcome ?? []) await run.checkOutcome(outcome);
  } finally {
    for (const name of run.failPoints) await internal.db('admin').command({ configureFailPoint: name, mode: 'off' });
    await entities.close();
  }
}

const server = await startServer(['--test-commands', '--bind', 'localhost']);
const { port } = new URL(server.uri);
const uris = { one: server.uri, several: `mongodb://localhost:${port},127.0.0.1:${port}` };
const internal = await new MongoClient(server.uri).connect();
const { version } = await internal.db('admin').command({ buildInfo: 1 });
const wanted = process.argv[2] ?? '';
const tally = { passed: 0, failed: 0, inapplicable: 0, otherServers: 0 };
try {
  for (const { group, name, file } of files()) {
    await dropDatabases(internal);
    for (const test of file.tests) {
      const id = `${group}/${name}: ${test.description}`;
      if (!id.includes(wanted)) continue;
      if (test.skipReason || !applies(file.runOnRequirements, { version }) || !applies(test.runOnRequirements, { version })) {
        tally.otherServers++;
        continue;
      }
      const reason = inapplicable[id];
      const error = await runTest(internal, uris, file, test).then(() => undefined, (thrown) => thrown);
      if (error && reason) tally.inapplicable++;
      else if (!error && !reason) tally.passed++;
      else {
        tally.failed++;
        console.log(`FAILED ${id}\n  ${error ? error.stack.split('\n').slice(0, 3).join('\n  ') : 'listed as inapplicable but passes: take it off the list'}`);
      }
    }
  }
} finally {
  await internal.close();
  await server.stop();
}
console.log(`specification tests: ${tally.passed} passed, ${tally.failed} failed, ${tally.inapplicable} inapplicable (listed), ${tally.otherServers} for other servers`);
process.exit(tally.failed ? 1 : 0);
