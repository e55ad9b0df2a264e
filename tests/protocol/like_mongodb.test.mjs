// What Mongoose's and the Node driver's own suites ask for: the answers are MongoDB's.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Decimal128, MongoClient } from 'mongodb';
import { fails, fill, serve, times } from '../lib/fixture.mjs';
import { RawSession } from '../lib/session.mjs';

const f = await serve(['--test-commands']);
const eq = assert.deepEqual;

test('update paths may have names with $ below the top', async () => {
  const maps = await fill(f.db, 'maps', [{ _id: 1, m: { a: 1 } }]);
  await maps.updateOne({ _id: 1 }, { $set: { 'm.$x': 1, 'm.$y.z': 2 } });
  eq(await maps.findOne(), { _id: 1, m: { a: 1, $x: 1, $y: { z: 2 } } });
  await maps.updateOne({ _id: 1 }, { $unset: { 'm.$y': 1, $none: 1 } });
  await maps.updateOne({ _id: 2 }, { $push: { 'm.$list': 1 } }, { upsert: true });
  eq(await maps.findOne({ _id: 2 }), { _id: 2, m: { $list: [1] } });
  await fails(maps.updateOne({ _id: 1 }, { $set: { $x: 1 } }), 52);
  await fails(maps.updateOne({ _id: 1 }, { $set: { $id: 1 } }), 55);
});

test('the fields of a DBRef are fields', async () => {
  const refs = await fill(f.db, 'refs', [{ _id: 1, m: [{ $ref: 'r', $id: 7, $db: 'd', a: 1 }], n: [{ b: [{ $id: 1 }] }] }]);
  const count = (filter) => refs.countDocuments(filter);
  for (const condition of [{ $id: 7 }, { $ref: 'r' }, { $db: 'd' }, { $ref: 'r', $id: 7 }, { $id: 7, a: 1 }, { a: 1, $id: 7 }, { $or: [{ $id: 7 }] }]) {
    eq(await count({ m: { $elemMatch: condition } }), 1, JSON.stringify(condition));
  }
  eq(await count({ n: { $elemMatch: { b: { $elemMatch: { $id: 1 } } } } }), 1);
  eq(await count({ m: { $elemMatch: { $id: 8 } } }), 0);
  eq(await count({ m: { $elemMatch: { $id: { $gt: 3 } } } }), 0); // compared as it is
  eq(await count({ $id: 7 }), 0);
  await fails(count({ m: { $elemMatch: { $foo: 7 } } }), 2);
  await fails(count({ m: { $id: 7 } }), 2);
  await refs.updateOne({ _id: 1 }, { $pull: { m: { $id: 7 } } });
  eq((await refs.findOne()).m, []);
});

test('explain of an aggregate tells the plan at its top unless the collection is sharded', async () => {
  const rows = await fill(f.db, 'rows', times(3, (_id) => ({ _id })));
  const alone = await rows.aggregate([{ $match: { a: 1 } }]).explain('executionStats');
  eq([alone.queryPlanner.winningPlan.stage, alone.executionStats.nReturned, alone.shards], ['COLLSCAN', 0, undefined]);
  const grouped = await rows.aggregate([{ $group: { _id: '$a' } }]).explain('queryPlanner');
  eq([Object.keys(grouped.stages[0]), Object.keys(grouped.stages[1])], [['$cursor'], ['$group']]);
});

test('listIndexes shows background as it was given', async () => {
  const indexed = await fill(f.db, 'indexed', [{ _id: 1 }]);
  await indexed.createIndexes([{ key: { a: 1 }, name: 'a', background: true }, { key: { b: 1 }, name: 'b', background: false }, { key: { c: 1 }, name: 'c' }]);
  eq((await indexed.listIndexes().toArray()).map(({ name, background }) => [name, background]), [['_id_', undefined], ['a', true], ['b', false], ['c', undefined]]);
});

test('open transactions are in currentOp', async () => {
  const session = await RawSession.open(f.server.uri);
  after(() => session.close());
  await f.db.createCollection('open');
  eq((await session.start({ insert: 'open', documents: [{ _id: 1 }] })).ok, 1);
  const idle = ({ type }) => type === 'idleSession';
  const { inprog } = await f.admin.command({ currentOp: 1 });
  const [row] = inprog.filter(idle);
  eq([row.active, row.transaction.parameters.autocommit, row.desc], [false, false, 'inactive transaction']);
  const listed = async (options) => (await f.admin.aggregate([{ $currentOp: options }]).toArray()).filter(idle).length;
  eq([await listed({ idleSessions: true }), await listed({}), await listed({ idleSessions: false })], [1, 1, 0]);
  await session.abort();
  eq((await f.admin.command({ currentOp: 1 })).inprog.filter(idle), []);
});

test('failCommand acts on the hello of one application', async () => {
  const data = { failCommands: ['hello', 'isMaster'], appName: 'to fail', errorCode: 91 };
  await f.admin.command({ configureFailPoint: 'failCommand', mode: 'alwaysOn', data });
  const failing = new MongoClient(f.server.uri, { appName: 'to fail', serverSelectionTimeoutMS: 300 });
  await assert.rejects(failing.connect());
  await failing.close();
  const other = await new MongoClient(f.server.uri, { appName: 'another', serverSelectionTimeoutMS: 5000 }).connect();
  await other.close();
  await f.admin.command({ configureFailPoint: 'failCommand', mode: 'off' });
  await (await new MongoClient(f.server.uri, { appName: 'to fail' }).connect()).close();
});

test('a find with a limit closes its cursor with the last document', async () => {
  await fill(f.db, 'limited', times(5, (_id) => ({ _id })));
  const seen = [];
  let { cursor } = await f.db.command({ find: 'limited', limit: 3, batchSize: 1 });
  for (; seen.push([(cursor.firstBatch ?? cursor.nextBatch).length, String(cursor.id) === '0']) < 5 && String(cursor.id) !== '0';) {
    ({ cursor } = await f.db.command({ getMore: cursor.id, collection: 'limited', batchSize: 1 }, { promoteLongs: false }));
  }
  eq(seen, [[1, false], [1, false], [1, true]]);
});

test('$out and $merge refuse linearizable', async () => {
  for (const stage of [{ $out: 'target' }, { $merge: 'target' }]) {
    await fails(f.db.command({ aggregate: 'rows', pipeline: [stage], cursor: {}, readConcern: { level: 'linearizable' } }), 72);
  }
});

test('$log of NaN is a double, and dates round doubles half away from zero', async () => {
  const one = await fill(f.db, 'one', [{ _id: 1 }]);
  const compute = async (x) => (await one.aggregate([{ $project: { _id: 0, x } }]).toArray())[0].x;
  const nan = Decimal128.fromString('NaN');
  for (const args of [[nan, 10], [10, nan], [nan, nan], [Decimal128.fromString('5'), NaN]]) eq(await compute({ $type: { $log: args } }), 'double');
  const millis = (expression) => compute({ $toLong: expression });
  const date = new Date(1000);
  eq(await millis({ $add: [date, -2.5] }), 997);
  eq(await millis({ $add: [date, 2.5] }), 1003);
  eq(await millis({ $add: [date, 2.5, 2.5] }), 1006); // each on its own
  eq(await millis({ $add: [2.5, 2.5, date] }), 1005); // together, before the date
  eq(await millis({ $add: [date, Decimal128.fromString('-2.5')] }), 998);
  eq(await millis({ $subtract: [date, 2.5] }), 997);
  await fails(millis({ $add: [date, 1e300] }), 15);
  await fails(millis({ $subtract: [date, NaN] }), 15);
});
