// Shell completion and man pages, both made from the parser of the command line.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { hasProgram } from '../lib/not_run.mjs';
import { binary } from '../lib/server.mjs';

const directory = await mkdtemp(join(tmpdir(), 'braid-completion-'));
after(() => rm(directory, { recursive: true, force: true }));
const run = (program, args, options = {}) => spawnSync(program, args, { encoding: 'utf8', ...options });
const help = (...path) => run(binary, [...path, '--help']).stdout;
/** The subcommands that a help text lists. */
const listed = (text) => [...(text.split('\nSubcommands:\n')[1] ?? '').matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name]) => name);

/** What bash offers behind these words. */
function offered(...words) {
  const script = 'source <("$1" completion bash); shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _braid; printf "%s\\n" "${COMPREPLY[@]}"';
  const { status, stdout, stderr } = run('bash', ['-c', script, 'bash', binary, ...words], { cwd: directory });
  assert.deepEqual([status, stderr], [0, '']);
  return stdout.split('\n').filter(Boolean);
}

test('bash completes subcommands, theirs, and options', () => {
  assert.deepEqual(offered('braid', 'se'), ['serve', 'settlement']);
  const nested = listed(help('settlement'));
  assert.ok(nested.length > 3);
  assert.deepEqual(offered('braid', 'settlement', '').filter((word) => !word.startsWith('-')).sort(), nested.sort());
  assert.deepEqual(offered('braid', 'serve', '--log-f'), ['--log-file', '--log-format']);
  assert.deepEqual(offered('braid', 'serve', '--port', '1', '--check'), ['--check-config']);
});

test('every option of every subcommand is offered', () => {
  for (const name of listed(help())) {
    const options = [...help(name).matchAll(/^ +(?:-\w,)?(--[a-zA-Z-]+)/gm)].map(([, option]) => option);
    assert.deepEqual(offered('braid', name, '--').sort(), [...new Set(options)].sort(), name);
  }
});

test('the script for zsh starts as those do', () => {
  assert.match(run(binary, ['completion', 'zsh']).stdout, /^#compdef braid\n/);
  assert.equal(run(binary, ['completion', 'csh']).status, 2);
});

test('what is only for packages is not in the help', () => {
  assert.ok(!listed(help()).includes('completion') && !listed(help()).includes('manual'));
});

test('every subcommand has a man page with its options, which groff takes without a complaint', async () => {
  const pages = join(directory, 'man1');
  assert.equal(run(binary, ['manual', pages]).status, 0);
  const names = listed(help());
  assert.deepEqual((await readdir(pages)).sort(), ['braid.1', ...names.map((name) => `braid-${name}.1`)].sort());
  const serve = (await readFile(join(pages, 'braid-serve.1'), 'utf8')).replaceAll('\\-', '-');
  for (const [, option] of help('serve').matchAll(/^ +(?:-\w,)?(--[a-z-]+)/gm)) assert.ok(serve.includes(option), option);
  const program = await readFile(join(pages, 'braid.1'), 'utf8');
  for (const name of names) assert.ok(program.includes(`braid\\-${name}`), name);
  if (!hasProgram('groff', 'groff over the man pages')) return;
  for (const page of await readdir(pages)) {
    const { status, stderr } = run('groff', ['-Kutf8', '-man', '-ww', '-z', '-Tutf8', join(pages, page)]);
    assert.deepEqual([status, stderr], [0, ''], page);
  }
});
