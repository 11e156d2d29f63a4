// @build any
// JSON schemas as automata: what they take is parsed, and judged by ajv; documents that ajv takes and that need nothing of what is left out
// here are taken; and what is not obeyed is refused by its name and path.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { expectThrows } from '../../support/js/check.js';
import { countInRun } from '../../support/js/full.js';
import { acceptorOf, randomOf, walkerOf } from './support/accepts.js';
import { constraints } from './support/bundle.js';
import { judgeOf, schemas } from './support/schemas.js';

const { jsonSchema } = constraints;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const walks = countInRun(150, 30, 'walks through the automaton of each schema');

describe('jsonSchema: walks through the automaton are documents that ajv takes', () => {
  for (const [name, schema] of Object.entries(schemas)) {
    test(name, () => {
      const judge = judgeOf(schema);
      for (const whitespace of ['none', 'single', 'free']) {
        const constraint = jsonSchema(schema, { whitespace });
        const [walk, random, accepts] = [walkerOf(constraint), randomOf(7), acceptorOf(constraint)];
        for (let i = 0; i < walks; i += 1) {
          const text = decoder.decode(walk(random));
          const value = JSON.parse(text);
          assert.ok(judge(value), `${whitespace}: ${text}`);
          // A letter less, more, or another one.
          const at = Math.floor(random() * text.length);
          const changed =
            text.slice(0, at) +
            ['', ...'019-"a,[{ }]:.eE\\'][Math.floor(17 * random())] +
            text.slice(at + Math.floor(2 * random()));
          if (!accepts(changed)) continue;
          assert.ok(judge(JSON.parse(changed)), `${whitespace}, changed: ${changed}`);
        }
      }
    });
  }
});

/** As json.dumps() of Python writes a value, and with line breaks. */
const spaced = (value) => {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}: ${spaced(part)}`).join(', ')}}`;
}; // prettier-ignore
const forms = {
  none: (value) => JSON.stringify(value),
  single: spaced,
  free: (value) => JSON.stringify(value, null, 2),
};

/** Whether a value has only numbers that are written without what is left out. */
const isPlain = (value) =>
  typeof value === 'number'
    ? /^-?\d{1,15}(\.\d+)?$/.test(String(value)) && String(value).replace(/[-.]/g, '').length <= 15
    : typeof value !== 'object' || value === null || Object.values(value).every(isPlain);

/** Schemas for which every plain document that ajv takes is written: they name all properties. */
const exact = {
  anything: fc.jsonValue(),
  string: fc.jsonValue(),
  'short strings': fc.oneof(fc.string({ maxLength: 6, unit: 'binary' }), fc.jsonValue()),
  'a pattern that is searched': fc.string({ unit: fc.constantFrom('a', 'b', 'c', '"', '\n') }),
  'a pattern with quotes': fc.string({ unit: fc.constantFrom('"', '\\', '\n', 'a'), maxLength: 4 }),
  'a pattern and a length': fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 7 }),
  'alternatives with anchors': fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 4 }),
  date: fc.oneof(
    fc.tuple(fc.integer({ min: 0, max: 9999 }), fc.integer({ min: 0, max: 13 }), fc.integer({ min: 0, max: 32 })),
    fc.tuple(fc.constantFrom(1900, 2000, 2023, 2024, 2100), fc.constant(2), fc.constantFrom(28, 29, 30)),
  ).map(([y, m, d]) => `${String(y).padStart(4, '0')}-${String(m).padStart(2, '0')}-${String(d).padStart(2, '0')}`),
  ipv4: fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 3, maxLength: 5 }).map((all) => all.join('.')),
  integer: fc.oneof(fc.maxSafeInteger(), fc.integer(), fc.double()),
  number: fc.double({ noNaN: true, noDefaultInfinity: true }),
  'integers with limits': fc.oneof(fc.integer({ min: -200, max: 400 }), fc.double({ min: -20, max: 20, noNaN: true })),
  'integers that are large': fc.integer({ min: 10 ** 13, max: 10 ** 15 - 1 }),
  'integers between fractions': fc.integer({ min: -20, max: 20 }),
  'negative integers': fc.integer({ min: -300, max: 10 }),
  'numbers with limits': fc.integer({ min: -400, max: 2000 }).map((n) => n / 1000),
  'numbers between limits': fc.integer({ min: -10, max: 1200 }).map((n) => n / 1e6),
  'numbers below': fc.integer({ min: -20_000, max: 100 }).map((n) => n / 10),
  'both limits': fc.integer({ min: 250, max: 750 }).map((n) => n / 100),
  boolean: fc.jsonValue(),
  'types in a list': fc.oneof(fc.integer(), fc.constantFrom(null, true, false, 'a', 1.5)),
  // Of a value that it compares with those of an enum, ajv calls these keys as methods.
  enum: fc.oneof(
    fc.constantFrom(...schemas.enum.enum),
    fc.jsonValue().filter((value) => !/"(toString|valueOf)":/.test(JSON.stringify(value))),
  ),
  array: fc.array(fc.integer({ min: 0, max: 3 })),
  'an array of some': fc.array(fc.integer({ min: -1, max: 10 }), { maxLength: 6 }),
  'an array of one or more': fc.array(fc.constantFrom('x', 'y')),
  'an empty array': fc.array(fc.constant(1), { maxLength: 1 }),
  tuple: fc.array(fc.constantFrom(1, 'a', 'abc'), { maxLength: 3 }),
  'tuple and more': fc.array(fc.constantFrom(1, 2, 3), { maxLength: 5 }),
  'allOf of limits': fc.integer({ min: 0, max: 40 }),
  'allOf of lists': fc.integer({ min: 0, max: 5 }),
  'a reference with more': fc.integer({ min: 0, max: 10 }),
  'oneOf by type': fc.jsonValue(),
  'any properties': fc.jsonValue(),
}; // prettier-ignore

