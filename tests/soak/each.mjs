#!/usr/bin/env node
// Each attack alone against a server of its own, beside ten clients of the normal load: how long the attacker was busy, what the
// others waited, and the memory that the server took. One row of a table per attack.
//   BRAID_BINARY=… node tests/soak/each.mjs [--only WORDS] [--serve "OPTIONS OF braid serve"]
import { fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { startServer } from '../lib/server.mjs';
import { attacks, prepare } from './attacks.mjs';

const { values } = parseArgs({ options: { only: { type: 'string', default: '' }, serve: { type: 'string', default: '--memory-limit 1GB --cache-size 256MB' } } });
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

console.log('| attack | busy for | p99 of others | longest | errors of others | peak memory | SIGTERM to the end |');
console.log('| --- | --- | --- | --- | --- | --- | --- |');
for (const [name, attack] of Object.entries(attacks).filter(([each]) => each.includes(values.only))) {
  const server = await startServer(values.serve.split(' ').filter(Boolean));
  await prepare(server.uri);
  const load = fork(new URL('./load.mjs', import.meta.url), [server.uri, '10', '1']);
  const report = (what) => new Promise((resolve) => {
    load.once('message', resolve);
    load.send(what);
  });
  await pause(2000);
  await report('report');
  const start = Date.now();
  let ended = 'busy';
  await Promise.race([attack(server.uri).then(() => (ended = 'ended'), (error) => (ended = String(error))), pause(20_000), server.exited]);
  const busy = Date.now() - start;
  // What the others still wait for counts; a server that does not answer at all is not waited for.
  const seen = await Promise.race([report('stop'), pause(20_000)]);
  load.kill('SIGKILL');
  const peak = await readFile(`/proc/${server.pid}/status`, 'utf8').then((text) => Math.round(text.match(/VmHWM:\s+(\d+)/)[1] / 1024), () => null);
  const stopping = Date.now();
  const killing = setTimeout(() => process.kill(server.pid, 'SIGKILL'), 30_000);
  const ending = peak === null ? { signal: 'crash' } : await server.stop();
  clearTimeout(killing);
  const others = seen ? `${seen.p99?.toFixed(0)} ms | ${seen.max?.toFixed(0)} ms | ${seen.errors.length}` : 'no answer | more than 20 s | all';
  console.log(`| ${name} | ${ended === 'ended' ? `${busy} ms` : ended} | ${others} | ${peak === null ? 'the server ended' : `${peak} MB`} | ${ending.code === 0 ? `${Date.now() - stopping} ms` : `killed after ${Date.now() - stopping} ms`} |`);
}
process.exit();
