// The judge of the crash test, fed with lies: it must find each of them, and nothing in what is true.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { State, horizonOf, judge } from './model.mjs';
import { Record } from './record.mjs';

const doc = (_id, n) => ({ _id, n });
const state = (...documents) => new State(documents.map((document) => [`c:${document._id}`, document]));
/** An operation that sets documents: { a: 1 } to n 1; null removes. */
const op = (changes, more = {}) => ({ kind: 'op', durable: true, commits: true, how: 'whole', outcome: 'done', changes: Object.entries(changes).map(([id, n]) => ['c', id, n === null ? null : doc(id, n)]), ...more });
const numbered = (operations) => operations.map((operation, i) => ({ id: i + 1, sent: 2 * i, answered: 2 * i + 1, ...operation }));
function judged(base, operations, actual, horizon = undefined) {
  const all = numbered(operations);
  return judge(base, all, horizon ?? horizonOf(all), actual);
}
const holds = (name, expected, ...args) => test(`true: ${name}`, () => assert.deepEqual(judged(...args), { lost: 0, ...expected }));
const lie = (name, pattern, ...args) => test(`lie: ${name}`, () => assert.match(judged(...args).problem ?? 'not found', pattern));
const unknown = { outcome: 'unknown', answered: undefined };
const lazy = { durable: false };

holds('nothing was asked', { stored: 0 }, state(doc('a', 1)), [], state(doc('a', 1)));
holds('all acknowledged', { stored: 1 }, state(), [op({ a: 1 }), op({ a: 2 }), op({ b: 1 }), op({ a: null })], state(doc('b', 1)));
holds('in flight and absent', { stored: 0 }, state(), [op({ a: 1 }), op({ a: 2, b: 2 }, unknown)], state(doc('a', 1)));
holds('in flight and stored', { stored: 2 }, state(), [op({ a: 1 }), op({ a: 2, b: 2 }, unknown)], state(doc('a', 2), doc('b', 2)));
holds('in flight, a first part of it', { stored: 1 }, state(), [op({ a: 1, b: 1 }, { ...unknown, how: 'prefix' })], state(doc('a', 1)));
holds('in flight, any part of it', { stored: 1 }, state(), [op({ a: 1, b: 1 }, { ...unknown, how: 'any' })], state(doc('b', 1)));
holds('refused', { stored: 0 }, state(doc('a', 1)), [op({ a: 2 }, { outcome: 'refused' })], state(doc('a', 1)));
holds('the order of fields is of no account', { stored: 1 }, state(), [op({ a: 1 })], new State([['c:a', { n: 1, _id: 'a' }]]));
for (const [kept, stored, actual] of [[2, 1, state(doc('a', 2))], [1, 0, state(doc('a', 1))], [0, 0, state(doc('a', 0))]]) {
  holds(`${kept} of 2 that were not durable`, { stored, lost: 2 - kept }, state(), [op({ a: 0 }), op({ a: 1 }, lazy), op({ a: 2 }, lazy)], actual);
}
holds('not durable, and the one in flight', { stored: 0, lost: 1 }, state(), [op({ a: 1 }, lazy), op({ b: 1 }, unknown)], state());
holds('a part of what was not durable', { stored: 1 }, state(), [op({ a: 1, b: 1 }, { ...lazy, how: 'any' })], state(doc('b', 1)));

lie('an acknowledged insert is lost', /1 documents.*\n.*c:a is nothing, expected .*"n":1/, state(), [op({ a: 1 }), op({ b: 1 })], state(doc('b', 1)));
lie('an acknowledged update is lost', /"n":1.*expected .*"n":2/, state(), [op({ a: 1 }), op({ a: 2 })], state(doc('a', 1)));
lie('a removed document is back', /expected nothing/, state(doc('a', 1)), [op({ a: null })], state(doc('a', 1)));
lie('it was done twice', /"n":3/, state(), [op({ a: 1 }), op({ a: 2 }, unknown)], state(doc('a', 3)));
lie('half a transaction was acknowledged', /c:b is nothing/, state(), [op({ a: 1, b: 1 })], state(doc('a', 1)));
lie('half a transaction in flight', /in no possible state/, state(), [op({ a: 1, b: 1 }, unknown)], state(doc('a', 1)));
lie('the second without the first', /in no possible state/, state(), [op({ a: 1, b: 1 }, { ...unknown, how: 'prefix' })], state(doc('b', 1)));
lie('a refused write is there', /refused/, state(), [op({ a: 1 }, { outcome: 'refused' })], state(doc('a', 1)));
lie('a transaction whose commit was not sent is there', /commit not sent/, state(), [op({ a: 1 }, { ...unknown, commits: false })], state(doc('a', 1)));
lie('a document that nobody wrote', /nobody wrote it/, state(), [], state(doc('z', 1)));
lie('the later of two without the earlier', /in no possible state/, state(), [op({ a: 1 }, lazy), op({ b: 1 }, lazy)], state(doc('b', 1)));
lie('in flight without what was not durable before it', /in no possible state/, state(), [op({ a: 1 }, lazy), op({ b: 1 }, unknown)], state(doc('b', 1)));
lie('not durable, but before something durable', /c:a is nothing/, state(), [op({ a: 1 }, lazy), op({ b: 1 })], state(doc('b', 1)));
lie('not durable, but before something durable of another worker', /c:a is nothing/, state(), [op({ a: 1 }, lazy)], state(), 7);

test('the record gives back what was written to it, in order', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'braid-record-'));
  try {
    const path = join(directory, 'record');
    const record = new Record(path);
    const first = record.intent({ worker: 0, kind: 'insert', durable: true, commits: true, how: 'whole', changes: [['c', 'a', doc('a', 1)]] });
    const second = record.intent({ worker: 1, kind: 'transaction', durable: true, commits: false, how: 'whole', changes: [] });
    record.result(first, 'done');
    record.commit(second);
    assert.deepEqual(Record.read(path).map(({ id, outcome, sent, answered, commits }) => ({ id, outcome, sent, answered, commits })), [
      { id: first, outcome: 'done', sent: 0, answered: 2, commits: true },
      { id: second, outcome: 'unknown', sent: 3, answered: undefined, commits: true },
    ]);
    record.result(second, 'refused');
    assert.equal(Record.read(path).at(-1).outcome, 'refused');
    record.close();
  } finally {
    await rm(directory, { recursive: true });
  }
});
