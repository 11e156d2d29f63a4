// @build any
// Masks of tokens, held to what a constraint takes by its definition: for each token its bytes are put behind the text, and whether a text of
// the constraint begins so is asked of its rules.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectThrows } from '../../support/js/check.js';
import { countInRun } from '../../support/js/full.js';
import { acceptorOf, randomOf, rulesOf } from './support/accepts.js';
import { constraints } from './support/bundle.js';
import { judgeOf, schemas } from './support/schemas.js';
import {
  byteLevel,
  letterByLetter,
  stateOf,
  tokenizerOf,
  tokensIn,
} from './support/vocabularies.js';

const { jsonSchema, regularExpression } = constraints;

/** What says of bytes whether a text of the constraint begins with them, by going all ways at once. Every state must lead to an end. */
function beginnerOf(constraint) {
  const rules = rulesOf(constraint);
  /** All configurations that need no byte more, as texts: rule and state, and those after the calls around. */
  const closed = (from) => {
    const all = new Map(from.map((each) => [JSON.stringify(each), each]));
    for (const [[rule, state], ...rest] of all.values()) {
      const { calls, isEnd } = rules[rule][state];
      const more = calls.map(([inner, to]) => [[inner, 0], [rule, to], ...rest]);
      if (isEnd && rest.length > 0) more.push(rest);
      for (const each of more) all.set(JSON.stringify(each), each);
    }
    return [...all.values()];
  };
  const begin = closed([[[0, 0]]]);
  const step = (configurations, byte) =>
    closed(
      configurations.flatMap(([[rule, state], ...rest]) =>
        rules[rule][state].edges
          .filter(([low, high]) => byte >= low && byte <= high)
          .map(([, , to]) => [[rule, to], ...rest]),
      ),
    );
  const isEnd = (configurations) =>
    configurations.some(
      ([[rule, state], ...rest]) => rest.length === 0 && rules[rule][state].isEnd,
    );
  return { begin, step, isEnd };
}

/** Follows a text of random tokens, and compares each mask. */
function compare(constraint, { tokenizer, vocabulary, end }, seed, steps, isLikely = () => true) {
  const random = randomOf(seed);
  const state = stateOf(tokenizer, vocabulary, constraint, [end]);
  const { begin, step, isEnd } = beginnerOf(constraint);
  let now = begin;
  for (let count = 0; count < steps && !state.isOver; count += 1) {
    const allowed = tokensIn(state.mask(), vocabulary);
    const expected = [];
    for (let id = 0; id < vocabulary; id += 1) {
      if (id === end) {
        if (isEnd(now)) expected.push(id);
        continue;
      }
      let at = now;
      const bytes = tokenizer.bytesOf(id) ?? [];
      for (const byte of bytes) if (at.length > 0) at = step(at, byte);
      if (bytes.length > 0 && at.length > 0) expected.push(id);
    }
    assert.deepEqual(allowed, expected, `after ${count} tokens`);
    const likely = allowed.filter(isLikely);
    const among = likely.length > 0 ? likely : allowed;
    const id = among[Math.floor(random() * among.length)];
    state.push(id);
    if (id === end) return;
    for (const byte of tokenizer.bytesOf(id)) now = step(now, byte);
  }
}

const [bytes, letters] = [byteLevel(), letterByLetter()];

describe('ConstraintState: masks are what the rules allow of each token', () => {
  for (const [name, schema] of Object.entries(schemas)) {
    test(name, () => {
      const isLong = name === 'a long string';
      for (const whitespace of ['single', 'free'])
        compare(jsonSchema(schema, { whitespace }), bytes, 11, isLong ? 3 : 10);
      compare(jsonSchema(schema), letters, 12, isLong ? 3 : 8);
    });
  }
  for (const pattern of [
    /a*b|[^a]{2}\n/,
    /(中|😀|é)+/,
    /[ab]*a[ab]{40}/,
    /(?:\d{1,3},)*\d{3}/,
    /\p{L}+ the/u,
  ]) {
    test(String(pattern), () => {
      for (const seed of [1, 2, 3]) compare(regularExpression(pattern), bytes, seed, 12);
    });
  }
});

