// The checker against histories with one anomaly each, and against histories that snapshot isolation allows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from './checker.mjs';

const append = (key, value) => ({ f: 'append', key, value });
const read = (key, ...value) => ({ f: 'read', key, value });
const write = (key, value, was) => ({ f: 'write', key, value, was });
const get = (key, value) => ({ f: 'get', key, value });
const committed = (...ops) => ({ status: 'committed', ops });
const aborted = (...ops) => ({ status: 'aborted', ops });
const unknown = (...ops) => ({ status: 'unknown', ops });
const during = (begin, end, transaction) => ({ ...transaction, begin, end });
const types = (...history) => check(history).anomalies.map(({ type }) => type);

/** The history has these anomalies, each of them with the transactions that made it. */
function finds(name, expected, ...history) {
  test(`finds ${name}`, () => {
    const { anomalies } = check(history);
    assert.deepEqual(anomalies.map(({ type }) => type), expected);
    for (const { text, transactions } of anomalies) assert.ok(text !== '' && transactions.length > 0);
  });
}
function allows(name, ...history) {
  test(`allows ${name}`, () => assert.deepEqual(check(history).anomalies, []));
}

finds('G0: writes of two transactions interleaved', ['G0'], committed(append('x', 1), append('y', 1)), committed(append('x', 2), append('y', 2)), committed(read('x', 1, 2)), committed(read('y', 2, 1)));
finds('G0: another write in the midst of a transaction', ['G0'], committed(append('x', 1), append('x', 3)), committed(append('x', 2)), committed(read('x', 1, 2, 3)));
finds('G1a: a read of an aborted append', ['G1a'], aborted(append('x', 1)), committed(read('x', 1)));
finds('G1a: an aborted append under others', ['G1a'], aborted(append('x', 1)), committed(append('x', 2)), committed(read('x', 1, 2)));
finds('G1a: a read of an aborted register', ['G1a'], aborted(write('r', 1, null)), committed(get('r', 1)));
finds('G1b: a read in the midst of appends', ['G1b', 'G-single'], committed(append('x', 1), append('x', 2)), committed(read('x', 1)), committed(read('x', 1, 2)));
finds('G1b: a read between two writes of a register', ['G1b', 'G-single'], committed(write('r', 1, null), write('r', 2, 1)), committed(get('r', 1)));
finds('G1c: two transactions that read each other', ['G1c'], committed(append('x', 1), read('y', 1)), committed(append('y', 1), read('x', 1)));
finds('G1c: a circle of a write and a read', ['G1c'], committed(append('x', 1), read('y', 1)), committed(append('x', 2), append('y', 1)), committed(read('x', 1, 2)));
finds('G-single: read skew', ['G-single'], committed(read('x'), read('y', 1)), committed(append('x', 1), append('y', 1)), committed(read('x', 1)));
finds('G-single: read skew of registers', ['G-single'], committed(write('r', 1, null), write('s', 1, null)), committed(get('r', null), get('s', 1)));
finds('G-single: a lost update of a list', ['G-single'], committed(append('x', 1)), committed(read('x', 1), append('x', 2)), committed(read('x', 1), append('x', 3)), committed(read('x', 1, 2, 3)));
finds('G-single: a phantom in a snapshot', ['G-single'], committed(append('x', 1), append('y', 1)), committed(read('x', 1), read('y')), committed(read('y', 1)));
finds('G-single: several transactions on the way', ['G-single'], committed(read('x'), read('z', 1)), committed(append('x', 1), append('y', 1)), committed(read('y', 1), append('z', 1)), committed(read('x', 1)));
finds('G-nonadjacent: two anti-dependencies apart', ['G-nonadjacent'], committed(read('a'), append('d', 1)), committed(append('a', 1), append('b', 1)), committed(read('b', 1), read('c')), committed(append('c', 1), read('d')), committed(append('c', 2), append('d', 0)), committed(read('a', 1), read('c', 1, 2), read('d', 0, 1)));
finds('a lost update of a register', ['lost update', 'G-single'], committed(write('r', 1, null)), committed(write('r', 2, 1)), committed(write('r', 3, 1)));
finds('a register that replaced what never was', ['phantom write', 'broken chain'], committed(write('r', 2, 1)));
finds('two orders of one list', ['incompatible order'], committed(append('x', 1)), committed(append('x', 2)), committed(read('x', 1)), committed(read('x', 2, 1)));
finds('a value twice', ['duplicate'], committed(append('x', 1)), committed(read('x', 1, 1)));
finds('a value that nobody wrote', ['phantom write'], committed(read('x', 7)));
finds('a transaction that does not see its own append', ['internal'], committed(append('x', 1), read('x')));
finds('a list that changes under a transaction', ['internal'], committed(append('x', 1)), committed(read('x'), read('x', 1)));
finds('a list that changes under an aborted transaction', ['internal'], committed(append('x', 1)), aborted(read('x'), read('x', 1)));
finds('a register that changes under a transaction', ['internal'], committed(write('r', 1, null)), committed(get('r', null), get('r', 1)));
finds('a transaction that does not see its own write', ['internal'], committed(write('r', 1, null), get('r', null)));
finds('a read of what had been replaced long before', ['G-single in real time'], during(1, 2, committed(append('x', 1))), during(3, 4, committed(read('x'))), during(5, 6, committed(read('x', 1))));
finds('an append that vanished', ['G-single in real time'], during(1, 2, committed(append('x', 1))), during(3, 4, committed(read('x'))));
finds('an append before one that had ended earlier', ['G0 in real time'], during(1, 2, committed(append('x', 1))), during(3, 4, committed(append('x', 2))), committed(read('x', 2, 1)));

