// The editor of lessons, in Node: what each act makes of a lesson, and how it leaves the page.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { enter, fire } from '../support/operate.js';
import { exampleSaid } from '../support/texts.js';
import { openWindow } from '../support/window.js';

const { rest, leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  'features/lessons/page/{editor,lesson,lesson_codec,drafts}',
  'state/state',
);
const { LessonEditor, readLesson, initialState, setLanguage, t } = web;

const LESSON = readLesson({
  title: 'Of mine',
  minutes: 20,
  goals: ['to see', 'to learn'],
  steps: [
    {
      ...{ title: 'One', text: 'First.', show: ['map', 'settings'], state: 'seed=3' },
      ...{ lock: ['head', 'seed'], guess: true, notes: 'Ten minutes.' },
      exercises: [
        { text: 'Why?' },
        { text: 'How many?', number: 'maskWeight:3,1', within: 0.25 },
        { text: 'Which?', choices: ['this', 'that'], right: 1 },
        { text: 'Of mine?', value: -0.5, off: 0.01 },
        { text: 'Who?', answers: ['she', 'he'] },
      ],
    },
    { title: 'Two', text: 'Second.', lock: true },
  ],
});

let editor;
let dialog;
let state;
let copied;
let codes;
/** Where sections are, by their ids: the heights of their boxes and their lower edges. */
let places;
beforeEach(() => {
  setLanguage('en');
  [copied, codes, places] = [[], [], {}];
  localStorage.clear();
  state = { ...initialState('en'), seed: 5, panel: 'map', controls: false };
  document.body.innerHTML = ['map', 'row', 'scale']
    .map((id) => `<section id="${id}"><h2 id="${id}-title">The ${id}</h2></section>`)
    .join('');
  for (const section of document.querySelectorAll('section')) {
    section.getBoundingClientRect = () => ({ height: 0, bottom: 0, ...places[section.id] });
  }
  Object.defineProperty(navigator, 'clipboard', {
    value: { writeText: async (text) => void copied.push(text) },
    configurable: true,
  });
  editor = new LessonEditor();
  document.body.append(editor);
  dialog = editor.querySelector('dialog');
});
afterEach(async () => {
  await rest();
  leave();
  mock.restoreAll();
});

const host = { view: () => ({ state }) };
const write = async (lesson) => (codes.push(lesson), 'zcode');
const begin = (lesson = LESSON) => editor.begin(lesson, host, write);
const one = (selector) => dialog.querySelector(selector);
const step = (at, selector = '') => one(`.editor-steps > li:nth-child(${at}) ${selector}`);
const press = (what) => one(`[data-do=${what}]`).click();
const said = () => one('.editor-said').textContent;
const titles = () => editor.lesson?.steps.map(({ title }) => title);
const tick = (box, checked) => {
  box.checked = checked;
  fire(box, 'change');
};

test('lessons: a lesson goes through the editor as it is, in both languages', () => {
  for (const language of ['en', 'zh']) {
    setLanguage(language);
    begin();
    assert.deepEqual(editor.lesson, LESSON);
    assert.deepEqual([dialog.open, said()], [true, '']);
    assert.equal(one('h2').textContent, t('lessons.editor'));
    assert.equal(dialog.querySelectorAll('.editor-steps > li').length, LESSON.steps.length);
    press('close');
    assert.equal(dialog.open, false);
  }
});

/** What an act changes of the first step, or of the titles of all. */
const ACTS = [
  [() => enter(field('title'), 'New'), { title: 'New' }],
  [() => enter(field('text'), 'A\n\nB'), { text: 'A\n\nB' }],
  [() => tick(field('guess'), false), { guess: false }],
  [() => tick(panel('scale'), true), { show: ['map', 'settings', 'scale'] }],
  [() => tick(panel('map'), true), { show: ['settings', 'scale', 'map'] }],
  [() => tick(panel('map'), false), { show: ['settings', 'scale'] }],
  [() => moveShown(1, 1), { show: ['scale', 'settings'] }],
  [() => moveShown(2, -1), { show: ['settings', 'scale'] }],
  [() => enter(field('notes'), 'Five minutes.'), { notes: 'Five minutes.' }],
  [() => tick(step(1, '.step-locks [value=seed]'), false), { lock: ['head'] }],
  [() => tick(step(1, '.step-locks [value=all]'), true), { lock: true }],
  [() => tick(step(1, '.step-locks [value=all]'), false), { lock: ['head'] }],
  [() => step(1, '[data-step=state]').click(), { state: `${exampleSaid()}&seed=5` }],
  [() => step(1, 'legend').click(), {}],
];
const field = (name) => step(1, `[data-field-of=${name}]`);
const panel = (id) => step(1, `.step-panels [value=${id}]`);
const moveShown = (row, by) =>
  step(1, `.step-order li:nth-child(${row}) [data-move="${by}"]`).click();
