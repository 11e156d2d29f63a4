// One visit to the whole page, in Node: its first minute, its menus, every step and answer of its lessons, the editor of
// lessons, files, failures, and panels that have workers of their own. What comes of each act is in
// tests/page/stories/visit-*.txt, which a person writes: the address, focus, what is said aloud and taken away, and which messages
// page and workers send. What is to be seen is for the tests in Chromium.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PATIENCE, until } from '../../support/js/patience.js';
import { full, leaveToFullRun } from '../../support/js/full.js';
import { enter, fire } from '../support/operate.js';
import { openPage } from '../support/whole.js';
import { done } from '../support/window.js';

const opened = await openPage();
const { brokenTexts, mayBeBroken } = await import('../support/rules.js');
const { inGeneral, requireStory } = await import('../support/story.js');
const { page, heard, written, workers, delays, printed, copied, saved } = opened;
const { goTo, rest, see } = opened;

/** Until everything is computed and drawn, or the page says that it failed, for two turns. */
async function settled() {
  const end = Date.now() + PATIENCE.wait;
  for (let calm = 0; calm < 2;) {
    if (Date.now() > end) throw new Error('the page never came to rest');
    await rest();
    calm = page.settled() || !one('.failure').hidden ? calm + 1 : 0;
  }
}

// ---- what a reader does ----

