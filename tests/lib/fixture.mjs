// What a file of tests shares: one server, one client, a database of its own, and assertions on errors.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { MongoClient } from 'mongodb';
import { startServer } from './server.mjs';

/**
 * A server for the calling file, which ends with it.
 * @returns {Promise<{ server: object, client: MongoClient, db: import('mongodb').Db, admin: import('mongodb').Db }>}
 */
export async function serve(options = []) {
  const server = await startServer(options);
  const client = await new MongoClient(server.uri).connect();
  after(async () => {
    await client.close();
    await server.stop();
  });
  return { server, client, db: client.db('test'), admin: client.db('admin') };
}

/** A directory for the calling file, which is removed with it. */
export async function temporary(prefix) {
  const directory = await mkdtemp(join(tmpdir(), prefix));
  after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Waits for the promise to fail with this code, and a message that matches if one is given. The error. */
export async function fails(promise, code, message = /./) {
  const error = await promise.then(
    (value) => assert.fail(`expected error ${code}, got ${JSON.stringify(value)}`),
    (thrown) => thrown,
  );
  assert.equal(error.code, code, String(error));
  assert.match(error.message, message);
  return error;
}

/** `make(0)` to `make(n - 1)`. */
export const times = (n, make) => Array.from({ length: n }, (_, i) => make(i));

/** A collection filled with the documents; what was there before is gone. */
export async function fill(db, name, documents, options = {}) {
  const collection = db.collection(name);
  await collection.drop();
  if (Object.keys(options).length > 0) await db.createCollection(name, options);
  for (let i = 0; i < documents.length; i += 20000) await collection.insertMany(documents.slice(i, i + 20000));
  return collection;
}

/** Every document, by _id. */
export const all = (collection, filter = {}) => collection.find(filter).sort({ _id: 1 }).toArray();
