// One visit to the whole page, in Node: its first minute, its menus, every step and answer of its lessons, the editor of
// lessons, files, failures, and panels that have workers of their own. After each act stands in
// tests/page/operated/visit-*.txt what is otherwise outside of the panels (those are operated by operated.test.js), the
// address, what was done that leaves no trace, and what page and workers told each other. QKV_REFRESH=1 writes it down.
import { test } from 'node:test';
import { PATIENCE, until } from '../../support/js/patience.js';
import { full, leaveToFullRun } from '../../support/js/full.js';
import { differences, enter, fire, linesOf, refresh, requireWritten } from '../support/operate.js';
import { openPage } from '../support/whole.js';
import { done, hashed } from '../support/window.js';

const opened = await openPage();
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

/** The panel whose visit it is. */
let visited;

/**
 * Panels are operated by operated.test.js, so only that which is visited is open; of their sections in their usual place nothing
 * else changes but the menu's word.
 */
function fold(element) {
  const { localName, parentElement } = element;
  if (localName.startsWith('qkv-panel-'))
    return localName.endsWith(`-${visited}`) ? 'open' : 'closed';
  if (element.hidden) return 'closed';
  if (
    localName === 'section' &&
    element.id &&
    element.id !== visited &&
    parentElement.localName === 'main'
  )
    return 'short';
  return localName === 'select' || element.classList.contains('tick-set') ? 'short' : 'open';
}
const linesOfPage = () => [
  `title ${JSON.stringify(document.title)}`,
  `root ${JSON.stringify(document.documentElement.dataset)}`,
  `focus ${document.activeElement?.id || document.activeElement?.localName}`,
  ...linesOf(document.body, { fold }),
  ...all('.menu [role=status]').map(({ textContent }) => `menu "${textContent}"`),
];

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
const answered = (kind) => () => heard.some((line) => line.startsWith(`from worker: ${kind}`));
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

/** A file that was handed over, and a hash of it; numbers to four digits, as builds differ in the last ones. */
async function savedLine({ name, blob }) {
  const lasting = (number) => String(Number(Number(number).toPrecision(4)));
  const text = (await blob.text()).replace(/-?\d+\.\d+(?:e[-+]\d+)?/g, lasting);
  return `saved ${name}, ${text.split('\n').length} lines ${hashed(text)}`;
}

/** Does one thing and returns what came of it, in lines. */
async function after(act, before) {
  for (const list of [heard, written, printed, copied, saved, done]) list.length = 0;
  await act();
  await settled();
  const lines = linesOfPage();
  const came = [
    ...written.map((address) => `address ${address}`),
    ...copied.map((text) => `copied ${text}`),
    ...(await Promise.all(saved.map(savedLine))),
    ...printed.map(() => 'printed'),
    ...done,
    ...heard,
    ...differences(before, lines),
  ];
  return { lines, came };
}

for (const [name, acts] of Object.entries(VISIT)) {
  if (name === 'a trained model' && !full && !refresh) {
    leaveToFullRun('visits to panels that train, and to a trained model');
    break; // they are the last
  }
  test(`visit: ${name}`, async () => {
    const came = [];
    visited = name;
    delays.clear();
    let before = linesOfPage();
    for (const entry of acts) {
      for (const [title, act] of typeof entry === 'function' ? entry() : [entry]) {
        const result = await after(act, before);
        before = result.lines;
        came.push('', `== ${title}`, ...result.came);
      }
    }
    // Nobody waited for these timers, so nothing else says how long they are. What is left of a step of training has less.
    const waits = [...delays].filter((delay) => delay >= 40).sort((a, b) => a - b);
    came.push('', '== timers', ...waits.map((delay) => `${delay} ms`));
    requireWritten(`visit-${name.replaceAll(' ', '-')}`, came);
  });
}
