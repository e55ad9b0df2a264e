// A worker of the crash test: a connection and a session of its own; records each intent before it is sent and each answer when it has come.
import { isDeepStrictEqual } from 'node:util';
import { randomUUID } from 'node:crypto';
import { Binary, Long } from 'mongodb';
import { RawConnection, bodySection, opMsg } from '../lib/wire.mjs';
import { Operations } from './operations.mjs';

const database = 'crash';
const transient = (reply) => reply.errorLabels?.includes('TransientTransactionError');

/** One command; null: the connection broke before the answer came. */
export async function ask(connection, command, db = database) {
  const reply = await connection.ask(opMsg([bodySection({ ...command, $db: db })]));
  return reply && reply.document;
}

/** The code of a refusal: of the command, or of one of its writes; 0: done. */
export const codeOf = (reply) => (reply.ok === 1 ? reply.writeErrors?.[0]?.code ?? 0 : reply.code);

/** What in the reply is not as expected; null: nothing. */
function wrong(reply, expect) {
  for (const [field, value] of Object.entries(expect)) {
    if (!isDeepStrictEqual(reply[field], value)) return `${field} is ${JSON.stringify(reply[field])}, expected ${JSON.stringify(value)}`;
  }
  return null;
}

export class Worker {
  /** The newest operation, to be sent again after a restart: { id, kind, number, statements, outcome }. */
  last = null;

  constructor(name, problems, counts) {
    Object.assign(this, { name, problems, counts });
    this.lsid = { id: new Binary(Buffer.from(randomUUID().replaceAll('-', ''), 'hex'), 4) };
    this.number = 0;
  }

  /** Asks until the connection breaks. `state`: its documents; `random`: its choices; `begun`: called before each operation. */
  async run(uri, { round, record, random, state, begun }) {
    this.connection = await RawConnection.open(uri);
    Object.assign(this, { record, state });
    const operations = new Operations(this.name, round, random, state);
    const kinds = [
      [5, () => this.#write('plain', operations.statement(), { j: true })],
      [3, () => this.#write('not durable', operations.statement(), { j: false })],
      [2, () => this.#write('many', operations.many(), { j: true })],
      [1, () => this.#write('many', operations.many(), { j: false })],
      [6, () => this.#write('retryable', operations.statement(), null)],
      [2, () => this.#write('retryable', operations.batch(), null)],
      [8, () => this.#transaction(operations.transaction(), random)],
    ];
    while (!this.connection.closed && this.problems.length === 0) {
      begun();
      await random.weighted(kinds)();
    }
    this.connection.close();
  }

  #problem(text, ...what) {
    this.problems.push([`worker ${this.name}: ${text}`, ...what.map((part) => `  ${JSON.stringify(part)}`)].join('\n'));
  }

  #end(outcome) {
    this.last.outcome = outcome;
    this.record.result(this.last.id, outcome);
    if (outcome === 'done') this.state = this.#apply();
  }

  #apply() {
    for (const change of this.last.statements.flatMap(({ changes }) => changes)) this.state.put(...change);
    return this.state;
  }

  #begin(kind, statements, { durable, commits }) {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    const changes = statements.flatMap((statement) => statement.changes);
    const id = this.record.intent({ worker: this.name, kind, durable, commits, how: statements[0].how ?? 'whole', changes });
    this.last = { id, kind, number: null, statements, outcome: 'unknown', durable };
  }

  /** The answer is as it must be: 'done' or 'refused'; anything else is a problem. */
  #outcome(statement, reply) {
    const code = codeOf(reply);
    if (code !== 0 && statement.may.includes(code)) return 'refused';
    const error = code === 0 ? wrong(reply, statement.expect) : 'it failed';
    if (error) this.#problem(error, statement.command, reply);
    return code === 0 ? 'done' : 'refused';
  }

  /** One command outside a transaction; with a transaction number if it has no write concern. */
  async #write(kind, statement, writeConcern) {
    this.#begin(kind, [statement], { durable: writeConcern?.j ?? true, commits: true });
    const retryable = writeConcern === null;
    if (retryable) this.last.number = ++this.number;
    const command = retryable ? this.#numbered(statement.command) : { ...statement.command, writeConcern: { w: 1, ...writeConcern } };
    const reply = await ask(this.connection, command);
    if (reply === null) return;
    this.#end(this.#outcome(statement, reply));
    if (retryable && this.number % 4 === 0) await this.repeat(this.connection, statement.changes.length);
  }

  #numbered(command, number = this.number) {
    return { ...command, lsid: this.lsid, txnNumber: Long.fromNumber(number) };
  }

  async #transaction(statements, random) {
    const durable = !random.chance(5);
    this.#begin('transaction', statements, { durable, commits: false });
    const { last } = this;
    last.number = ++this.number;
    const within = (command) => ({ ...this.#numbered(command), autocommit: false });
    for (const [i, statement] of statements.entries()) {
      const reply = await ask(this.connection, { ...within(statement.command), ...(i === 0 ? { startTransaction: true } : {}) });
      if (reply === null) return;
      if (!transient(reply) && this.#outcome(statement, reply) === 'done') continue;
      this.counts.conflicts = (this.counts.conflicts ?? 0) + 1;
      this.#end('refused');
      return;
    }
    if (random.chance(8)) {
      const reply = await ask(this.connection, within({ abortTransaction: 1 }), 'admin');
      if (reply === null) return;
      if (reply.ok !== 1) this.#problem('an abort failed', reply);
      this.#end('refused');
      return;
    }
    this.record.commit(last.id);
    last.commits = true;
    const reply = await ask(this.connection, { ...within({ commitTransaction: 1 }), writeConcern: { w: 1, j: durable } }, 'admin');
    if (reply === null) return;
    if (reply.ok !== 1 && !transient(reply)) this.#problem('a commit failed', reply);
    this.#end(reply.ok === 1 ? 'done' : 'refused');
  }

  /**
   * Sends the newest operation again, as a driver does after a broken connection: it is done once, whatever became of the first try, and answered as if that
   * were the first. `stored`: how many of its changes are there.
   */
  async repeat(connection, stored) {
    const { last } = this;
    if (last === null || last.number === null || (last.kind === 'retryable' && last.outcome === 'refused')) return;
    this.counts.repeated = (this.counts.repeated ?? 0) + 1;
    if (last.kind === 'transaction') await this.#repeatCommit(connection, stored > 0);
    else await this.#repeatWrite(connection, stored);
  }

  async #repeatCommit(connection, done) {
    const { last } = this;
    const reply = await ask(connection, { ...this.#numbered({ commitTransaction: 1 }, last.number), autocommit: false }, 'admin');
    if (reply === null) return;
    if (reply.ok === 1 ? !done : reply.code !== 251 || done) this.#problem(`a commit that ${done ? 'was' : 'was not'} done was answered otherwise when it was repeated`, last, reply);
    if (last.outcome === 'unknown') this.#end(done ? 'done' : 'refused');
  }

  async #repeatWrite(connection, stored) {
    const { last } = this;
    const [statement] = last.statements;
    const reply = await ask(connection, this.#numbered(statement.command, last.number));
    if (reply === null) return;
    const outcome = this.#outcome(statement, reply);
    const retried = reply.retriedStmtIds?.length ?? 0;
    if (outcome === 'done' && retried !== stored) this.#problem(`${stored} statements were done, but a repetition took ${retried} for done`, statement.command, reply);
    if (outcome === 'refused' && stored > 0) this.#problem('it was done, but its repetition was refused', statement.command, reply);
    if (last.outcome === 'unknown') this.#end(outcome);
  }
}
