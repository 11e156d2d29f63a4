// Fields of the state and marks of the texts, in Node: what each kind of field reads and writes, and what becomes of each mark.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules('state/field', 'state/page', 'state/state', 'i18n/markup');
const { choice, clamp, flag, integer, number, optional, optionalNumber, significant } = web;
const { clampTemperature, PAGE_FIELDS, parseRich, richNodes } = web;
const { setLanguage, addTexts, textOf, defaultText, translate, LANGUAGES } = web;
afterEach(leave);

describe('state: fields', () => {
  const reads = (field, raws) => raws.map((raw) => field.read(raw));
  test('numbers are between their limits', () => {
    assert.deepEqual([-1, 0, 1, 2, 3, 4].map((value) => clamp(value, [1, 3])), [1, 1, 1, 2, 3, 3]); // prettier-ignore
    assert.deepEqual([significant(1.23456, 3), significant(0, 3), significant(-98765, 2)], [1.23, 0, -99000]); // prettier-ignore
    const field = number('a', 2, [1, 3], (value) => value * 10);
    assert.deepEqual([field.key, field.initial, field.limits, field.write(0.5)], ['a', 2, [1, 3], '0.5']); // prettier-ignore
    const raws = ['1', ' 2 ', '', ' ', 'x', 'Infinity', 'NaN', '1e1', '0'];
    const none = undefined;
    assert.deepEqual(reads(field, raws), [10, 20, none, none, none, none, none, 100, 0]);
    const whole = integer('b', 1, [-2, 4]);
    assert.deepEqual(reads(whole, ['2.5', '2.4', '9', '-9', '-0.2']), [3, 2, 4, -2, 0]);
    assert.ok(Object.is(whole.read('-0.2'), 0));
    assert.deepEqual([whole.key, whole.initial, whole.limits], ['b', 1, [-2, 4]]);
  });

  test('what is optional may be nothing, which is not written', () => {
    const field = optionalNumber(integer('b', 1, [0, 4]));
    assert.deepEqual([field.initial, field.limits, field.key], [null, [0, 4], 'b']);
    assert.deepEqual([field.write(null), field.write(0), field.write(3)], ['', '0', '3']);
    assert.deepEqual(reads(field, ['3', '']), [3, undefined]);
    const name = optional(choice('c', 'one', ['one', 'two']));
    assert.deepEqual([name.write(null), name.write('two'), name.read('two')], ['', 'two', 'two']);
  });

  test('choices and flags are what they can be', () => {
    const field = choice('c', 'one', ['one', 'two']);
    assert.deepEqual([field.key, field.initial, field.options], ['c', 'one', ['one', 'two']]);
    assert.deepEqual(reads(field, ['one', 'two', 'three', '']), [
      'one',
      'two',
      undefined,
      undefined,
    ]);
    assert.equal(field.write('two'), 'two');
    const yes = flag('d', true);
    assert.deepEqual([yes.key, yes.initial, yes.options], ['d', true, [true, false]]);
    assert.deepEqual(reads(yes, ['1', '0', 'true', '']), [true, false, undefined, undefined]);
    assert.deepEqual([true, false].map(yes.write), ['1', '0']);
  });

  test('a text of the page is cut where a link would be too long, between characters', () => {
    const { read, write } = PAGE_FIELDS.text;
    for (const how of [read, write]) {
      assert.equal(how('x'.repeat(2001)).length, 2000);
      assert.equal(how(`${'x'.repeat(1999)}\u{1f600}`).at(-1), '\ufffd');
    }
    assert.equal(read('a\ud800b\u{1f600}'), 'a\ufffdb\u{1f600}');
    assert.deepEqual([0.12345, 0, 99, 12.345, 1].map(clampTemperature), [0.123, 0.05, 20, 12.3, 1]); // prettier-ignore
  });
});

describe('texts: marks', () => {
  test('each has its kind, and all else is text', () => {
    const kinds = (source) => parseRich(source).map(({ kind, text }) => `${kind}:${text}`);
    for (const [source, parts] of [
      ['', []],
      ['a', ['text:a']],
      ['`a`', ['code:a']],
      ['*a*b', ['em:a', 'text:b']],
      ['a~b~', ['text:a', 'sub:b']],
      ['[q|a] [k|b][v|c][o|d][p|e f]', ['q:a', 'text: ', 'k:b', 'v:c', 'o:d', 'p:e f']],
      ['[x|a] `` ** ~~ [q|]', ['text:[x|a] `` ** ~~ [q|]']],
      ['a `b` c *d* e', ['text:a ', 'code:b', 'text: c ', 'em:d', 'text: e']],
      ['a * b', ['text:a * b']],
    ]) {
      assert.deepEqual(kinds(source), parts, source);
    }
  });

  test('each becomes an element', () => {
    const box = document.createElement('p');
    box.append(...richNodes('a `b` *c* d~e~ [q|f] <g>'));
    assert.equal(
      box.innerHTML,
      'a <code>b</code> <em>c</em> d<sub>e</sub> <span class="role role-q">f</span> &lt;g&gt;',
    );
    assert.equal(box.querySelector('code').className, '');
  });
});

describe('texts: languages', () => {
  beforeEach(() => {
    setLanguage('en');
    addTexts('en', { 'test.a': '{one} and {two}, {one}', 'test.b': '`b`' });
    addTexts('zh', { 'test.a': '{one}和{two}' });
  });

  test('a text has its values filled in, and nothing where there is none', () => {
    assert.deepEqual(LANGUAGES, ['en', 'zh']);
    assert.equal(textOf('test.a', { one: 1, two: 'b' }), '1 and b, 1');
    assert.equal(textOf('test.a', { two: 0 }), ' and 0, ');
    assert.equal(textOf('test.a'), ' and , ');
    setLanguage('zh');
    assert.equal(textOf('test.a', { one: 1, two: 2 }), '1和2');
    assert.throws(() => textOf('test.b'), /^Error: no text is called test\.b in zh$/);
    assert.match(defaultText('zh'), /\p{Script=Han}/u);
    assert.match(defaultText('en'), /^The cat/);
  });

  test('marks in what is filled in are characters, and those of the text are elements', () => {
    addTexts('en', { 'test.rich': '[q|{one}] and *{two}*, {one}' });
    const box = document.createElement('p');
    box.append(...web.richOf('test.rich', { one: '*a*', two: '`b` [q|c] ~d~' }));
    assert.equal(
      box.innerHTML,
      '<span class="role role-q">*a*</span> and <em>`b` [q|c] ~d~</em>, *a*',
    );
    assert.equal(web.plainOf('test.rich', { one: '*', two: '<' }), '* and <, *');
  });

  test('elements that name their texts have them', () => {
    document.body.innerHTML =
      '<p data-t="test.b">x</p><p data-t-label="test.b">y</p><p data-t="test.a" data-t-label="test.a"></p><p>z</p>';
    translate(document.body);
    assert.equal(
      document.body.innerHTML,
      '<p data-t="test.b"><code>b</code></p><p data-t-label="test.b" aria-label="`b`">y</p>' +
        '<p data-t="test.a" data-t-label="test.a" aria-label=" and , "> and , </p><p>z</p>',
    );
  });
});
