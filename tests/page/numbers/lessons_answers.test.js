// What is kept of the answers of readers, in Node: on the device, until they are cleared, and as a file.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules('features/lessons/page/{answers,answers_bar}');
const { answerAt, bringBack, clearAnswers, keepAnswer, readAnswers, AnswersBar } = web;

const KEY = 'qkv-lesson-answers';
let files;
beforeEach(() => {
  web.setLanguage('en');
  localStorage.clear();
  files = [];
  mock.method(URL, 'createObjectURL', (file) => `blob:${files.push(file)}`);
  mock.method(HTMLAnchorElement.prototype, 'click', () => undefined);
});
afterEach(() => {
  leave();
  mock.restoreAll();
});

const at = (lesson, step = 0, exercise = 0) => ({
  lesson,
  step,
  exercise,
  title: `The ${lesson}`,
  question: 'How?',
});
const given = (text, more = {}) => ({ given: text, result: null, shown: false, ...more });
const told = ({ given: text, result, checks, shown }) => [text, result, checks, shown];

test('lessons: an answer is kept with what was said of it, until another one is entered', () => {
  const place = at('order', 1, 2);
  assert.equal(answerAt(place), null);
  for (const [one, wanted] of [
    [given('0.2'), ['0.2', '', 0, false]],
    [given('0.2', { result: 'wrong' }), ['0.2', 'wrong', 1, false]],
    [given('0.2', { shown: true }), ['0.2', 'wrong', 1, true]],
    [given('0.3'), ['0.3', '', 1, true]],
    [given('0.3', { result: 'right' }), ['0.3', 'right', 2, true]],
    [given(''), ['', '', 2, true]],
  ]) {
    assert.equal(keepAnswer(place, one), true);
    assert.deepEqual(told(answerAt(place)), wanted, JSON.stringify(one));
  }
  keepAnswer(at('order'), given('a', { choice: 3 }));
  keepAnswer(at('order'), given('b', { choice: 4 }));
  assert.equal(answerAt(at('order')).choice, 4);
  keepAnswer(at('reads'), given('x'));
  keepAnswer(at('reads'), given(''));
  assert.equal(answerAt(at('reads')), null, 'an empty answer that was never checked is none');
});

test('lessons: answers are cleared for one lesson or for all, and can be brought back', () => {
  for (const lesson of ['order', 'reads']) keepAnswer(at(lesson), given(lesson));
  const gone = clearAnswers('order');
  assert.deepEqual(
    readAnswers(null).map(({ lesson }) => lesson),
    ['reads'],
  );
  keepAnswer(at('order'), given('since'));
  bringBack(gone);
  assert.equal(answerAt(at('order')).given, 'since', 'an answer since then stays');
  clearAnswers(null);
  assert.equal(localStorage.getItem(KEY), null);
});

test('lessons: answers that are damaged, too many or not to be kept are no failure', () => {
  const good = { ...at('order'), given: 'a', result: '', checks: 0, shown: false, time: '' };
  for (const bad of [
    null,
    3,
    {},
    { ...good, step: -1 },
    { ...good, result: 'so' },
    { ...good, choice: 0.5 },
    { ...good, given: 7 },
  ]) {
    localStorage.setItem(KEY, JSON.stringify([bad, good]));
    assert.deepEqual(readAnswers(null), [good], JSON.stringify(bad));
  }
  localStorage.setItem(KEY, '{');
  assert.deepEqual(readAnswers(null), []);
  localStorage.setItem(
    KEY,
    JSON.stringify(Array.from({ length: 800 }, (_, step) => ({ ...good, step }))),
  );
  keepAnswer(at('new'), given('x'));
  const all = readAnswers(null);
  assert.deepEqual(
    [all.length, all[0].step, all.at(-1).lesson],
    [800, 1, 'new'],
    'the oldest went',
  );
  const storage = globalThis.localStorage;
  const forbidden = () => {
    throw new Error('forbidden');
  };
  Object.defineProperty(globalThis, 'localStorage', {
    value: { getItem: forbidden, setItem: forbidden, removeItem: forbidden },
    configurable: true,
  });
  assert.deepEqual([keepAnswer(at('a'), given('x')), readAnswers(null)], [false, []]);
  Object.defineProperty(globalThis, 'localStorage', { value: storage, configurable: true });
});

test('lessons: the file of answers has quotes where they are needed, and no formula', async () => {
  const hard = [
    'say "a", or b',
    '=HYPERLINK("x")',
    '@sum',
    '+1+1',
    '-3',
    '-0,25',
    '＝1+1',
    'two\nlines',
  ];
  hard.forEach((text, step) =>
    keepAnswer(
      at('order', step),
      given(text, { result: step % 2 ? 'right' : 'wrong', shown: step === 0 }),
    ),
  );
  keepAnswer(at('reads'), given('elsewhere'));
  const bar = new AnswersBar('order', () => {});
  bar.element.querySelector('[data-answers=save]').click();
  const text = await files[0].text();
  const [head, ...rows] = text
    .replace(/"two\nlines"/, 'two lines')
    .trim()
    .split('\r\n');
  assert.equal(
    head.replace('\uFEFF', ''),
    'lesson,step,question number,question,answer,result,checks,solution shown,time (UTC)',
  );
  const answers = rows.map(
    (row) => /^The order,\d,1,How\?,(.*),(?:right|wrong),1,(?:yes|no),\d{4}-.*Z$/.exec(row)?.[1],
  );
  assert.deepEqual(answers, [
    '"say ""a"", or b"', `"'=HYPERLINK(""x"")"`, "'@sum", "'+1+1", '-3', '"-0,25"', "'＝1+1", 'two lines',
  ]); // prettier-ignore
  assert.match(files[0].type, /^text\/csv/);
});

test('lessons: the bar below a lesson counts its answers, clears them and brings them back', () => {
  let changes = 0;
  const bar = new AnswersBar('order', () => changes++);
  document.body.append(bar.element);
  const button = (what) => bar.element.querySelector(`[data-answers=${what}]`);
  const text = (name) => bar.element.querySelector(`.${name}`).textContent;
  const state = () => [button('save').disabled, button('clear').disabled, button('undo').hidden];
  assert.deepEqual(state(), [true, true, true]);
  keepAnswer(at('order'), given('a'));
  bar.draw();
  assert.deepEqual(
    [state(), text('answers-count')],
    [[false, false, true], 'Answers kept on this device: 1.'],
  );
  button('clear').click();
  assert.deepEqual(
    [state(), text('answers-said'), document.activeElement],
    [[true, true, false], 'The answers are cleared.', button('undo')],
  );
  button('undo').click();
  assert.deepEqual(
    [state(), document.activeElement, changes],
    [[false, false, true], button('clear'), 2],
  );
  assert.equal(answerAt(at('order')).given, 'a');
  bar.draw(false);
  assert.match(text('answers-count'), /does not let the page keep/);
});
