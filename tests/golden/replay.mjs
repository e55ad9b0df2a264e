// Replays the recorded answers of a real MongoDB (data/FAMILY.ndjson.gz) against a running server and compares.
// Deliberate differences are listed in differences.json with their reason; one that starts to agree fails the run, so the list stays true.
//
//   node tests/golden/replay.mjs [family …]        BRAID_LOG=1 shows the server's log, BRAID_SHOW=n prints n failures of each family
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { MongoClient } from 'mongodb';
import { canonical, parse } from '../lib/ejson.mjs';
import { startServer } from '../lib/server.mjs';

const options = { promoteValues: false, promoteLongs: false, bsonRegExp: true, ignoreUndefined: false };
const differences = JSON.parse(readFileSync(new URL('./differences.json', import.meta.url)));

const codeOf = (error) => Number(error.code ?? -1);
/** What an operation came to, in a form that compares: its result, or its error's code. */
async function outcome(run) {
  try {
    return await run();
  } catch (error) {
    if (error.code === undefined) throw error;
    return `error ${codeOf(error)}`;
  }
}
const expectedError = (item) => (item.error ? `error ${Number(item.error.code)}` : undefined);

/** Families: prepare(db, items) once, then check(db, item, number, worker) gives [expected, got]; eight workers at a time. */
const families = {
  match: {
    prepare: async (db, [first]) => db.collection('match').insertMany(first.docs),
    check: async (db, item) => [
      expectedError(item) ?? canonical(item.ids),
      await outcome(async () =>
        canonical((await db.collection('match').find(item.filter, options).project({ _id: 1 }).sort({ _id: 1 }).toArray()).map((d) => d._id))),
    ],
  },
  sort: {
    prepare: async (db, [first]) => db.collection('sort').insertMany(first.docs),
    check: async (db, item) => [
      expectedError(item) ?? canonical(item.ids),
      await outcome(async () => {
        const reply = await db.command({ find: 'sort', sort: item.sort, projection: { _id: 1 }, batchSize: 100000 }, options);
        return canonical(reply.cursor.firstBatch.map((d) => d._id));
      }),
    ],
  },
  project: {
    prepare: async (db, [first]) => db.collection('project').insertMany(first.docs),
    check: async (db, item) => [
      expectedError(item) ?? canonical(item.result),
      await outcome(async () => {
        const reply = await db.command({ find: 'project', filter: { _id: { $in: item.ids } }, sort: { _id: 1 }, projection: item.projection }, options);
        return canonical(reply.cursor.firstBatch);
      }),
    ],
  },
  update: {
    check: async (db, item) => {
      const collection = db.collection('update');
      const id = item.before._id;
      await collection.deleteOne({ _id: id });
      await collection.insertOne(item.before);
      const got = await outcome(async () => {
        const reply = await db.command({ update: 'update', updates: [{ q: { _id: id }, u: item.update }] }, options);
        if (reply.writeErrors) return `error ${Number(reply.writeErrors[0].code)}`;
        const after = await collection.findOne({ _id: id }, options);
        return `${Number(reply.nModified)} ${canonical(after, true)}`;
      });
      return [expectedError(item) ?? `${Number(item.modified)} ${canonical(item.after, true)}`, got];
    },
  },
  upsert: {
    check: async (db, item, number, worker) => {
      const name = `upsert${worker}`;
      await db.collection(name).deleteMany({});
      const got = await outcome(async () => {
        const reply = await db.command({ update: name, updates: [{ q: item.filter, u: item.update, upsert: true }] }, options);
        if (reply.writeErrors) return `error ${Number(reply.writeErrors[0].code)}`;
        return canonical(await db.collection(name).findOne({}, options), true);
      });
      return [expectedError(item) ?? canonical(item.after, true), got];
    },
  },
  expr: {
    prepare: async (db, items) => {
      const seen = new Map();
      items.forEach((item) => {
        const key = canonical(item.vars);
        if (!seen.has(key)) seen.set(key, { _id: seen.size, ...item.vars });
        item.id = seen.get(key)._id;
      });
      await db.collection('expr').insertMany([...seen.values()]);
    },
    check: async (db, item) => [
      expectedError(item) ?? (item.missing ? 'missing' : canonical(item.result)),
      await outcome(async () => {
        const pipeline = [{ $match: { _id: item.id } }, { $project: { _id: 0, r: item.expr } }];
        const [row] = await db.collection('expr').aggregate(pipeline, options).toArray();
        return 'r' in row ? canonical(row.r) : 'missing';
      }),
    ],
  },
  group: {
    prepare: async (db, items) => {
      const seen = new Map();
      for (const item of items) {
        const key = canonical(item.rows);
        if (!seen.has(key)) {
          seen.set(key, `group${seen.size}`);
          await db.collection(seen.get(key)).insertMany(item.rows);
        }
        item.name = seen.get(key);
      }
    },
    check: async (db, item) => {
      // The result of $addToSet has no order.
      const unordered = canonical(item.group).includes('"$addToSet"');
      const normal = (rows) =>
        rows.map((row) => canonical(unordered && Array.isArray(row.r) ? { ...row, r: row.r.map((v) => canonical(v)).sort() } : row)).sort().join();
      return [
        expectedError(item) ?? normal(item.result),
        await outcome(async () =>
          normal(await db.collection(item.name).aggregate([{ $sort: { _id: 1 } }, { $group: item.group }], options).toArray())),
      ];
    },
  },
  hash: {
    prepare: async (db, items) => db.collection('hash').insertMany(items.map((item, _id) => ({ _id, v: item.value }))),
    check: async (db, item, number) => [
      item.hash.toString(),
      await outcome(async () => {
        const pipeline = [{ $match: { _id: number } }, { $project: { h: { $toHashedIndexKey: '$v' } } }];
        const [row] = await db.collection('hash').aggregate(pipeline, options).toArray();
        return row.h.toString();
      }),
    ],
  },
};

