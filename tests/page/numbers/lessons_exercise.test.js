// @about web/src/features/lessons/
// Questions of a lesson and its locks, in Node: what is said to each kind of answer, and what a locked control is like before,
// meanwhile and after.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { linesOf, requireWritten } from '../support/operate.js';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...['page/exercise', 'page/locks', 'page/lockable_controls', 'page/parse_answer'].map(
    (name) => `features/lessons/${name}`,
  ),
  'state/state',
);
const { exerciseForm, Locks, allowed, LOCKABLE, controlsOf, initialState, setLanguage, t } = web;

beforeEach(() => setLanguage('en'));
afterEach(leave);

const view = {
  list: { tokens: ['a', 'b', 'c'] },
  frame: { query: { weights: [0.125, 0.5], largest: 1, entropy: -0.25 } },
};
const CHOICES = ['one', 'two *b*', 'three'];
const KINDS = {
  open: { text: 'Why `a`?' },
  'a number': { text: 'How many?', number: 'tokens' },
  'a number with bounds': { text: 'Weight?', number: 'weight:1', within: 0.5 },
  'a number below zero': { text: 'Entropy?', number: 'entropy' },
  'a right choice': { text: 'Which?', choices: CHOICES, right: 1 },
  'a choice that is computed': { text: 'Which?', choices: CHOICES, number: 'largestKey' },
  'choices of which none is right': { text: 'Which?', choices: CHOICES },
  'a choice that is not there': { text: 'Which?', choices: ['one'], number: 'tokens' },
};
const ANSWERS = {
  text: [
    '',
    'many',
    '3',
    '2.95',
    '2.93',
    '0.76',
    '0.74',
    '0.25',
    '25 %',
    '-0.25',
    '-0.26',
    '-0.2',
    '1e9',
  ],
  radio: [null, 0, 1, 2],
};

/** All that is said to all answers, with the page as it is, before it has computed, and with other settings. */
function answersTo(item, tools) {
  const said = [];
  const [form] = item.querySelectorAll('form');
  const verdict = item.querySelector('.verdict');
  if (!verdict) return said;
  const boxes = [...item.querySelectorAll('input')];
  const give = (answer) => {
    if (boxes[0].type === 'text') boxes[0].value = answer;
    else boxes.forEach((box, i) => (box.checked = i === answer));
    form.dispatchEvent(new Event('submit', { cancelable: true }));
    const hidden = item.querySelector('.reveal').hidden ? '' : ', which can be revealed';
    said.push(`${answer}: ${verdict.textContent}${hidden}`);
  };
  for (const answer of ANSWERS[boxes[0].type]) give(answer);
  const reveal = () => {
    item.querySelector('.reveal').click();
    said.push(`revealed: ${verdict.textContent}`);
  };
  reveal();
  tools.hasMoved = true;
  for (const answer of ANSWERS[boxes[0].type].slice(1, 4)) give(answer);
  tools.computed = { ...view, frame: null, list: { tokens: { length: NaN } } };
  give(ANSWERS[boxes[0].type][2]);
  reveal();
  return said;
}

test('lessons: what each kind of question is like, and what is said to each answer', () => {
  const came = [];
  for (const [kind, exercise] of Object.entries(KINDS)) {
    const tools = {
      ...{ computed: view, hasMoved: false },
      ...{ view: () => tools.computed, moved: () => tools.hasMoved },
    };
    const item = exerciseForm(exercise, tools);
    document.body.append(item);
    came.push('', `== ${kind}`, ...linesOf(item), ...answersTo(item, tools));
  }
  requireWritten('exercise', came);
});

test('lessons: a number is right within its share, and within what rounding takes', () => {
  const { isRight, readAnswer } = web;
  for (const [answer, expected, within, right] of [
    [102, 100, undefined, true],
    [98, 100, undefined, true],
    [102.01, 100, undefined, false],
    [-102, -100, undefined, true],
    [0.0006, 0, undefined, true],
    [0.00061, 0, undefined, false],
    [1.00059, 1, 0.0001, true],
    [1.0007, 1, 0.0001, false],
    [3, 2, 0.5, true],
    [3.01, 2, 0.5, false],
  ]) {
    assert.equal(isRight(answer, expected, within), right, `${answer} ${expected} ${within}`);
  }
  for (const [raw, value] of [
    ['1/4%', 0.0025],
    ['１／４', 0.25],
    ['－３', -3],
    ['３．５', 3.5],
    ['１，５', 1.5],
    ['–2', -2],
    ['1 000', 1000],
    ['+5', 5],
    ['1E2', 100],
    ['1e+2', 100],
    ['2/0.5', 4],
    ['1,5/0,5', 3],
    ['1/2/3', null],
    ['5%%', null],
    ['0/0', null],
    ['.', null],
    ['e3', null],
    ['1e999', null],
    ['5 m', null],
    ['m 5', null],
  ]) {
    assert.deepEqual(readAnswer(raw), value === null ? [] : [value], raw);
  }
});

