// Proofs that an output was in the log: short, silent about all other outputs, and checked here by code that shares
// nothing with Braid but the formats of include/braid/checkpoint.h and chain_tree.h.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { MongoClient } from 'mongodb';

import { binary, startServer } from '../lib/server.mjs';

let directory;
let server;
let client;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'braid-proof-'));
  server = await startServer();
  client = await new MongoClient(server.uri).connect();
  const made = spawnSync(binary, ['settlement', 'keygen', '--key', key(), '--public-key', publicKey()]);
  assert.equal(made.status, 0, String(made.stderr));
});
after(async () => {
  await client?.close();
  await server?.stop();
  if (directory) await rm(directory, { recursive: true, force: true });
});

const key = () => join(directory, 'key.pem');
const publicKey = () => join(directory, 'key.pub');
const output = (symbol, seq) =>
  `${JSON.stringify({ output_seq: seq, input: { note: `secret of ${seq}!` }, order_update: { order_id: seq, user_id: 1, symbol_id: symbol, status: 'NEW' } })}\n`;
const outputs = (symbol, from, to) => Array.from({ length: to - from + 1 }, (_, i) => output(symbol, from + i)).join('');

function on(database) {
  const run = (action, args = [], input = undefined) => {
    const all = ['settlement', action, '--store', server.uri, '-d', database, '--json', ...args];
    const { status, stdout, stderr } = spawnSync(binary, all, { input, encoding: 'utf8', maxBuffer: 1 << 28 });
    return { status, stderr, ...JSON.parse(stdout) };
  };
  return { run, db: client.db(database) };
}
const check = (file) => spawnSync(binary, ['settlement', 'check-proof', file, '--public-key', publicKey(), '--json'], { encoding: 'utf8' });

const sha256 = (...parts) => createHash('sha256').update(Buffer.concat(parts)).digest();
const bytes = (hex) => Buffer.from(hex, 'hex');
const int64 = (number) => {
  const buffer = Buffer.alloc(8);
  buffer.writeBigInt64BE(BigInt(number));
  return buffer;
};
const int32 = (number) => {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32BE(number);
  return buffer;
};

/** The root that a leaf and its path give, by RFC 6962, section 2.1.1, in the iterative form of RFC 9162. */
function rootOf(leaf, index, count, path) {
  assert.ok(index < count);
  let [node, last, hash] = [index, count - 1, leaf];
  for (const sibling of path.map(bytes)) {
    assert.ok(last > 0, 'the path is too long');
    if (node % 2 === 1 || node === last) {
      hash = sha256(Buffer.from([1]), sibling, hash);
      while (node % 2 === 0 && node > 0) [node, last] = [node / 2, Math.floor(last / 2)];
    } else {
      hash = sha256(Buffer.from([1]), hash, sibling);
    }
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  }
  assert.equal(last, 0, 'the path is too short');
  return hash;
}

async function verifyIndependently(proof) {
  const { checkpoint, record, head } = proof;
  const payload = bytes(record.payload);
  const leaf = sha256(
    Buffer.from('braid.chain.v1\0\0'), int64(record.chain), int64(record.sequence), bytes(record.prev_hash),
    int32(record.also.length), int32(payload.length), ...record.also.map(int64), payload);
  const tree = rootOf(leaf, proof.record_index, head.records, proof.record_path);
  const headLeaf = sha256(Buffer.from([0]), int64(record.chain), int64(head.sequence), bytes(head.hash), int64(head.records), tree);
  assert.equal(rootOf(headLeaf, proof.head_index, checkpoint.chains, proof.head_path).toString('hex'), checkpoint.root);
  const store = Buffer.from(checkpoint.store);
  const statement = Buffer.concat([
    Buffer.from('braid checkpoint'), int32(checkpoint.version), int64(checkpoint.sequence), int64(checkpoint.created_at),
    int64(checkpoint.chains), bytes(checkpoint.root), int32(store.length), store]);
  assert.ok(verify(null, statement, createPublicKey(await readFile(publicKey())), bytes(checkpoint.signature)), 'the signature');
}

