// mongosh as people use it: lines typed into a shell of its own home.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after } from 'node:test';

const program = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules', '.bin', 'mongosh');

/** A shell for the server at `uri`; its home goes with the calling file. */
export async function shellFor(uri) {
  // A home of its own: nothing of the user's settings, and nothing is reported anywhere.
  const home = await mkdtemp(join(tmpdir(), 'braid-mongosh-'));
  after(() => rm(home, { recursive: true, force: true }));
  await mkdir(join(home, '.mongodb', 'mongosh'), { recursive: true });
  await writeFile(join(home, '.mongodb', 'mongosh', 'config'), '{ "enableTelemetry": false, "forceDisableTelemetry": true }');

  /** Runs mongosh; `input` is typed. Nothing may come on stderr. */
  async function mongosh(args, input = '') {
    const child = spawn(program, [uri, ...args], { env: { ...process.env, HOME: home }, timeout: 60000 });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data) => (stdout += data));
    child.stderr.on('data', (data) => (stderr += data));
    child.stdin.end(input);
    const code = await new Promise((resolve) => { child.once('close', resolve); });
    assert.deepEqual([code, stderr], [0, ''], stdout);
    return stdout;
  }

  /** What was printed after each prompt; lines that go on have none of their own. */
  async function typed(lines) {
    const output = await mongosh([], `${lines.join('\n')}\n`);
    return output.split(/\[direct: mongos\] \w+> /).slice(1).map((text) => text.replace(/^(\.\.\. ?)+/, '').trim());
  }

  return { mongosh, typed };
}
