// Questions of a lesson and its locks, in Node: what is said to each kind of answer, and what a locked control is like before,
// meanwhile and after.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  'features/lessons/page/{exercise,locks,lockable_controls,parse_answer}',
  'state/state',
);
const { ExerciseItem, isNear, isRight, isSameText, nearest, readAnswer, setLanguage } = web;
const { Locks, LOCKABLE, controlsOf, initialState } = web;

beforeEach(() => setLanguage('en'));
afterEach(leave);

const view = {
  list: { tokens: ['a', 'b', 'c'] },
  frame: { query: { weights: [0.125, 0.5], largest: 1, entropy: -0.25 } },
};
const CHOICES = ['one', 'two *b*', 'three'];
const NOT_COMPUTED = 'The page has not computed this number yet. Check again in a moment.';
const TOO_SMALL = 'The page computes a larger number. Look again.';
const TOO_LARGE = 'The page computes a smaller number. Look again.';
const NO_NUMBER = 'Write a number, such as 0.25 or 25%.';
const CHOOSE = 'Choose an answer';
const MOVED =
  ' You have changed the settings of this step: your answer was compared with what is on the screen now.';

/** A question on the page: `answer` enters an answer and returns the verdict. */
function asked(exercise, kept = null) {
  const page = { view, moved: false, kept, passed: [] };
  const form = new ExerciseItem(exercise, {
    view: () => page.view,
    moved: () => page.moved,
    kept: () => page.kept,
    keep: (given) => page.passed.push(given),
  });
  const item = form.element;
  document.body.append(item);
  const boxes = [...item.querySelectorAll('input')];
  const verdict = () => item.querySelector('.verdict').textContent;
  const reveal = item.querySelector('.reveal');
  /** Whether the page stays when the form is sent, as by Enter. */
  const send = () =>
    !item.querySelector('form').dispatchEvent(new Event('submit', { cancelable: true }));
  return {
    ...{ form, item, page, boxes, reveal, send, verdict },
    answer(value) {
      if (boxes[0].type === 'text') boxes[0].value = value;
      else boxes.forEach((box, i) => (box.checked = i === value));
      send();
      return verdict();
    },
    revealed: () => (reveal.click(), verdict()),
  };
}

test('lessons: a verdict says whether the number is right, too small or too large, and the solution is what the page computes', () => {
  for (const [exercise, solution, answers] of [
    [
      { number: 'tokens' },
      '3.000',
      {
        '': NO_NUMBER,
        many: NO_NUMBER,
        3: 'right',
        2.95: 'right',
        2.93: TOO_SMALL,
        1e9: TOO_LARGE,
      },
    ],
    [
      { number: 'weight:1', within: 0.5 },
      '0.5000',
      { 0.74: 'right', 0.76: TOO_LARGE, 0.25: 'right', '25 %': 'right', '24 %': TOO_SMALL },
    ],
    [
      { number: 'entropy' },
      '−0.2500',
      { '-0.25': 'right', '-0.26': TOO_SMALL, '-0.2': TOO_LARGE, 0.25: TOO_LARGE },
    ],
  ]) {
    const { answer, reveal, revealed } = asked({ text: 'How many?', ...exercise });
    assert.equal(reveal.hidden, true, 'before the first answer');
    for (const [given, wanted] of Object.entries(answers)) {
      const right = `Right. The page computes ${solution}.`;
      assert.equal(answer(given), wanted === 'right' ? right : wanted, given);
    }
    assert.equal(reveal.hidden, false);
    assert.equal(revealed(), `The answer: ${solution}`);
  }
});

test('lessons: a verdict says whether the choice is right', () => {
  for (const [exercise, right, solution] of [
    [{ choices: CHOICES, right: 1 }, 1, 'two *b*'],
    [{ choices: CHOICES, number: 'largestKey' }, 1, 'two *b*'],
    [{ choices: ['one', 'two'], number: 'tokens' }, 3, ''],
  ]) {
    const { answer, boxes, revealed } = asked({ text: 'Which?', ...exercise });
    assert.ok(answer(null).startsWith(CHOOSE));
    boxes.forEach((_, i) => assert.match(answer(i), i === right ? /^Right/ : /^(?!Right)/));
    assert.equal(revealed(), `The answer: ${solution}`);
  }
});

test('lessons: a verdict says that the settings were changed, or that nothing is computed yet', () => {
  const { answer, page, revealed } = asked({ text: 'How many?', number: 'tokens' });
  page.moved = true;
  assert.equal(answer('3'), `Right. The page computes 3.000.${MOVED}`);
  assert.equal(answer('2'), TOO_SMALL + MOVED);
  page.view = { frame: null, list: { tokens: { length: NaN } } };
  assert.deepEqual([answer('3'), revealed()], [NOT_COMPUTED, NOT_COMPUTED]);
});