describe('ConstraintState: masks of strings that count their letters, letter by letter to their end', () => {
  // Tokens of each number of bytes up to 40, of one, two and four bytes a letter, with an escape and with the end of a string in them.
  const words = Array.from({ length: 40 }, (_, i) => [
    'abc'.repeat(14).slice(0, i + 1),
    ...(i % 3 === 0 ? ['é'.repeat(i / 3 + 1), `${'b'.repeat(i)}"`, `a\\n${'c'.repeat(i)}`] : []),
    ...(i % 8 === 0 ? ['😀'.repeat(i / 8 + 1)] : []),
  ]).flat();
  const tokens = [...'"[]{}:, ', '\\', ...words];
  const vocabulary = { tokenizer: tokenizerOf([...tokens, '']), vocabulary: tokens.length + 1, end: tokens.length };
  for (const schema of [
    { type: 'string', maxLength: 70 },
    { type: 'string', minLength: 45 },
    { type: 'string', minLength: 20, maxLength: 60, pattern: '^[abcé]*$' },
    // As many edges in each state, with other letters.
    { type: 'array', prefixItems: ['^[ab]*$', '^[bc]*$'].map((pattern) => ({ type: 'string', pattern, maxLength: 15 })), minItems: 2 },
    { type: 'array', items: { type: 'string', maxLength: 12 }, minItems: 2, maxItems: 2 },
  ])
    test(JSON.stringify(schema), () => {
      // Short tokens are likelier, as what has few letters left is what it is about.
      for (const seed of [1, 2]) compare(jsonSchema(schema, { whitespace: 'none' }), vocabulary, seed, 90, isShort);
    });

  test('two strings with other limits do not have each other’s masks', () => {
    const schema = { type: 'array', prefixItems: [{ type: 'string', maxLength: 33 }, { type: 'string', maxLength: 39, minLength: 2 }], minItems: 2 };
    compare(jsonSchema(schema, { whitespace: 'none' }), vocabulary, 5, 90, isShort);
  });
  function isShort(id) {
    return (tokens[id]?.length ?? 9) < 3 && tokens[id] !== '"';
  }
}); // prettier-ignore

/** A text of random tokens up to so many; the more there are, the likelier one is that ends something. */
function generated(constraint, { tokenizer, vocabulary, end }, seed, most) {
  const random = randomOf(seed);
  const state = stateOf(tokenizer, vocabulary, constraint, [end]);
  const all = [];
  for (let count = 0; count < most && !state.isOver; count += 1) {
    const allowed = tokensIn(state.mask(), vocabulary);
    const isClosing = (id) =>
      id === end || /["\]}0-9]/.test(String.fromCharCode(...(tokenizer.bytesOf(id) ?? [])));
    const closing = allowed.filter(isClosing);
    const few = closing.length > 0 && random() * most < 3 * count ? closing : allowed;
    const id = few[Math.floor(random() * few.length)];
    state.push(id);
    if (id !== end) all.push(...tokenizer.bytesOf(id));
  }
  return { bytes: Uint8Array.from(all), isWhole: state.isOver };
}

describe('ConstraintState: random tokens never leave a schema', () => {
  const names = Object.keys(schemas);
  const seeds = countInRun(1000, 100, 'seeds of random tokens');
  for (const [what, vocabulary] of [
    ['pairs of bytes', bytes],
    ['letters', letters],
  ]) {
    test(`${seeds} seeds, ${what}`, (t) => {
      let whole = 0;
      const all = names.map((name, i) => ({
        name,
        judge: judgeOf(schemas[name]),
        constraint: jsonSchema(schemas[name], { whitespace: ['none', 'single', 'free'][i % 3] }),
      }));
      for (let seed = 0; seed < seeds; seed += 1) {
        const { name, judge, constraint } = all[seed % all.length];
        const text = generated(constraint, vocabulary, seed, 120);
        if (text.isWhole) {
          whole += 1;
          const decoded = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
            text.bytes,
          );
          assert.ok(judge(JSON.parse(decoded)), `${name}, seed ${seed}: ${decoded}`);
          assert.ok(acceptorOf(constraint)(text.bytes));
        } else {
          // What was said is the begin of a document of the schema.
          const { begin, step } = beginnerOf(constraint);
          const last = text.bytes.reduce((now, byte) => step(now, byte), begin);
          assert.ok(last.length > 0, `${name}, seed ${seed}`);
        }
      }
      t.diagnostic(`${whole} of ${seeds} documents are whole`);
      assert.ok(whole >= 0.7 * seeds, `${whole} documents are whole`);
    });
  }
});

