// What the tests of `braid shop` share: running it, operations in and results out, and amounts without rounding.
import assert from 'node:assert/strict';
import { start as startProgram } from '../lib/program.mjs';

/** `braid shop …`, started. */
export const start = (args, input = undefined) => startProgram(['shop', ...args], input);

/** `braid shop …`, from start to end. */
export const shop = (args, input = undefined) => start(args, input).ended;

/** The JSON object that it writes; any failure is one. */
export async function shopJson(args, input = undefined) {
  const { status, signal, stdout, stderr } = await shop([...args, '--json'], input);
  assert.equal(status, 0, `${args.join(' ')} ended with ${signal ?? status}: ${stderr}${stdout.slice(0, 2000)}`);
  return JSON.parse(stdout);
}

export const text = (operations) => operations.map((operation) => (typeof operation === 'string' ? operation : JSON.stringify(operation)) + '\n').join('');

/** One result for each operation, in their order. `where` is --store, and --db if it is not the usual one. */
export async function run(where, operations, ...options) {
  const { status, signal, stdout, stderr } = await shop(['do', ...where, ...options, '-'], text(operations));
  assert.equal(status, 0, `do ended with ${signal ?? status}: ${stderr}`);
  const results = stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  assert.equal(results.length, operations.length, stdout);
  return results;
}

/** The results themselves; one that is not ok is a failure. */
export async function results(where, operations, ...options) {
  return (await run(where, operations, ...options)).map((line, i) => {
    assert.equal(line.ok, true, `${JSON.stringify(operations[i])}: ${JSON.stringify(line)}`);
    return line.result;
  });
}

/** The result of one operation. */
export const one = async (where, operation) => (await results(where, [operation]))[0];

/** What can be sold of a product in a zone. */
export async function stockOf(where, product, zone) {
  const card = await one(where, { op: 'card', product_id: product });
  return card.stock_by_geo.find(({ geo_zone: at }) => at === zone)?.qty;
}

// Amounts as integers of a unit small enough for all of them, so that sums are exact.
const decimals = 6;
export function units(amount) {
  const [, sign, whole, fraction = ''] = amount.match(/^(-?)(\d+)(?:\.(\d*))?$/);
  assert.ok(fraction.length <= decimals, amount);
  const value = BigInt(whole + fraction.padEnd(decimals, '0'));
  return sign ? -value : value;
}

/** The row of CSV that has the values. */
export const csvRow = (values) => values.map((value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(',');

/** The rows of a CSV text: quotes as in RFC 4180. */
export function parseCsv(csv) {
  const rows = [];
  let row = [];
  let value = '';
  let quoted = false;
  for (let i = 0; i < csv.length; ++i) {
    const c = csv[i];
    if (quoted) {
      if (c !== '"') value += c;
      else if (csv[i + 1] === '"') value += csv[++i];
      else quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === ',') {
      row.push(value);
      value = '';
    } else if (c === '\n') {
      row.push(value.replace(/\r$/, ''));
      rows.push(row);
      row = [];
      value = '';
    } else value += c;
  }
  if (value || row.length) rows.push([...row, value]);
  return rows;
}