allows('a serial history', during(1, 2, committed(append('x', 1), write('r', 1, null))), during(3, 4, committed(read('x', 1), append('x', 2), write('r', 2, 1))), during(5, 6, committed(read('x', 1, 2), get('r', 2))));
allows('an old snapshot while others commit', during(1, 9, committed(read('x'), read('y'))), during(2, 3, committed(append('x', 1))), during(4, 5, committed(append('y', 1))), during(10, 11, committed(read('x', 1), read('y', 1))));
allows('own appends and own writes', committed(append('x', 1), read('x', 1), append('x', 2), read('x', 1, 2), write('r', 1, null), get('r', 1), write('r', 2, 1)), committed(read('x', 1, 2)));
allows('an unknown commit that happened', unknown(append('x', 1), write('r', 1, null)), committed(read('x', 1), get('r', 1)));
allows('an unknown commit that did not', unknown(append('x', 1), write('r', 1, null)), committed(read('x'), get('r', null)), committed(write('r', 2, null)));
allows('reads of an aborted transaction that are old', committed(append('x', 1), append('y', 1)), aborted(read('x'), read('y', 1)));

test('write skew is allowed, and counted', () => {
  const skew = [committed(read('x'), append('y', 1)), committed(read('y'), append('x', 1)), committed(read('x', 1), read('y', 1))];
  assert.deepEqual(check(skew), { anomalies: [], writeSkews: 1, edges: 4 });
  const registers = [committed(get('r', null), write('s', 1, null)), committed(get('s', null), write('r', 1, null)), committed(get('r', 1), get('s', 1))];
  assert.deepEqual(check(registers), { anomalies: [], writeSkews: 1, edges: 4 });
});

test('a long history is checked without recursion, and one wrong read is found in it', () => {
  const history = Array.from({ length: 20000 }, (_, i) => during(2 * i, 2 * i + 1, committed(append(`k${i >> 4}`, i), ...(i % 16 === 15 ? [read(`k${i >> 4}`, ...Array.from({ length: 16 }, (unused, j) => i - 15 + j))] : []))));
  assert.deepEqual(check(history).anomalies, []);
  history.push(during(40000, 40001, committed(read('k7', ...Array.from({ length: 15 }, (_, j) => 7 * 16 + j)))));
  assert.deepEqual(types(...history), ['G-single in real time']);
});
