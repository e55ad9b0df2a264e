// The Debian package: made from the release build, unpacked into an empty root, and the server started from there as its unit says.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { after, before, test } from 'node:test';
import { MongoClient } from 'mongodb';
import { notRun } from '../lib/not_run.mjs';

const source = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const build = join(source, 'build', 'release');
const isBuilt = existsSync(join(build, 'CPackConfig.cmake')) && existsSync(join(build, 'made', 'stamp'));
if (!isBuilt) notRun('the Debian package (build/release has no whole build)');
const options = { skip: !isBuilt };

let directory;
let root;
let deb;
function run(program, ...args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 64 << 20 });
  assert.equal(status, 0, `${program} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}
before(async () => {
  if (!isBuilt) return;
  directory = await mkdtemp(join(tmpdir(), 'braid-package-'));
  root = join(directory, 'root');
  // Compressed as little as possible: it is unpacked at once.
  run('cpack', '-G', 'DEB', '--config', join(build, 'CPackConfig.cmake'), '-B', directory, '-D', 'CPACK_DEBIAN_COMPRESSION_TYPE=none');
  deb = join(directory, (await readdir(directory)).find((name) => name.endsWith('.deb')));
  run('dpkg-deb', '-x', deb, root);
  run('dpkg-deb', '-e', deb, join(directory, 'control'));
});
after(() => directory && rm(directory, { recursive: true, force: true }));

test('the package names what it needs, its configuration files and where it is for', options, async () => {
  const field = (name) => run('dpkg-deb', '-f', deb, name).trim();
  assert.equal(field('Package'), 'braid');
  assert.match(deb, /braid_0\.1\.0_\w+\.deb$/);
  for (const library of ['libc6 (>=', 'librocksdb', 'libmongoc', 'libjemalloc2', 'passwd']) {
    assert.ok(field('Depends').includes(library), `${library} in ${field('Depends')}`);
  }
  assert.equal(await readFile(join(directory, 'control', 'conffiles'), 'utf8'), '/etc/braid/braid.toml\n/etc/default/braid\n');
});

test('everything is where Debian expects it', options, () => {
  for (const path of [
    'usr/bin/braid', 'lib/systemd/system/braid.service', 'etc/braid/braid.toml', 'etc/default/braid', 'usr/include/braid/counters.h',
    'usr/share/man/man1/braid.1.gz', 'usr/share/man/man1/braid-serve.1.gz', 'usr/share/bash-completion/completions/braid',
    'usr/share/zsh/vendor-completions/_braid', 'usr/share/doc/braid/README.md', 'usr/share/doc/braid/examples/alerts.yml',
  ]) assert.ok(existsSync(join(root, path)) || existsSync(join(root, 'usr', path)), path);
  assert.ok(run('find', root, '-name', 'braidConfig.cmake').includes('/cmake/braid/'));
});

test('the scripts make the user once, and start nothing where there is no systemd', options, async () => {
  const stubs = join(directory, 'stubs');
  await mkdir(stubs);
  const log = join(directory, 'calls');
  for (const name of ['groupadd', 'useradd', 'install', 'systemctl', 'getent']) {
    // A user that getent does not find.
    await writeFile(join(stubs, name), `#!/bin/sh\necho ${name} "$@" >>${log}\n${name === 'getent' ? 'test -e ' + join(directory, 'known') : 'true'}\n`);
    await chmod(join(stubs, name), 0o755);
  }
  const script = (name, ...args) => spawnSync('sh', [join(directory, 'control', name), ...args], { env: { PATH: `${stubs}:${process.env.PATH}` } }).status;
  const calls = async () => (await readFile(log, 'utf8')).split('\n').filter((line) => line && !line.startsWith('getent') && !line.startsWith('systemctl'));
  assert.equal(script('postinst', 'configure'), 0);
  const [group, user, state] = await calls();
  assert.match(group, /^groupadd --system braid$/);
  assert.match(user, /^useradd --system .* braid$/);
  assert.match(state, /^install -d -o braid -g braid -m 0750 \/var\/lib\/braid$/);
  await writeFile(join(directory, 'known'), '');
  assert.equal(script('postinst', 'configure', '0.0.9'), 0);
  assert.equal((await calls()).length, 4);
  assert.deepEqual([script('prerm', 'upgrade'), script('postrm', 'purge')], [0, 0]);
});

test('the server starts as the unit says, and answers', options, async () => {
  const unitPath = [join(root, 'lib/systemd/system/braid.service'), join(root, 'usr/lib/systemd/system/braid.service')].find(existsSync);
  const unit = await readFile(unitPath, 'utf8');
  const command = (key) => unit.match(new RegExp(`^${key}=(.*)$`, 'm'))[1].split(' ').map((word) => (word.startsWith('/') ? join(root, word) : word));
  const env = { PATH: process.env.PATH, BRAID_STORE: join(directory, 'store'), BRAID_PORT: '0', BRAID_HTTP_PORT: '0' };
  const [checker, ...checks] = command('ExecStartPre');
  assert.equal(spawnSync(checker, checks, { env }).status, 0);
  const [program, ...args] = command('ExecStart');
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const exited = once(child, 'exit');
  try {
    let http;
    let uri;
    for await (const line of createInterface({ input: child.stdout })) {
      http ??= line.match(/http:\/\/[^\s,]+/)?.[0];
      uri = line.match(/mongodb:\/\/\S+/)?.[0];
      if (uri) break;
    }
    const client = await new MongoClient(uri).connect();
    assert.equal((await client.db('admin').command({ ping: 1 })).ok, 1);
    await client.close();
    assert.equal((await fetch(`${http}/readyz`)).status, 200);
    child.kill('SIGTERM');
    assert.deepEqual(await exited, [0, null]);
  } finally {
    child.kill('SIGKILL');
  }
});
