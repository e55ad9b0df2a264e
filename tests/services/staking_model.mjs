// What the tests of `braid staking` share: running it, and a plain model of its totals.
import assert from 'node:assert/strict';
import { start as startProgram } from '../lib/program.mjs';

/** The totals that events mean, by maps and loops: neither order nor repetition matters. */
export class Model {
  #active = new Map();
  #unbonded = new Set();
  #bad = new Set();

  /** Lines that are not JSON objects are bad; all others are taken for good. */
  add(lines) {
    for (const line of lines) {
      if (!line.startsWith('{')) {
        this.#bad.add(line);
        continue;
      }
      const event = JSON.parse(line);
      if (event.event_type === 'unbonded') this.#unbonded.add(event.staking_tx_hash_hex);
      else if (!this.#active.has(event.staking_tx_hash_hex)) this.#active.set(event.staking_tx_hash_hex, event);
    }
  }

  #sumsBy(key) {
    const sums = new Map();
    for (const [hash, event] of this.#active) {
      const of = sums.get(key(event)) ?? { active_tvl: 0, total_tvl: 0, active_delegations: 0, total_delegations: 0 };
      sums.set(key(event), of);
      of.total_tvl += event.staking_value;
      of.total_delegations += 1;
      if (this.#unbonded.has(hash)) continue;
      of.active_tvl += event.staking_value;
      of.active_delegations += 1;
    }
    return sums;
  }

  get providers() {
    return this.#sumsBy((event) => event.finality_provider_pk_hex);
  }

  get stakers() {
    return this.#sumsBy((event) => event.staker_pk_hex);
  }

  /** As `stats --json` has it, without the number of shards. */
  get overall() {
    const all = this.#sumsBy(() => 'all').get('all') ?? { active_tvl: 0, total_tvl: 0, active_delegations: 0, total_delegations: 0 };
    const pending = [...this.#unbonded].filter((hash) => !this.#active.has(hash)).length;
    return { ...all, total_stakers: this.stakers.size, pending_events: pending, unprocessable_messages: this.#bad.size, conflicting_events: 0 };
  }
}

/** `braid staking …`, started. */
export const start = (args, input = undefined) => startProgram(['staking', ...args], input);

/** `braid staking …`, from start to end. */
export const staking = (args, input = undefined) => start(args, input).ended;

/** The JSON object that it writes; any failure is one. */
export async function stakingJson(args, input = undefined) {
  const { status, signal, stdout, stderr } = await staking([...args, '--json'], input);
  assert.equal(status, 0, `${args.join(' ')} ended with ${signal ?? status}: ${stderr}${stdout.slice(0, 2000)}`);
  return JSON.parse(stdout);
}

/** What an ingest did. Its exit code is 1 exactly if it has refused something. */
export async function ingestJson(args, input = undefined) {
  const { status, signal, stdout, stderr } = await staking(['ingest', ...args, '--json'], input);
  assert.ok(stdout.startsWith('{'), `ingest ended with ${signal ?? status}: ${stderr}`);
  const outcome = JSON.parse(stdout);
  assert.equal(status, outcome.rejected + outcome.conflicting > 0 ? 1 : 0, stderr);
  return outcome;
}

/** Lines of events. */
export async function generate(events, seed, ...options) {
  const { status, stdout, stderr } = await staking(['generate', '--events', String(events), '--seed', String(seed), ...options]);
  assert.equal(status, 0, stderr);
  return stdout.split('\n').filter(Boolean);
}

/** Every total is the model's and the audit finds nothing. `where` is --store, and --db if it is not the usual one. */
export async function expectModel(where, model) {
  const { logical_shard_count: shards, ...overall } = await stakingJson(['stats', ...where]);
  assert.ok(shards >= 1);
  assert.deepEqual(overall, model.overall);
  for (const [rank, key, expected] of [['finality-providers', 'finality_provider_pk_hex', model.providers], ['stakers', 'staker_pk_hex', model.stakers]]) {
    const { rows, next } = await stakingJson(['stats', ...where, '--rank', rank, '--limit', '10000']);
    assert.equal(next, '');
    assert.deepEqual(new Map(rows.map(({ [key]: name, ...sums }) => [name, sums])), new Map([...expected].sort(byRank).map(([name, sums]) => [name, sums])));
  }
  const audit = await stakingJson(['audit', ...where]);
  assert.equal(audit.ok, true);
  assert.deepEqual(audit.differences, []);
}

/** By active_tvl, highest first, equal ones by name. */
export const byRank = ([a, { active_tvl: x }], [b, { active_tvl: y }]) => y - x || (a < b ? -1 : 1);
