// Entities of a test: clients that record their events, databases, collections, sessions, results.
import { GridFSBucket, MongoClient } from 'mongodb';

const commandEvents = {
  commandStarted: 'commandStartedEvent',
  commandSucceeded: 'commandSucceededEvent',
  commandFailed: 'commandFailedEvent',
};
const poolEvents = {
  connectionReady: 'connectionReadyEvent',
  connectionCheckedOut: 'connectionCheckedOutEvent',
  connectionCheckedIn: 'connectionCheckedInEvent',
};
// What drivers send for themselves, and what may show secrets: not part of what a test observes.
const unobserved = new Set(['hello', 'ismaster', 'isMaster', 'configureFailPoint', 'authenticate', 'saslStart', 'saslContinue', 'getnonce']);

export class Entities {
  #map = new Map();
  #uris;

  /** `uris`: of one address, and of several for a client with useMultipleMongoses. */
  constructor(uris) {
    this.#uris = uris;
  }

  get(id) {
    if (!this.#map.has(id)) throw new Error(`no entity ${id}`);
    return this.#map.get(id).value;
  }
  kindOf(id) {
    if (!this.#map.has(id)) throw new Error(`no entity ${id}`);
    return this.#map.get(id).kind;
  }
  set(id, kind, value) {
    this.#map.set(id, { kind, value });
  }
  /** A session's id, also when it has ended. */
  lsid(id) {
    this.get(id);
    return this.#map.get(id).lsid;
  }
  /** The events a client has observed so far. */
  events(id) {
    return this.#map.get(id).events;
  }

  async create(specs) {
    for (const spec of specs ?? []) {
      const [[kind, options]] = Object.entries(spec);
      await this[`create_${kind}`](options);
    }
  }

  async create_client({ id, useMultipleMongoses = false, uriOptions = {}, observeEvents = [], ignoreCommandMonitoringEvents = [], serverApi }) {
    const client = new MongoClient(useMultipleMongoses ? this.#uris.several : this.#uris.one, { monitorCommands: true, ...uriOptions, ...(serverApi ? { serverApi } : {}), promoteLongs: false });
    const events = [];
    const ignored = new Set([...unobserved, ...ignoreCommandMonitoringEvents]);
    for (const [name, shown] of Object.entries(commandEvents)) {
      if (!observeEvents.includes(shown)) continue;
      client.on(name, (event) => ignored.has(event.commandName) || events.push({ kind: 'command', [shown]: { ...event, commandName: event.commandName } }));
    }
    for (const [name, shown] of Object.entries(poolEvents)) {
      if (observeEvents.includes(shown)) client.on(name, (event) => events.push({ kind: 'cmap', [shown]: { ...event } }));
    }
    await client.connect();
    this.#map.set(id, { kind: 'client', value: client, events });
  }
  create_database({ id, client, databaseName, databaseOptions }) {
    this.set(id, 'database', this.get(client).db(databaseName, databaseOptions));
  }
  create_collection({ id, database, collectionName, collectionOptions }) {
    this.set(id, 'collection', this.get(database).collection(collectionName, collectionOptions));
  }
  create_session({ id, client, sessionOptions }) {
    const session = this.get(client).startSession(sessionOptions);
    this.#map.set(id, { kind: 'session', value: session, lsid: session.id });
  }
  create_bucket({ id, database, bucketOptions }) {
    this.set(id, 'bucket', new GridFSBucket(this.get(database), bucketOptions));
  }

  async close() {
    for (const { kind, value } of this.#map.values()) {
      if (kind === 'cursor') await value.close().catch(() => {});
      if (kind === 'session') await value.endSession();
    }
    for (const { kind, value } of this.#map.values()) if (kind === 'client') await value.close();
  }
}