const names = (of) =>
  [...dialog.querySelectorAll(`${of} .order-name`)].map((name) => name.textContent);

test('lessons: each act of a teacher changes what it names in the step, and nothing else', () => {
  begin();
  let expected = LESSON.steps[0];
  for (const [act, change] of ACTS) {
    act();
    expected = { ...expected, ...change };
    assert.deepEqual(editor.lesson.steps, [expected, LESSON.steps[1]], String(act));
  }
  assert.deepEqual(names('.editor-steps > li:first-child .step-order'), [
    'Settings of the layer',
    'The scale',
  ]);
  assert.deepEqual(
    ['.step-panels b', '.step-locks b'].map((count) => step(1, count).textContent),
    ['(2)', '(1)'],
  );
});

test('lessons: a question is open, compared with a number, or one of choices', () => {
  begin();
  const { exercises } = LESSON.steps[0];
  const part = (name) => step(1, `.editor-exercises > li:last-child [data-part=${name}]`);
  const shown = () =>
    [...dialog.querySelectorAll('.editor-exercises > li:last-child [data-for]')]
      .filter(({ hidden }) => !hidden)
      .map(({ dataset }) => dataset.for);
  const last = () => editor.lesson.steps[0].exercises.at(-1);
  step(1, '[data-step=exercise]').click();
  assert.equal(document.activeElement, part('text'));
  assert.deepEqual([shown(), editor.lesson.steps[0].exercises], [[], exercises], 'without words');
  enter(part('text'), 'How?');
  assert.deepEqual(last(), { text: 'How?' });
  enter(part('kind'), 'number');
  enter(part('number'), 'weight');
  assert.deepEqual([shown(), last()], [['number'], { text: 'How?', number: 'weight' }]);
  enter(part('place'), ' 3，4 ');
  assert.equal(last().number, 'weight:3,4');
  enter(part('kind'), 'choice');
  enter(part('choices'), 'a\n \nb\n');
  enter(part('right'), '2');
  assert.deepEqual(
    [shown(), last()],
    [['choice'], { text: 'How?', choices: ['a', 'b'], right: 1 }],
  );
  enter(part('kind'), 'value');
  enter(part('value'), '1/4');
  assert.deepEqual([shown(), last()], [['value'], { text: 'How?', value: 0.25 }]);
  for (const [off, read] of [['0,02', { off: 0.02 }], ['-1', {}], ['x', {}], ['0', { off: 0 }]]) {
    enter(part('off'), off);
    assert.deepEqual(last(), { text: 'How?', value: 0.25, ...read }, off);
  } // prettier-ignore
  const warning = () => step(1, '.editor-exercises > li:last-child .incomplete').textContent;
  assert.equal(warning(), '');
  enter(part('value'), 'some');
  assert.deepEqual([last(), warning()], [{ text: 'How?' }, t('lessons.ownNoNumber')]);
  enter(part('kind'), 'text');
  enter(part('answers'), 'a\n\n b');
  assert.deepEqual(
    [shown(), last(), warning()],
    [['text'], { text: 'How?', answers: ['a', ' b'] }, ''],
  );
  step(1, '.editor-exercises > li:nth-child(2) [data-part=remove]').click();
  const rest = exercises.filter((_, i) => i !== 1);
  assert.deepEqual(editor.lesson.steps[0].exercises, [...rest, last()]);
  step(1, '.exercise-order li:nth-child(2) [data-move="-1"]').click();
  assert.deepEqual(editor.lesson.steps[0].exercises.slice(0, 2), [rest[1], rest[0]]);
});

test('lessons: steps move by one place, stop at the ends, are added at the end and removed', () => {
  begin();
  const acts = [
    [() => press('add'), ['One', 'Two', '']],
    [() => step(1, '[data-step=up]').click(), ['One', 'Two', '']],
    [() => step(3, '[data-step=down]').click(), ['One', 'Two', '']],
    [() => step(2, '[data-step=up]').click(), ['Two', 'One', '']],
    [() => step(1, '[data-step=down]').click(), ['One', 'Two', '']],
    [() => step(2, '[data-step=remove]').click(), ['One', '']],
  ];
  for (const [act, expected] of acts) {
    act();
    assert.deepEqual(titles(), expected, String(act));
  }
});

