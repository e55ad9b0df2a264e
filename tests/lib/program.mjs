// `braid …` as a process.
import { spawn } from 'node:child_process';
import { after } from 'node:test';

import { binary } from './server.mjs';

const running = new Set();
// A test that failed before its program had ended must end all the same.
after(() => running.forEach((child) => child.kill('SIGKILL')));

/** Started. Without input it has none; with null, the caller writes it. */
export function start(args, input = undefined) {
  const child = spawn(binary, args, { stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (data) => (stdout += data));
  child.stderr.setEncoding('utf8').on('data', (data) => (stderr += data));
  if (input !== undefined) {
    child.stdin.on('error', () => {}); // it ended before it had read everything
    if (input !== null) child.stdin.end(input);
  }
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status, signal) => resolve({ status, signal, stdout, stderr }));
  });
  return { child, ended, said: () => stderr, isAlive: () => child.exitCode === null && child.signalCode === null };
}