describe('jsonSchema: documents are judged as ajv does', () => {
  for (const [name, values] of Object.entries(exact)) {
    test(name, () => {
      const judge = judgeOf(schemas[name]);
      const acceptors = Object.entries(forms).map(([whitespace, form]) => [
        acceptorOf(jsonSchema(schemas[name], { whitespace })),
        form,
      ]);
      fc.assert(
        fc.property(values, (given) => {
          // -0 is written as 0, and half a surrogate pair is no letter.
          const value = JSON.parse(JSON.stringify(given) ?? 'null');
          if (!isPlain(value) || /\\ud[89a-f]/.test(JSON.stringify(value))) return;
          for (const [accepts, form] of acceptors)
            assert.equal(accepts(form(value)), judge(value), form(value));
        }),
        { numRuns: 300 },
      );
    });
  }
});

test('jsonSchema: the names of methods are keys as any other', () => {
  const value = { toString: '', valueOf: 1, constructor: null, hasOwnProperty: [] };
  const accepts = acceptorOf(jsonSchema({ enum: [value, 'a'] }));
  assert.ok(accepts(spaced(value)));
  assert.ok(!accepts(spaced({ ...value, toString: 'a' })));
  const other = acceptorOf(jsonSchema({ enum: ['a', {}] }));
  assert.ok(!other(spaced({ toString: '' })));
});

