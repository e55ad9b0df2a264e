// The worked examples of the service pages: every command is run as it stands there, and prints what stands below it. And
// the C++ of all pages, which tests/install compiles and runs.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { binary, startServer } from '../lib/server.mjs';
import { shellFor } from '../lib/mongosh.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const run = promisify(execFile);

/** The blocks of code of a page or a section: [{ language, text }]. */
const blocksIn = (text) => [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map((match) => ({ language: match[1], text: match[2] }));

/** Those of a page's worked example. */
const blocksOf = (page) => blocksIn(page.match(/^## A worked example, in four ways\n(.*?)^## /ms)[1]);

/** What is to be run, and what it must print: [{ input, expected }]. Comments are the output of what stands above them. */
function stepsOf(text, comment) {
  const steps = [];
  let input = [];
  let expected = [];
  const end = () => {
    if (input.length > 0) steps.push({ input: input.join('\n'), expected });
    input = [];
    expected = [];
  };
  for (const line of text.trimEnd().split('\n')) {
    if (line.startsWith(`${comment} `)) {
      expected.push(line.slice(comment.length + 1));
    } else {
      if (expected.length > 0) end();
      input.push(line);
    }
  }
  end();
  return steps;
}

/** `…` stands for anything, and white space for any white space. */
function expectPrinted(printed, expected, input) {
  const escaped = expected.join(' ').split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*'));
  assert.match(printed.replaceAll(/\s+/g, ' '), new RegExp(escaped.join(' ?')), input);
}

for (const service of ['staking', 'shop', 'settlement', 'explorer']) {
  test(`the example of docs/${service}.md`, async (t) => {
    const page = await readFile(join(root, 'docs', `${service}.md`), 'utf8');
    const program = await readFile(join(root, 'examples', 'services', `${service}.cc`), 'utf8');
    const server = await startServer(['--http-port', '0']);
    t.after(() => server.stop());
    const directory = await mkdtemp(join(tmpdir(), 'braid-example-'));
    t.after(() => rm(directory, { recursive: true, force: true }));
    const { mongosh } = await shellFor(server.uri);
    const here = (text) => text.replaceAll('mongodb://127.0.0.1:27017', server.uri.replace(/\/$/, '')).replaceAll('localhost:8080', new URL(server.httpUri).host);
    const blocks = blocksOf(page);
    assert.deepEqual(blocks.map((block) => block.language), ['sh', 'sh', 'js', 'cpp']);
    for (const { language, text } of blocks) {
      if (language === 'cpp') {
        assert.ok(program.includes(text), `examples/services/${service}.cc differs from the page`);
      } else if (language === 'js') {
        const [database, ...lines] = text.split('\n');
        for (const { input, expected } of stepsOf(lines.join('\n'), '//')) {
          const printed = await mongosh(['--quiet', '--eval', database, '--eval', input]);
          expectPrinted(printed, expected, input);
        }
      } else {
        for (const { input, expected } of stepsOf(here(text), '#')) {
          const environment = { ...process.env, PATH: `${dirname(binary)}:${process.env.PATH}` };
          const { stdout, stderr } = await run('bash', ['-ec', input], { cwd: directory, env: environment });
          expectPrinted(stdout + stderr, expected, input);
        }
      }
    }
  });
}

test('the C++ of docs/library.md is that of examples/', async () => {
  const page = await readFile(join(root, 'docs', 'library.md'), 'utf8');
  const names = ['embedded/main.cc', 'patterns/once.cc', 'patterns/counters.cc', 'patterns/chains.cc', 'patterns/timeline.cc'];
  const programs = await Promise.all(names.map((name) => readFile(join(root, 'examples', name), 'utf8')));
  for (const program of programs) assert.ok(program.split('\n').length <= 60, 'an example has at most 60 lines');
  const blocks = blocksIn(page).filter((block) => block.language === 'cpp');
  assert.equal(blocks.length, names.length);
  blocks.forEach(({ text }, i) => assert.ok(programs[i].includes(text), `examples/${names[i]} differs from the page`));
});