test('lessons: an order is changed by dragging a row, whose neighbours pass it, and by its buttons', () => {
  begin();
  press('add');
  const list = one('.editor-order ol');
  for (const row of list.children) {
    row.getBoundingClientRect = () => ({ top: 20 * [...list.children].indexOf(row), height: 20 });
  }
  const grip = list.children[0].querySelector('.order-grip');
  const say = (type, more) =>
    grip.dispatchEvent(new PointerEvent(type, { bubbles: true, pointerId: 1, button: 0, ...more }));
  say('pointerdown', { button: 2 });
  say('pointermove', { clientY: 55 });
  assert.deepEqual(titles(), ['One', 'Two', ''], 'another button of the mouse');
  say('pointerdown');
  for (const clientY of [25, 35, 55, 45]) say('pointermove', { clientY });
  assert.equal(list.children[2].querySelector('.order-grip'), grip, 'it is under the pointer');
  say('pointerup');
  assert.deepEqual(
    [titles(), names('.editor-order')],
    [
      ['Two', '', 'One'],
      ['1. Two', '2. Step', '3. One'],
    ],
  );
  const button = (row, by) => list.querySelector(`li:nth-child(${row}) [data-move="${by}"]`);
  button(3, -1).click();
  assert.deepEqual([titles(), document.activeElement], [['Two', 'One', ''], button(2, -1)]);
  button(2, -1).click();
  assert.deepEqual(
    [titles(), document.activeElement],
    [['One', 'Two', ''], button(1, 1)],
    'at the end the other button',
  );
  assert.equal(button(1, 1).getAttribute('aria-label'), 'Move down: 1. One');
  list.querySelector('li:nth-child(2) .order-name').click();
  assert.equal(document.activeElement, step(2, 'input'));
  const held = list.children[1].querySelector('.order-grip');
  const row = list.children[1];
  held.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, pointerId: 1 }));
  row.after(list.children[0]);
  held.dispatchEvent(new PointerEvent('pointercancel', { bubbles: true, pointerId: 1 }));
  assert.deepEqual(titles(), ['One', 'Two', ''], 'a drag that the browser ends changes nothing');
});

describe('lessons: the editor', () => {
  const root = document.documentElement;
  const width = (matches) => {
    const query = Object.assign(new EventTarget(), { matches });
    mock.method(globalThis, 'matchMedia', () => query);
    editor.remove();
    editor = new LessonEditor();
    document.body.append(editor);
    dialog = editor.querySelector('dialog');
    return query;
  };

  test('stands beside the page where the window is wide, and over it where it is not', () => {
    const shown = [];
    for (const name of ['show', 'showModal']) {
      const own = HTMLDialogElement.prototype[name];
      mock.method(HTMLDialogElement.prototype, name, function () {
        shown.push(name);
        own.call(this);
      });
    }
    const query = width(true);
    begin();
    assert.deepEqual([shown, root.dataset.editor], [['show'], 'beside']);
    Object.assign(query, { matches: false }).dispatchEvent(new Event('change'));
    assert.deepEqual([shown, root.dataset.editor], [['show', 'showModal'], undefined]);
    assert.deepEqual(editor.lesson, LESSON, 'what is written stays');
    press('close');
    Object.assign(query, { matches: true }).dispatchEvent(new Event('change'));
    assert.deepEqual([shown.length, dialog.open], [2, false]);
  });

  test('turns its texts with the page, and leaves what is written and who writes where they are', () => {
    begin();
    editor.update({ look: 1 });
    const box = step(2, '[data-field-of=text]');
    box.focus();
    enter(box, 'Second, in other words.');
    const written = editor.lesson;
    const texts = 'legend, .field > span, summary > span, .step-locks span, option, .button, .hint';
    const english = [...dialog.querySelectorAll(texts)].map((element) => element.textContent);
    setLanguage('zh');
    editor.update({ look: 2 });
    const chinese = [...dialog.querySelectorAll(texts)].map((element) => element.textContent);
    const same = english.filter((text, i) => text === chinese[i] && /[a-z]{2}/.test(text));
    assert.deepEqual(same, ['Of mine'], 'the title of the draft');
    assert.equal(document.activeElement, box);
    assert.deepEqual(editor.lesson, written);
  });

  test('beside the page stays when the lesson is opened, and gives the focus back when it is closed', async () => {
    width(true);
    const opener = document.createElement('button');
    document.body.append(opener);
    opener.focus();
    begin();
    press('try');
    await rest();
    assert.deepEqual([dialog.open, location.hash.includes('L=zcode')], [true, true]);
    one('[name=title]').focus();
    fire(one('[name=title]'), 'keydown', KeyboardEvent, { key: 'Escape' });
    await rest();
    assert.deepEqual(
      [dialog.open, document.activeElement, root.dataset.editor],
      [false, opener, undefined],
    );
  });
});