test('a proof grows by a few hashes with ten times the outputs, and shows none of them', async () => {
  const { run } = on('proofs');
  const file = join(directory, 'proof.json');
  const prove = async (count) => {
    assert.equal(run('checkpoint', ['--key', key()]).status, 0);
    const made = run('prove', ['--symbol', '3', '--seq', '500', '--to', file]);
    assert.deepEqual([made.status, made.record, made.records], [0, 500, count], made.stderr);
    const text = await readFile(file, 'utf8');
    assert.equal(made.bytes, text.length);
    await verifyIndependently(JSON.parse(text));
    const checked = check(file);
    assert.equal(checked.status, 0, checked.stderr);
    assert.equal(JSON.parse(checked.stdout).payload.includes('secret of 500!'), true);
    return text;
  };
  run('ingest', ['-'], outputs(3, 1, 1000) + outputs(4, 1001, 1005) + outputs(5, 1006, 1006));
  const short = await prove(1000);
  run('ingest', ['-'], outputs(3, 1007, 10_006));
  const long = await prove(10_000);
  assert.ok(long.length <= short.length + 4 * 67 + 16, `${short.length} and ${long.length} bytes`);
  for (const other of [1, 499, 501, 502, 1000, 1003, 10_006]) {
    assert.equal(long.includes(Buffer.from(`secret of ${other}!`).toString('hex')), false, `output ${other}`);
  }
  const places = Array.from({ length: 24 }, (_, i) => Math.floor((i * long.length) / 24));
  for (const place of places) {
    await writeFile(file, `${long.slice(0, place)}${String.fromCharCode(long.charCodeAt(place) ^ 1)}${long.slice(place + 1)}`);
    const checked = check(file);
    assert.equal(checked.status, 1, `byte ${place} of ${long}`);
    assert.equal(JSON.parse(checked.stdout).ok, false);
  }
});

test('writers side by side leave trees that prove every output', async () => {
  const { run, db } = on('parallel');
  run('ingest', ['-'], output(1, 1));
  const writers = [2, 3].map((first) => new Promise((resolve) => {
    const writer = spawn(binary, ['settlement', 'ingest', '--store', server.uri, '-d', 'parallel', '--batch', '50', '-']);
    writer.on('exit', resolve);
    // Each has symbols of its own, but the trees lie in one collection.
    for (let seq = first; seq <= 3000; seq += 2) writer.stdin.write(output(first + 2 * (Math.floor(seq / 2) % 3), seq));
    writer.stdin.end();
  }));
  assert.deepEqual(await Promise.all(writers), [0, 0]);
  assert.equal(run('verify').ok, true);
  assert.ok((await db.collection('engine_output_log_tree').countDocuments()) >= 6);
  assert.equal(run('checkpoint', ['--key', key()]).status, 0);
  for (const { _id, seq } of await db.collection('engine_output_log_heads').find().toArray()) {
    const file = join(directory, 'parallel.json');
    assert.equal(run('prove', ['--symbol', String(_id), '--seq', String(seq), '--to', file]).status, 0);
    await verifyIndependently(JSON.parse(await readFile(file, 'utf8')));
  }
});

test('a chain from before there were trees is refused by name until repair --tree', async () => {
  const { run, db } = on('old');
  run('ingest', ['-'], outputs(3, 1, 600) + outputs(4, 601, 610));
  await db.collection('engine_output_log_tree').drop();
  await db.collection('engine_output_log_heads').updateMany({}, { $unset: { tree: 1 } });
  run('ingest', ['-'], outputs(3, 611, 620));
  assert.equal(run('verify').ok, true, 'it is sound, and goes on');
  const refused = run('checkpoint', ['--key', key()]);
  assert.equal(refused.status, 1);
  assert.match(refused.error.message, /symbol 3 has no tree, since it was written before there were any: braid settlement repair --tree/);
  const dry = run('repair', ['--tree', '--all', '--dry-run']);
  assert.deepEqual([dry.repaired, dry.symbols.map(({ symbol_id }) => symbol_id)], [0, [3, 4]]);
  const repaired = run('repair', ['--tree', '--all', '--by', 'ann', '--reason', 'upgrade']);
  assert.deepEqual([repaired.status, repaired.repaired], [0, 2], repaired.stderr);
  assert.equal(run('repair', ['--tree', '--all', '--by', 'ann', '--reason', 'again']).repaired, 0);
  assert.equal(run('verify').ok, true);
  assert.equal(run('checkpoint', ['--key', key()]).status, 0);
  const file = join(directory, 'old.json');
  assert.equal(run('prove', ['--symbol', '3', '--seq', '17', '--to', file]).status, 0);
  await verifyIndependently(JSON.parse(await readFile(file, 'utf8')));

  const node = { _id: '3:1:0000000000000000001' };
  await db.collection('engine_output_log_tree').deleteOne(node);
  const damaged = run('verify');
  assert.deepEqual([damaged.status, damaged.damage.map(({ what }) => what)], [1, ['node 1 of level 1 of the tree is missing']]);
  assert.equal(run('prove', ['--symbol', '3', '--seq', '17', '--to', file]).status, 1);
  assert.equal(run('repair', ['--tree', '--symbol', '3', '--by', 'ann', '--reason', 'lost']).repaired, 1);
  assert.equal(run('verify').ok, true);
});
