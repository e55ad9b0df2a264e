// What the tests of views and the kill rounds of `braid settlement` share: running it, and a plain model of the log and its views.
import assert from 'node:assert/strict';
import { start } from '../lib/program.mjs';

const scale = 30;

/** A decimal, with an exponent or without, as an integer of 10^-30. */
export function unitsOf(text) {
  const [, sign, whole, fraction = '', exponent = '0'] = text.match(/^(-?)(\d+)(?:\.(\d+))?(?:E([+-]?\d+))?$/);
  const zeros = scale - fraction.length + Number(exponent);
  assert.ok(zeros >= 0, `${text} has too many digits for this test`);
  const units = BigInt(whole + fraction) * 10n ** BigInt(zeros);
  return sign ? -units : units;
}

/** What outputs amount to, by maps and loops. */
export class Model {
  records = new Map(); // symbol to how many
  balances = new Map(); // "user:asset" to units
  trades = new Map(); // "chain:sequence:index" to trade_id
  orders = new Map(); // order_id to status
  outputSeq = 0;

  /** Lines of ascending sequences, each once. */
  add(lines) {
    for (const output of lines.map((line) => JSON.parse(line))) {
      assert.ok(output.output_seq > this.outputSeq);
      this.outputSeq = output.output_seq;
      const symbols = output.trades.length > 0 ? output.trades.map((trade) => trade.symbol_id) : [output.order_update?.symbol_id ?? 0];
      for (const symbol of new Set(symbols)) this.records.set(symbol, (this.records.get(symbol) ?? 0) + 1);
      for (const { user_id, asset, delta } of output.balance_events) {
        const id = `${user_id}:${asset}`;
        this.balances.set(id, (this.balances.get(id) ?? 0n) + unitsOf(delta));
      }
      const sequence = String(output.output_seq).padStart(19, '0');
      output.trades.forEach((trade, i) => this.trades.set(`${Math.min(...symbols)}:${sequence}:${i}`, String(trade.trade_id)));
      if (output.order_update) this.orders.set(String(output.order_update.order_id), output.order_update.status);
    }
  }
}

/** What it writes; any failure is one. */
async function textOf(args, input = undefined) {
  const { status, signal, stdout, stderr } = await start(args, input).ended;
  assert.equal(status, 0, `braid ${args.join(' ')} ended with ${signal ?? status}: ${stderr}${stdout.slice(0, 2000)}`);
  return stdout;
}

/** `braid settlement … --json`, from start to end. */
export const settlementJson = async (args, input = undefined) => JSON.parse(await textOf(['settlement', ...args, '--json'], input));

/** Lines of outputs. */
export async function generate(...options) {
  return (await textOf(['settlement', 'generate', ...options])).split('\n').filter(Boolean);
}

export const textFrom = (lines) => lines.map((line) => `${line}\n`).join('');

/** The log has these lines, as they are: each is acknowledged again, none is stored. */
export async function expectStored(where, lines) {
  const again = await settlementJson(['ingest', ...where, '-'], textFrom(lines));
  assert.deepEqual([again.accepted, again.duplicate], [0, lines.length], 'what was acknowledged is lost');
}

async function readView(where, { collection }, valueOf) {
  const lines = (await textOf(['export', ...where, '-d', 'settlement', '-c', collection, '--quiet'])).split('\n').filter(Boolean);
  return new Map(lines.map((line) => JSON.parse(line)).map((document) => [document._id, valueOf(document)]));
}

/** The log is sound and has as many records as the model, and every document of the views is the model's. `where` is --store. */
export async function expectModel(where, model) {
  const verified = await settlementJson(['verify', ...where]);
  assert.deepEqual([verified.ok, verified.damage], [true, []]);
  const recovered = await settlementJson(['recover', ...where, '--check']);
  assert.deepEqual([recovered.ok, recovered.check.ok, recovered.check.differences], [true, true, []]);
  const stats = await settlementJson(['stats', ...where]);
  assert.deepEqual([stats.halted, stats.output_seq], [0, model.outputSeq]);
  assert.deepEqual(new Map(stats.symbols.map(({ symbol_id, records }) => [symbol_id, records])), new Map([...model.records].sort(([a], [b]) => a - b)));
  assert.deepEqual(stats.views.map(({ view, behind, records }) => [view, behind, records]), ['balances', 'trades', 'orders'].map((view) => [view, 0, stats.records]));
  const [balances, trades, orders] = stats.views;
  const sorted = (map) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
  const compare = (found, expected) => assert.deepEqual(sorted(found), sorted(expected));
  compare(await readView(where, balances, ({ balance }) => unitsOf(balance.$numberDecimal)), model.balances);
  compare(await readView(where, trades, ({ trade_id }) => trade_id), model.trades);
  compare(await readView(where, orders, ({ status }) => status), model.orders);
}
