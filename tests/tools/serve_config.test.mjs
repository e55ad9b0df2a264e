// Where the options of braid serve come from: every one is a flag, a key of the file and a variable of the environment, and the page
// about operation names all three.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, test } from 'node:test';
import { binary, startServer } from '../lib/server.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const directory = await mkdtemp(join(tmpdir(), 'braid-config-'));
after(() => rm(directory, { recursive: true, force: true }));

function serve(args, environment = {}) {
  const { status, stdout, stderr } = spawnSync(binary, ['serve', ...args], { encoding: 'utf8', env: { PATH: process.env.PATH, ...environment } });
  return { status, stdout, stderr };
}
const check = (args, environment) => serve(['--check-config', ...args], environment);
const line = ({ status, stdout, stderr }, key) => {
  assert.equal(status, 0, stderr);
  return stdout.split('\n').find((text) => text.replace(/^# /, '').startsWith(`${key} `));
};
async function file(text) {
  const path = join(directory, 'braid.toml');
  await writeFile(path, text);
  return path;
}

// Flags of this one run are neither keys nor variables; --config is no key of itself.
const ofOneRun = ['help', 'check-config'];
const flags = [...serve(['--help']).stdout.matchAll(/^ +(?:-\w,)?--([a-z-]+)(.*)$/gm)].map(([, name, rest]) => ({ name, takesValue: / [A-Z]+/.test(rest.slice(0, 40)) }));
const options = flags.filter(({ name }) => !ofOneRun.includes(name) && name !== 'config');

/** A value that is not the default. */
const others = {
  store: 'elsewhere', shards: '7', bind: '::1', port: '4711', 'http-port': '4712', 'http-bind': '::1', 'http-allow-origin': 'https://example.org',
  'cache-size': '67108864', 'memory-limit': '134217728', threads: '3', 'max-connections': '17', 'transaction-lifetime': '9', 'log-level': 'warning',
  'log-file': 'file.log', 'log-format': 'json', 'slow-ms': '5',
};
const valueOf = (name) => others[name] ?? 'true';
const variable = (name) => `BRAID_${name.toUpperCase().replaceAll('-', '_')}`;

test('every flag of serve is a key of the file and a variable of the environment', async () => {
  assert.ok(options.length >= 19, 'the flags of --help are found');
  for (const { name } of options) {
    const value = valueOf(name);
    const toml = /^\d+$|^true$/.test(value) ? value : `"${value}"`;
    const shown = new RegExp(`^${name} = \\[?"?${value.replace(/[.:/]/g, '\\$&')}"?\\]?`);
    const fromFile = line(check(['--config', await file(`${name} = ${toml}\n`)]), name);
    assert.match(fromFile, shown);
    assert.ok(fromFile.endsWith('# file'), fromFile);
    const fromEnvironment = line(check([], { [variable(name)]: value }), name);
    assert.match(fromEnvironment, shown);
    assert.ok(fromEnvironment.endsWith('# environment'), fromEnvironment);
    assert.match(line(check([]), name), /# default$/);
  }
});

test('the page about operation names every flag, key and variable', async () => {
  const page = await readFile(join(root, 'docs', 'operations.md'), 'utf8');
  const rows = new Map([...page.matchAll(/^\| `--([a-z-]+)[^`]*` \|(.*)\|$/gm)].map(([, name, rest]) => [name, rest]));
  for (const { name } of options) assert.ok(rows.has(name), `docs/operations.md has no row for --${name}`);
  assert.match(page, /`--cache-size` is the key\s+`cache-size` and the\s+variable `BRAID_CACHE_SIZE`/);
});

test('the command line goes before the environment, that before the file, that before the default', async () => {
  const path = await file('port = 1\nshards = 1\nthreads = 1\n');
  const environment = { BRAID_PORT: '2', BRAID_SHARDS: '2', BRAID_CONFIG: path };
  const { stdout } = check(['--port', '3'], environment);
  for (const expected of ['port = 3  # command line', 'shards = 2  # environment', 'threads = 1  # file', 'slow-ms = 100  # default']) {
    assert.ok(stdout.split('\n').includes(expected), `${expected}\n${stdout}`);
  }
});

test('sizes have units', () => {
  assert.match(line(check([], { BRAID_CACHE_SIZE: '64MB' }), 'cache-size'), /^cache-size = 67108864 /);
});

test('lists, in all ways', async () => {
  const bind = 'bind = ["127.0.0.1", "::1"]';
  assert.ok(line(check(['--bind', '127.0.0.1', '--bind', '::1']), 'bind').startsWith(bind));
  assert.ok(line(check([], { BRAID_BIND: '127.0.0.1,::1' }), 'bind').startsWith(bind));
  assert.ok(line(check(['--config', await file(bind)]), 'bind').startsWith(bind));
});

test('what --check-config prints is a configuration file that says the same', async () => {
  const first = check(['--port', '5', '--no-http', '--cache-size', '64MB', '--log-file', 'a "b".log', '--bind', 'localhost', '--memory-limit', '1GB']).stdout;
  const second = check(['--config', await file(first)]).stdout;
  const values = (text) => text.split('\n').filter((one) => !one.startsWith('#')).map((one) => one.replace(/  # .*$/, ''));
  assert.deepEqual(values(second), values(first));
});

for (const [what, args, environment, message] of [
  ['an unknown key', ['port = 1', 'prot = 2'], {}, /line 2: prot: unknown key/],
  ['a value of the wrong kind', ['', '', 'port = "abc"'], {}, /line 3: port: /],
  ['what is no TOML', ['port = = 1'], {}, /line 1: /],
  ['a key for one run', ['check-config = true'], {}, /line 1: check-config: unknown key/],
  ['a variable', [], { BRAID_PORT: '99999' }, /BRAID_PORT=99999: /],
  ['an address that is not loopback', ['bind = "0.0.0.0"'], {}, /loopback|0\.0\.0\.0/],
  ['an address of HTTP', ['http-bind = "0.0.0.0"'], {}, /loopback|0\.0\.0\.0/],
  ['a store that is a server', ['store = "mongodb://localhost"'], {}, /needs a directory/],
  ['a cache that is too small', ['cache-size = "1MB"'], {}, /16 MiB/],
]) {
  test(`--check-config refuses ${what} with 2, naming the place`, async () => {
    const result = check(args.length > 0 ? ['--config', await file(args.join('\n'))] : [], environment);
    assert.deepEqual([result.status, result.stdout], [2, '']);
    assert.match(result.stderr, message);
  });
}

test('--check-config opens neither the store nor a port', async () => {
  const server = await startServer();
  try {
    const store = join(directory, 'untouched');
    assert.equal(check(['--store', store, '--port', new URL(server.uri.replace('mongodb', 'http')).port]).status, 0);
    assert.ok(!existsSync(store));
    assert.equal(check(['--store', server.store]).status, 0);
  } finally {
    await server.stop();
  }
});

test('variables of serve do not concern other commands', () => {
  const { status } = spawnSync(binary, ['--version'], { env: { BRAID_PORT: 'abc' } });
  assert.equal(status, 0);
  assert.equal(spawnSync(binary, ['import', '--help'], { env: { BRAID_PORT: 'abc', BRAID_STORE: '' } }).status, 0);
});

test('the example configuration is right', () => {
  const { status, stdout, stderr } = check(['--config', join(root, 'deploy', 'braid.toml')]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^store = "\/var\/lib\/braid" {2}# file$/m);
});
