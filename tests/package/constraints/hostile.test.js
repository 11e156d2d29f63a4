// @build any
// Whatever is given as a schema, a pattern or a constraint: what comes back is a constraint that can be followed, or an error of the package.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { QkvError } from 'qkv';
import { randomOf, walkerOf } from './support/accepts.js';
import { constraints } from './support/bundle.js';
import { judgeOf, schemas } from './support/schemas.js';
import { stateOf, tokenizerOf } from './support/vocabularies.js';

const { jsonSchema, regularExpression } = constraints;

/** What a call returns; undefined where it throws an error of the package, which says what was expected. */
function made(call) {
  try {
    return call();
  } catch (error) {
    assert.ok(error instanceof QkvError, String(error?.stack));
    assert.match(error.message, /^(jsonSchema|regularExpression|generate): .*expected/su);
    return undefined;
  }
}

const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withTypedArray: true, maxDepth: 3 }); // prettier-ignore

test('hostile: anything as a schema, a pattern or a constraint', () => {
  const tokenizer = tokenizerOf(['a', '{']);
  fc.assert(
    fc.property(anything, (value) => {
      made(() => jsonSchema(value));
      made(() => regularExpression(value));
      made(() => stateOf(tokenizer, 2, value));
      made(() => stateOf(tokenizer, 2, { type: 'qkv-constraint-1', rules: [value] }));
    }),
    { numRuns: 500 },
  );
});

const value = fc.oneof(
  fc.constantFrom(0, 1, 3, -1, 1.5, 20, true, false, null, 'a', 'string', 'object', 'integer', 'date', '^a+$', '#', '#/$defs/a'),
  fc.array(fc.constantFrom('a', 'b', 1, null, 'string', 'object', 'number'), { maxLength: 3 }),
); // prettier-ignore
const words = [
  ...[
    'type',
    'enum',
    'const',
    'required',
    'minItems',
    'maxItems',
    'minLength',
    'maxLength',
    'pattern',
  ],
  ...['format', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', '$ref', 'title'],
];
/** Schemas of known words with likely and unlikely values. */
const { schema: anySchema } = fc.letrec((tie) => {
  const inner = tie('schema');
  const part = fc.oneof(
    { depthSize: 'small' },
    fc.tuple(fc.constantFrom(...words), value),
    fc.tuple(fc.constantFrom('type'), fc.constantFrom('string', 'object', 'array', 'integer', 'number', 'null')),
    fc.tuple(fc.constantFrom('items', 'additionalProperties'), inner),
    fc.tuple(fc.constantFrom('anyOf', 'oneOf', 'allOf', 'prefixItems'), fc.array(inner, { maxLength: 3 })),
    // ajv overlooks "__proto__" among properties beside additionalProperties: other tests have it.
    fc.tuple(fc.constant('properties'), fc.dictionary(fc.constantFrom('a', 'b', 'c'), inner)),
    fc.tuple(fc.constant('$defs'), fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), inner)),
  ); // prettier-ignore
  return {
    schema: fc.oneof({ depthSize: 'small' }, fc.boolean(), fc.array(part, { minLength: 1, maxLength: 4 }).map(Object.fromEntries)),
  }; // prettier-ignore
});

test('hostile: schemas of random words; what is written for those that are taken is what ajv takes', (t) => {
  let taken = 0;
  fc.assert(
    fc.property(anySchema, fc.integer(), (schema, seed) => {
      const constraint = made(() => jsonSchema(schema));
      if (!constraint) return;
      let judge;
      try {
        judge = judgeOf(schema);
      } catch {
        // ajv wants more of words that say nothing here, or refuses a reference.
        return;
      }
      taken += 1;
      const [walk, random] = [walkerOf(constraint), randomOf(seed)];
      for (let i = 0; i < 5; i += 1) {
        const text = new TextDecoder().decode(walk(random, 30));
        assert.ok(judge(JSON.parse(text)), `${JSON.stringify(schema)}: ${text}`);
      }
    }),
    { numRuns: 500 },
  );
  t.diagnostic(`${taken} of 500 were taken`);
  assert.ok(taken > 50);
});

test('hostile: constraints with numbers that were changed', () => {
  const good = Object.values(schemas)
    .slice(0, 60)
    .map((schema) => structuredClone(jsonSchema(schema)));
  const tokenizer = tokenizerOf(['a', '{', '"', '}', '1', '[', ']', ',', ':', 'true']);
  fc.assert(
    fc.property(
      fc.nat(good.length - 1),
      fc.infiniteStream(fc.nat(2 ** 31 - 1)),
      (which, numbers) => {
        const next = () => numbers.next().value;
        const constraint = structuredClone(good[which]);
        for (let i = 0; i < 3; i += 1) {
          const rule = constraint.rules[next() % constraint.rules.length];
          const list = [rule.edges, rule.calls, rule.accepting][next() % 3];
          if (list.length > 0)
            list[next() % list.length] = next() % 2 ? next() % 12 : (next() % 300) - 20;
        }
        made(() => {
          const state = stateOf(tokenizer, 10, constraint);
          for (let i = 0; i < 12 && !state.isOver; i += 1) {
            const [word] = state.mask();
            const ids = Array.from({ length: 10 }, (_, id) => id).filter((id) => (word >> id) & 1);
            state.push(ids[next() % ids.length]);
          }
        });
      },
    ),
    { numRuns: 400 },
  );
});
