// braid explorer sync, node, generate and status: an index that follows a node through switches, faults, restarts and the wrong node.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { serve } from '../lib/fixture.mjs';
import { outsideData } from '../lib/not_run.mjs';
import { newSeed } from '../lib/random.mjs';
import { explorer, explorerFails, explorerJson, importEpochs, start } from './explorer_model.mjs';
import { Node } from './explorer_node.mjs';

const eq = assert.deepEqual;
const seed = String(newSeed());
const named = `BRAID_SEED=${seed}`;
const directory = await mkdtemp(join(tmpdir(), 'braid-explorer-sync-'));
after(() => rm(directory, { recursive: true, force: true }));
const f = await serve(['--shards', '4']);
let databases = 0;
const place = () => ['--store', f.server.uri, '--db', `sync${++databases}`];
const quick = ['--poll', '1', '--patience', '30'];

const digestOf = async (where) => {
  const { ok, digest, damage } = await explorerJson(['verify', ...where]);
  eq([ok, damage], [true, []], named);
  return digest;
};
const digestOfImport = async (epochs) => {
  const where = place();
  await importEpochs(where, epochs);
  return digestOf(where);
};

test('more than a hundred pivot switches, faults and contradictions: the index is an import of the final chain', async () => {
  const node = await Node.start(['--seed', seed, '--paced', '--epochs', '450', '--switches', '32', '--transactions', '6', '--errors', '3', '--inconsistent', '2', '--slow', '3', '--slow-ms', '5']);
  const where = place();
  const followed = await explorerJson(['sync', ...where, '--node', node.url, '--until', '449', ...quick]);
  await node.faults();
  // The last answers may have been wrong ones, so once more without faults.
  const { at } = await explorerJson(['sync', ...where, '--node', node.url, '--once', ...quick]);
  const state = await node.state();
  eq([at.epoch, at.pivot, state.ended], [449, state.pivot, true], named);
  assert.ok(followed.switches >= 100 && followed.deepest > 1, `${named}: ${JSON.stringify(followed)}`);
  assert.ok(followed.retries > 10 && followed.inconsistent > 0, `${named}: ${JSON.stringify(followed)}`);
  const chain = await node.chain();
  eq(await digestOf(where), await digestOfImport(chain), named);
  const { pivots } = await explorerJson(['pivot', ...where, '--limit', '1000']);
  eq(pivots.map(({ hash }) => hash).reverse(), chain.map(({ pivotHash }) => pivotHash));
  const { reorgs } = await explorerJson(['reorgs', ...where, '--limit', '1000']);
  assert.ok(reorgs.length >= 100, `${reorgs.length} reorganisations`);
  // A receipt that came late has found its transaction.
  const late = chain.flatMap(({ receipts }) => Object.values(receipts)).find(({ contractCreated }) => contractCreated);
  const { transaction } = await explorerJson(['transaction', ...where, late.transactionHash]);
  eq([transaction.contractCreated, transaction.gasUsed], [late.contractCreated, late.gasUsed]);
  await node.stop();
});

test('it follows until it is told to end; status says where it is', async () => {
  const node = await Node.start(['--seed', seed, '--start', '20', '--epochs', '1000', '--switches', '30']);
  const where = place();
  eq((await explorerJson(['status', ...where])).sync, null);
  const sync = start(['sync', ...where, '--node', node.url, '--json', '--history', '500', ...quick]);
  const reached = async (pivot) => {
    for (;;) {
      const { at } = await explorerJson(['status', ...where]);
      if (at.pivot === pivot) return;
      assert.ok(sync.isAlive(), sync.said());
    }
  };
  for (let i = 0; i < 5; ++i) {
    const { pivot } = await node.advance(7);
    await reached(pivot);
  }
  sync.child.kill('SIGTERM');
  const { status, stdout, stderr } = await sync.ended;
  eq(status, 0, stderr);
  const ended = JSON.parse(stdout);
  const { epoch, pivot } = await node.state();
  eq(ended.at, { epoch, pivot });
  const { sync: last, lag, at } = await explorerJson(['status', ...where]);
  eq([last.state, last.node, last.nodeEpoch, last.grown, lag, at], ['ended', `${node.url}/`, epoch, ended.grown, 0, { epoch, pivot }]);
  await node.advance(10);
  eq((await explorerJson(['sync', ...where, '--node', node.url, '--once', ...quick])).at.epoch, epoch + 10);
  eq(await digestOf(where), await digestOfImport(await node.chain()), named);
  await node.stop();
});

