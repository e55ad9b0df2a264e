// What was asked of the server and what it answered, in a file outside of it: the intent is written before an operation is sent, the result when its answer has come.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/**
 * Lines of JSON:
 *   { t: 'intent', id, worker, kind, durable, commits, how, changes: [[collection, _id, the document afterwards or null], …] }
 *     how: 'whole' (all changes or none), 'prefix' (one after the other), 'any' (each by itself); commits: false until a transaction's commit is sent
 *   { t: 'commit', id }                         the commit of a transaction is about to be sent
 *   { t: 'result', id, outcome: 'done' | 'refused' }
 */
export class Record {
  constructor(path) {
    this.path = path;
    this.file = openSync(path, 'a');
    this.ids = 0;
  }

  #write(line) {
    writeSync(this.file, `${JSON.stringify(line)}\n`);
  }

  intent(operation) {
    const id = ++this.ids;
    this.#write({ t: 'intent', id, ...operation });
    return id;
  }

  commit(id) {
    this.#write({ t: 'commit', id });
  }

  result(id, outcome) {
    this.#write({ t: 'result', id, outcome });
  }

  close() {
    closeSync(this.file);
  }

  /** The operations as the file has them, with `sent` and `answered`, the places of their lines. */
  static read(path) {
    const operations = new Map();
    readFileSync(path, 'utf8').split('\n').slice(0, -1).forEach((text, at) => {
      const { t, id, ...line } = JSON.parse(text);
      if (t === 'intent') operations.set(id, { id, outcome: 'unknown', sent: at, ...line });
      if (t === 'commit') Object.assign(operations.get(id), { commits: true, sent: at });
      if (t === 'result') Object.assign(operations.get(id), { outcome: line.outcome, answered: at });
    });
    return [...operations.values()];
  }
}
