// braid settlement migrate with a table that others have made: its names are in a mapping (C6).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Long, MongoClient } from 'mongodb';

import { binary, startServer } from '../lib/server.mjs';

let directory;
let server;
let client;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'braid-mapping-'));
  server = await startServer();
  client = await new MongoClient(server.uri).connect();
});
after(async () => {
  await client?.close();
  await server?.stop();
  if (directory) await rm(directory, { recursive: true, force: true });
});

function settlement(database, ...args) {
  const all = ['settlement', ...args, '--store', server.uri, '--db', database, '--json'];
  const { status, stdout, stderr } = spawnSync(binary, all, { encoding: 'utf8' });
  return { status, stderr, ...JSON.parse(stdout) };
}

test('a table with names, documents and hashes of its own is migrated', async () => {
  const table = client.db('real').collection('matching_outputs');
  const rows = Array.from({ length: 700 }, (_, i) => ({
    seq: i + 1,
    previous: Long.fromNumber(i === 0 ? 0 : i * 7919),
    digest: Long.fromNumber((i + 1) * 7919), // made by a function that nobody knows
    request: { type: 'limit', depth: { levels: [1, 2, 3] } },
    order: { order_id: i, user_id: i % 5, symbol_id: 1 + (i % 3), status: 'FILLED' },
    fills: [{ trade_id: i, symbol_id: 1 + (i % 3), price: '10.50', qty: '2', buyer_id: 1, seller_id: 2 }],
    changes: [],
    time: new Date(1_700_000_000_000 + i),
    operator: 'is not part of an output',
  }));
  await table.insertMany(rows);
  const mapping = join(directory, 'mapping.json');
  await writeFile(mapping, JSON.stringify({
    collection: 'matching_outputs', sequence: 'seq', prev_hash: 'previous', hash: 'digest', hash_function: 'unknown', input: 'request',
    order_update: 'order', trades: 'fills', balance_events: 'changes', created_at: 'time',
  }));
  const run = settlement('real', 'migrate', 'run', '--mapping', mapping);
  assert.deepEqual([run.status, run.phase, run.mirrored_outputs, run.verify.ok], [0, 'verified', 700, true], run.stderr);
  assert.equal((await table.indexes()).some(({ key }) => key.seq === 1), true, 'ranges are read by an index');
  const written = settlement('real', 'migrate', 'write', '--mapping', mapping, '--outputs', '30');
  assert.deepEqual([written.status, written.output_seq], [0, 730], written.stderr);
  const newest = await table.findOne({ seq: 730 });
  assert.deepEqual(Object.keys(newest).sort(), ['_id', 'changes', 'digest', 'fills', 'order', 'previous', 'request', 'seq', 'time']);
  assert.equal(settlement('real', 'migrate', 'switch', '--mapping', mapping).phase, 'switched');
  assert.equal(settlement('real', 'migrate', 'follow', '--mapping', mapping, '--once').outputs, 730);
  assert.equal(settlement('real', 'verify').ok, true);
  const { records } = settlement('real', 'records', '--symbol', '1', '--limit', '1');
  assert.deepEqual([records[0].input_data, records[0].output_data.order_update, records[0].output_data.trades], [rows[0].request, rows[0].order, rows[0].fills]);

  const other = settlement('real', 'migrate', 'status', '--old-table', 'matching_outputs');
  assert.equal(other.status, 1);
  assert.match(other.error.message, /the migration of this store reads matching_outputs by the mapping/);
  assert.equal(settlement('real', 'migrate', 'drop', '--yes', '--mapping', mapping).phase, 'dropped');
  assert.equal(settlement('real', 'migrate', 'write', '--mapping', mapping, '--outputs', '10').status, 0);
  assert.equal(settlement('real', 'migrate', 'follow', '--mapping', mapping, '--once').outputs, 740);
  assert.equal(settlement('real', 'verify').ok, true);
});

test('a mapping that is none, and a table that does not fit it, are named', async () => {
  const mapping = join(directory, 'wrong.json');
  await writeFile(mapping, '{"sequence": "n", "form": "xml"}');
  assert.match(settlement('wrong', 'migrate', 'status', '--mapping', mapping).error.message, /mapping: form is neither binary nor text nor document/);
  await writeFile(mapping, '{"collection": "t", "sequence": "n", "prev_hash": null, "hash": null, "created_at": null}');
  await client.db('wrong').collection('t').insertMany([{ n: 1, input_data: '{}', output_data: '{}' }, { n: 2, input_data: 5, output_data: '{}' }]);
  const refused = settlement('wrong', 'migrate', 'preflight', '--mapping', mapping);
  assert.equal(refused.status, 1);
  assert.match(refused.error.message, /output 2 of the old table: input_data is not JSON, nor a document/);
});
