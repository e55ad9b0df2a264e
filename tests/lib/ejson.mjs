// Canonical Extended JSON, read and written exactly. The driver's own reader also takes old forms ({$regex, $options}, {$type}) for values,
// which would turn query operators into literals.
import { Binary, BSONRegExp, Decimal128, Double, Int32, Long, MaxKey, MinKey, ObjectId, Timestamp, Code, BSONSymbol, BSON } from 'mongodb';

const { EJSON } = BSON;

const readers = {
  $numberInt: (v) => new Int32(Number(v)),
  $numberLong: (v) => Long.fromString(v),
  $numberDouble: (v) => new Double(v === 'Infinity' ? Infinity : v === '-Infinity' ? -Infinity : Number(v)),
  $numberDecimal: (v) => Decimal128.fromString(v),
  $oid: (v) => new ObjectId(v),
  $date: (v) => (typeof v === 'object' && '$numberLong' in v ? new Date(Number(v.$numberLong)) : undefined),
  $binary: (v) => (typeof v === 'object' && 'base64' in v ? new Binary(Buffer.from(v.base64, 'base64'), parseInt(v.subType, 16)) : undefined),
  $regularExpression: (v) => new BSONRegExp(v.pattern, v.options),
  $timestamp: (v) => (typeof v === 'object' && 't' in v ? new Timestamp({ t: v.t, i: v.i }) : undefined),
  $minKey: (v) => (v === 1 ? new MinKey() : undefined),
  $maxKey: (v) => (v === 1 ? new MaxKey() : undefined),
  $symbol: (v) => new BSONSymbol(v),
  $code: (v) => new Code(v),
};

/** A parsed JSON value with its wrappers turned into BSON values. */
export function fromJson(value) {
  if (Array.isArray(value)) return value.map(fromJson);
  if (value === null || typeof value !== 'object') return value;
  const keys = Object.keys(value);
  if (keys.length === 1 && keys[0] in readers) {
    const made = readers[keys[0]](value[keys[0]]);
    if (made !== undefined) return made;
  }
  return Object.fromEntries(keys.map((key) => [key, fromJson(value[key])]));
}

/** One line of NDJSON. */
export const parse = (line) => fromJson(JSON.parse(line));

/** Text that is equal for equal values and only for them; `anyOrder` disregards the order of fields. */
export function canonical(value, anyOrder = false) {
  const plain = JSON.parse(EJSON.stringify({ v: value }, { relaxed: false })).v;
  return JSON.stringify(anyOrder ? sorted(plain) : plain);
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}
