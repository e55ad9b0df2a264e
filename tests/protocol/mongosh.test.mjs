// The shell: what people type into it, and the tour of the README word for word.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { serve } from '../lib/fixture.mjs';
import { shellFor } from '../lib/mongosh.mjs';

const f = await serve();
const tests = join(dirname(fileURLToPath(import.meta.url)), '..');
const { mongosh, typed } = await shellFor(f.server.uri);

const session = [
  ['use shell', /^switched to db shell$/],
  ['db.getName()', /^shell$/],
  ['db.c.insertMany([{_id: 1, a: 5}, {_id: 2, a: 7}])', /acknowledged: true.*'0': 1, '1': 2/s],
  ['show dbs', /^shell\s+[\d.]+ \w+$/m],
  ['show collections', /^c$/],
  ['db.c.find({a: {$gt: 5}})', /^\[ \{ _id: 2, a: 7 \} \]$/],
  ['db.c.updateOne({_id: 1}, {$inc: {a: 1}})', /matchedCount: 1,\s+modifiedCount: 1/],
  ['db.c.findOne({_id: 1})', /^\{ _id: 1, a: 6 \}$/],
  ['db.c.aggregate([{$group: {_id: null, s: {$sum: "$a"}}}])', /^\[ \{ _id: null, s: 13 \} \]$/],
  ['db.c.createIndex({a: 1}, {unique: true})', /^a_1$/],
  ['db.c.getIndexes()', /name: '_id_'.*name: 'a_1', unique: true/s],
  ['db.c.find({a: 6}).explain("executionStats").executionStats.totalKeysExamined', /^1$/],
  ['db.c.insertOne({a: 6})', /MongoServerError: E11000 duplicate key error collection: shell\.c index: a_1 dup key: \{ a: 6 \}/],
  ['db.c.stats().count', /^2$/],
  ['db.c.countDocuments()', /^2$/],
  ['db.c.distinct("a")', /^\[ 6, 7 \]$/],
  ['db.c.deleteMany({a: 6})', /deletedCount: 1/],
  ['db.c.findOneAndUpdate({_id: 2}, {$set: {b: 1}}, {returnNewDocument: true})', /^\{ _id: 2, a: 7, b: 1 \}$/],
  ['db.c.renameCollection("d")', /ok: 1/],
  ['db.d.validate().valid', /^true$/],
  ['db.d.dropIndex("a_1")', /ok: 1/],
  ['db.serverStatus().ok', /^1$/],
  ['db.currentOp().inprog.length > 0', /^true$/],
  ['db.stats().collections', /^1$/],
  ['db.hostInfo().os.type', /^Linux$/],
  ['db.version()', /^7\.0\.\d+$/],
  ['db.getCollectionInfos()[0].name', /^d$/],
  ['db.d.bogus()', /TypeError/],
  ['db.d.find({$where: "true"})', /MongoServerError.*\$where is not supported/],
  ['db.runCommand({ping: 1}).ok', /^1$/],
  ['db.adminCommand({listDatabases: 1}).ok', /^1$/],
  ['show log startupWarnings', /^\[\]$/],
  ['db.d.drop()', /^true$/],
  ['db.dropDatabase()', /ok: 1, dropped: 'shell'/],
];
const answers = await typed(session.map(([line]) => line));
for (const [i, [line, expected]] of session.entries()) {
  test(`mongosh: ${line}`, () => assert.match(answers[i] ?? '(nothing)', expected));
}

test('mongosh starts without a warning', async () => {
  const banner = await mongosh([], 'db.runCommand({ping: 1}).ok\n');
  assert.match(banner, /Using MongoDB:\s+7\.0/);
  // What mongosh says of the Node.js that it runs on is not about the server.
  const ofServer = banner.replace(/Deprecation warnings:\n( +- Using mongosh with Node\.js .*\n)(?! +-)/, '');
  assert.doesNotMatch(ofServer, /warning|not genuine|emulat/i);
});

test('mongosh --eval prints the result', async () => {
  assert.equal((await mongosh(['--quiet', '--eval', 'EJSON.stringify(db.runCommand({buildInfo: 1}).versionArray.length)'])).trim(), '4');
});

/** What mongosh answers to the n-th block of the README, typed line by line. */
async function tour(n) {
  const readme = await readFile(join(tests, '..', 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/```js\n([\s\S]*?)```/g)].map(([, block]) => block);
  return (await typed(blocks[n].trimEnd().split('\n'))).filter(Boolean);
}

test('the tour of the README', async () => {
  const output = await tour(0);
  const shown = output.join('\n---\n');
  assert.doesNotMatch(shown, /Error|Uncaught/);
  const [use, insert, find, update, index, explain, aggregate, ttl, session_, count] = output;
  assert.equal(use, 'switched to db shop');
  assert.match(insert, /acknowledged: true/);
  assert.match(find, /_id: 1.*_id: 2/s);
  assert.match(update, /modifiedCount: 1/);
  assert.equal(index, 'user_1_total_-1');
  assert.match(explain, /IXSCAN/);
  assert.doesNotMatch(explain, /'SORT'/);
  assert.match(aggregate, /_id: 'cup', sold: 1.*_id: 'tea', sold: 4/s);
  assert.equal(ttl, 'expires_1');
  assert.match(session_, /acknowledged: true/);
  assert.equal(count, '1');
  await sleep(2000);
  assert.equal(await f.client.db('shop').collection('sessions').countDocuments(), 0);
});

test('shards and transactions of the README', async () => {
  // A chunk that moves between two lines of the tour's transaction aborts it, as on MongoDB; with a busy machine there is time enough.
  await f.admin.command({ balancerStop: 1 });
  const output = await tour(1);
  await f.admin.command({ balancerStart: 1 });
  for (const part of output) assert.doesNotMatch(part, /Error|Uncaught/);
  const [use, shard, index, insert, one, merged, remove, outside, add, status] = output;
  assert.equal(use, 'switched to db somedb');
  assert.match(shard, /collectionsharded: 'somedb.orders'/);
  assert.equal(index, 'order_id_1');
  assert.match(insert, /acknowledged: true/);
  assert.equal(one, 'SINGLE_SHARD');
  assert.equal(merged, 'SHARD_MERGE_SORT');
  assert.match(remove, /deletedCount: 10/);
  assert.equal(outside, '10');
  assert.match(add, /shardAdded: 'shard4'/);
  assert.match(status, /'somedb.orders'/);
  assert.equal(await f.client.db('somedb').collection('orders').countDocuments({ user_id: 'U7' }), 0);
});
