// braid import and braid export as programs: what goes in comes out, whatever its type, and one bad line costs one document.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { binary, startServer } from '../lib/server.mjs';

// Every BSON type, with the values at its edges.
const everyType = [
  { _id: { $numberInt: '1' }, double: { $numberDouble: '1.5' }, whole: { $numberDouble: '3.0' }, zero: { $numberDouble: '-0.0' } },
  { _id: { $numberInt: '2' }, nan: { $numberDouble: 'NaN' }, inf: { $numberDouble: 'Infinity' }, low: { $numberDouble: '-Infinity' } },
  { _id: { $numberInt: '3' }, text: 'ä€😀 "quoted" \\ \n\t', empty: '', nul: 'a\u0000b' },
  { _id: { $numberInt: '4' }, object: { inner: { $numberInt: '1' }, deeper: {} }, array: [{ $numberInt: '1' }, [], {}, null] },
  { _id: { $numberInt: '5' }, binary: { $binary: { base64: 'AAEC/w==', subType: '00' } }, none: { $binary: { base64: '', subType: '80' } } },
  { _id: { $numberInt: '6' }, uuid: { $binary: { base64: 'c//SZESzTGmQ6OfR38A11A==', subType: '04' } } },
  { _id: { $oid: '0123456789abcdef01234567' }, yes: true, no: false, nothing: null },
  { _id: { $numberInt: '8' }, date: { $date: { $numberLong: '1577836800123' } }, early: { $date: { $numberLong: '-62135596800000' } } },
  { _id: { $numberInt: '9' }, regex: { $regularExpression: { pattern: '^a/b"c', options: 'im' } } },
  { _id: { $numberInt: '10' }, code: { $code: 'x => x' }, scoped: { $code: 'y', $scope: { y: { $numberInt: '1' } } } },
  { _id: { $numberInt: '11' }, symbol: { $symbol: 'old' }, undef: { $undefined: true } },
  { _id: { $numberInt: '12' }, pointer: { $dbPointer: { $ref: 'db.c', $id: { $oid: '0123456789abcdef01234567' } } } },
  { _id: { $numberInt: '13' }, int: { $numberInt: '-2147483648' }, long: { $numberLong: '9223372036854775807' }, small: { $numberLong: '1' } },
  { _id: { $numberInt: '14' }, stamp: { $timestamp: { t: 4294967295, i: 7 } } },
  { _id: { $numberInt: '15' }, decimal: { $numberDecimal: '1.10' }, huge: { $numberDecimal: '9.999999999999999999999999999999999E+6144' }, dnan: { $numberDecimal: 'NaN' } },
  { _id: { $numberInt: '16' }, min: { $minKey: 1 }, max: { $maxKey: 1 } },
  { _id: { $numberInt: '17' }, ref: { $ref: 'c', $id: { $numberInt: '5' }, $db: 'd' } },
  { _id: { a: { $numberLong: '5' }, b: 'x' }, 'dotted.name': { $numberInt: '1' }, '': 'nameless' },
];

let directory;
let server;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'braid-tools-'));
  server = await startServer();
});
after(async () => {
  await server?.stop();
  if (directory) await rm(directory, { recursive: true, force: true });
});

function braid(args, input = undefined) {
  const { status, stdout, stderr } = spawnSync(binary, args, { input, encoding: 'utf8', maxBuffer: 1 << 28 });
  return { status, stdout, stderr };
}
const importTo = (collection, args, input) => braid(['import', '--store', server.uri, '-d', 'tools', '-c', collection, ...args], input);
const exportFrom = (collection, ...args) => braid(['export', '--store', server.uri, '-d', 'tools', '-c', collection, ...args]);
const lines = (text) => text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
const byId = (documents) => [...documents].sort((a, b) => (JSON.stringify(a._id) < JSON.stringify(b._id) ? -1 : 1));

for (const [name, options, parse] of [
  ['a document a line', [], lines],
  ['an array', ['--jsonArray'], JSON.parse],
  ['a pretty array', ['--jsonArray', '--pretty'], JSON.parse],
]) {
  test(`canonical JSON keeps every type, as ${name}`, async () => {
    const first = importTo('types', ['--drop'], everyType.map((d) => JSON.stringify(d)).join('\n'));
    assert.equal(first.status, 0, first.stderr);
    assert.match(first.stderr, new RegExp(`^${everyType.length} document\\(s\\) imported successfully. 0 document\\(s\\) failed to import.$`, 'm'));
    const out = exportFrom('types', '--jsonFormat', 'canonical', ...options);
    assert.equal(out.status, 0, out.stderr);
    assert.deepEqual(byId(parse(out.stdout)), byId(everyType));
    const second = importTo('again', ['--drop'], out.stdout);
    assert.equal(second.status, 0, second.stderr);
    assert.equal(exportFrom('again', '--jsonFormat', 'canonical', ...options).stdout, out.stdout);
  });
}

test('a bad line and a duplicate cost themselves, with their numbers and reasons', () => {
  const { status, stderr } = importTo('bad', ['--drop'], '{"_id":1}\n{"_id":\n{"_id":1}\n{"_id":2}\n');
  assert.equal(status, 1);
  assert.match(stderr, /^line 2: /m);
  assert.match(stderr, /^line 3: E11000 duplicate key/m);
  assert.match(stderr, /2 document\(s\) imported successfully\. 2 document\(s\) failed to import\./);
  assert.equal(lines(exportFrom('bad').stdout).length, 2);
});

