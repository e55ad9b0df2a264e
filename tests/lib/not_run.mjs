// Data that is not part of the repository, and tests that cannot be run without it. What was not run is said at once, and again in
// one line at the end of ./check, which gathers it in the file that BRAID_NOT_RUN names.
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const folder = process.env.BRAID_SHARED ?? join(root, '..', 'shared', 'data');

/** Says that something was not run, and why. */
export function notRun(note) {
  console.log(`not run: ${note}`);
  if (process.env.BRAID_NOT_RUN) appendFileSync(process.env.BRAID_NOT_RUN, `${note}\n`);
}

/** True if the program is there; if not, `what` is noted as not run. */
export function hasProgram(program, what) {
  const has = !spawnSync(program, ['--version']).error;
  if (!has) notRun(`${what} (there is no ${program})`);
  return has;
}

/**
 * The path of data outside the repository; undefined if it is not there, which is noted with `what` cannot be run and `why` the data is outside.
 * @param {string[]} path below the folder of shared data
 */
export function outsideData(path, { what, why }) {
  const found = join(folder, ...path);
  if (existsSync(found)) return found;
  notRun(`${what} (${['..', 'shared', 'data', ...path].join('/')} is not there: ${why})`);
  return undefined;
}
