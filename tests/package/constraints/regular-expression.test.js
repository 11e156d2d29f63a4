// @build any
// Regular expressions as automata, held to RegExp itself: all short texts, random ones, and walks through the automaton.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { expectThrows } from '../../support/js/check.js';
import { acceptorOf, randomOf, walkerOf } from './support/accepts.js';
import { constraints } from './support/bundle.js';

const { regularExpression } = constraints;

/** All texts of up to so many of these letters. */
function* texts(letters, most) {
  let last = [''];
  yield '';
  for (let length = 1; length <= most; length += 1) {
    last = last.flatMap((text) => letters.map((letter) => text + letter));
    yield* last;
  }
}

/** The same texts, of which RegExp says what is right. */
const wholeOf = (pattern) => {
  const { source, flags } = pattern instanceof RegExp ? pattern : { source: pattern, flags: 'u' };
  return new RegExp(`^(?:${source})$`, flags.replace(/[gy]/g, ''));
};

const patterns = [
  ...[
    '',
    'a',
    'ab',
    'a|b',
    '(a|b)*',
    'a+b?',
    '(?:ab){2,3}',
    'a{0}',
    'a{2}',
    'a{1,}',
    '[ab]c',
    '[^a]',
  ],
  ...[
    '.',
    'a*?b',
    'a+?',
    '(a|ab)(c|bc)',
    '((a))',
    '(?<n>a)b',
    '|a',
    '(a*)*',
    '(a*)+',
    '(a|)*b',
    '()',
  ],
  ...[
    '^a$',
    '^a|b$',
    '(^a|b)c',
    '(?:^|a)b',
    'a($|b)',
    '^^a',
    'a$$',
    '^$',
    '$^',
    '^',
    '(^)*a',
    'a(b|$)c*',
  ],
  ...[
    '(?:a{2}){2}',
    '(?:a?){3}',
    '(?:a?b){0,2}c',
    '[a-c]{2,}',
    '(a|b)*abb',
    '(?:a|b)*a(?:a|b){3}',
    '\\x61',
    '\\u0062',
  ],
  ...[
    '\\d',
    '\\D\\d',
    '\\w+',
    '\\W',
    '\\s',
    '\\S\\s',
    '[\\d]',
    '[^\\d]',
    '[\\w-]',
    '[\\s\\S]',
    'a\\.b',
    '[.]',
    '\\/',
  ],
];

describe('regularExpression: every text of up to six letters', () => {
  for (const pattern of patterns) {
    test(JSON.stringify(pattern), () => {
      const accepts = acceptorOf(regularExpression(pattern));
      const whole = wholeOf(pattern);
      for (const text of texts(['a', 'b', 'c', '0'], 5))
        assert.equal(accepts(text), whole.test(text), JSON.stringify(text));
      for (const text of texts(['a', '\n', ' ', '.', '/', '-', 'é', '中', '😀', '\u2028'], 3))
        assert.equal(accepts(text), whole.test(text), JSON.stringify(text));
    });
  }
});

const sets = [
  /\p{Lu}/u,
  /\P{L}/u,
  /[\p{L}\d]/u,
  /[^\p{L}]/u,
  /./s,
  /./,
  /[a-z]/iu,
  /k/iu,
  /\u{1f600}/iu,
  /\w/iu,
  /\W/iu,
  /[^k]/iu,
  /ſ/i,
  /[\p{L}--[a-z]]/v,
  /[\w&&\d]/v,
  /[^\d]/v,
  /\p{Script=Han}/u,
  /\s/u,
  /[\u{10000}-\u{10ffff}]/u,
  /[\ud800-\udfff\u{e000}]/u,
  /[\u07ff-\u0800\ufffe-\u{10001}]/u,
];

test('regularExpression: sets of letters are those of RegExp, of each letter there is', () => {
  for (const pattern of sets) {
    const accepts = acceptorOf(regularExpression(pattern));
    const flags = /[uv]/.test(pattern.flags) ? pattern.flags : `${pattern.flags}u`;
    const whole = new RegExp(`^(?:${pattern.source})$`, flags);
    // Every letter where things change, and of the others some.
    const step = (codePoint) =>
      codePoint < 0x3100 ? 1 : codePoint > 0xfe00 && codePoint < 0x11000 ? 1 : 97;
    for (let codePoint = 0; codePoint <= 0x10ffff; codePoint += step(codePoint)) {
      if (codePoint >= 0xd800 && codePoint < 0xe000) continue;
      const letter = String.fromCodePoint(codePoint);
      const [is, should] = [accepts(letter), whole.test(letter)];
      assert.equal(is, should, `${pattern} ${codePoint.toString(16)}`);
    }
  }
});

test('regularExpression: bytes that are no UTF-8 are in no text', () => {
  const accepts = acceptorOf(regularExpression(/[^]*/));
  for (const bytes of [
    [0x80],
    [0xc0, 0x80],
    [0xed, 0xa0, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
    [0xe4, 0xb8],
    [0xff],
    [0xf8, 0x88, 0x80, 0x80, 0x80],
  ])
    assert.equal(accepts(Uint8Array.from(bytes)), false, `${bytes}`);
  assert.equal(accepts('中😀\u{10ffff}\ue000\ud7ff'), true);
});

/** Patterns of random structure. */
const { pattern: anyPattern } = fc.letrec((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^a]', '\\d', 'é', '😀', '^', '$', ''),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '*?', '{2}', '{0,2}', '{1,3}', '{2,}'))
      .map(([a, sign]) => `(?:${a})${sign}`),
  ),
}));

