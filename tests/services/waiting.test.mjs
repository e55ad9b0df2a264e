// What staking and settlement say while a server is away, how Ctrl-C ends them then, and reasons that are counted.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';

import { start } from '../lib/program.mjs';
import { startServer } from '../lib/server.mjs';

const event = (i) => ({ event_type: 'active', staking_tx_hash_hex: i.toString(16).padStart(64, '0'), staker_pk_hex: 'aa'.repeat(32), finality_provider_pk_hex: 'bb'.repeat(32), staking_value: 5, timestamp: 1700000000 });
const output = (i) => ({ output_seq: i, input: {}, order_update: { order_id: i, user_id: 1, symbol_id: 1, status: 'NEW' } });
const services = [['staking', event], ['settlement', output]];
const lines = (make, from, to) => Array.from({ length: to - from + 1 }, (_, i) => `${JSON.stringify(make(from + i))}\n`).join('');

/** An ingest that has taken in what it was given and waits for more, and a way to wait for what it says. */
async function ingest(service, make, server) {
  const { child, ended, said } = start([service, 'ingest', '--store', server.uri, '-'], null);
  const until = async (pattern) => {
    while (!pattern.test(said())) {
      assert.equal(child.exitCode, null, `it ended without ${pattern}: ${said()}`);
      await once(child.stderr, 'data');
    }
  };
  child.stdin.write(lines(make, 1, 100));
  await until(/^100 accepted/m);
  return { child, ended, until };
}

/** The server does not answer while `body` runs. */
async function away(server, body) {
  process.kill(server.pid, 'SIGSTOP');
  try {
    await body();
  } finally {
    process.kill(server.pid, 'SIGCONT');
  }
}

describe('while a server is away', { concurrency: true }, () => {
  for (const [service, make] of services) {
    test(`${service}: a server that was never there is said before the command gives up`, async () => {
      const uri = 'mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=2500';
      const { status, stderr } = await start([service, 'stats', '--store', uri]).ended;
      assert.equal(status, 1);
      assert.match(stderr, /^the server 127\.0\.0\.1:1 has not answered for 1 s; trying again \(.*refused.*\)$/m);
    });

    test(`${service}: it is said that it is away and that it is back, and Ctrl-C ends the command meanwhile`, async (t) => {
      const server = await startServer();
      t.after(() => server.stop());
      const { child, ended, until } = await ingest(service, make, server);
      await away(server, async () => {
        child.stdin.write(lines(make, 101, 200));
        await until(/^the server 127\.0\.0\.1:\d+ has not answered for \d+ s; trying again/m);
      });
      await until(/^the server 127\.0\.0\.1:\d+ answers again$/m);
      await until(/^200 accepted.*; \d[\d ]*\/s$/m); // no share of a pipe
      await away(server, async () => {
        child.stdin.write(lines(make, 201, 300));
        child.kill('SIGINT');
        await until(/^interrupted: ends when the current work is done, within two seconds$/m);
        const { status, signal, stderr } = await ended; // although nobody answers
        assert.deepEqual([status, signal], [1, null], stderr);
      });
      const again = await start([service, 'ingest', '--store', server.uri, '--json', '-'], lines(make, 1, 300)).ended;
      const { accepted, duplicate } = JSON.parse(again.stdout);
      assert.deepEqual([again.status, accepted + duplicate], [0, 300], again.stderr);
    });
  }
});

test('the same reason is shown once and counted', async (t) => {
  const server = await startServer();
  t.after(() => server.stop());
  const bad = Array.from({ length: 50 }, (_, i) => `${JSON.stringify({ ...event(i), staking_value: -i - 1 })}\n`).join('');
  const staking = await start(['staking', 'ingest', '--store', server.uri, '-d', 'reasons', '-'], bad).ended;
  assert.equal(staking.stderr.match(/^standard input, line \d+: /gm).length, 1, staking.stderr);
  assert.match(staking.stderr, /^and 49 more: .*staking_value/m);
  const refused = Array.from({ length: 50 }, (_, i) => `${JSON.stringify({ ...output(i + 1), order_update: { order_id: i, user_id: 1, symbol_id: i, status: '' } })}\n`).join('');
  const settlement = await start(['settlement', 'ingest', '--store', server.uri, '-d', 'reasons', '-'], refused).ended;
  assert.equal(settlement.stderr.match(/^line \d+: refused: /gm).length, 1, settlement.stderr);
  assert.match(settlement.stderr, /^and 49 more: refused: order_update\.status is empty/m);
});
