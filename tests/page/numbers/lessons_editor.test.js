// @about web/src/features/lessons/
// The editor of lessons, in Node: what each act makes of a lesson, and how it leaves the page.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { until } from '../../support/js/patience.js';
import { differences, enter, fire, linesOf, requireWritten } from '../support/operate.js';
import { exampleSaid } from '../support/texts.js';
import { openWindow } from '../support/window.js';

const { rest, leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...['page/editor', 'page/lesson', 'page/lesson_codec', 'page/drafts'].map(
    (name) => `features/lessons/${name}`,
  ),
  'state/state',
);
const { LessonEditor, readLesson, readCode, initialState, setLanguage, t } = web;

const LESSON = readLesson({
  title: 'Of mine',
  minutes: 20,
  goals: ['to see', 'to learn'],
  steps: [
    {
      ...{ title: 'One', text: 'First.', show: ['map', 'settings'], state: 'seed=3' },
      ...{ lock: ['head', 'seed'], guess: true },
      exercises: [
        { text: 'Why?' },
        { text: 'How many?', number: 'maskWeight:3,1', within: 0.25 },
        { text: 'Which?', choices: ['this', 'that'], right: 1 },
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
const fold = (element) =>
  element.localName === 'select' || element.classList.contains('tick-set') ? 'short' : 'open';

test('lessons: a lesson goes through the editor as it is', () => {
  begin();
  assert.deepEqual(editor.lesson, LESSON);
  assert.deepEqual([dialog.open, dialog.className, said()], [true, 'editor-dialog', '']);
  const lines = ['open', ...linesOf(dialog, { fold })];
  press('close');
  assert.equal(dialog.open, false);
  setLanguage('zh');
  begin();
  requireWritten('editor', [...lines, '', '== in Chinese', ...linesOf(dialog)]);
});

test('lessons: a step that is moved keeps the focus, and one that goes gives it to its neighbour', () => {
  begin();
  const button = (at, what) => step(at, `[data-step=${what}]`);
  const pressed = (at, what) => {
    const held = button(at, what);
    held.focus();
    held.click();
    return held;
  };
  const down = pressed(1, 'down');
  assert.deepEqual(titles(), ['Two', 'One']);
  assert.equal(document.activeElement, down);
  const up = pressed(2, 'up');
  assert.deepEqual(titles(), ['One', 'Two']);
  assert.equal(document.activeElement, up);
  pressed(2, 'remove');
  assert.equal(document.activeElement, step(1, 'input'));
  pressed(1, 'remove');
  assert.equal(document.activeElement, document.body);
});

/** Of lists there is only what is chosen: their options stay. */
const foldLists = (element) => (element.localName === 'select' ? 'closed' : fold(element));

/** All acts on the second and first step, each with what becomes of the dialog and of the lesson. */
const ACTS = {
  'a title': () => enter(step(1, '[data-field-of=title]'), 'New'),
  'a text': () => enter(step(1, '[data-field-of=text]'), 'A\n\nB'),
  'no guess': () => tick(step(1, '[data-field-of=guess]'), false),
  'one more panel': () => tick(step(1, '.step-panels [value=scale]'), true),
  'the panel again': () => tick(step(1, '.step-panels [value=map]'), true),
  'a panel less': () => tick(step(1, '.step-panels [value=map]'), false),
  'a lock less': () => tick(step(1, '.step-locks [value=seed]'), false),
  'all locked': () => tick(step(1, '.step-locks [value=all]'), true),
  'not all locked': () => tick(step(2, '.step-locks [value=all]'), false),
  'the state of the screen': () => step(1, '[data-step=state]').click(),
  'a click beside the buttons': () => step(1, 'legend').click(),
  'a question': () => step(1, '[data-step=exercise]').click(),
  'the question is a number': () =>
    enter(step(1, '.editor-exercises > li:last-child [data-part=kind]'), 'number'),
  'the number has a name': () => {
    enter(step(1, '.editor-exercises > li:last-child [data-part=text]'), 'How?');
    enter(step(1, '.editor-exercises > li:last-child [data-part=number]'), 'weight');
  },
  'and a place': () =>
    enter(step(1, '.editor-exercises > li:last-child [data-part=place]'), ' 3，4 '),
  'the question is a choice': () => {
    enter(step(1, '.editor-exercises > li:last-child [data-part=kind]'), 'choice');
    enter(step(1, '.editor-exercises > li:last-child [data-part=choices]'), 'a\n \nb\n');
    enter(step(1, '.editor-exercises > li:last-child [data-part=right]'), '2');
  },
  'the second question away': () =>
    step(1, '.editor-exercises > li:nth-child(2) [data-part=remove]').click(),
  'up, which it is': () => step(1, '[data-step=up]').click(),
  'the second step up': () => step(2, '[data-step=up]').click(),
  'the first step down': () => step(1, '[data-step=down]').click(),
  'the last step down': () => step(2, '[data-step=down]').click(),
  'one more step': () => press('add'),
  'the second step away': () => step(2, '[data-step=remove]').click(),
};

test('lessons: what becomes of a lesson with each act of its teacher', () => {
  begin();
  const now = () => [
    JSON.stringify({ ...editor.lesson, steps: undefined }),
    ...editor.lesson.steps.map((one) => JSON.stringify(one)),
    ...linesOf(dialog, { fold: foldLists }),
    `focus ${document.activeElement?.dataset?.fieldOf ?? document.activeElement?.dataset?.part}`,
  ];
  let before = now();
  const came = [];
  for (const [title, act] of Object.entries(ACTS)) {
    act();
    const after = now();
    came.push('', `== ${title}`, ...differences(before, after));
    before = after;
  }
  requireWritten('editor-acts', came);
});

describe('lessons: a new lesson', () => {
  test('begins with what is on the screen, and goes on with what was begun', () => {
    begin(null);
    const { steps } = editor.lesson;
    assert.deepEqual(steps, [
      {
        ...{ title: '', text: '', show: ['settings', 'map'], state: `${exampleSaid()}&seed=5` },
        ...{ lock: [], guess: false, exercises: [] },
      },
    ]);
    enter(step(1, '[data-field-of=title]'), 'Mine');
    press('close');
    begin(null);
    assert.deepEqual(titles(), ['Mine']);
    begin();
    assert.deepEqual(titles(), ['One', 'Two']);
  });

  test('shows the panel that is in sight', () => {
    const third = innerHeight / 3;
    begin(null);
    for (const [boxes, panel] of [
      [{ row: { height: 9, bottom: third + 1 } }, 'row'],
      [{ row: { height: 9, bottom: third } }, 'map'],
      [{ row: { height: 0, bottom: third + 1 } }, 'map'],
      [{ row: { height: 9, bottom: third - 1 }, scale: { height: 1, bottom: 999 } }, 'scale'],
    ]) {
      places = boxes;
      press('add');
      assert.deepEqual(editor.lesson.steps.at(-1).show, ['settings', panel], JSON.stringify(boxes));
    }
    assert.equal(editor.lesson.steps.length, 5);
    assert.equal(document.activeElement, step(5, 'input'));
  });

  test('keeps its place and its words when it is put onto the page again', () => {
    begin();
    editor.connectedCallback();
    assert.equal(editor.querySelectorAll('dialog').length, 1);
    assert.deepEqual(titles(), ['One', 'Two']);
    editor.remove();
    document.body.append(editor);
    assert.equal(editor.querySelectorAll('dialog').length, 1);
    assert.equal(dialog.getAttribute('aria-labelledby'), 'editor-title');
  });
});

describe('lessons: an edited lesson', () => {
  const page = 'https://page.example/';
  const link = '#v=1&lang=en&L=zcode';
  beforeEach(() => history.replaceState(null, '', '?embed=lesson#text'));

  test('is copied as a link or a frame, or shown where nothing may be copied', async () => {
    begin();
    const frame = `<iframe src="${page}?embed=lesson${link.replaceAll('&', '&amp;')}" title="Of mine" width="100%" height="800" loading="lazy" allow="clipboard-write"></iframe>`;
    for (const [what, text] of [
      ['link', page + link],
      ['embed', frame],
    ]) {
      press(what);
      await rest();
      assert.deepEqual(
        [copied.at(-1), said()],
        [text, t('lessons.copied', { count: text.length })],
      );
    }
    assert.deepEqual(codes, [LESSON, LESSON]);
    navigator.clipboard.writeText = () => Promise.reject(new Error('no'));
    press('link');
    await rest();
    assert.equal(said(), page + link);
    assert.equal(dialog.open, true);
  });

  test('is opened in the language of the page', async () => {
    state = { ...state, language: 'zh' };
    begin();
    press('try');
    await until(() => location.hash !== '#text');
    assert.deepEqual([location.hash, dialog.open, copied], ['#v=1&lang=zh&L=zcode', false, []]);
  });

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

  test('is not sent by Enter, nor by a click beside its buttons', async () => {
    begin();
    assert.equal(fire(one('form'), 'submit'), false);
    one('.editor-said').click();
    fire(one('h2'), 'click');
    await rest();
    assert.deepEqual([dialog.open, copied, codes], [true, [], []]);
  });

  test('comes out of its link again', async () => {
    const code = await web.writeCode(LESSON);
    assert.deepEqual(await readCode(code), LESSON);
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

  test('goes when it is discarded, and can be brought back', () => {
    begin(null);
    enter(title(), 'Mine');
    assert.equal(one('[data-do=undo]').hidden, true);
    press('discard');
    assert.deepEqual([title().value, web.readDrafts()], ['', []]);
    press('undo');
    assert.equal(title().value, 'Mine');
    press('discard');
    reload();
    begin(null);
    assert.deepEqual([title().value, titles()], ['', ['']]);
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