const nested = {
  $ref: '#/$defs/a',
  $defs: { a: { anyOf: [{ type: 'array', items: { $ref: '#/$defs/a' } }, { const: 1 }] } },
};

describe('ConstraintState', () => {
  const tokens = ['a', 'b', 'ab', '\n', undefined, '', [0xe4], [0xb8, 0xad], 'END'];
  const make = (pattern, ends = [8]) =>
    stateOf(tokenizerOf(tokens), tokens.length, regularExpression(pattern), ends);
  const allowed = (state) => tokensIn(state.mask(), tokens.length);

  test('tokens that end the text may come where it may end, whatever their own text is', () => {
    const state = make(/(ab)*/);
    assert.deepEqual(allowed(state), [0, 2, 8]);
    state.push(2);
    assert.equal(state.isOver, false);
    state.push(8);
    assert.equal(state.isOver, true);
    assert.deepEqual([...state.mask()], [0]);
    expectThrows(
      () => state.push(0),
      'generate',
      'invalid_argument',
      'token 0 after "ab"',
      'the text is over',
    );
    assert.deepEqual(allowed(make(/a|END/)), [0]);
    assert.deepEqual(allowed(make(/a|END/, [])), [0, 8]);
    assert.deepEqual(allowed(make(/(ab)*/, [4, 100, -1])), [0, 2, 4]);
  });
  test('a text that is whole and cannot go on is over', () => {
    const state = make(/ab|ba/);
    assert.deepEqual([state.isOver, allowed(state)], [false, [0, 1, 2]]);
    state.push(0);
    assert.deepEqual([state.isOver, allowed(state)], [false, [1]]);
    state.push(1);
    assert.deepEqual([state.isOver, allowed(state)], [true, [8]]);
    assert.equal(make('').isOver, true);
  });
  test('bytes of a letter in several tokens', () => {
    const state = make(/中a/);
    assert.deepEqual(allowed(state), [6]);
    state.push(6);
    assert.deepEqual(allowed(state), [7]);
    state.push(7);
    assert.deepEqual(allowed(state), [0]);
  });
  test('a token that may not come changes nothing', () => {
    const state = make(/aba/);
    for (const id of [1, 3, 4, 5, 8, 9, -1, 1.5])
      expectThrows(
        () => state.push(id),
        'generate',
        'invalid_argument',
        `token ${id} at the beginning`,
      );
    state.push(2);
    expectThrows(() => state.push(1), 'generate', 'invalid_argument', 'token 1 after "ab"');
    assert.deepEqual(allowed(state), [0]);
  });
  test('where no token can go on, the message says what was said and what may come', () => {
    const state = make(/a[cd]/);
    state.push(0);
    expectThrows(() => state.mask(), 'generate', 'unsupported', 'after "a"', 'has c d');
    expectThrows(
      () => make('[\\0!-_]?é', []).mask(),
      'generate',
      'unsupported',
      'at the beginning of the text',
      '<00> ! "',
    );
    expectThrows(
      () => make(/(c)*/, []).mask(),
      'generate',
      'unsupported',
      'or the end of the text',
    );
  });
  test('several generations share what was made, and are each where they are', () => {
    const constraint = regularExpression(/a*b/);
    const tokenizer = tokenizerOf(tokens);
    const [one, two] = [1, 2].map(() => stateOf(tokenizer, 9, constraint, [8]));
    one.push(2);
    assert.deepEqual([one.isOver, two.isOver], [true, false]);
    assert.deepEqual([allowed(two), allowed(one)], [[0, 1, 2], [8]]);
    // The constraint was read when each began.
    constraint.rules[0].edges.fill(98);
    assert.deepEqual(allowed(two), [0, 1, 2]);
  });
  test('a constraint that differs from an earlier one in one number is another', () => {
    const tokenizer = tokenizerOf(tokens);
    const S = {
      states: 3,
      edges: Int32Array.of(0, 97, 97, 1, 1, 98, 98, 2),
      calls: Int32Array.of(1, 1, 2),
      accepting: Int32Array.of(2),
    };
    const T = {
      states: 2,
      edges: Int32Array.of(0, 10, 10, 1),
      calls: new Int32Array(),
      accepting: Int32Array.of(1),
    };
    const afterA = (...rules) => {
      const state = stateOf(tokenizer, 9, { type: 'qkv-constraint-1', rules }, [8]);
      state.push(0);
      return allowed(state);
    };
    assert.deepEqual(afterA(S, T), [1, 3]);
    assert.deepEqual(afterA({ ...S, accepting: Int32Array.of(1, 2) }, T), [1, 3, 8]);
    assert.deepEqual(afterA({ ...S, calls: new Int32Array() }, T), [1]);
    assert.deepEqual(afterA({ ...S, edges: Int32Array.of(0, 97, 97, 1, 1, 97, 97, 2) }, T), [0, 3]);
    assert.deepEqual(afterA(S, { ...T, edges: Int32Array.of(0, 98, 98, 1) }), [1]);
    assert.deepEqual(afterA(S, T), [1, 3]);
  });
  test('the same constraint for several vocabularies', () => {
    const constraint = regularExpression(/ab/);
    const [one, two] = [
      ['a', 'b'],
      ['x', 'ab', 'a'],
    ].map((list) => stateOf(tokenizerOf(list), list.length, constraint));
    assert.deepEqual([tokensIn(one.mask(), 2), tokensIn(two.mask(), 3)], [[0], [1, 2]]);
  });
  test('states that lead to no end are not entered, whoever made the rules', () => {
    const dead = {
      states: 4,
      edges: Int32Array.of(0, 97, 97, 1, 0, 98, 98, 2, 1, 98, 98, 3),
      calls: Int32Array.of(0, 1, 1),
      accepting: Int32Array.of(1),
    };
    // A rule that calls only itself has no text.
    const endless = {
      states: 3,
      edges: Int32Array.of(0, 10, 10, 1),
      calls: Int32Array.of(1, 1, 2),
      accepting: Int32Array.of(2),
    };
    const state = stateOf(
      tokenizerOf(tokens),
      9,
      { type: 'qkv-constraint-1', rules: [dead, endless] },
      [8],
    );
    assert.deepEqual(allowed(state), [0]);
    state.push(0);
    assert.equal(allowed(state).join(), '8');
  });
  test('a copy of a constraint, as a worker gets it, is as good', () => {
    const copy = structuredClone(regularExpression(/ab/));
    assert.deepEqual(allowed(stateOf(tokenizerOf(tokens), 9, copy, [8])), [0, 2]);
  });
  test('long texts: what is kept is bounded, and masks stay right', () => {
    const constraint = jsonSchema(nested, { whitespace: 'none' });
    const vocabulary = ['[', ']', '1', ',', '[[', ']]', '1,', ',1', '],[', ']],[['];
    const tokenizer = tokenizerOf(vocabulary);
    const state = stateOf(tokenizer, 11, constraint, [10]);
    const { begin, step, isEnd } = beginnerOf(constraint);
    const random = randomOf(5);
    let now = begin;
    let depth = 0;
    for (let count = 0; count < 12_000; count += 1) {
      const ids = tokensIn(state.mask(), 11);
      if (count % 100 === 0) {
        const expected = vocabulary.flatMap((text, id) =>
          Array.from(text).reduce((at, letter) => step(at, letter.charCodeAt(0)), now).length > 0
            ? [id]
            : [],
        );
        assert.deepEqual(ids, isEnd(now) ? [...expected, 10] : expected, `${count}`);
      }
      // About as deep as 20.
      const open = ids.filter(
        (id) =>
          id < 10 &&
          !(depth > 20 && /^\[/.test(vocabulary[id])) &&
          !(depth < 4 && /\]/.test(vocabulary[id])) &&
          !(depth === 0 && id === 2),
      );
      const id = open[Math.floor(random() * open.length)];
      for (const letter of vocabulary[id]) {
        depth += letter === '[' ? 1 : letter === ']' ? -1 : 0;
        now = step(now, letter.charCodeAt(0));
      }
      state.push(id);
    }
    assert.equal(state.isOver, false);
  });
  for (const [what, schema, leaf, fewest] of [
    ['arrays', nested, '', 250],
    // Each has an element, which is a rule of its own: the last array must leave room for one.
    [
      'arrays that are not empty',
      {
        $ref: '#/$defs/a',
        $defs: {
          a: {
            anyOf: [
              { type: 'array', items: { $ref: '#/$defs/a' }, minItems: 1 },
              {
                type: 'object',
                properties: { a: { type: 'array', items: { type: 'null' }, minItems: 1 } },
                required: ['a'],
              },
            ],
          },
        },
      },
      '{"a":[null]}',
      120,
    ],
  ]) {
    test(`so deep that no more calls are allowed: what is open can be closed (${what})`, () => {
      const tokens = ['[', ']', '[[', '[[[[[[[[', ...'{"a":nul}'];
      const state = stateOf(
        tokenizerOf(tokens),
        tokens.length,
        jsonSchema(schema, { whitespace: 'none' }),
        [],
      );
      const may = (text) => tokensIn(state.mask(), tokens.length).includes(tokens.indexOf(text));
      let depth = 0;
      for (const text of ['[[[[[[[[', '[[', '[']) {
        for (; may(text); depth += text.length) state.push(tokens.indexOf(text));
        for (const longer of tokens.slice(0, 4))
          if (longer.startsWith(text)) assert.equal(may(longer), false, longer);
      }
      assert.ok(depth >= fewest && depth <= 260, `${depth} levels`);
      for (const letter of leaf + ']'.repeat(depth)) {
        assert.ok(may(letter), letter);
        state.push(tokens.indexOf(letter));
      }
      assert.equal(state.isOver, true);
    });
  }
  test('what is kept of a long text is bounded', () => {
    const { Masks, vocabularyOf, mostKept } = constraints;
    // Two kinds of brackets: of so many in each other there are 2^n places.
    const S = {
      states: 4,
      edges: Int32Array.from(
        ['0(1', '1)2', '0<3', '3>2'].flatMap(([from, letter, to]) => [
          Number(from),
          letter.charCodeAt(0),
          letter.charCodeAt(0),
          Number(to),
        ]),
      ),
      calls: Int32Array.of(1, 0, 1, 3, 0, 3),
      accepting: Int32Array.of(2),
    };
    const list = ['(', '<', ')', '>'];
    const masks = new Masks(
      'generate',
      { type: 'qkv-constraint-1', rules: [S] },
      vocabularyOf('generate', tokenizerOf(list), 4),
    );
    const random = randomOf(3);
    let place = masks.walker.begin();
    let eras = 0;
    let isOpening = true;
    for (let count = 0; count < 200_000 && eras < 2; count += 1) {
      const now = masks.current(place);
      if (now !== place) {
        eras += 1;
        // Nothing of before hangs on it.
        assert.ok(now.next.every((next) => next === undefined) && masks.walker.kept < 1000);
      }
      assert.ok(masks.walker.kept <= mostKept + 300);
      const ids = tokensIn(masks.of(now), 4);
      const { depth } = now.frames[now.frames.length - 1];
      // Up to 90 brackets, and down to 8.
      if (depth > 90 || depth < 8) isOpening = depth < 8;
      const few = ids.filter((id) => id < 2 === isOpening);
      const id = few[Math.floor(random() * few.length)];
      place = masks.walker.step(now, masks.walker.classOf[list[id].charCodeAt(0)]);
    }
    assert.equal(eras, 2);
  });
});

