// The server as a service of systemd: what it tells the service manager, and the unit.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { after, test } from 'node:test';
import { hasProgram } from '../lib/not_run.mjs';
import { binary } from '../lib/server.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const directory = await mkdtemp(join(tmpdir(), 'braid-systemd-'));
after(() => rm(directory, { recursive: true, force: true }));

// Node has no datagram sockets of the file system; Python, which the tests have, prints what comes, as JSON.
const receiver = `
import json, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("\\0" + sys.argv[1][1:] if sys.argv[1].startswith("@") else sys.argv[1])
print(json.dumps("bound"), flush=True)
while True: print(json.dumps(s.recv(4096).decode()), flush=True)
`;

/** A socket as systemd's, and the next datagram that it gets. */
async function manager(name) {
  const child = spawn('python3', ['-c', receiver, name], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value);
  assert.equal(await next(), 'bound');
  return { next, end: () => child.kill() };
}

for (const [kind, name] of [['a path', join(directory, 'notify')], ['an abstract name', `@braid-test-${process.pid}`]]) {
  test(`READY, RELOADING and STOPPING go to $NOTIFY_SOCKET, ${kind}`, async () => {
    const socket = await manager(name);
    const config = join(directory, 'braid.toml');
    await writeFile(config, 'log-level = "error"\n');
    const args = ['serve', '--store', join(directory, `store${name.length}`), '--port', '0', '--no-http', '--config', config];
    const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, NOTIFY_SOCKET: name } });
    const exited = once(child, 'exit');
    try {
      assert.match(await socket.next(), /^READY=1\nSTATUS=listening on mongodb:\/\/127\.0\.0\.1:\d+$/);
      child.kill('SIGHUP');
      assert.match(await socket.next(), /^RELOADING=1\nMONOTONIC_USEC=\d+$/);
      assert.equal(await socket.next(), 'READY=1');
      child.kill('SIGTERM');
      assert.equal(await socket.next(), 'STOPPING=1');
      assert.deepEqual(await exited, [0, null]);
    } finally {
      child.kill('SIGKILL');
      socket.end();
    }
  });
}

test('a service manager that is gone is no reason to end', async () => {
  const args = ['serve', '--store', join(directory, 'store-alone'), '--port', '0', '--no-http'];
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, NOTIFY_SOCKET: join(directory, 'nosuch') } });
  const exited = once(child, 'exit');
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  assert.match(line, /listening/);
  child.kill('SIGTERM');
  assert.deepEqual(await exited, [0, null]);
});

test('the unit is one that systemd accepts', async (t) => {
  if (!hasProgram('systemd-analyze', 'systemd about the unit')) return t.skip();
  // The program and the kill of the unit are at other places here.
  const unit = (await readFile(join(root, 'deploy', 'braid.service'), 'utf8')).replaceAll('/usr/bin/braid', binary);
  const path = join(directory, 'braid.service');
  await writeFile(path, unit);
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' });
  const about = (stdout + stderr).split('\n').filter((text) => text.includes('braid.service'));
  assert.deepEqual([status, about], [0, []], stdout + stderr);
});