describe('lessons: an edited lesson', () => {
  beforeEach(() => history.replaceState(null, '', '?embed=lesson#text'));

  test('goes nowhere without a step that has something to read or to see', async () => {
    begin();
    for (let i = 0; i < 2; i++) step(1, '[data-step=remove]').click();
    assert.equal(editor.lesson, null);
    for (const what of ['link', 'embed', 'try']) {
      press(what);
      await rest();
      assert.equal(said(), t('lessons.empty'));
    }
    assert.deepEqual([copied, codes, dialog.open], [[], [], true]);
    begin(null);
    assert.deepEqual([said(), editor.lesson.steps.length], ['', 1]);
  });
});

describe('lessons: a draft', () => {
  /** The page is loaded again: all that was in its memory is gone. */
  const reload = () => {
    editor.remove();
    editor = new LessonEditor();
    document.body.append(editor);
    dialog = editor.querySelector('dialog');
  };
  const title = () => one('[name=title]');
  const drafts = () => [...one('[name=draft]').options].map(({ text }) => text);
  const note = () => one('.editor-kept').textContent;

  test('is there again after the page was loaded anew, with every act of its teacher', () => {
    begin(null);
    assert.equal(localStorage.getItem('qkv-lesson-drafts'), null, 'nothing was changed yet');
    enter(title(), 'Mine');
    enter(one('[name=goals]'), 'to see\n');
    enter(step(1, '[data-field-of=text]'), 'First.');
    press('add');
    enter(step(2, '[data-field-of=title]'), 'Second');
    step(2, '[data-step=exercise]').click();
    enter(step(2, '[data-part=text]'), 'How?');
    step(2, '[data-step=up]').click();
    tick(step(1, '.step-panels [value=scale]'), true);
    assert.equal(note(), t('lessons.kept'));
    const written = editor.lesson;
    reload();
    begin(null);
    assert.deepEqual(editor.lesson, written);
    assert.deepEqual(titles(), ['Second', '']);
    step(1, '[data-part=remove]').click();
    step(2, '[data-step=remove]').click();
    reload();
    begin(null);
    assert.deepEqual([titles(), editor.lesson.steps[0].exercises], [['Second'], []]);
  });

  test('is not lost to a copy of another lesson, nor to a new one', () => {
    begin(null);
    enter(title(), 'Mine');
    begin();
    assert.equal(title().value, 'Of mine');
    assert.deepEqual(drafts(), [t('lessons.unchanged'), 'Mine']);
    enter(title(), 'A copy');
    press('fresh');
    assert.equal(title().value, '');
    enter(one('[name=goals]'), 'a goal');
    assert.deepEqual(drafts(), [t('lessons.untitled'), 'A copy', 'Mine']);
    const select = one('[name=draft]');
    select.value = select.options[2].value;
    fire(select, 'change');
    assert.equal(title().value, 'Mine');
    reload();
    begin(null);
    assert.deepEqual(drafts(), [t('lessons.untitled'), 'A copy', 'Mine'], 'a look changes none');
  });

  test('that is blank, damaged or not to be kept is no failure', () => {
    begin(null);
    enter(title(), 'Only a title');
    step(1, '[data-step=remove]').click();
    reload();
    begin(null);
    assert.deepEqual([title().value, titles()], ['Only a title', ['']]);
    for (const stored of [
      '{',
      '7',
      '[null, 3, {"id": 1, "lesson": {}}, {"id": "a", "lesson": 7}]',
    ]) {
      localStorage.setItem('qkv-lesson-drafts', stored);
      assert.deepEqual(web.readDrafts(), [], stored);
    }
    const storage = globalThis.localStorage;
    const forbidden = () => {
      throw new Error('forbidden');
    };
    Object.defineProperty(globalThis, 'localStorage', {
      value: { getItem: forbidden, setItem: forbidden },
      configurable: true,
    });
    enter(title(), 'Mine');
    Object.defineProperty(globalThis, 'localStorage', { value: storage, configurable: true });
    assert.equal(note(), t('lessons.notKept'));
    assert.equal(title().value, 'Mine');
  });
});