test('lessons: a question that nothing answers is one to talk about, with lines to write on', () => {
  const { item } = asked({ text: 'Why `a`?' });
  assert.equal(item.querySelector('.question').textContent, 'Why a?');
  assert.equal(item.querySelector('.question code').textContent, 'a');
  assert.match(item.querySelector('.hint').textContent, /^Talk about it with others/);
  assert.equal(
    item.querySelector('textarea').getAttribute('aria-labelledby'),
    item.querySelector('.question').id,
  );
  assert.deepEqual([item.querySelector('.verdict'), item.querySelectorAll('i').length], [null, 3]);
  const { item: choice, boxes, send } = asked({ text: 'Which?', choices: CHOICES });
  assert.equal(send(), true);
  assert.deepEqual([choice.querySelector('.verdict'), boxes.length], [null, 3]);
});

const OWN = 'Right. The answer is';
const OWN_SMALL = 'The answer is a larger number. Look again.';

test('lessons: an author’s own number is compared within what the author allows, or as one of the page', () => {
  for (const [exercise, answers] of [
    [
      { value: 0.41, off: 0.01 },
      { 0.42: `${OWN} 0.41.`, '0,40': `${OWN} 0.41.`, 0.39: OWN_SMALL },
    ],
    [
      { value: -3, off: 0 },
      { '−3': `${OWN} −3.`, '-6/2': `${OWN} −3.`, '-3.001': OWN_SMALL },
    ],
    [
      { value: 16777216 },
      { '16,777,216': `${OWN} 16777216.`, 16.5e6: `${OWN} 16777216.`, 16e6: OWN_SMALL },
    ],
    [{ value: 0 }, { 0.0006: `${OWN} 0.`, many: NO_NUMBER }],
  ]) {
    const { answer, page, revealed } = asked({ text: 'How many?', ...exercise });
    page.moved = true; // which changes nothing: the answer is the author's
    for (const [given, wanted] of Object.entries(answers))
      assert.equal(answer(given), wanted, given);
    assert.match(revealed(), /^The answer: [−\d.]+$/);
  }
  assert.ok(isNear(0.42, 0.41, 0.01) && !isNear(0.4201, 0.41, 0.01) && isNear(0.1 + 0.2, 0.3, 0));
});

test('lessons: an author’s own texts are compared without capitals, width, spaces and punctuation at the ends', () => {
  const { answer, revealed, item } = asked({ text: 'Who?', answers: ["Bahdanau's", '注意力'] });
  assert.match(item.querySelector('.hint').textContent, /^Capital letters/);
  for (const [given, wanted] of [
    ...["bahdanau's", '  Bahdanau’s. ', 'ＢＡＨＤＡＮＡＵ’Ｓ', '“注意力”。'].map((one) => [
      one,
      'Right.',
    ]),
    ...['Bahdanau', 'bahdanau s', '注意', '.'].map((one) => [
      one,
      'No. Look again and write another answer.',
    ]),
    [' ', 'Write an answer.'],
  ])
    assert.equal(answer(given), wanted, given);
  assert.equal(revealed(), "The answer: Bahdanau's / 注意力");
  assert.ok(isSameText('a   b', ['A b']) && isSameText('?', ['?']) && !isSameText('', ['?']));
});

test('lessons: what is entered is passed on to be kept, and comes back with what was said of it', () => {
  const number = asked({ text: 'How many?', number: 'tokens' });
  number.boxes[0].value = '5';
  number.boxes[0].dispatchEvent(new Event('input', { bubbles: true }));
  number.answer('2');
  number.answer('many');
  number.revealed();
  assert.deepEqual(number.page.passed, [
    { given: '5', result: null, shown: false },
    { given: '2', result: 'wrong', shown: false },
    { given: 'many', result: null, shown: true },
  ]);
  const choice = asked({ text: 'Which?', choices: CHOICES, right: 1 });
  choice.answer(1);
  assert.deepEqual(choice.page.passed, [
    { given: 'two b', choice: 1, result: 'right', shown: false },
  ]);
  choice.page.kept = { given: 'one', choice: 0, result: 'wrong', checks: 1 };
  choice.form.restore();
  assert.deepEqual(
    [choice.boxes.map(({ checked }) => checked), choice.verdict(), choice.reveal.hidden],
    [[true, false, false], 'Not right, when you last checked.', false],
  );
  const open = asked({ text: 'Why?' }, { given: 'So.', result: '', checks: 0 });
  assert.equal(open.item.querySelector('textarea').value, 'So.');
  open.page.kept = null;
  open.form.restore();
  assert.equal(open.item.querySelector('textarea').value, '');
});

