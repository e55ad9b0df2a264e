// The clients that are not JavaScript: pymongo and libmongoc. Each of their tests is one here.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { binary, startServer } from '../lib/server.mjs';

const here = dirname(fileURLToPath(import.meta.url));

async function output(program, args, env = {}) {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], signal: AbortSignal.timeout(60000) });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (text += data));
  const code = await new Promise((resolve) => child.once('close', resolve).once('error', resolve));
  return { code, text };
}

// The Debian package belongs to Debian's own Python.
const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
for (const file of ['pymongo_test.py', 'transactions_pymongo_test.py']) {
  const pymongo = await output(python, [join(here, file)]);
  const outcomes = [...pymongo.text.matchAll(/^(test_\w+) .*?\.\.\. (?:.*\n)*?.*?(ok|FAIL|ERROR)$/gm)];
  for (const [, name, outcome] of outcomes) test(`pymongo: ${name}`, () => assert.equal(outcome, 'ok', pymongo.text));
  test(`pymongo: all tests of ${file} ran`, () => {
    assert.equal(pymongo.code, 0, pymongo.text);
    assert.equal(Number(pymongo.text.match(/^Ran (\d+) tests/m)?.[1]), outcomes.length);
  });
}

const server = await startServer();
const program = process.env.BRAID_LIBMONGOC_TEST ?? join(dirname(binary), 'tests', 'libmongoc_test');
const libmongoc = await output(program, [], { BRAID_URI: server.uri });
await server.stop();
const checks = [...libmongoc.text.matchAll(/^(ok|not ok) (.*)$/gm)];
for (const [line, outcome, name] of checks) test(`libmongoc: ${name}`, () => assert.equal(outcome, 'ok', line));
test('libmongoc: all checks ran', () => {
  assert.equal(libmongoc.code, 0, libmongoc.text);
  assert.ok(checks.length >= 25, libmongoc.text);
});
