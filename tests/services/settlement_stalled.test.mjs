// A service that is stopped while it holds leases, and wakes up after another has taken them: two processes on one store, one of them with its clock stalled (C10).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { generator, newSeed } from '../lib/random.mjs';
import { binary, startServer } from '../lib/server.mjs';
import { Engine, listen } from './settlement_engine.mjs';

const kAccepted = 0;
const kDuplicate = 1;
const kElsewhere = 4;
const leaseTime = ['--lease-time', '300'];

let server;
before(async () => (server = await startServer()));
after(() => server?.stop());

const seed = newSeed();
const random = generator(seed);
console.log(`settlement stalled: seed ${seed}`);

const order = (symbol, seq) =>
  JSON.stringify({ output_seq: seq, input: {}, order_update: { order_id: seq, user_id: 1, symbol_id: symbol, status: 'NEW' } });

const run = (database, action, ...args) =>
  spawnSync(binary, ['settlement', action, '--store', server.uri, '-d', database, '--json', ...args], { encoding: 'utf8' });

function settlement(database, action) {
  const { stdout, stderr } = run(database, action);
  assert.notEqual(stdout, '', stderr);
  return JSON.parse(stdout);
}

/** Both engines may find the symbol halted, and one of them is too late to mend it. */
function repair(database) {
  const { status, stderr } = run(database, 'repair', '--symbol', '1', '--by', 'test', '--reason', 'two engines number alike');
  assert.ok(status === 0 || /is not halted/.test(stderr), stderr);
}

/** The other takes over as soon as the lease has run out: each refused engine comes again, as engines do. */
async function takeOver(port, line) {
  for (const deadline = Date.now() + 30_000; ; await sleep(20)) {
    const engine = await Engine.connect(port);
    engine.send([line]);
    const [{ outcome, reason }] = await engine.received(1);
    if (outcome === kAccepted) return engine;
    assert.equal(outcome, kElsewhere, reason);
    assert.ok(Date.now() < deadline, 'the lease of a stopped service never ends');
    await engine.close();
  }
}

test('who was stopped while holding a lease cannot append any more, and says so', async () => {
  const on = ['--store', server.uri, '-d', 'stalled'];
  const [a, b] = [await listen(on, ['--owner', 'a', ...leaseTime]), await listen(on, ['--owner', 'b', ...leaseTime])];
  const first = await Engine.connect(a.port);
  first.send([order(1, 1), order(2, 2)]);
  assert.deepEqual((await first.received(2)).map(({ outcome }) => outcome), [kAccepted, kAccepted]);

  a.signal('SIGSTOP');
  first.send([order(1, 10), order(1, 11)]); // wait in its socket
  const second = await takeOver(b.port, order(1, 3));
  a.signal('SIGCONT');
  for (const { outcome, reason } of (await first.received(4)).slice(2)) {
    assert.equal(outcome, kElsewhere);
    assert.match(reason, /lease/);
  }
  // The symbol that no other process took is still its own, or free: it continues there.
  const third = await Engine.connect(a.port);
  third.send([order(2, 12), order(1, 1)]);
  const [own, stored] = await third.received(2);
  assert.equal(own.outcome, kAccepted, own.reason);
  assert.ok([kDuplicate, kElsewhere].includes(stored.outcome));
  second.send([order(1, 13)]);
  assert.equal((await second.received(2))[1].outcome, kAccepted);

  await Promise.all([first.close(), second.close(), third.close()]);
  for (const { code, stderr } of await Promise.all([a.stop(), b.stop()])) assert.equal(code, 0, stderr);
  assert.equal(settlement('stalled', 'verify').ok, true);
  const { symbols } = settlement('stalled', 'stats');
  assert.deepEqual(symbols.map(({ symbol_id, records, output_seq, halted }) => [symbol_id, records, output_seq, halted]), [[1, 3, 13, false], [2, 2, 12, false]]);
});

test('two services that are stopped again and again never extend one chain both', async () => {
  const database = 'alternating';
  const on = ['--store', server.uri, '-d', database];
  const byOwner = { a: await listen(on, ['--owner', 'a', ...leaseTime]), b: await listen(on, ['--owner', 'b', ...leaseTime]) };
  const services = Object.values(byOwner);
  // One engine for each service. Each output is its own: what both had taken in would be two records, or a halt.
  const acknowledged = [];
  let sequence = 0;
  let ended = false;
  const feed = async ({ port }) => {
    while (!ended) {
      const engine = await Engine.connect(port);
      for (let sent = 0; !ended; ) {
        const line = order(1, ++sequence);
        engine.send([line]);
        const { sequence: seq, outcome, reason } = (await engine.received(++sent)).at(-1);
        if (outcome === kAccepted) acknowledged.push(seq);
        if (outcome === kAccepted) continue;
        // One sent with a lower number after the other's was stored breaks the chain: an engine's own fault, mended below.
        assert.ok([2, 3, kElsewhere].includes(outcome), `${outcome}: ${reason}`);
        if (outcome !== kElsewhere) repair(database);
        break;
      }
      await engine.close();
      await sleep(5);
    }
  };
  const feeding = services.map(feed);
  for (let round = 0; round < 6; ++round) {
    const [symbol] = settlement(database, 'stats').symbols;
    const stalled = byOwner[symbol?.lease.owner] ?? random.pick(services); // mostly who has the lease
    stalled.signal('SIGSTOP');
    await sleep(350 + random.below(150));
    stalled.signal('SIGCONT');
    await sleep(random.below(150));
  }
  ended = true;
  await Promise.all(feeding);
  // Outputs that broke the chain make the exit code 1.
  for (const { code, stderr } of await Promise.all(services.map((service) => service.stop()))) assert.ok(code === 0 || /outputs are not in the log/.test(stderr), stderr);
  const verified = settlement(database, 'verify');
  assert.deepEqual(verified.damage, []);
  assert.equal(verified.records, acknowledged.length);
  assert.equal(new Set(acknowledged).size, acknowledged.length);
  const [{ lease }] = settlement(database, 'stats').symbols;
  assert.ok(lease.epoch >= 2, 'the lease never changed hands');
  console.log(`settlement stalled: ${acknowledged.length} outputs, ${lease.epoch} epochs`);
});
