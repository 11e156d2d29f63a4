// Any fragment of a link to the page: a state within its limits, whose own link leads to exactly it again, and no
// trace left behind. Beside tests/page/links.test.js, which goes from states to links: here links are
// broken in the ways in which links break.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { join } from 'node:path';
import { build } from 'esbuild';
import fc from 'fast-check';
import { root } from '../support/js/files.js';
import { countInRun } from '../support/js/full.js';
import { about, settings, watchdog } from '../package/fuzz/support/settings.js';

const usual = countInRun(4000, 1500, 'fragments');
const { outputFiles } = await build({
  stdin: {
    contents: `export * from './state/state'; export { MAX_TEXT } from './domain/tokenizer';`,
    resolveDir: join(root, 'web/src'),
    loader: 'ts',
  },
  ...{ bundle: true, write: false, format: 'esm' },
});
const page = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
const { formatFragment, parseFragment, initialState, LIMITS, MAX_TEXT } = page;
const watch = watchdog();
after(watch.stop);

const initial = initialState('en');
const whole =
  '#v=1&lang=zh&p=map&x=cat%20%E7%8C%AB&tok=byte&T=12&src=yours&pe=none&mask=window&tau=0.5&h=3&minus=1&seed=9&' +
  'q=2&show=log&look=arcs&sort=first&k=7&n=1,2;3,4;5,6&rq=1&rm=5&rs=0.5&rmax=0&controls=0';
const keys = [
  ...new URLSearchParams(whole.slice(1)).keys(),
  'zz',
  '__proto__',
  'constructor',
  'hasOwnProperty',
];
const value = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.double().map(String),
  fc.constantFrom(
    ...['', ' ', '%', '%%', '%E4%BD', '%ED%A0%80', '%00', '+', '&', '=', '1e999', '-0', '0x10', '1_0', '١', 'null'],
    ...['1,2;3,4;5,6', '1,2;3,4', ';;', '1,,2;1,2;1,2', '1e400,1;1,1;1,1', 'NaN,1;1,1;1,1', '9'.repeat(400)],
    ...['true', 'undefined', '[object Object]', '__proto__', '\u{1F600}', encodeURIComponent('\u{1F600}').slice(0, 6)],
  ),
  // Where the text is cut there may be half a character.
  fc.nat(3).map((n) => 'a'.repeat(MAX_TEXT - n) + '\u{1F600}\u{1F600}'),
); // prettier-ignore

/** Some keys with some values, some twice. */
const pairs = fc
  .array(fc.tuple(fc.constantFrom(...keys), value), { maxLength: 12 })
  .map((list) => `#v=1&${list.map((pair) => pair.join('=')).join('&')}`);
/** A sound link with a few characters replaced, dropped or doubled, as in mail and chat. */
const broken = fc
  .array(fc.tuple(fc.nat(whole.length - 1), fc.constantFrom('', '%', '&', '=', ';', ',', '\n', '…', '&amp;', '\uD83D')), { minLength: 1, maxLength: 4 })
  .map((faults) => faults.reduce((text, [at, by]) => text.slice(0, at) + by + text.slice(at + 1), whole)); // prettier-ignore
const fragments = fc.oneof(fc.string({ unit: 'binary' }), pairs, broken);

function expectState(state) {
  assert.deepEqual(Object.keys(state).sort(), Object.keys(initial).sort());
  assert.equal(Object.getPrototypeOf(state), Object.prototype);
  for (const [name, was] of Object.entries(initial)) {
    const is = state[name];
    if (is === null || was === null) assert.ok(is === null || typeof is !== 'object', name);
    else assert.equal(typeof is, typeof was, name);
    if (typeof is === 'number') assert.ok(Number.isFinite(is), `${name} is ${is}`);
  }
  for (const [name, [low, high]] of Object.entries(LIMITS)) {
    const is = state[name];
    assert.ok(is === null || (is >= low && is <= high), `${name} is ${is}`);
  }
  assert.ok(state.text.length <= MAX_TEXT, `${state.text.length} characters`);
  assert.ok(state.text.isWellFormed(), 'half a character');
  for (const row of Object.values(state.numbers)) assert.ok(row.every(Number.isFinite));
}

const natives = JSON.stringify(Object.getOwnPropertyNames(Object.prototype));

test('page: any fragment: a state, and its link leads to it again', (t) => {
  t.diagnostic(about(usual));
  expectState(parseFragment(whole, 'en'));
  fc.assert(
    fc.property(fragments, fc.constantFrom('en', 'zh'), (fragment, language) => {
      watch.note(JSON.stringify(fragment));
      const state = parseFragment(fragment, language);
      expectState(state);
      const link = formatFragment(state);
      assert.deepEqual(parseFragment(link, language), state);
      assert.equal(formatFragment(parseFragment(link, 'en')), link);
      assert.equal(JSON.stringify(Object.getOwnPropertyNames(Object.prototype)), natives);
    }),
    settings(usual),
  );
});

// Reading each character once takes a second at most, and for each all others again many hours.
test('page: a fragment of megabytes takes no time', () => {
  const long = 2 ** 22;
  for (const fragment of [
    `#${'&'.repeat(long)}`,
    `#v=1&x=${'%E7%8C%AB'.repeat(long / 8)}`,
    `#v=1&n=${'1,'.repeat(long / 2)};${';'.repeat(long / 2)}`,
    `#v=1&tau=${'9'.repeat(long)}`,
    `#v=1&${'seed=5&'.repeat(long / 8)}`,
  ]) {
    watch.note(fragment.slice(0, 20));
    const start = performance.now();
    expectState(parseFragment(fragment, 'en'));
    const seconds = (performance.now() - start) / 1000;
    assert.ok(seconds < 60, `${fragment.slice(0, 20)} took ${seconds} s`);
  }
});
