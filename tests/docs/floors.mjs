// The floors of the house: every folder includes only what is below it. Reads all includes of src and bench, except those of tests.
// usage: node tests/docs/floors.mjs
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// From the ground up, as docs/architecture.md draws them. A folder stands for those in it that have no line of their own, which may
// include each other. Folders in one list stand side by side: none of them includes another.
const floors = [
  'base',
  'engine/bson',
  'engine/language/expression',
  'engine/language/match',
  'engine/language/project',
  'engine/language/update',
  'engine/storage',
  'engine/sharding',
  'engine/catalog',
  'engine/txn',
  'engine/balance',
  'engine/exec/plan',
  'engine/exec/pipeline',
  'engine/exec/write',
  'engine/commands',
  'engine/commands/shared',
  [
    'engine/commands/admin',
    'engine/commands/compatibility',
    'engine/commands/crud',
    'engine/commands/diagnostic',
    'engine/commands/session',
    'engine/commands/sharding',
  ],
  'engine/wire',
  'client',
  'embedded',
  'patterns/once',
  'patterns/counters',
  'patterns/chains',
  'patterns/timeline',
  'services/queue',
  'services/schema',
  'services/staking',
  'services/shop',
  'services/settlement',
  'services/settlement/views',
  'services/settlement/migration',
  'services/explorer',
  'services/explorer/source',
  'bench',
  'http',
  'cli/transfer',
  'cli/advise',
  'cli/demo',
  'cli',
];
// Clients of a store, which know nothing of what is behind it.
const clients = ['client', 'patterns', 'services'];
// Public headers that everything may include; the others belong to the floor of the clients or above.
const everywhere = ['braid/status.h', 'braid/errors.def', 'braid/clock.h'];

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** The number of the floor that a folder is on, by its longest name in the list, and that name; -1 for none. */
function placeOf(folder) {
  for (let name = folder; name !== '.'; name = dirname(name)) {
    const floor = floors.findIndex((entry) => [entry].flat().includes(name));
    if (floor >= 0) return { floor, name };
  }
  return { floor: -1, name: folder };
}
const floorOf = (folder) => placeOf(folder).floor;

const isTest = (path) => /_test\.cc$|\/testing(\/|\w*\.h$)/.test(path);
const sources = ['src', 'bench'].flatMap((top) =>
  readdirSync(join(root, top), { recursive: true })
    .filter((name) => /\.(h|cc)$/.test(name))
    .map((name) => ({ path: join(top, name), name: top === 'src' ? name : join(top, name) })),
);
const wrong = [];
let includes = 0;
for (const { path, name } of sources.filter((source) => !isTest(source.path))) {
  const { floor: own, name: room } = placeOf(dirname(name));
  if (own < 0) wrong.push(`${path} is on no floor: add its folder to tests/docs/floors.mjs and docs/architecture.md`);
  const isClient = clients.some((client) => name.startsWith(`${client}/`));
  for (const [, included] of readFileSync(join(root, path), 'utf8').matchAll(/^#include "([^"]+)"/gm)) {
    const other = included.startsWith('braid/') ? floorOf(everywhere.includes(included) ? 'base' : 'client') : floorOf(dirname(included));
    ++includes;
    const beside = other === own && placeOf(dirname(included)).name !== room && !included.startsWith('braid/');
    if (beside) wrong.push(`${path} includes ${included}, which stands beside it`);
    if (other > own && !included.startsWith('braid/')) wrong.push(`${path} includes ${included}, which is above it`);
    if (included.startsWith('braid/') && own < other) wrong.push(`${path} includes ${included}, which is for clients of a store`);
    if (isClient && included.startsWith('engine/')) wrong.push(`${path} includes ${included}: a client of a store knows nothing of the engine`);
  }
}
for (const line of wrong) console.error(line);
if (wrong.length > 0 || includes < 1000) process.exit(1);
console.log(`${includes} includes of ${sources.length} files point down, over ${floors.length} floors`);