describe('jsonSchema: of values that are listed those are written that the other words allow, as ajv does', () => {
  const values = [
    ...[null, true, false, 0, 1, 5, 12, -3, 2.5, 1e30, '', 'a', 'ab', 'abc', 'ABC', '😀😀', 'a"b\\', '2024-02-29'],
    ...['2023-02-29', [], [1], [1, 'a'], [1, 2, 3], ['a', 'b'], [[1], [2]], [null, {}], {}, { a: 1 }, { a: 'x' }],
    ...[{ a: 1, b: 2 }, { a: 1, c: [1] }, { a: { a: { a: 1 } } }, { a: { a: 'x' } }, { ['__proto__']: 1 }],
  ];
  const tree = { type: 'object', properties: { a: { anyOf: [{ type: 'integer' }, { $ref: '#/$defs/tree' }] } }, required: ['a'] };
  for (const words of [
    { minLength: 2 },
    { maxLength: 2, pattern: 'b$' },
    { pattern: '^[a-z"]+', minLength: 1 },
    { format: 'date', type: 'string' },
    { minimum: 1, exclusiveMaximum: 12 },
    { exclusiveMinimum: -3, maximum: 5, type: ['integer', 'array', 'null'] },
    { type: 'number', minimum: 2 },
    { items: { type: 'integer' }, minItems: 1 },
    { prefixItems: [{ const: 1 }], items: { type: 'string' } },
    { maxItems: 1, items: false },
    { properties: { a: { type: 'integer' } }, required: ['a'] },
    { properties: { a: true, b: { const: 3 } }, type: 'object' },
    { properties: { a: true }, additionalProperties: { type: 'array' }, type: 'object' },
    { required: ['a', 'b'], type: ['object', 'string'] },
    { additionalProperties: false, properties: { ['__proto__']: { minimum: 2 } } },
    { anyOf: [{ type: 'string', maxLength: 1 }, { type: 'array', minItems: 2 }] },
    { oneOf: [{ minimum: 1 }, { type: ['integer', 'string'] }] },
    { allOf: [{ pattern: 'a' }, { pattern: 'b' }, { minimum: 0 }] },
    { const: 'ab', minLength: 1 },
    { const: { a: 1, b: 2 }, required: ['b'] },
    { $defs: { tree }, $ref: '#/$defs/tree' },
    { $defs: { short: { maxLength: 1 } }, allOf: [{ $ref: '#/$defs/short' }], type: 'string' },
    { type: 'array', items: { enum: values, minimum: 2, type: ['number', 'string'], maxLength: 1 }, minItems: 1 },
  ]) {
    test(JSON.stringify(words), () => {
      const isOuter = !words.items?.enum;
      const schema = isOuter ? { ...words, enum: values } : words;
      const judge = judgeOf(schema);
      const accepts = acceptorOf(jsonSchema(schema));
      const all = isOuter ? values : values.map((value) => [value]);
      let count = 0;
      for (const value of all) {
        assert.equal(accepts(spaced(value)), judge(value), spaced(value));
        count += judge(value);
      }
      assert.ok(count > 0 && count < all.length, `${count}`);
    });
  }
}); // prettier-ignore

test('jsonSchema: listed values beside a pattern whose deterministic automaton would be too large', () => {
  // A set for each choice of which of the last 20 letters are an a: 2^20.
  const pattern = '^[ab]*a[ab]{19}$';
  const last = 'b'.repeat(19);
  const values = ['aa', `a${last}`, `aba${last}`, `ab${last}`];
  const accepts = acceptorOf(jsonSchema({ enum: values, pattern }));
  for (const value of values)
    assert.equal(accepts(JSON.stringify(value)), new RegExp(pattern).test(value), value);
});

