// Schemas that jsonSchema() takes, with documents of which ajv says whether they are right.
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** What judges documents of a schema, as the standard has it. */
export function judgeOf(schema) {
  const ajv = new Ajv({ strict: false, allErrors: false });
  addFormats(ajv);
  const validate = ajv.compile(schema);
  return (value) => validate(value);
}

const person = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 12 },
    age: { type: 'integer', minimum: 0, maximum: 150 },
    tags: { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' }, maxItems: 3 },
  },
  required: ['name', 'age'],
};

export const schemas = {
  anything: true,
  'an empty schema': { title: 'anything', $comment: 'x', default: 3, examples: [1], deprecated: true },
  string: { type: 'string' },
  'short strings': { type: 'string', minLength: 2, maxLength: 4 },
  'a long string': { type: 'string', minLength: 300, maxLength: 400 },
  'a pattern that is searched': { type: 'string', pattern: 'b+c' },
  'a pattern with quotes': { pattern: '^["\\\\\\n]{1,3}$' },
  'a pattern and a length': { type: 'string', pattern: '^a*b*$', minLength: 3, maxLength: 5 },
  'alternatives with anchors': { type: 'string', pattern: '^a|b$' },
  date: { type: 'string', format: 'date' },
  time: { type: 'string', format: 'time' },
  'date-time': { type: 'string', format: 'date-time' },
  uuid: { type: 'string', format: 'uuid' },
  ipv4: { type: 'string', format: 'ipv4' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  'integers with limits': { type: 'integer', minimum: -12, maximum: 345 },
  'integers that are large': { type: 'integer', minimum: 99_999_999_999_999 },
  'integers between fractions': { type: 'integer', exclusiveMinimum: -2.5, exclusiveMaximum: 10.000001 },
  'negative integers': { type: 'integer', maximum: -7 },
  'numbers with limits': { type: 'number', minimum: -0.25, maximum: 1.5 },
  'numbers between limits': { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.001 },
  'numbers that are small': { type: 'number', minimum: 1e-9, maximum: 2.5e-7 },
  'numbers below': { type: 'number', exclusiveMaximum: -1e3 },
  'both limits': { type: 'number', minimum: 3, exclusiveMinimum: 3, maximum: 5, exclusiveMaximum: 7 },
  boolean: { type: 'boolean' },
  null: { type: 'null' },
  'types in a list': { type: ['integer', 'null', 'boolean'] },
  'a number of both types': { type: ['integer', 'number'] },
  enum: { enum: ['red', 'gr"een', 3, null, { a: [1, 'x'] }, [true], 1e30] },
  'enum of a type': { type: ['string', 'integer'], enum: ['a', 1, 1.5, null] },
  const: { const: { b: 1, a: { c: [] } } },
  person,
  'no required property': { type: 'object', properties: { a: { type: 'null' }, b: { type: 'null' }, c: { type: 'null' } } },
  'names that need escapes': { type: 'object', properties: { 'a"b\\\n': { const: 1 }, ['__proto__']: { const: 2 }, '': { const: 3 }, 'é中': { const: 4 } }, required: [''] },
  'further properties': { type: 'object', properties: { a: { type: 'integer' }, ab: { type: 'null' } }, required: ['ab'], additionalProperties: { type: 'boolean' } },
  'any properties': { type: 'object', additionalProperties: true },
  'no others': { type: 'object', properties: { a: true }, additionalProperties: false },
  'required without a schema': { type: 'object', required: ['x', 'y'], properties: { y: { const: 1 } } },
  'a property that may not be': { type: 'object', properties: { a: false, b: { const: 0 } }, additionalProperties: { const: 1 } },
  array: { type: 'array', items: { enum: [1, 2] } },
  'an array of some': { type: 'array', items: { type: 'integer', minimum: 0, maximum: 9 }, minItems: 2, maxItems: 4 },
  'an array of one or more': { type: 'array', items: { const: 'x' }, minItems: 1 },
  'an empty array': { type: 'array', maxItems: 0 },
  tuple: { type: 'array', prefixItems: [{ const: 1 }, { type: 'string', maxLength: 2 }], items: false },
  'tuple and more': { type: 'array', prefixItems: [{ const: 1 }, { const: 2 }], items: { const: 3 }, minItems: 1, maxItems: 4 },
  'tuple with others that must be': { type: 'array', prefixItems: [{ const: 1 }], minItems: 3, maxItems: 3 },
  anyOf: { anyOf: [{ type: 'string', maxLength: 2 }, { type: 'integer', minimum: 5 }, person] },
  'anyOf with more': { type: 'object', properties: { a: { const: 1 } }, required: ['a'], anyOf: [{ properties: { b: { const: 2 } }, required: ['b'] }, { properties: { c: { const: 3 } } }] },
  'oneOf by type': { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'array', items: { type: 'null' } }] },
  'oneOf by a constant': { oneOf: ['circle', 'square'].map((kind) => ({ type: 'object', properties: { kind: { const: kind }, size: { type: 'integer' } }, required: ['kind'] })) },
  'oneOf by a property': { oneOf: [{ type: 'object', properties: { a: { type: 'null' } }, required: ['a'] }, { type: 'object', properties: { b: { type: 'null' } }, required: ['b'] }] },
  'allOf of one': { allOf: [{ $ref: '#/$defs/short' }], $defs: { short: { type: 'string', maxLength: 1 } } },
  'allOf of objects': { allOf: [{ type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] }, { properties: { b: { const: 1 }, a: { minimum: 3, maximum: 12 } }, required: ['b'] }] },
  'allOf of limits': { allOf: [{ type: 'number', minimum: 3 }, { type: 'integer', maximum: 30 }, { minimum: 5 }] },
  'allOf of lists': { allOf: [{ enum: [1, 2, 3] }, { enum: [2, 3, 4] }] },
  'a reference with more': { $ref: '#/$defs/n', maximum: 7, $defs: { n: { type: 'integer', minimum: 3 } } },
  tree: { $ref: '#/$defs/node', $defs: { node: { type: 'object', properties: { value: { type: 'integer', minimum: 0, maximum: 9 }, children: { type: 'array', items: { $ref: '#/$defs/node' }, maxItems: 2 } }, required: ['value'] } } },
  'a list that goes on': { type: 'object', properties: { v: { const: 0 }, next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } }, required: ['v', 'next'] },
  'definitions of draft 7': { $ref: '#/definitions/a~1b', definitions: { 'a/b': { type: 'array', items: { $ref: '#/definitions/c%25' } }, 'c%': { type: 'boolean' } } },
}; // prettier-ignore
