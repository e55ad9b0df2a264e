// How the unified test format compares an actual value with an expected one: numbers by value, extra fields allowed in root documents only,
// and the special operators ($$exists, $$type, $$unsetOrMatches, $$sessionLsid, $$matchesEntity, $$matchesHexBytes).
import { Binary, Decimal128, Double, Int32, Long, ObjectId, Timestamp, BSON } from 'mongodb';

const missing = Symbol('missing');

export class Mismatch extends Error {}
const fail = (path, text) => {
  throw new Mismatch(`${path || 'value'}: ${text}`);
};
const show = (value) => (value === missing ? 'nothing' : BSON.EJSON.stringify({ v: value }).slice(5, 305));

const isDocument = (value) =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date) && !(value instanceof RegExp) && value._bsontype === undefined;

/** A number whatever its BSON type; undefined for anything else. */
function numeric(value) {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  if (value instanceof Int32 || value instanceof Double) return value.valueOf();
  if (Long.isLong(value) && !(value instanceof Timestamp)) return value.toNumber();
  if (value instanceof Decimal128) return Number(value.toString());
  return undefined;
}

function typeNames(value) {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  if (typeof value === 'string') return ['string'];
  if (typeof value === 'boolean') return ['bool'];
  if (value instanceof Date) return ['date'];
  if (value instanceof RegExp) return ['regex'];
  if (value instanceof ObjectId) return ['objectId'];
  if (value instanceof Binary) return ['binData'];
  if (value instanceof Timestamp) return ['timestamp'];
  if (numeric(value) !== undefined) return ['int', 'long', 'double', 'number', ...(value instanceof Decimal128 ? ['decimal'] : [])];
  return ['object'];
}

/** Returns if `actual` matches, throws a Mismatch that says where it does not. `entities` resolves $$sessionLsid and $$matchesEntity. */
export function match(expected, actual, entities, { root = true, path = '' } = {}) {
  if (actual instanceof Map) actual = Object.fromEntries(actual);  // an index's key, as the driver keeps its order
  if (isDocument(expected)) {
    const [operator] = Object.keys(expected);
    if (operator?.startsWith('$$')) return matchOperator(operator, expected[operator], actual, entities, { root, path });
    if (!isDocument(actual)) fail(path, `expected a document ${show(expected)}, got ${show(actual)}`);
    for (const [key, value] of Object.entries(expected)) {
      const found = key in actual && actual[key] !== undefined ? actual[key] : missing;
      if (found === missing && !(isDocument(value) && Object.keys(value)[0]?.startsWith('$$'))) fail(path, `the field '${key}' is not there in ${show(actual)}`);
      match(value, found, entities, { root: false, path: path ? `${path}.${key}` : key });
    }
    if (!root) {
      const extra = Object.keys(actual).find((key) => !(key in expected) && actual[key] !== undefined);
      if (extra) fail(path, `unexpected field '${extra}'`);
    }
    return;
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) fail(path, `expected an array, got ${show(actual)}`);
    if (actual.length !== expected.length) fail(path, `expected ${expected.length} elements, got ${actual.length}: ${show(actual)}`);
    expected.forEach((value, i) => match(value, actual[i], entities, { root, path: `${path}[${i}]` }));
    return;
  }
  const number = numeric(expected);
  if (number !== undefined) {
    if (numeric(actual) !== number) fail(path, `expected ${number}, got ${show(actual)}`);
    return;
  }
  if (actual === missing || show(expected) !== show(actual)) fail(path, `expected ${show(expected)}, got ${show(actual)}`);
}

function matchOperator(operator, argument, actual, entities, at) {
  switch (operator) {
    case '$$exists':
      if ((actual !== missing) !== argument) fail(at.path, argument ? 'is not there' : 'should not be there');
      return;
    case '$$type': {
      const wanted = Array.isArray(argument) ? argument : [argument];
      if (actual === missing || !typeNames(actual).some((name) => wanted.includes(name))) fail(at.path, `expected type ${wanted}, got ${show(actual)}`);
      return;
    }
    case '$$unsetOrMatches':
      if (actual !== missing && actual !== undefined) match(argument, actual, entities, at);
      return;
    case '$$sessionLsid':
      return match(entities.lsid(argument), actual, entities, { ...at, root: false });
    case '$$matchesEntity':
      return match(entities.get(argument), actual, entities, at);
    case '$$matchesHexBytes':
      if (Buffer.from(actual.buffer ?? actual).toString('hex') !== argument) fail(at.path, `expected the bytes ${argument}`);
      return;
    default:
      throw new Error(`the runner does not know ${operator}`);
  }
}