test('lessons: a comma may stand between thousands, where that is what the page computes', () => {
  const { isRight, nearest, readAnswer } = web;
  for (const [raw, expected] of [
    ['13,404', 13404],
    ['13,404', 13.404],
    ['-1,234,567.5', -1234567.5],
    ['1,000%', 10],
    ['1,234/2', 617],
    ['1,234/2', 0.617],
  ]) {
    assert.ok(isRight(nearest(readAnswer(raw), expected), expected, 1e-6), `${raw} ${expected}`);
  }
  for (const raw of ['0,404', '13,40', '1234,404', '13,4045', '13.000,5', '1,23,456']) {
    assert.ok(readAnswer(raw).length < 2, raw);
  }
  assert.deepEqual(readAnswer('1,234,567'), [1234567]);
  assert.equal(nearest([1.234, 1234], 5), 1.234);
  const text = { text: 'How many?', right: 13404, within: 0.001 };
  const item = exerciseForm(text, { view: () => view, moved: () => false });
  item.querySelector('input').value = '13,404';
  item.querySelector('form').dispatchEvent(new Event('submit', { cancelable: true }));
  assert.match(item.querySelector('.verdict').textContent, /^Right/);
});

describe('lessons: locks', () => {
  const HTML = `
    <input id="text" title="own" aria-describedby="text-note">
    <div class="lesson-panels">
      <input id="text2"><input id="text" title="own" aria-describedby="text-note">
      <select id="choose-mask"></select>
      <button id="new-seed" disabled title="not now">a</button>
      <textarea id="area"></textarea>
      <span id="slider" role="slider" aria-describedby="lock-reason other"></span>
      <p id="none">b</p>
      <button class="unfold">c</button><button class="copy">d</button>
      <details class="menu"><button class="inside">e</button></details>
      <qkv-guess><button class="answer">f</button></qkv-guess>
      <div class="guess"><input class="answer"></div>
    </div>`;
  let locks;
  let came;
  let before;
  beforeEach(() => {
    document.body.innerHTML = HTML;
    locks = new Locks();
    document.body.append(locks);
    came = [];
    before = linesOf(document.body);
  });
  const draw = (language = 'en') => locks.update({ state: { language } });
  const note = (title) => came.push('', `== ${title}`, ...linesOf(document.body));
  const field = (name) => document.getElementById(name);

  test('keep what they lock in sight, with the reason', () => {
    draw();
    note('nothing is locked');
    for (const lock of [['text'], ['mask', 'seed'], true, ['nothing', 'text']]) {
      locks.lock = lock;
      draw();
      draw();
      note(`locked: ${lock}`);
    }
    setLanguage('zh');
    draw('zh');
    note('another language');
    locks.freeAll();
    note('freed');
    requireWritten('locks', came);
    locks.lock = true;
    draw('zh');
    locks.freeAll();
    assert.deepEqual(locks.lock, []);
    draw('zh');
    assert.equal(field('area').disabled, false);
  });

  test('leave a control as they found it', () => {
    draw();
    before = linesOf(document.body);
    for (const lock of [['text', 'seed'], ['mask']]) {
      locks.lock = lock;
      draw();
      locks.lock = [];
      draw();
      assert.deepEqual(linesOf(document.body), before, String(lock));
    }
  });

  test('tell of every drawing in which language it is', () => {
    const told = [];
    draw();
    locks.told = (language) => told.push(language);
    for (const language of ['en', 'zh', 'zh']) draw(language);
    assert.deepEqual(told, ['en', 'zh', 'zh']);
    assert.equal(locks.textContent, t('lessons.locked'));
  });

  test('stop no language, no panel of the link and no answer to what a panel asks', () => {
    const patch = { language: 'zh', panel: null, curves: true, scaleAsk: false, seed: 1, head: 2 };
    const lets = (lock) => Object.keys(allowed(lock, patch)).join(' ');
    const always = 'language panel curves scaleAsk';
    assert.equal(lets([]), `${always} seed head`);
    assert.equal(lets(['seed']), `${always} head`);
    assert.equal(lets(['language', 'panel', 'curves', 'head']), `${always} seed`);
    assert.equal(lets(true), always);
    assert.deepEqual(allowed([], patch), patch);
  });
});

test('lessons: the controls of each field that can be locked', () => {
  const fields = Object.keys(initialState('en'));
  requireWritten('controls', [
    ...LOCKABLE.map((name) => `${name}: ${controlsOf(name)}`),
    ...fields
      .filter((name) => !LOCKABLE.includes(name))
      .map((name) => `${name}: ${controlsOf(name)}`),
  ]);
});
