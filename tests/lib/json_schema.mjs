// As much of JSON Schema as the OpenAPI document of the server uses; a keyword that is not known here is an error.
import assert from 'node:assert/strict';

const notes = ['description', 'default'];

const isType = {
  array: Array.isArray,
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isInteger,
  null: (value) => value === null,
  number: (value) => typeof value === 'number',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  string: (value) => typeof value === 'string',
};

/** Throws with the place if the value is not what the schema says. `all` are the schemas that it may refer to. */
export function expectSchema(value, schema, all, place = '$') {
  const keywords = {
    $ref: (name) => expectSchema(value, all[name.replace('#/components/schemas/', '')], all, place),
    type: (types) => assert.ok([types].flat().some((type) => isType[type](value)), `${place} is ${JSON.stringify(value)}, not ${types}`),
    enum: (values) => assert.ok(values.includes(value), `${place} is ${JSON.stringify(value)}, none of ${values}`),
    required: (names) => names.forEach((name) => assert.ok(!isType.object(value) || name in value, `${place} has no ${name}`)),
    properties: (of) => Object.entries(of).forEach(([name, inside]) => isType.object(value) && name in value && expectSchema(value[name], inside, all, `${place}.${name}`)),
    items: (inside) => Array.isArray(value) && value.forEach((item, i) => expectSchema(item, inside, all, `${place}[${i}]`)),
    minimum: (least) => assert.ok(typeof value !== 'number' || value >= least, `${place} is below ${least}`),
    maximum: (most) => assert.ok(typeof value !== 'number' || value <= most, `${place} is above ${most}`),
    maxItems: (most) => assert.ok(!Array.isArray(value) || value.length <= most, `${place} has more than ${most} items`),
    oneOf: (choices) => assert.equal(choices.filter((choice) => fits(value, choice, all)).length, 1, `${place} fits none, or several, of its schemas`),
  };
  for (const [name, argument] of Object.entries(schema)) {
    if (notes.includes(name)) continue;
    assert.ok(name in keywords, `${name} is a keyword that the test does not know`);
    keywords[name](argument);
  }
}

function fits(value, schema, all) {
  try {
    expectSchema(value, schema, all);
    return true;
  } catch {
    return false;
  }
}