describe('jsonSchema: what is written of what a schema allows', () => {
  const object = { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'null' } }, required: ['b'] };
  for (const [schema, yes, no, options] of [
    [object, ['{"b": null}', '{"a": 1, "b": null}'], ['{"a": 1}', '{}', '{"b": null, "a": 1}', '{"b":null}', '{"b": null, "c": 1}', '{"b": null, "b": null}', ' {"b": null}']],
    [object, ['{"b":null}', '{"a":-10,"b":null}'], ['{"b": null}', '{"b":null,}'], { whitespace: 'none' }],
    [object, ['{"b":null}', '{ "b": null }', '{\n  "a": 1,\n  "b": null\n}', '{\r\n\t"b":null}'], ['{"b" :null}', '{  "b":null}', '{\n\n"b":null}', '{"b":null }x', '{"a":1 ,"b":null}', `{\n${' '.repeat(65)}"b":null}`], { whitespace: 'free' }],
    [{ type: 'string' }, ['"a"', '"\\n"', '"\\u0001"', '"é中😀"', '"\\\\\\""', '""', '"/"'], ['"\n"', '"\\u0041"', '"\\/"', '"\\u000a"', 'a', '"a', '"\\ud800"']],
    [{ type: 'number' }, ['0', '-0', '1.5', '1e9', '-2.5E-10', '123456789012345'], ['01', '+1', '.5', '1.', '1e', '1e999', '1234567890123456', '--1', 'NaN']],
    [{ type: 'integer' }, ['0', '-7', '10'], ['-0', '1.0', '1e3', '']],
    [{ type: 'integer', minimum: 0 }, ['0', '7'], ['-0', '-1', '00']],
    [{ type: 'integer', minimum: -5 }, ['0', '-5', '-1', '7'], ['-0', '-6', '-00']],
    [{ type: 'number', minimum: -5 }, ['0', '-5.0', '-0.1', '0.0'], ['-0', '-0.0', '-5.1', '-0.']],
    [{ type: 'array', items: { const: 1 }, minItems: 3 }, ['[1, 1, 1]', '[1, 1, 1, 1, 1]'], ['[1, 1]', '[]']],
    [{ type: 'number', minimum: 1, maximum: 2 }, ['1', '1.0', '1.5', '2', '2.00'], ['1e0', '0.9', '2.01', '3', '1.', '01', '10']],
    [{ prefixItems: [{ const: 1 }] }, ['[]', '[1]'], ['[1, 2]', '1']],
    [{ items: [{ const: 1 }], additionalItems: { const: 2 } }, ['[]', '[1, 2, 2]'], ['[2]', '[1, 1]']],
    [{ properties: { a: true } }, ['{}', '{"a": {"x": [1, {}]}}'], ['1', '{"b": 1}']],
    [{ minimum: 3 }, ['3'], ['"a"', '2']],
    [{ type: 'object' }, ['{}', '{"x": 1}'], ['[]']],
    [{ type: 'object', additionalProperties: false }, ['{}'], ['{"x": 1}']],
    [{ const: { b: 1, a: 2 }, enum: [1, { a: 2, b: 1 }] }, ['{"b": 1, "a": 2}'], ['1', '{"a": 2, "b": 1}']],
    [{ const: { a: [1, 2] } }, ['{"a": [1, 2]}'], ['{"a":[1,2]}']],
    // One wants what the other refuses, so both never hold.
    [{ oneOf: [{ type: 'object', properties: { a: { const: 1 } }, required: ['a'], additionalProperties: true }, { type: 'object', properties: { b: { const: 2 } }, additionalProperties: false }] }, ['{"a": 1}', '{"b": 2}', '{}', '{"a": 1, "c": 0}'], ['{"a": 2}', '{"b": 2, "c": 0}']],
  ]) {
    test(`${JSON.stringify(schema)} ${options?.whitespace ?? ''}`, () => {
      const accepts = acceptorOf(jsonSchema(schema, options));
      for (const text of yes) assert.equal(accepts(text), true, text);
      for (const text of no) assert.equal(accepts(text), false, text);
    });
  }
}); // prettier-ignore

