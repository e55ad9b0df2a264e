// A session by hand: what a driver puts around a command in a transaction or a retryable write, written out.
import { Long, UUID } from 'mongodb';
import { bodySection, opMsg, RawConnection } from './wire.mjs';

/** Sends a command over the connection; the reply's document, errors included. */
export async function ask(connection, document, database = 'test') {
  const reply = await connection.ask(opMsg([bodySection({ ...document, $db: database })]));
  if (!reply) throw new Error(`the connection closed before ${Object.keys(document)[0]} was answered`);
  return reply.document;
}

export class RawSession {
  number = 0;

  constructor(connection, lsid = { id: new UUID() }) {
    this.connection = connection;
    this.lsid = lsid;
  }

  static async open(uri, lsid = undefined) {
    return new RawSession(await RawConnection.greet(uri), lsid);
  }

  /** In the session, without a number. */
  plain(document, database) {
    return ask(this.connection, { ...document, lsid: this.lsid }, database);
  }

  /** A retryable write; of a number of its own unless one is given. */
  write(document, number = ++this.number, database = undefined) {
    return ask(this.connection, { ...document, lsid: this.lsid, txnNumber: Long.fromNumber(number) }, database);
  }

  /** The first statement of a new transaction. */
  start(document, { number = ++this.number, database } = {}) {
    this.number = number;
    return this.write({ ...document, startTransaction: true, autocommit: false }, number, database);
  }

  /** A further statement of the transaction. */
  next(document, { number = this.number, database } = {}) {
    return this.write({ ...document, autocommit: false }, number, database);
  }

  commit(fields = {}, number = this.number) {
    return this.next({ commitTransaction: 1, ...fields }, { number, database: 'admin' });
  }

  abort(fields = {}, number = this.number) {
    return this.next({ abortTransaction: 1, ...fields }, { number, database: 'admin' });
  }

  close() {
    this.connection.close();
  }
}