test('regularExpression: patterns of any structure, random texts, walks, and walks with a letter changed', () => {
  const letters = fc.array(fc.constantFrom('a', 'b', 'c', '0', 'é', '😀', '\n'), { maxLength: 8 });
  fc.assert(
    fc.property(
      anyPattern,
      fc.array(letters, { maxLength: 20 }),
      fc.integer(),
      (pattern, all, seed) => {
        const whole = wholeOf(pattern);
        let constraint;
        try {
          constraint = regularExpression(pattern);
        } catch (error) {
          // Where an anchor stands in the middle there may be no text.
          assert.match(error.message, /allows no text/);
          for (const each of all) assert.equal(whole.test(each.join('')), false, pattern);
          return;
        }
        const accepts = acceptorOf(constraint);
        for (const each of all)
          assert.equal(accepts(each.join('')), whole.test(each.join('')), `${pattern} ${each}`);
        const [walk, random] = [walkerOf(constraint), randomOf(seed)];
        for (let i = 0; i < 5; i += 1) {
          const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
            walk(random, 20),
          );
          assert.equal(whole.test(text), true, `${pattern}: ${JSON.stringify(text)}`);
          const at = Math.floor(random() * (text.length + 1));
          const changed =
            text.slice(0, at) +
            'abc0'.charAt(Math.floor(4 * random())) +
            text.slice(at + Math.floor(2 * random()));
          if (changed.isWellFormed?.() ?? true)
            assert.equal(
              accepts(changed),
              whole.test(changed),
              `${pattern}: ${JSON.stringify(changed)}`,
            );
        }
      },
    ),
    { numRuns: 300 },
  );
});

describe('regularExpression: refused', () => {
  for (const [pattern, code, ...says] of [
    [/a(?=b)/, 'unsupported', 'a lookahead, "(?=b)", at position 1'],
    [/(?!b)a/, 'unsupported', 'a lookahead', 'position 0'],
    [/(?<=b)a/, 'unsupported', 'a lookbehind'],
    [/(?<!b)a/, 'unsupported', 'a lookbehind'],
    [/(a)\1/, 'unsupported', 'a reference to a group', 'position 3'],
    [/(?<n>a)\k<n>/, 'unsupported', 'a reference to a group'],
    [/a\b/, 'unsupported', 'a boundary of words', 'position 1'],
    [/\Ba/, 'unsupported', 'a boundary of words'],
    [/^a/m, 'unsupported', 'the flag m'],
    ['a{20000}', 'unsupported', 'the number 20000', 'at most 10000'],
    ['(?:a{9000}){9000}', 'unsupported', 'more than 100000 states'],
    [/\p{RGI_Emoji}/v, 'unsupported', 'a property of texts'],
    [/[\q{ab}]/v, 'unsupported', 'texts of several letters'],
    ['('.repeat(20_000) + ')'.repeat(20_000), 'invalid_argument', 'no pattern'],
    ['(', 'invalid_argument', 'no pattern', 'Unterminated group'],
    [new RegExp('\\-'), 'invalid_argument', 'no pattern with the flags u'],
    ['a^b', 'invalid_argument', 'allows no text'],
    ['[]', 'invalid_argument', 'allows no text'],
    [/[\ud800]/u, 'invalid_argument', 'allows no text'],
    [7, 'invalid_argument', 'pattern is 7'],
    [null, 'invalid_argument', 'pattern is null'],
    ['a'.repeat(100_001), 'invalid_argument', '100001 letters'],
  ]) {
    test(String(pattern).slice(0, 30), () => {
      expectThrows(() => regularExpression(pattern), 'regularExpression', code, ...says);
    });
  }
});

test('regularExpression: the constraint is plain, frozen data that can be copied', () => {
  const constraint = regularExpression(/a+/);
  assert.deepEqual(structuredClone(constraint), constraint);
  assert.ok(
    Object.isFrozen(constraint) &&
      Object.isFrozen(constraint.rules) &&
      Object.isFrozen(constraint.rules[0]),
  );
});

test('regularExpression: a pattern whose deterministic automaton would be huge stays one with choices', () => {
  for (const source of [
    '[ab]*a[ab]{40}',
    '(?:^|c)[ab]*a[ab]{40}(?:$|c)',
    'c(?:^|d)|[ab]*a[ab]{40}$',
  ]) {
    const constraint = regularExpression(source);
    assert.ok(constraint.rules[0].states < 1000, `${constraint.rules[0].states} states`);
    const accepts = acceptorOf(constraint);
    for (const text of [
      `ba${'b'.repeat(40)}`,
      `b${'b'.repeat(40)}`,
      `a${'a'.repeat(60)}`,
      `ca${'b'.repeat(40)}c`,
      'a',
      'cd',
      '',
    ])
      assert.equal(
        accepts(text),
        new RegExp(`^(?:${source})$`, 'u').test(text),
        `${source} ${text}`,
      );
  }
});
