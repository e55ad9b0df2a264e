// What happens to the files under `braid settlement`: a byte that changes, a disk that is full (C3, C5).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { generator, newSeed } from '../lib/random.mjs';
import { start } from '../lib/program.mjs';
import { binary } from '../lib/server.mjs';
import { generate, settlementJson, textFrom } from './settlement_model.mjs';

const seed = newSeed();
const random = generator(seed);
console.log(`settlement disk: seed ${seed}`);

let directory;
before(async () => (directory = await mkdtemp(join(tmpdir(), 'braid-disk-'))));
after(async () => directory && (await rm(directory, { recursive: true, force: true })));

/** The largest file of a store with this extension, and its size. */
async function largest(store, extension) {
  const names = (await readdir(store)).filter((name) => name.endsWith(extension));
  const files = await Promise.all(names.map(async (name) => ({ path: join(store, name), size: (await stat(join(store, name))).size })));
  return files.sort((a, b) => b.size - a.size)[0];
}

async function changeByte(path, at) {
  const file = await open(path, 'r+');
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, at);
  byte[0] ^= 1 + random.below(255);
  await file.write(byte, 0, 1, at);
  await file.close();
}

/** Runs to its end; gives what it said, and its JSON if there is some. */
async function run(args, input = undefined) {
  const ended = await start(['settlement', ...args, '--json'], input).ended;
  return { ...ended, json: ended.stdout === '' ? null : JSON.parse(ended.stdout) };
}

test('a byte changed on disk is named by symbol and output, and everything else verifies', async () => {
  const where = ['--store', join(directory, 'changed')];
  const lines = await generate('--outputs', '20000', '--symbols', '4');
  await settlementJson(['ingest', ...where, '-'], textFrom(lines));
  const sound = await settlementJson(['verify', ...where]);
  const { path, size } = await largest(where[1], '.sst');
  await changeByte(path, Math.floor(size / 4) + random.below(Math.floor(size / 2)));

  const verified = await run(['verify', ...where]);
  assert.equal(verified.status, 1, verified.stderr);
  assert.equal(verified.json.ok, false);
  assert.equal(new Set(verified.json.damage.map(({ symbol_id }) => symbol_id)).size, 1, verified.stdout);
  const [{ symbol_id, output_seq, what }] = verified.json.damage;
  assert.match(what, /^the records from here up to \d+ cannot be read: .*checksum mismatch/);
  const last = Number(what.match(/up to (\d+)/)[1]);
  const lost = lines.map((line) => JSON.parse(line)).filter((output) => output.symbol_id === symbol_id && output.output_seq >= output_seq && output.output_seq <= last);
  assert.ok(lost.length > 0);
  assert.equal(verified.json.records, sound.records - (verified.json.damage.length === 1 ? lost.length : sound.records - verified.json.records));

  const recovered = await run(['recover', ...where]);
  assert.equal(recovered.status, 1, recovered.stderr);
  assert.deepEqual(recovered.json.damage[0], verified.json.damage[0]);
  assert.match(recovered.json.failure, /takes no more writes|cannot read/); // whichever it meets first

  // Every output is stored already, and some of them cannot be read: to try again would never end.
  const again = await run(['ingest', ...where, '-'], textFrom(lines));
  assert.equal(again.status, 1, again.stderr);
  assert.match(again.stderr, /checksum mismatch|takes no more writes/);
});

// A limit on the size of files is as good as a full disk: a write fails.
test('a full disk ends an ingest with its reason; with space again the same outputs complete it', async () => {
  const file = join(directory, 'outputs.ndjson');
  const lines = await generate('--outputs', '30000', '--symbols', '4');
  await writeFile(file, textFrom(lines));
  const where = ['--store', join(directory, 'full')];
  const limited = spawn('bash', ['-c', `trap '' XFSZ; ulimit -f 1500; exec "$0" settlement ingest "$@"`, binary, ...where, file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  limited.stderr.on('data', (data) => (stderr += data));
  const status = await new Promise((resolve) => limited.once('exit', resolve));
  assert.equal(status, 1, stderr);
  assert.match(stderr, /takes no more writes/);
  const [, accepted] = stderr.match(/(\d+) accepted, .* failed in /);
  const again = await settlementJson(['ingest', ...where, file]);
  assert.equal(again.accepted + again.duplicate, lines.length);
  assert.ok(again.duplicate >= Number(accepted), `${accepted} were acknowledged, ${again.duplicate} were there`);
  assert.equal((await settlementJson(['verify', ...where])).ok, true);
});