test('a node that goes away is waited for, and one that does not come back is an error', async () => {
  const options = ['--seed', seed, '--epochs', '100'];
  const first = await Node.start([...options, '--start', '40']);
  const where = ['--store', join(directory, 'store')];
  const sync = start(['sync', ...where, '--node', first.url, '--until', '99', '--json', ...quick]);
  // It has read the newest block, so it is in the midst of it.
  while ((await first.state()).requests < 30) assert.ok(sync.isAlive(), sync.said());
  await first.stop('SIGKILL');
  const second = await Node.start([...options, '--start', '100', '--port', new URL(first.url).port]);
  const { status, stdout, stderr } = await sync.ended;
  eq(status, 0, stderr);
  eq(JSON.parse(stdout).at.epoch, 99);
  eq(await digestOf(where), await digestOfImport(await second.chain()), named);
  await second.stop();
  const { stderr: said } = await explorerFails(['sync', ...where, '--node', second.url, '--once', '--patience', '0']);
  assert.match(said, /cannot connect/);
});

test('a switch that is too deep, or another network, stops it and changes nothing', async () => {
  const one = await Node.start(['--seed', seed, '--start', '30', '--switches', '0']);
  const other = await Node.start(['--seed', `${seed}1`, '--start', '50', '--switches', '0']);
  const where = place();
  await explorerJson(['sync', ...where, '--node', one.url, '--once', ...quick]);
  const before = await digestOf(where);
  assert.match((await explorerFails(['sync', ...where, '--node', other.url, '--once', ...quick])).stderr, /have no epoch in common: is it a node of the same network/);
  assert.match((await explorerFails(['sync', ...where, '--node', other.url, '--once', '--depth-max', '5', ...quick])).stderr, /replaced more than 5 epochs below 29/);
  eq(await digestOf(where), before);
  const { sync } = await explorerJson(['status', ...where]);
  eq(sync.state, 'failed');
  assert.match(sync.error, /more than 5 epochs/);
  await Promise.all([one.stop(), other.stop()]);
});

test('https: only with a certificate that is trusted', async () => {
  const node = await Node.start(['--seed', seed, '--start', '30']);
  const [key, certificate] = ['key.pem', 'certificate.pem'].map((name) => join(directory, name));
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate, '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'], { stdio: 'ignore' });
  // In front of the node, as a provider's gateway would be.
  const gateway = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    if (request.url !== '/v1?key=7' || request.headers.authorization !== `Basic ${btoa('me:secret')}`) return response.writeHead(401).end('who are you?');
    const reply = await fetch(node.url, { method: 'POST', body: Buffer.concat(pieces) });
    response.writeHead(reply.status).end(await reply.text()); // chunked: it has no length
  });
  await new Promise((resolve) => gateway.listen(0, 'localhost', resolve));
  const { port } = gateway.address();
  const url = `https://me:secret@localhost:${port}/v1?key=7`;
  const where = place();
  assert.match((await explorerFails(['sync', ...where, '--node', url, '--once', '--patience', '0'])).stderr, /certificate is not accepted/);
  assert.match((await explorerFails(['sync', ...where, '--node', `https://localhost:${port}/`, '--ca', certificate, '--once', '--patience', '0'])).stderr, /HTTP status 401: who are you/);
  const { at, node: shown } = await explorerJson(['sync', ...where, '--node', url, '--ca', certificate, '--once', ...quick]);
  eq([at.epoch, shown], [29, `https://localhost:${port}/v1?key=7`]);
  eq(await digestOf(where), await digestOfImport(await node.chain()), named);
  gateway.closeAllConnections();
  gateway.close();
  await node.stop();
});

test('generate: the same seed makes the same lines; an import of all is an import of the survivors', async () => {
  const options = ['generate', '--seed', seed, '--epochs', '120', '--switches', '30', '--depth', '5'];
  const { stdout: all } = await explorer(options);
  eq((await explorer(options)).stdout, all);
  const { stdout: survivors } = await explorer([...options, '--survivors']);
  eq(survivors.split('\n').length - 1, 120);
  assert.ok(all.split('\n').length > 150);
  const where = place();
  const { popped } = await explorerJson(['import', ...where, '-'], all);
  assert.ok(popped > 20, String(popped));
  eq(await digestOf(where), await digestOfImport(survivors.trimEnd().split('\n')), named);
});

const blocks = outsideData(['blocks'], { what: 'a chain of real transactions', why: 'the blocks are other people\'s' });
test('generate --from: every real transaction is there once', { skip: !blocks }, async () => {
  const { stdout } = await explorer(['generate', '--from', blocks, '--epochs', '0', '--transactions', '200']);
  const where = place();
  const { transactions } = await explorerJson(['import', ...where, '-'], stdout);
  const verified = await explorerJson(['verify', ...where]);
  eq([verified.ok, verified.transactions >= 13_000, transactions >= verified.transactions], [true, true, true], JSON.stringify(verified));
});

test('options that make no sense are refused by name', async () => {
  const where = place();
  for (const [args, message] of [
    [['sync', ...where, '--node', 'ftp://localhost'], /must begin with http/],
    [['generate', '--epochs', '0'], /give --from DIR/],
    [['generate', '--from', join(directory, 'nowhere')], /cannot be read/],
    [['node', '--start', '10', '--epochs', '5'], /epochs_at_start is 10, but must be 1 to 5/],
  ]) {
    const { status, stderr } = await explorer(args);
    eq(status, 1, stderr);
    assert.match(stderr, message);
  }
});