test('--stopOnError ends at the first failure', () => {
  const { status } = importTo('stop', ['--drop', '--stopOnError'], '{"_id":1}\n{"_id":1}\n{"_id":2}\n');
  assert.equal(status, 1);
  assert.deepEqual(lines(exportFrom('stop').stdout), [{ _id: 1 }]);
});

test('upsert replaces, merge sets, delete removes', () => {
  importTo('modes', ['--drop'], '{"_id":1,"k":"a","x":1,"y":1}\n{"_id":2,"k":"b","x":1}\n');
  assert.equal(importTo('modes', ['--mode', 'upsert'], '{"_id":1,"k":"a","x":2}\n{"_id":3,"k":"c"}\n').status, 0);
  assert.equal(importTo('modes', ['--mode', 'merge', '--upsertFields', 'k'], '{"k":"b","z":5}\n{"k":"d"}\n').status, 0);
  const documents = lines(exportFrom('modes', '--sort', '{"k":1}').stdout);
  assert.deepEqual(documents.slice(0, 3), [{ _id: 1, k: 'a', x: 2 }, { _id: 2, k: 'b', x: 1, z: 5 }, { _id: 3, k: 'c' }]);
  assert.equal(documents[3].k, 'd');
  const removed = importTo('modes', ['--mode', 'delete'], '{"_id":1}\n{"_id":2}\n');
  assert.match(removed.stderr, /2 document\(s\) deleted successfully/);
  assert.equal(lines(exportFrom('modes').stdout).length, 2);
});

test('CSV out and in again, with dotted fields, quotes and line ends', async () => {
  importTo('csv', ['--drop'], '{"_id":1,"name":"a \\"b\\", c\\nd","p":{"x":1.5,"tags":["t"]}}\n{"_id":2,"name":"plain"}\n');
  const fields = '_id,name,p.x,p.tags.0';
  const out = exportFrom('csv', '--type', 'csv', '--fields', fields, '--sort', '{"_id":1}');
  assert.equal(out.stdout, '_id,name,p.x,p.tags.0\n1,"a ""b"", c\nd",1.5,t\n2,plain,,\n');
  const file = join(directory, 'back.csv.gz');
  await writeFile(file, gzipSync(out.stdout));
  const back = braid(['import', '--store', server.uri, '-d', 'tools', '--headerline', '--ignoreBlanks', '--drop', file]);
  assert.equal(back.status, 0, back.stderr);
  assert.deepEqual(lines(exportFrom('back', '--fields', 'name,p').stdout).map(({ _id, ...rest }) => ({ _id, ...rest })), [
    { _id: 1, name: 'a "b", c\nd', p: { x: 1.5, tags: { 0: 't' } } },
    { _id: 2, name: 'plain' },
  ]);
});

test('many documents by several workers all arrive', async () => {
  const file = join(directory, 'many.json');
  await writeFile(file, Array.from({ length: 20_000 }, (_, i) => JSON.stringify({ _id: i, text: 'x'.repeat(i % 50) })).join('\n'));
  const { status, stderr } = braid(['import', '--store', server.uri, '-d', 'tools', '--drop', '--numInsertionWorkers', '4', file]);
  assert.equal(status, 0, stderr);
  const out = join(directory, 'out.json');
  assert.equal(exportFrom('many', '--query', '{"_id":{"$gte":100}}', '--skip', '10', '--sort', '{"_id":1}', '--out', out).status, 0);
  const documents = lines(await readFile(out, 'utf8'));
  assert.equal(documents.length, 19_890);
  assert.equal(documents[0]._id, 110);
});

test('a directory is opened in the same process; one in use can be read, and says what to do to those who write', () => {
  const store = join(directory, 'embedded');
  const there = ['--store', store, '-d', 'd', '-c', 'c'];
  assert.equal(braid(['import', ...there], '{"_id":1}').status, 0);
  assert.deepEqual(lines(braid(['export', ...there]).stdout), [{ _id: 1 }]);
  assert.equal(braid(['import', '--store', server.uri, '-d', 'd', '-c', 'beside'], '{"_id":2}').status, 0);
  assert.deepEqual(lines(braid(['export', '--store', server.store, '-d', 'd', '-c', 'beside']).stdout), [{ _id: 2 }]);
  const taken = braid(['import', '--store', server.store, '-c', 'x'], '{"_id":1}');
  assert.equal(taken.status, 1);
  assert.match(taken.stderr, /in use by another process \(pid \d+\).*--store mongodb:\/\//s);
});

test('mistakes are answered with what to do', () => {
  for (const [args, hint] of [
    [['import', '--store', server.uri], /--collection NAME/],
    [['import', '--store', server.uri, '-c', 'x', '--type', 'csv'], /--headerline/],
    [['import', '--store', server.uri, '-c', 'x', '/nonexistent.json'], /No such file/],
    [['import', '--store', 'mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200', '-c', 'x'], /braid serve/],
    [['export', '--store', server.uri, '-c', 'x', '--type', 'csv'], /--fields/],
    [['export', '--store', server.uri, '-c', 'x', '--query', '{a: 1}'], /double quotes/],
    [['bench', 'ycsb', '--workload', 'z'], /choose from a, b/],
  ]) {
    const { status, stderr } = braid(args, '');
    assert.equal(status, 1, args.join(' '));
    assert.match(stderr, hint);
  }
});