test('lessons: a number is right within its share, and within what rounding takes', () => {
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
    [0.23, 0.2349, undefined, false],
    [65, 66, 0.001, false],
    [66, 66, 0.001, true],
  ]) {
    assert.equal(isRight(answer, expected, within), right, `${answer} ${expected} ${within}`);
  }
});

test('lessons: answers are read as people write them', () => {
  const read = {
    '0,25': 0.25, '.25': 0.25, '25 %': 0.25, '２５％': 0.25, '1/4': 0.25, '1/4%': 0.0025, '１／４': 0.25,
    '－３': -3, '３．５': 3.5, '１，５': 1.5, '–2': -2, '−2': -2, ' 7 ': 7, '1 000': 1000, '+5': 5,
    '1e-3': 0.001, '1E2': 100, '1e+2': 100, '2/0.5': 4, '1,5/0,5': 3,
  }; // prettier-ignore
  for (const [raw, value] of Object.entries(read)) assert.deepEqual(readAnswer(raw), [value], raw);
  const none = [
    '',
    'x',
    '1/2/3',
    '1/0',
    '0/0',
    '5%%',
    '1..2',
    '--1',
    '.',
    'e3',
    '1e999',
    '5 m',
    'm 5',
  ];
  for (const raw of none) assert.deepEqual(readAnswer(raw), [], raw);
});

test('lessons: a comma may stand between thousands, where that is what the page computes', () => {
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
  const { answer } = asked({ text: 'How many?', right: 13404, within: 0.001 });
  assert.match(answer('13,404'), /^Right/);
});

describe('lessons: locks', () => {
  const HTML = `
    <input id="text" title="own" aria-describedby="text-note">
    <div class="lesson-panels">
      <input id="text2"><input id="text" title="own" aria-describedby="text-note">
      <select id="choose-mask"></select>
      <button id="new-seed" disabled title="not now">a</button>
      <textarea id="area"></textarea>
      <span id="slider" role="slider" aria-describedby="other"></span>
      <p id="none">b</p>
      <button class="unfold">c</button><button class="copy">d</button>
      <details class="menu"><button class="inside">e</button></details>
      <qkv-guess><button class="answer">f</button></qkv-guess>
      <div class="guess"><input class="answer"></div>
    </div>`;
  let locks;
  beforeEach(() => {
    document.body.innerHTML = HTML;
    locks = new Locks();
    document.body.append(locks);
  });
  const draw = (language = 'en') => locks.update({ state: { language } });

  test('lock the controls of a field in the panels of the step, and say why; menus, copies and guesses stay free', () => {
    draw();
    const reason = 'Locked by the teacher in this step';
    const locked = () =>
      [...document.querySelectorAll('[title]')].filter(({ title }) => title === reason);
    for (const [lock, ids] of [
      [['text'], ['text']],
      [
        ['mask', 'seed'],
        ['choose-mask', 'new-seed'],
      ],
      [true, ['text2', 'text', 'choose-mask', 'new-seed', 'area', 'slider']],
      [['nothing', 'text'], ['text']],
    ]) {
      locks.lock = lock;
      draw();
      draw();
      assert.deepEqual(
        locked().map(({ id }) => id),
        ids,
        String(lock),
      );
      for (const element of locked()) {
        assert.ok(element.closest('.lesson-panels'), 'only those that the step shows');
        assert.ok(element.disabled || element.getAttribute('aria-disabled') === 'true');
        assert.match(element.getAttribute('aria-describedby'), /\block-reason\b/);
      }
    }
    setLanguage('zh');
    draw('zh');
    assert.match(document.querySelector('.lesson-panels #text').title, /\p{Script=Han}/u);
    locks.lock = true;
    draw('zh');
    locks.freeAll();
    assert.deepEqual(locks.lock, []);
    draw('zh');
    assert.equal(document.getElementById('area').disabled, false);
  });

  test('leave a control as they found it', () => {
    draw();
    const before = document.body.innerHTML;
    for (const lock of [['text', 'seed'], ['mask'], true]) {
      locks.lock = lock;
      draw();
      assert.notEqual(document.body.innerHTML, before);
      locks.lock = [];
      draw();
      assert.equal(document.body.innerHTML, before, String(lock));
    }
  });
});

test('lessons: a field that can be locked is one of the state and has controls, another has none', () => {
  const fields = Object.keys(initialState('en'));
  for (const name of LOCKABLE) {
    assert.ok(fields.includes(name), name);
    assert.doesNotThrow(() => document.querySelector(controlsOf(name)), name);
    assert.notEqual(controlsOf(name), 'x-none');
  }
  for (const name of ['language', 'costResult', 'nothing'])
    assert.equal(controlsOf(name), 'x-none');
});
