// The files in deploy/ for containers: nothing here runs containers, but what they say of Braid must be true.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import yaml from 'js-yaml';
import { binary } from '../lib/server.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const read = (name) => readFile(join(root, 'deploy', name), 'utf8');
const help = (words) => spawnSync(binary, [...words, '--help'], { encoding: 'utf8' });

/** The command exists, with the options that are given to it. */
function checkCommand(command) {
  const first = command.findIndex((word) => word.startsWith('-'));
  const words = first < 0 ? command : command.slice(0, first);
  const { status, stdout } = help(words);
  assert.equal(status, 0, command.join(' '));
  for (const word of command.filter((text) => text.startsWith('--'))) assert.ok(stdout.includes(`${word} `), `${word} of ${command.join(' ')}`);
}

for (const name of ['compose.yaml', 'compose.cluster.yaml']) {
  test(`${name} runs commands of Braid that there are, on volumes and after services that it has`, async () => {
    const compose = yaml.load(await read(name));
    const options = new Set([...help(['serve']).stdout.matchAll(/--([a-z-]+)/g)].map(([, option]) => `BRAID_${option.toUpperCase().replaceAll('-', '_')}`));
    let ours = 0;
    for (const [service, { image, build, command, environment = {}, volumes = [], depends_on: before = [] }] of Object.entries(compose.services)) {
      for (const other of Array.isArray(before) ? before : Object.keys(before)) assert.ok(compose.services[other], `${service} depends on ${other}`);
      for (const volume of volumes) assert.ok(volume.split(':')[0] in compose.volumes, volume);
      if (image !== 'braid') continue;
      ++ours;
      assert.ok(existsSync(join(root, 'deploy', build.context, build.dockerfile)));
      for (const variable of Object.keys(environment)) assert.ok(options.has(variable), variable);
      if (command) checkCommand(command);
    }
    assert.ok(ours > 0);
  });
}

test('the cluster has a config server, three shards and a mongos', async () => {
  const { services } = yaml.load(await read('compose.cluster.yaml'));
  const programs = Object.values(services).map(({ command = [] }) => `${command[0]} ${command[1]}`);
  const count = (text) => programs.filter((program) => program === text).length;
  assert.deepEqual([count('mongod --configsvr'), count('mongod --shardsvr'), count('mongos --configdb')], [1, 3, 1]);
});

test('the Dockerfile starts what the package has', async () => {
  const text = await read('Dockerfile');
  const command = JSON.parse(text.match(/^CMD (.*)$/m)[1]);
  checkCommand(command);
  assert.equal(command.at(-1), (await read('braid.service')).match(/^ExecStart=.* (\S+)$/m)[1]);
  for (const [, file] of text.matchAll(/^COPY (scripts\/\S+)/gm)) assert.ok(existsSync(join(root, file)), file);
});
