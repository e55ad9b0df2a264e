// Starts a real `braid serve` on a free port with a directory of its own, and stops it again.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** The program under test: BRAID_BINARY, or the release build. */
export const binary = process.env.BRAID_BINARY ?? join(root, 'build', 'release', 'braid');

// libmongoc, of which the program's client commands are made, keeps figures in a shared memory file that a killed process would leave behind.
process.env.MONGOC_DISABLE_SHM = '1';

/**
 * @param {string[]} options further options of `braid serve`
 * @param {string} [directory] the store; a temporary one if left out, removed at stop()
 */
export async function startServer(options = [], directory = undefined) {
  const store = directory ?? (await mkdtemp(join(tmpdir(), 'braid-')));
  // Servers of tests run side by side: HTTP is for those that ask for it, on a free port.
  const http = options.includes('--http-port') ? [] : ['--no-http'];
  const child = spawn(binary, ['serve', '--store', store, '--port', '0', ...http, ...options], {
    stdio: ['ignore', 'pipe', process.env.BRAID_LOG ? 'inherit' : 'ignore'],
  });
  const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  let httpUri;
  const uri = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      httpUri ??= line.match(/http:\/\/[^\s,]+/)?.[0];
      const match = line.match(/mongodb:\/\/\S+/);
      if (match) resolve(match[0]);
    });
    child.once('error', reject);
    exited.then(({ code, signal }) => reject(new Error(`braid serve ended before it was ready (${code ?? signal})`)));
  });
  // A test that failed before its stop() must end all the same, and its server with it.
  child.unref();
  child.stdout.unref();
  const abandon = () => {
    child.kill('SIGKILL');
    if (!directory) rmSync(store, { recursive: true, force: true });
  };
  process.once('exit', abandon);
  return {
    uri,
    /** Where the HTTP API is, if there is one. */
    httpUri,
    store,
    pid: child.pid,
    exited,
    /** Ends the server: SIGTERM by default, SIGKILL for a crash. The directory goes too unless it was given. */
    async stop(signal = 'SIGTERM') {
      child.ref();
      child.kill(signal);
      const ending = await exited;
      process.off('exit', abandon);
      if (!directory) await rm(store, { recursive: true, force: true });
      return ending;
    },
  };
}