describe('jsonSchema: refused', () => {
  const below = (schema) => ({ type: 'object', properties: { a: schema } });
  const words = {
    ...{ not: {}, if: {}, then: {}, else: {}, contains: {}, minContains: 1, maxContains: 1, uniqueItems: true },
    ...{ patternProperties: {}, propertyNames: {}, multipleOf: 2, minProperties: 1, maxProperties: 1 },
    ...{ dependencies: {}, dependentRequired: {}, dependentSchemas: {}, unevaluatedItems: false },
    ...{ unevaluatedProperties: false, $anchor: 'a', $dynamicRef: '#a', $dynamicAnchor: 'a', nullable: true, typo: 1 },
    ...{ constructor: {}, toString: 1, ['__proto__']: {} },
  }; // prettier-ignore
  for (const [word, value] of Object.entries(words)) {
    test(word, () => {
      const call = () => jsonSchema(below({ [word]: value }));
      expectThrows(call, 'jsonSchema', 'unsupported', `${JSON.stringify(word)} at #/properties/a`);
    });
  }
  const loop = { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' };
  const string = { type: 'string' };
  for (const [what, schema, code, ...says] of [
    ['$id inside', below({ $id: 'x' }), 'unsupported', '$id at #/properties/a/$id'],
    ['a format', { format: 'email' }, 'unsupported', 'the format "email" at #/format', 'ipv4'],
    ['a reference to elsewhere', { $ref: 'https://example.com/x' }, 'unsupported', '#/$ref'],
    ['an anchor', { $ref: '#name' }, 'unsupported', '#/$ref'],
    ['a reference to nothing', { $ref: '#/$defs/x' }, 'invalid_argument', '#/$ref', 'the path of a schema'],
    ['a reference that is none', { $ref: 3 }, 'invalid_argument', '3 at #/$ref'],
    ['a reference that cannot be decoded', { $ref: '#/%zz' }, 'invalid_argument', 'a JSON Pointer'],
    ['references to each other', loop, 'invalid_argument', 'a $ref that leads to itself'],
    ['a reference to itself with more', { $ref: '#', minimum: 1 }, 'unsupported', 'references that lead to each other'],
    ['alternatives of itself', { anyOf: [{ $ref: '#' }, { const: 1 }] }, 'invalid_argument', 'a $ref that leads to itself'],
    ['a document without an end', { properties: { a: { $ref: '#' } }, required: ['a'] }, 'invalid_argument', 'allows no text'],
    ['oneOf that may both hold', { oneOf: [string, { minLength: 3 }] }, 'unsupported', 'alternatives 0 and 1', '#/oneOf', 'anyOf'],
    ['oneOf of a number and a whole one', { oneOf: [{ type: 'number' }, { type: 'integer' }] }, 'unsupported', 'alternatives 0 and 1'],
    ['oneOf of a whole number and a number', { oneOf: [{ type: 'integer' }, { type: 'number' }] }, 'unsupported', 'alternatives 0 and 1'],
    ['oneOf of objects of which one may have what the other wants', { oneOf: [{ type: 'object', properties: { a: true }, required: ['a'], additionalProperties: true }, { type: 'object', properties: { b: true }, required: ['b'] }] }, 'unsupported', 'alternatives 0 and 1'],
    ['oneOf of objects that may be the same', { oneOf: [{ type: 'object', properties: { a: true } }, { type: 'object', properties: { a: true }, required: ['a'] }] }, 'unsupported', '#/oneOf'],
    ['allOf of patterns', { allOf: [{ pattern: 'a' }, { pattern: 'b' }] }, 'unsupported', 'two different pattern'],
    ['allOf of alternatives', { anyOf: [string], allOf: [{ anyOf: [{ const: 1 }] }] }, 'unsupported', 'two different anyOf'],
    ['allOf that shuts out', { allOf: [{ properties: { a: true }, additionalProperties: false }, { properties: { b: true } }] }, 'unsupported', 'additionalProperties', '"b"'],
    ['allOf of elements', { allOf: [{ items: string }, { prefixItems: [string], items: { const: 1 } }] }, 'unsupported', 'two different items'],
    ['words beside values that leave nothing', { enum: ['a'], minLength: 3 }, 'invalid_argument', 'allows no text'],
    ['a word that is not known beside values', { enum: [4], multipleOf: 2 }, 'unsupported', '"multipleOf" at #'],
    ['one of a schema beside values', { enum: [{ a: 1 }], properties: { a: { not: true } } }, 'unsupported', '"not" at #/properties/a'],
    ['elements beside values that are none', { enum: [[1]], items: 3 }, 'invalid_argument', '3 at #/items', 'a schema'],
    ['a limit beside values that is none', { enum: [4], minimum: 'x' }, 'invalid_argument', '"x" at #/minimum'],
    ['a format beside values', { enum: ['a'], format: 'email' }, 'unsupported', 'the format "email" at #/format'],
    ['references to each other beside values', { ...loop, enum: [1] }, 'unsupported', 'references that lead to each other'],
    ['too many elements', { type: 'array', maxItems: 20_000 }, 'unsupported', 'maxItems of 20000'],
    ['a string that is too long', { type: 'string', maxLength: 1_000_000 }, 'unsupported', 'maxLength or minLength at #', 'more than 100000 states'],
    ['a lookahead', below({ pattern: '(?=a)' }), 'unsupported', '#/properties/a/pattern', 'a lookahead', 'position 0'],
    ['a pattern that is none', { pattern: '(' }, 'invalid_argument', '#/pattern', 'no pattern', 'expected'],
    ['nothing', false, 'invalid_argument', 'allows no text'],
    ['a required property that may not be', { required: ['a'], additionalProperties: false, type: 'object' }, 'invalid_argument', 'allows no text'],
    ['limits that leave nothing', { type: 'integer', minimum: 3, maximum: 2 }, 'invalid_argument', 'allows no text'],
    ['too many digits', { type: 'integer', minimum: 1e15 }, 'invalid_argument', 'allows no text'],
    ['lengths that leave nothing', { type: 'string', minLength: 3, maxLength: 2 }, 'invalid_argument', 'allows no text'],
    ['numbers that leave nothing', { type: 'array', minItems: 3, maxItems: 2 }, 'invalid_argument', 'allows no text'],
    ['constants that differ', { allOf: [{ const: 1 }, { const: 2 }] }, 'invalid_argument', 'allows no text'],
    ['a constant that is not in the list', { enum: [1, 2], const: 3 }, 'invalid_argument', 'allows no text'],
    ['types that differ', { allOf: [string, { type: 'null' }] }, 'invalid_argument', 'allows no text'],
    ['a text', '{}', 'invalid_argument', '"{}" at #', 'an object, true or false'],
    ['null', null, 'invalid_argument', 'null at #'],
    ['a function', { default: () => 1 }, 'invalid_argument', 'a function at #/default', 'what JSON can have'],
    ['a date', { default: new Date(0) }, 'invalid_argument', 'Date at #/default'],
    ['no number', { minimum: NaN }, 'invalid_argument', 'NaN at #/minimum'],
    ['a type that is none', { type: 'text' }, 'invalid_argument', '"text" at #/type', 'object, array'],
    ['no types', { type: [] }, 'invalid_argument', 'at #/type'],
    ['enum that is no list', { enum: 'a' }, 'invalid_argument', '"a" at #/enum'],
    ['enum that is no list beside const', { const: 1, enum: 'a' }, 'invalid_argument', '"a" at #/enum', 'a list of values'],
    ['enum that is no list for a part of a value', { const: { a: 1 }, properties: { a: { enum: 'a' } } }, 'invalid_argument', '"a" at #/properties/a/enum'],
    ['anyOf that is no list', { anyOf: {} }, 'invalid_argument', 'at #/anyOf'],
    ['anyOf of texts', { anyOf: ['a'] }, 'invalid_argument', 'at #/anyOf'],
    ['properties that are no object', { properties: [] }, 'invalid_argument', 'at #/properties'],
    ['a property that is none', { properties: { a: 1 } }, 'invalid_argument', '1 at #/properties/a'],
    ['required that is no list', { required: 'a' }, 'invalid_argument', '"a" at #/required'],
    ['required of numbers', { required: [1] }, 'invalid_argument', 'at #/required'],
    ['others that are no schema', { additionalProperties: 1 }, 'invalid_argument', '1 at #/additionalProperties'],
    ['items that are no schema', { items: 1 }, 'invalid_argument', '1 at #/items'],
    ['prefixItems that are no list', { prefixItems: {} }, 'invalid_argument', 'at #/prefixItems'],
    ['a length below 0', { minLength: -1 }, 'invalid_argument', '-1 at #/minLength'],
    ['a length in parts', { type: 'array', minItems: 1.5 }, 'invalid_argument', '1.5 at #/minItems'],
    ['a pattern that is no text', { pattern: 3 }, 'invalid_argument', '3 at #/pattern'],
    ['a limit that is no number', { minimum: '3' }, 'invalid_argument', '"3" at #/minimum'],
    ['a limit of draft 4', { type: 'number', minimum: 3, exclusiveMinimum: true }, 'invalid_argument', 'true at #/exclusiveMinimum'],
  ]) {
    test(what, () => {
      expectThrows(() => jsonSchema(schema), 'jsonSchema', code, ...says);
    });
  } // prettier-ignore
  test('options', () => {
    expectThrows(() => jsonSchema(true, { whitespace: 'all' }), 'jsonSchema', 'invalid_argument', 'whitespace is "all"');
    expectThrows(() => jsonSchema(true, { white: 'none' }), 'jsonSchema', 'invalid_argument', "unknown key 'white'");
  }); // prettier-ignore
  test('a schema that is deeper than the stack, and one that contains itself', () => {
    let deep = true;
    for (let i = 0; i < 100_000; i += 1) deep = { items: deep };
    const circle = {};
    circle.items = circle;
    for (const schema of [deep, circle])
      expectThrows(() => jsonSchema(schema), 'jsonSchema', 'unsupported', 'nested too deeply');
  });
});