const all = (selector) => [...document.querySelectorAll(selector)];
function one(selector) {
  const found = document.querySelector(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return found;
}
const enterInto = (element, value) => {
  if (element.type !== 'checkbox') return enter(element, value);
  element.checked = value;
  for (const type of ['input', 'change']) fire(element, type);
};
const click = (selector) => [`click ${selector}`, () => one(selector).click()];
const entering = (selector, value) => [
  `enter ${JSON.stringify(value)} into ${selector}`,
  () => enterInto(one(selector), value),
];
const key = (selector, name) => [
  `press ${name} in ${selector}`,
  () => fire(one(selector), 'keydown', KeyboardEvent, { key: name }),
];
const go = (hash) => [`go to ${hash}`, () => goTo(hash)];
const toSight = (selector, visible) => [
  `${visible ? 'bring' : 'take'} ${selector} ${visible ? 'into' : 'out of'} sight`,
  () => see(one(selector), visible),
];
const set = (patch) => [`the state becomes ${JSON.stringify(patch)}`, () => page.set(patch)];

/** An act after which something is worked out, in as many turns as that takes. */
const waiting = ([title, act], isDone) => [
  title,
  async () => {
    await act();
    await until(isDone);
  },
];
const hasCopied = () => copied.length > 0;

/** All that can be done with the exercises of a step, in turn. */
function answers() {
  const acts = [];
  for (const [i, form] of all('.lesson-step.current .lesson-exercises form').entries()) {
    const of = (what) => `exercise ${i + 1}: ${what}`;
    const submit = () => fire(form, 'submit');
    const say = (what, element, act) => acts.push([of(what), () => (act(element), submit())]);
    acts.push([of('no answer'), submit]);
    for (const choice of form.querySelectorAll('[type=radio]')) {
      say(`choice ${choice.value}`, choice, (box) => (box.checked = true));
    }
    const box = form.querySelector('input[type=text]');
    for (const number of box ? ['0,25', 'many', '-3', '1e3'] : [])
      say(number, box, () => (box.value = number));
    const reveal = form.querySelector('.reveal');
    if (reveal) acts.push([of('reveal'), () => reveal.click()]);
    if (box && reveal) {
      say('what was revealed', box, () => {
        box.value = /-?\d[\d.]*/.exec(form.querySelector('.verdict').textContent)?.[0] ?? '';
      });
    }
  }
  return acts;
}

const lesson = (name, more = '') => go(`#v=1&lang=en&lesson=${name}${more}`);

/** Whether the worker of a panel has said this. */
const answered = (kind) => () =>
  heard.some(([way, said]) => way === 'from' && said.startsWith(kind));
const train = waiting(click('#learn [data-do=step]'), answered('news'));
const play = waiting(click('#learn [data-do=play]'), answered('news'));
const pause = click('#learn [data-do=play]');
const learn = waiting(click('#recurrence [data-press=step]'), answered('reached'));

/** Panels that give files of which nothing depends on the machine. */
const FIGURES = [
  ...['map', 'pair', 'row', 'temperature', 'scale', 'masks', 'positions', 'block', 'cost'],
  ...['recurrence', 'learn', 'model'],
];

/** Takes files away from a panel, as its menu says when it is done. */
function taking(id, formats = ['svg', 'csv', 'json']) {
  const said = () => one(`#${id} .menu [role=status]`);
  return formats.map((what) => {
    const [title, act] = click(`#${id} .menu [data-do=${what}]`);
    const afresh = () => {
      said().textContent = '';
      act();
    };
    return waiting([title, afresh], () => said().textContent !== '');
  });
}

/** Something that happens to the worker of the frames. */
const suffer = (title, event) => [title, () => workers.at(-1).suffer(event())];
const message = (data) => new MessageEvent('message', { data });
const failure = { code: 'out_of_memory', message: 'there is no room' };

/** A button below the steps of the editor. */
const press = (what) => click(`qkv-lesson-editor [data-do=${what}]`);
const step = (at, selector) => `.editor-steps > li:nth-child(${at}) ${selector}`;
const VISIT = {
  'first minute': [
    ['the page is there', () => undefined],
    toSight('#map', true),
    click('.chip:nth-of-type(2) input'),
    entering('#tau', '0.7'),
    click('[data-door=learn]'),
    click('.introduction'),
    key('.menu', 'Escape'),
    key('body', 'Escape'),
    click('.introduction'),
    click('.first-minute-skip'),
    go('#v=1&lang=en&seed=5'),
    toSight('#map', false),
  ],
  'head and menus': [
    toSight('#map', true),
    click('.share'),
    ...['link', 'embed', 'svg', 'csv', 'json', 'png'].map((what) =>
      click(`#map [data-do=${what}]`),
    ),
    click('#scale [data-do=svg]'),
    key('#map .menu', 'Escape'),
    click('.theme'),
    click('.theme'),
    click('.theme'),
    click('.teacher'),
    click('.teacher'),
    click('.language'),
    click('.language'),
    set({ source: 'yours' }),
    set({ source: 'random', seed: 3 }),
    set({ source: 'constructed', text: 'a b a b', length: 4 }),
    ['two changes come one after the other', () => [{ seed: 8 }, { head: 2 }].forEach(page.set)],
    go('#learn'),
    go('#v=1&lang=zh&h=3'),
    go('#v=1&lang=en'),
  ],
  'list of lessons': [
    lesson('index'),
    lesson('none'),
    click('.print'),
    click('.lesson-list li:nth-child(2) [data-adapt]'),
    press('close'),
    click('.lesson-head .make'),
    press('close'),
    click('.language'),
    click('.language'),
    go('#v=1&lang=en'),
  ],
  'a lesson': [
    lesson('order'),
    set({ maskKind: 'window', maskSize: 4 }),
    answers,
    click('.lesson-head .for-teachers'),
    click('.lesson-head .for-teachers'),
    ...['save', 'clear', 'undo'].map((what) => click(`[data-answers=${what}]`)),
    click('.lesson-step.current .back button'),
    click('.lesson-step.current .next'),
    click('.lesson-step.current .next'),
    click('.lesson-step.current [data-to]'),
    click('.lesson-steps li:last-child button'),
    click('.language'),
    click('.language'),
    click('.lesson-head .print'),
    lesson('order', '&step=9'),
    go('#map'),
    click('.lesson-head .leave'),
    lesson('order', '&step=2'),
    go(''),
    go('#v=1&lang=en'),
  ],
  locks: [
    lesson('reads'),
    set({ head: 4 }),
    lesson('reads', '&step=4'),
    set({ tokenizer: 'byte', temperature: 2 }),
    lesson('reads', '&step=5'),
    set({ head: 1, temperature: 3 }),
    go('#v=1&lang=en'),
  ],
  'the editor': [
    lesson('reads'),
    click('.lesson-head .adapt'),
    entering('[name=title]', 'One of my own'),
    entering('[name=minutes]', '20'),
    entering('[name=goals]', 'to see\n\nto learn'),
    click(step(1, '[data-step=up]')),
    click(step(1, '[data-step=down]')),
    click(step(3, '[data-step=remove]')),
    entering(step(1, '[data-field-of=title]'), 'First'),
    entering(step(1, '[data-field-of=text]'), 'One.\n\nTwo.'),
    entering(step(1, '.step-panels [value=settings]'), true),
    entering(step(1, '.step-panels [value=map]'), false),
    entering(step(1, '.step-panels [value=scale]'), true),
    entering(step(1, '.step-locks [value=all]'), true),
    entering(step(2, '.step-locks [value=head]'), true),
    entering(step(1, '[data-field-of=guess]'), true),
    click(step(1, '[data-step=state]')),
    click(step(1, '[data-part=remove]')),
    click(step(1, '[data-step=exercise]')),
    entering(step(1, 'li:last-child [data-part=text]'), 'How much?'),
    entering(step(1, 'li:last-child [data-part=kind]'), 'number'),
    entering(step(1, 'li:last-child [data-part=number]'), 'maskWeight'),
    entering(step(1, 'li:last-child [data-part=place]'), ' 4，0 '),
    click(step(2, '[data-step=exercise]')),
    entering(step(2, 'li:last-child [data-part=text]'), 'Which?'),
    entering(step(2, 'li:last-child [data-part=kind]'), 'choice'),
    entering(step(2, 'li:last-child [data-part=choices]'), 'this\n\nthat'),
    entering(step(2, 'li:last-child [data-part=right]'), '2'),
    click(step(2, '[data-step=exercise]')),
    entering(step(2, 'li:last-child [data-part=text]'), 'Who wrote it?'),
    entering(step(2, 'li:last-child [data-part=kind]'), 'text'),
    entering(step(2, 'li:last-child [data-part=answers]'), 'many'),
    click('.editor-order li:nth-child(2) [data-move="-1"]'),
    click('.editor-order li:nth-child(1) [data-move="1"]'),
    press('add'),
    waiting(press('link'), hasCopied),
    waiting(press('embed'), hasCopied),
    waiting(press('try'), () => document.title.startsWith('One of my own')),
    answers,
    click('.lesson-step.current .next'),
    answers,
    click('.lesson-head .leave'),
    go('#v=1&lang=en'),
    lesson('index'),
    click('.lesson-head .make'),
    ...Array(5).fill(click(step(1, '[data-step=remove]'))),
    press('link'),
    press('close'),
    click('.lesson-head .make'),
    press('close'),
    go('#v=1&lang=en'),
  ],
  pictures: [
    toSight('#map', true),
    set({ show: 'log' }),
    set({ show: 'scores' }),
    set({ show: 'difference', other: 2 }),
    set({ show: 'weights', mask: 'none' }),
    toSight('#map', false),
    toSight('#masks', true),
    set({ maskKind: 'window' }),
    toSight('#masks', false),
    toSight('#positions', true),
    set({ scheme: 't5' }),
    set({ layout: 'concatenated' }),
    toSight('#positions', false),
    toSight('#block', true),
    set({ blockTap: 'weights' }),
    set({ blockContext: 'one two' }),
    toSight('#block', false),
    ...['pair', 'row', 'temperature', 'scale'].flatMap((id) => [
      toSight(`#${id}`, true),
      toSight(`#${id}`, false),
    ]),
    go('#v=1&lang=en'),
  ],
  files: [
    set({ source: 'random', seed: 4 }),
    ...FIGURES.flatMap((id) => [toSight(`#${id}`, true), ...taking(id), toSight(`#${id}`, false)]),
    [
      'copying is forbidden',
      () => (navigator.clipboard.writeText = () => Promise.reject(new Error('no'))),
    ],
    click('#row .menu [data-do=link]'),
    click('#row .menu [data-do=embed]'),
    lesson('reads'),
    click('.lesson-head .adapt'),
    waiting(press('link'), () => one('.editor-said').textContent !== ''),
    ['Enter in a box of the editor', () => fire(one('qkv-lesson-editor form'), 'submit')],
    press('close'),
    go('#v=1&lang=en'),
  ],
  failures: [
    suffer('the engine fails', () => message({ type: 'run-failed', failure })),
    set({ seed: 6 }),
    suffer('the engine cannot be loaded', () => message({ type: 'load-failed', failure })),
    click('.failure button'),
    suffer('the worker dies', () => new ErrorEvent('error', { message: 'it broke' })),
    set({ seed: 7 }),
    click('.failure button'),
    set({ seed: 8 }),
    suffer('the worker dies of what nobody knows', () => new ErrorEvent('error', { message: '' })),
    click('.failure button'),
    go('#v=1&lang=en'),
  ],
  // Before the depth of blocks, which is worked out again whenever the text becomes another one.
  'a trained model': [
    toSight('#model', true),
    click('#model [data-model=austen] .load'),
    set({ source: 'trained' }),
    toSight('#map', true),
    toSight('#row', true),
    set({ head: 5, query: 4 }),
    set({ temperature: 0.5 }),
    set({ text: 'It is a truth; it is a truth' }),
    set({ language: 'zh' }),
    set({ language: 'en' }),
    ...taking('model', ['svg', 'csv']), // in the other one are times of a load
    toSight('#row', false),
    toSight('#map', false),
    toSight('#model', false),
    go('#v=1&lang=en'),
  ],
  'depth of blocks': [
    toSight('#block', true),
    set({ source: 'random', blockDepth: 2 }),
    waiting(click('#block .block-run'), answered('result')),
    waiting(set({ blockRule: 'scaled' }), answered('result')),
    waiting(set({ blockType: 'rms', blockDepth: 3 }), answered('result')),
    set({ language: 'zh' }),
    set({ language: 'en' }),
    waiting(click('#block .block-draw'), answered('result')),
    ...taking('block'),
    toSight('#block', false),
    go('#v=1&lang=en'),
  ],
  learn: [
    toSight('#learn', true),
    train,
    train,
    click('#learn .learn-maps button'),
    entering('#learn [name=compare]', true),
    entering('.learn-setup [name=seed]', '2'),
    entering('.learn-setup [name=layers]', '1'),
    train,
    train,
    waiting(entering('#learn [name=scrub]', '1'), answered('moment')),
    click('#learn [data-do=live]'),
    entering('.learn-setup [name=task]', 'characters'),
    entering('.learn-setup [name=text]', 'abcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabc'),
    train,
    set({ learnSamples: 64, learnCausal: false, learnTemperature: 2 }),
    train,
    set({ language: 'zh' }),
    set({ language: 'en' }),
    ...taking('learn'),
    play,
    pause,
    set({ learnSpeed: '1' }),
    play,
    set({ learnSpeed: 'full' }),
    pause,
    set({ learnExperiment: 'overfit' }),
    waiting(click('#learn [data-do=heads]'), answered('news')),
    pause,
    click('#learn [data-do=forget]'),
    click('#learn [data-do=restart]'),
    toSight('#learn', false),
    go('#v=1&lang=en'),
  ],
  recurrence: [
    toSight('#recurrence', true),
    learn,
    entering('#recurrence-source', '2718'),
    entering('#recurrence-seed', '9'),
    learn,
    learn,
    set({ language: 'zh' }),
    set({ language: 'en' }),
    ...taking('recurrence'),
    waiting(
      click('#recurrence [data-press=measure]'),
      () => one('#recurrence [data-chart=cost] .recurrence-words').textContent !== '',
    ),
    toSight('#recurrence', false),
    go('#v=1&lang=en'),
  ],
};

// ---- what comes of it ----

const distinct = (list) => [...new Set(list)];

/** The elements that say aloud what is in them. Those of panels are for their own tests. */
const sayingIn = (element) => {
  if (element.localName.startsWith('qkv-panel-')) return [];
  const says =
    ['status', 'alert'].includes(element.getAttribute('role')) ||
    element.getAttribute('aria-live') === 'polite';
  return [...(says ? [element] : []), ...Array.from(element.children).flatMap(sayingIn)];
};

/** What the page has to say aloud, by the element that says it. */
const regions = () =>
  new Map(
    sayingIn(document.body).map((element) => {
      const isAlert = element.getAttribute('role') === 'alert';
      const isHidden = element.closest('[hidden]') !== null;
      // An alert is read out when it appears, too.
      return [element, { text: isAlert && isHidden ? '' : element.textContent.trim(), isHidden }];
    }),
  );

/** What is read out after a change. */
const saidAloud = (before, now) =>
  [...now]
    .filter(
      ([element, { text, isHidden }]) => text !== (before.get(element)?.text ?? '') && !isHidden,
    )
    .map(([, { text }]) => text)
    .filter(Boolean);

/** What a link says now and did not say before. */
function newInLink(before, after) {
  const [old, now] = [before, after].map((hash) => new URLSearchParams(hash.replace(/^#/, '')));
  const said = [...now].filter(([key, value]) => old.get(key) !== value);
  const gone = [...old.keys()].filter((key) => !now.has(key));
  return [...said.map(([key, value]) => `${key}=${value}`), ...gone.map((key) => `no ${key}`)];
}

/** Of what an act leaves behind, what a reader or a worker would notice. */
function stateOfPage() {
  const { id, localName, className } = document.activeElement ?? document.body;
  return {
    title: document.title,
    focus: id ? `#${id}` : `${localName}${className && `.${className.split(' ').join('.')}`}`,
    address: location.hash,
    regions: regions(),
    look: { ...document.documentElement.dataset, lang: document.documentElement.lang },
  };
}

let before = stateOfPage();
/** What comes while the page opens belongs to the first act, however long it takes until that is done. */
let isOpening = true;
/** Does one thing, and returns what came of it, a line for each kind of thing. */
async function after(act) {
  if (!isOpening)
    for (const list of [heard, written, printed, copied, saved, done]) list.length = 0;
  isOpening = false;
  await act();
  await settled();
  const now = stateOfPage();
  const messages = (way) =>
    distinct(heard.filter(([of]) => of === way).map(([, kind]) => kind)).sort();
  const otherLook = Object.entries(now.look).filter(([key, value]) => before.look[key] !== value);
  const kinds = {
    title: now.title === before.title ? [] : [now.title],
    look: otherLook.map(([key, value]) => `${key} ${value}`),
    address: newInLink(before.address, now.address),
    focus: now.focus === before.focus ? [] : [now.focus],
    'scrolls to': distinct(done).flatMap((deed) => /^scrollIntoView of (.*)/.exec(deed)?.[1] ?? []),
    says: distinct(saidAloud(before.regions, now.regions).map((text) => `“${inGeneral(text)}”`)),
    copies: copied.map((text) => (text.startsWith('<iframe') ? 'an iframe' : 'a link')),
    saves: saved.map(({ name }) => name),
    prints: printed,
    'asks workers': messages('to'),
    hears: messages('from'),
    paints: messages('painted'),
  };
  const wrong = [
    ...(mayBeBroken(document.body.textContent) ? brokenTexts(document.body) : []),
    ...(document.activeElement?.closest('[hidden]') ? ['the focus is on what is hidden'] : []),
  ];
  const lines = Object.entries(kinds).map(
    ([kind, what]) => what.length && `${kind}: ${what.join(', ')}`,
  );
  before = now;
  return { lines: lines.filter(Boolean), wrong };
}

for (const [name, acts] of Object.entries(VISIT)) {
  if (name === 'files' && !full) {
    leaveToFullRun('visits with files and failures, to panels that train, and to a trained model');
    break; // they are the last
  }
  test(`visit: ${name}`, async () => {
    const told = [];
    const wrong = [];
    delays.clear();
    for (const entry of acts) {
      for (const [title, act] of typeof entry === 'function' ? entry() : [entry]) {
        const came = await after(act);
        told.push(`# ${title}`, ...came.lines, '');
        wrong.push(...came.wrong.map((what) => `${title}: ${what}`));
      }
    }
    // Nobody waits for these timers, so nothing else says how long they are. What is left of a step of training has less.
    const waits = [...delays].filter((delay) => delay >= 40).sort((a, b) => a - b);
    told.push(`# timers in ms: ${waits.join(', ')}`);
    requireStory(`visit-${name.replaceAll(' ', '-')}`, told);
    assert.equal(wrong.join('\n'), '');
  });
}