async function replay(db, name) {
  const family = families[name];
  let items = gunzipSync(readFileSync(new URL(`./data/${name}.ndjson.gz`, import.meta.url))).toString().trimEnd().split('\n').map(parse);
  await family.prepare?.(db, items);
  const listed = new Map(differences.filter((d) => d.family === name).flatMap((d) => d.lines.map((line) => [line, d.reason])));
  const tally = { passed: 0, failed: 0, different: 0 };
  let next = items[0].docs ? 1 : 0;
  const failures = [];
  const work = async (worker) => {
    while (next < items.length) {
      const number = next++;
      const [expected, got] = await family.check(db, items[number], number, worker);
      const line = number + 1;
      if (listed.has(line)) {
        if (expected === got) failures.push({ line, problem: 'listed as a difference but agrees now', expected, got });
        else tally.different++;
      } else if (expected === got) tally.passed++;
      else failures.push({ line, expected, got, item: items[number] });
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, worker) => work(worker)));
  tally.failed = failures.length;
  failures.sort((a, b) => a.line - b.line);
  for (const failure of failures.slice(0, Number(process.env.BRAID_SHOW ?? 5))) {
    const { rows, docs, ...shown } = failure.item ?? {};
    console.log(`${name}:${failure.line} ${failure.problem ?? ''}\n  case     ${canonical(shown).slice(0, 600)}\n  expected ${failure.expected.slice(0, 600)}\n  got      ${failure.got.slice(0, 600)}`);
  }
  if (process.env.BRAID_LINES) console.log(`${name} failing lines: ${failures.map((f) => f.line).join(' ')}`);
  return tally;
}

const server = await startServer();
const client = await new MongoClient(server.uri).connect();
let failed = 0;
let passed = 0;
let different = 0;
try {
  for (const name of process.argv.length > 2 ? process.argv.slice(2) : Object.keys(families)) {
    const tally = await replay(client.db(`golden_${name}`), name);
    console.log(`golden ${name.padEnd(8)} ${tally.passed} as recorded, ${tally.different} deliberately different, ${tally.failed} wrong`);
    passed += tally.passed;
    failed += tally.failed;
    different += tally.different;
  }
} finally {
  await client.close();
  await server.stop();
}
console.log(`golden replay: ${passed} passed, ${failed} failed (${different} deliberate differences)`);
process.exit(failed ? 1 : 0);