describe('ConstraintState: refused', () => {
  const tokenizer = tokenizerOf(['a']);
  const good = regularExpression('a');
  const [rule] = good.rules;
  const with_ = (more) => ({ ...good, rules: [{ ...rule, ...more }] });
  for (const [what, constraint, code, ...says] of [
    ['null', null, 'invalid_argument', 'constraint is null', 'qkv/constraints'],
    ['a RegExp', /a/, 'invalid_argument', 'constraint is RegExp'],
    ['another type', { ...good, type: 'x' }, 'invalid_argument', 'constraint is Object'],
    ['no rules', { ...good, rules: [] }, 'invalid_argument', 'rules are an array'],
    ['rules that are none', { ...good, rules: {} }, 'invalid_argument', 'rules are Object'],
    ['a rule that is none', { ...good, rules: [3] }, 'invalid_argument', 'constraint.rules[0] is 3'],
    ['no states', with_({ states: 0 }), 'out_of_range', 'constraint.rules[0].states is 0'],
    ['too many states', with_({ states: 2 ** 21 }), 'out_of_range', 'constraint.rules[0].states'],
    ['states in parts', with_({ states: 1.5 }), 'invalid_argument', 'constraint.rules[0].states is 1.5'],
    ['edges that are a list', with_({ edges: [0, 97, 97, 1] }), 'invalid_argument', 'constraint.rules[0].edges is an array', 'Int32Array of 4 numbers'],
    ['half an edge', with_({ edges: Int32Array.of(0, 97) }), 'invalid_argument', 'edges is 2 numbers'],
    ['an edge from nowhere', with_({ edges: Int32Array.of(2, 97, 97, 1) }), 'out_of_range', 'edges[0] is 2', '0 to 1'],
    ['an edge to nowhere', with_({ edges: Int32Array.of(0, 97, 97, -1) }), 'out_of_range', 'edges[3] is -1'],
    ['a byte that is none', with_({ edges: Int32Array.of(0, 97, 256, 1) }), 'out_of_range', 'edges[2] is 256'],
    ['a call of nothing', with_({ calls: Int32Array.of(0, 1, 1) }), 'out_of_range', 'calls[1] is 1'],
    ['a call to nowhere', with_({ calls: Int32Array.of(0, 0, 9) }), 'out_of_range', 'calls[2] is 9'],
    ['an end that is none', with_({ accepting: Int32Array.of(7) }), 'out_of_range', 'accepting[0] is 7'],
    ['no accepting', with_({ accepting: undefined }), 'invalid_argument', 'accepting is undefined'],
    ['no text', with_({ accepting: new Int32Array() }), 'invalid_argument', 'no text'],
    ['a rule that calls itself first', with_({ calls: Int32Array.of(0, 0, 1) }), 'unsupported', 'calls itself before it takes a byte'],
    ['a rule that calls itself after one that may be empty', { ...good, rules: [{ states: 3, edges: Int32Array.of(0, 97, 97, 2), calls: Int32Array.of(0, 1, 1, 1, 0, 2), accepting: Int32Array.of(2) }, { states: 1, edges: new Int32Array(), calls: new Int32Array(), accepting: Int32Array.of(0) }] }, 'unsupported', 'calls itself before it takes a byte'],
    ['many states in all', { ...good, rules: [rule, { ...rule, states: 2 ** 20 }] }, 'out_of_range', 'the states of constraint'],
    ['what cannot be read', { get type() { throw new Error('no'); } }, 'invalid_argument', 'constraint cannot be read'],
  ]) {
    test(what, () => {
      expectThrows(() => stateOf(tokenizer, 1, constraint), 'generate', code, ...says);
    });
  } // prettier-ignore

  test('rules that say the same in too many ways', () => {
    // S: a | a S b | a S c, which after n letters has 2^n ways to go on.
    const S = {
      states: 5,
      edges: Int32Array.of(0, 97, 97, 1, 2, 98, 98, 4, 3, 99, 99, 4),
      calls: Int32Array.of(1, 0, 2, 1, 0, 3),
      accepting: Int32Array.of(1, 4),
    };
    const state = stateOf(tokenizerOf(['a'.repeat(30), 'a']), 2, { type: good.type, rules: [S] });
    expectThrows(() => {
      for (let i = 0; i < 400; i += 1) {
        state.mask();
        state.push(0);
      }
    }, 'generate', 'unsupported', 'more than 4096 ways'); // prettier-ignore
  });
  test('tokenizers', () => {
    const { bytesOf: _, ...without } = tokenizer;
    expectThrows(() => stateOf(without, 1, good), 'generate', 'unsupported', 'the tokenizer has no bytesOf()', 'tokenizer.json');
    expectThrows(() => stateOf(undefined, 1, good), 'generate', 'invalid_argument', 'constraint is given and the model has no tokenizer');
    for (const bytes of ['a', null, [97], new Uint8Array(70_000)])
      expectThrows(() => stateOf({ ...tokenizer, bytesOf: () => bytes }, 1, good), 'generate', 'invalid_argument', 'tokenizer.bytesOf(0) is');
    const thrower = { ...tokenizer, bytesOf() { throw new Error('no'); } };
    expectThrows(() => stateOf(thrower, 1, good), 'generate', 'invalid_argument', 'tokenizer.bytesOf(0) cannot be read (Error: no)');
  }); // prettier-ignore
});
