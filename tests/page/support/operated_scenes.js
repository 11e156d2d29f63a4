// Every control of a panel, in Node. What a control asks for is what tests/page/stories says, a line for each: change the line
// when you change the control. Whatever is done, and at whatever time, the rules below hold; rules.js has those of
// texts and names.
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { full, leaveToFullRun } from '../../support/js/full.js';
import { actsOf, differences, fire, focusable, named, seenOf, seldomOn } from './operate.js';
import { brokenTexts, controlsIn, foreignTexts, mayBeBroken, namelessControls } from './rules.js';
import { answersTo, empty, layOut, rest, told, viewOf, web, workers } from './scene.js';
import { Story } from './story.js';
import { otherStates } from './states.js';
import { SIZE, done } from './window.js';

// ---- scenes: elements, each in its states ----

const MORE = {
  learn: [{ learnExperiment: 'noise' }],
  positions: [{ scheme: 't5' }, { scheme: 'xl', xlTerm: 'a' }],
};

/** Chapters with a small picture of their own. */
const PICTURES = web.CHAPTER_IDS.filter((id) => web.CHAPTERS[id].picture);

/** By name: the element, and the states that it is put in. */
const SCENES = {
  top: ['qkv-top', {}],
  sentence: ['qkv-sentence', {}, { source: 'random', length: 24 }],
  instruments: ['qkv-instruments', {}, { source: 'yours', maskKind: 'window' }],
  ...Object.fromEntries(
    PICTURES.map((id) => [`picture-${id}`, [`qkv-picture-${id}`, {}, { source: 'random' }]]),
  ),
  ...Object.fromEntries(
    web.PANEL_IDS.map((id) => {
      // A question of the panel is put as well, whose answer nobody has seen yet.
      const other = otherStates[id] && [{ ...otherStates[id], ...web.asksOf(id) }];
      return [id, [`qkv-panel-${id}`, {}, ...(other ?? []), ...(MORE[id] ?? [])]];
    }),
  ),
};

/** What a panel needs before it has something to show. */
const BEGINNINGS = {
  'qkv-panel-recurrence': (panel) => panel.querySelector('[data-press=step]').click(),
  'qkv-panel-extrapolation': (panel) => panel.querySelector('.run').click(),
  'qkv-panel-learn': (panel, { learnExperiment }) =>
    panel.querySelector(`[data-do=${learnExperiment ? 'noise' : 'step'}]`).click(),
};

// ---- the page at other times ----

const failure = { code: 'out_of_memory', message: 'there is no room' };
const nothing = { frame: null, report: null, studies: { temperature: null, scale: null } };
const written = {
  ...{ before: 'It is', text: ' a truth', tokens: 8, cached: 14, capacity: 256 },
  ...{ bytesPerToken: 4096, median: 1.5, running: false, seed: 7 },
};
const speed = {
  points: [16, 64, 256].map((length) => ({ length, cached: 1 + length / 64, whole: length / 8 })),
  ...{ difference: 2 ** -20, running: false },
};
const changes = {
  ...{ reading: 1, running: false },
  changes: Float32Array.from({ length: 16 }, (_, i) => (i === 3 ? NaN : 0.01 * (i - 5))),
};

/** What a panel gets at other times than that at which everything is there, by the time. */
const TIMES = {
  'before the first frame': (view) => ({ ...view, ...nothing, engine: { kind: 'loading' } }),
  'after the engine could not be loaded': (view) => ({
    ...{ ...view, ...nothing },
    engine: { kind: 'failed', during: 'load', failure },
  }),
  'after a frame that failed': (view) => ({
    ...view,
    engine: { kind: 'failed', during: 'run', failure },
  }),
};
const TIMES_OF_MODEL = {
  'before a model is loaded': () => web.NO_MODEL,
  'while a model is loaded': () => ({
    ...web.NO_MODEL,
    loading: { what: 'austen', loaded: 2e5, total: 8e5 },
  }),
  'after a file that is no model': () => ({
    ...web.NO_MODEL,
    refused: { what: 'a.bin', failure },
  }),
  'while a model writes': (model) => ({ ...model, generated: { ...written, running: true } }),
  'after a model has written': (model) => ({ ...model, generated: written }),
  'after a model was timed': (model) => ({ ...model, speed }),
  'while a model is timed': (model) => ({ ...model, speed: { ...speed, running: true } }),
  'after all heads were ablated': (model) => ({ ...model, changes }),
  'after what the model could not do': (model) => ({ ...model, failed: failure }),
};
const TIMES_OF_MICROSCOPE = {
  'before a model is loaded': () => web.NO_MODEL,
  'of a model that does not say what follows': ({ info, ...model }) => ({
    ...model,
    info: { ...info, speaks: false },
  }),
  'while maps are computed': ({ microscope, ...model }) => ({
    ...{ ...model, microscope: { ...microscope, maps: { ...microscope.maps, running: true } } },
  }),
  'of prompts without a token': ({ microscope, ...model }) => {
    const none = { ids: [], labels: [], unknown: ['xyz'] };
    const measures = [NaN, NaN];
    const prompts = { clean: none, corrupt: none, problem: 'empty', choices: [], measures };
    return {
      ...model,
      microscope: {
        ...{ ...microscope, shares: null, cut: null, maps: null },
        prompts: { ...prompts, answer: null, instead: null },
      },
    };
  },
  'after what could not be taken apart': ({ microscope, ...model }) => ({
    ...model,
    microscope: { ...microscope, shares: null, cut: null, maps: null, failure },
  }),
};
const TIMES_OF = { model: TIMES_OF_MODEL, microscope: TIMES_OF_MICROSCOPE };
/** Times at which the panel says what went wrong; of an engine that failed, the page does. */
const SAYS_FAILURE = ['after a file that is no model', 'after what the model could not do'];

// ---- operating ----

/** Events by which a panel asks the page for something. */
const ASKS = [
  ...['state-change', 'row-described', 'temperature-held', 'model-tell'],
  ...['engine-retry', 'theme-change', 'guessed', 'lesson-open'],
];
/** The page hears its parts at the document, so events that do not get there count for nothing. */
let hear = () => undefined;
for (const name of ASKS) document.addEventListener(name, ({ detail }) => hear(name, detail));

/** Fields of elsewhere: choices for the whole page, and heads that "Show in the map" shows there. */
const CHANGES_ALSO = {
  ...{ top: ['language'], instruments: ['head'] },
  ...{ row: ['head'], model: ['head', 'other'] },
  ...{ 'picture-scores': ['width', 'divided'], 'picture-heads': ['head'] },
  ...{ 'picture-order': ['position', 'shift'], 'picture-blocks': ['blockNorm'] },
  ...{ 'picture-cost': ['costShape'] },
};

/** Fields that an element may change: its own and those of the page. */
const fieldsOf = (name) => [
  ...Object.keys(web.PAGE_FIELDS),
  ...Object.keys(web.FEATURES[name]?.fields ?? {}),
  ...(CHANGES_ALSO[name] ?? []),
];

/** An element on a page of its own, in a state of this language. */
async function put(element, patch, language = 'en') {
  web.setLanguage(language);
  empty();
  const asked = [];
  let state = { ...web.initialState(language), ...patch };
  const panel = document.createElement(element);
  let look = 1;
  const draw = async (when) =>
    panel.update(await viewOf(element, { ...patch, language }, state, look, when));
  hear = (name, detail) => {
    asked.push({ name, detail });
    if (name !== 'state-change') return;
    state = { ...state, ...detail };
    if (!detail.language) return;
    web.setLanguage(detail.language);
    look += 1;
  };
  document.body.append(panel);
  await rest();
  await draw();
  BEGINNINGS[element]?.(panel, state);
  for (const worker of [...workers]) {
    for (const message of await answersTo(worker.heard)) worker.say(message);
  }
  await rest();
  for (const list of [asked, told, done]) list.length = 0;
  let before;
  return {
    panel,
    draw,
    state: () => state,
    nextLook: () => (look += 1),
    /** What came of an act: events, messages to workers, and whether the panel looks otherwise. */
    async after(act) {
      before ??= seenOf(panel).join('\n');
      act(panel);
      const changes = () => asked.filter(({ name }) => name === 'state-change').length;
      const atOnce = changes();
      if (atOnce > 0) await draw();
      await rest();
      if (changes() > atOnce) await draw();
      await rest();
      const now = seenOf(panel).join('\n');
      const messages = told.filter((message) => typeof message === 'object');
      return { asked: [...asked], messages, looksOtherwise: now !== before, now, done: [...done] };
    },
  };
}

/** What came of an act that asks for nothing but is seen on the panel. */
const SHOWS = 'shows';

/** What came of an act, in words: fields of the state, other events, and messages to a worker. */
function effectsOf({ asked, messages, looksOtherwise }) {
  const effects = [
    ...asked.flatMap(({ name, detail }) => {
      if (name === 'state-change') return Object.keys(detail);
      return name === 'model-tell' ? `asks the model to ${detail.kind}` : `event ${name}`;
    }),
    ...messages.map(({ type, kind }) => `worker ${type ?? kind}`),
  ];
  return effects.length > 0 || !looksOtherwise ? effects : [SHOWS];
}

// ---- rules of an act ----

/** Keys that a part of the page may use for itself; all others are the browser's. */
const USED_KEYS = /^key (?:\w+ )*(?:Arrow\w+|Page\w+|Home|End|Enter|Escape| )$/;

function wrongOfState(name, { asked }, state) {
  const own = fieldsOf(name);
  const strange = asked
    .filter((event) => event.name === 'state-change')
    .flatMap(({ detail }) => Object.keys(detail))
    .filter((field) => !own.includes(field))
    .map((field) => `changes ${field}, a field of another panel`);
  const read = web.readFragment(web.formatFragment(state), state.language);
  const unlinked = Object.keys(state)
    .filter((field) => !isDeepStrictEqual(read.state[field], state[field]))
    .map((field) => `a link does not keep ${field} = ${JSON.stringify(state[field])}`);
  return [...strange, ...unlinked];
}

function wrongOfEvents(act, { done: deeds, asked, messages, looksOtherwise }) {
  const wrong = [];
  const isKey = act.startsWith('key ');
  const prevented = deeds.includes('preventDefault of keydown');
  if (prevented && isKey && !USED_KEYS.test(act)) wrong.push('takes a key that is the browser’s');
  if (prevented && act === 'key Escape' && asked.length + messages.length === 0 && !looksOtherwise)
    wrong.push('takes Escape for nothing');
  if (deeds.some((deed) => deed.startsWith('scrollIntoView'))) wrong.push('scrolls the page');
  return wrong;
}

/** Where the focus is lost, as what had it is gone or hidden. */
function wrongOfFocus(hadFocus) {
  if (!hadFocus) return [];
  const { activeElement } = document;
  const isLost =
    activeElement === null ||
    activeElement === document.body ||
    !activeElement.isConnected ||
    activeElement.closest('[hidden]') !== null;
  return isLost ? ['loses the focus'] : [];
}

/** Controls that do something outside of their panel: those of the page itself, what can be scrolled, a choice of files. */
const USED_ELSEWHERE =
  /^(?:link "Lessons"|link "Heads and few training rows"|link "See the gradient as a matrix"|button "Share"|button "Show the introduction"|region |pre |textbox "Choose files")/;

/** In the panel of one row a reader makes scores overflow on purpose. */
const isMeant = (name, { rowMax }, text) => name === 'row' && !rowMax && text.includes('NaN');

/** Operates a panel in a state, one act at a time on a new panel each; returns what breaks a rule, and adds to the story. */
async function operate(name, element, patch, story, on) {
  const wrong = [];
  let one = await put(element, patch);
  const controls = controlsIn(one.panel);
  const useless = new Map();
  for (const { target, act, run } of actsOf(one.panel, on)) {
    const { role, name: label } = controls.get(target) ?? {};
    one ??= await put(element, patch);
    mock.method(Math, 'random', () => 0.375);
    let hadFocus = false;
    let isChosen = false; // such a control does nothing
    const came = await one.after((panel) =>
      run(panel, (own) => {
        hadFocus = document.activeElement === own;
        // Also one that says that it is to be pressed later, or that one is there.
        isChosen =
          (own.type === 'radio' && own.checked) ||
          own.getAttribute('aria-disabled') === 'true' ||
          own.hasAttribute('aria-current');
      }),
    );
    mock.restoreAll();
    const effects = effectsOf(came);
    const found = [
      ...wrongOfState(name, came, one.state()),
      ...wrongOfEvents(act, came),
      ...wrongOfFocus(hadFocus),
      ...(mayBeBroken(came.now) ? brokenTexts(one.panel) : []).filter(
        (text) => !isMeant(name, one.state(), text),
      ),
    ];
    const title = `${role ?? named(target)} "${label ?? ''}"`;
    wrong.push(...found.map((what) => `${title}, ${act}: ${what}`));
    story?.add({ role, label, target, act, effects });
    const acts = useless.get(target) ?? { title, effects: [], isChosen };
    acts.effects.push(...effects);
    useless.set(target, acts);
    if (effects.length > 0 || came.done.length > 0) one = undefined;
  }
  for (const [target, { title, effects, isChosen }] of useless) {
    const isUsed =
      effects.length > 0 || !focusable(target) || isChosen || USED_ELSEWHERE.test(title);
    if (!isUsed) wrong.push(`${title} does nothing`);
  }
  return wrong;
}

// ---- rules of a panel at rest ----

/** Nodes and texts that an update with the same view replaces; what is replaced may be read out again, and loses its selection. */
async function rewritten({ panel, draw }) {
  const records = [];
  const observer = new MutationObserver((some) => records.push(...some));
  observer.observe(panel, { subtree: true, childList: true, characterData: true });
  await draw();
  records.push(...observer.takeRecords());
  observer.disconnect();
  return records.map(({ target }) => {
    const of = target.nodeType === 1 ? target : target.parentElement;
    return `the same view replaces what is in ${named(of)}`;
  });
}

/** Fields in which an update replaces a text while somebody is typing it. */
async function typedOver({ panel, draw, nextLook }) {
  const over = [];
  for (const field of panel.querySelectorAll('input[type=number], input[type=text], textarea')) {
    field.focus();
    for (const typed of ['7', '']) {
      field.value = typed;
      fire(field, 'input');
      nextLook();
      await draw();
      if (field.value !== typed) over.push(`types over "${typed}" in ${named(field)}`);
    }
    field.blur();
  }
  return over;
}

/** Without a size nothing is drawn that is none, and with one it is as ever. */
async function withoutSize(element, patch) {
  const first = await put(element, patch);
  const usual = seenOf(first.panel);
  layOut({ width: 0, height: 0 });
  const { panel } = await put(element, patch);
  const wrong = brokenTexts(panel).map((what) => `without a size ${what}`);
  layOut(SIZE);
  await rest();
  const otherwise = differences(usual, seenOf(panel));
  return [...wrong, ...otherwise.map((line) => `after it had no size: ${line}`)];
}

const wrongTexts = (panel, language) => [
  ...brokenTexts(panel),
  // What an engine says it says in English.
  ...foreignTexts(panel, language).filter((text) => !text.includes(failure.message)),
];

/** An everyday run looks at rest in Chinese alone: what is English in it is seen there, and acts are in English. */
const languages = full ? ['en', 'zh'] : ['zh'];

/** What breaks a rule of a panel at rest, in a state and in each language. */
async function lookAt(element, patch) {
  const wrong = [];
  for (const language of languages) {
    const one = await put(element, patch, language);
    wrong.push(...wrongTexts(one.panel, language));
    wrong.push(...namelessControls(controlsIn(one.panel)));
    if (language === languages[0]) wrong.push(...(await rewritten(one)), ...(await typedOver(one)));
  }
  return [...new Set(wrong)];
}

/** The same at other times. */
async function lookAtTimes(name, element, patch) {
  const ofModel = Object.entries(TIMES_OF[name] ?? {}).map(([time, model]) => [
    time,
    (view) => ({ ...view, model: model(view.model) }),
  ]);
  const wrong = [];
  for (const language of languages) {
    const { panel, draw, nextLook } = await put(element, patch, language);
    for (const [time, when] of [...Object.entries(TIMES), ...ofModel]) {
      nextLook();
      await draw(when);
      await rest();
      const found = wrongTexts(panel, language);
      if (SAYS_FAILURE.includes(time) && !panel.textContent.includes(failure.message))
        found.push('does not say what went wrong');
      wrong.push(...found.map((what) => `${time}: ${what}`));
    }
  }
  return [...new Set(wrong)];
}

const holds = (wrong) => assert.equal(wrong.join('\n'), '');

function testsOfScene(name, element, patches) {
  const [first] = patches;
  test(`${name}: texts, names and what is typed keep the rules of the page, in both languages`, async () => {
    for (const patch of full ? patches : [first]) holds(await lookAt(element, patch));
    holds(await lookAtTimes(name, element, first));
    if (full) holds(await withoutSize(element, first));
  });

  test(`${name}: every control does what its story says, by the rules of the page`, async () => {
    const story = new Story(name, Object.keys(web.FEATURES[name]?.fields ?? {}));
    const wrong = [];
    for (const patch of full ? patches : [first]) {
      story.chapter(patch);
      wrong.push(...(await operate(name, element, patch, story)));
    }
    story.check();
    holds(wrong);
  });

  if (!full) return;
  test(`${name}: what readers seldom do, and other sizes, keep the rules of the page`, async () => {
    holds(await operate(name, element, first, undefined, seldomOn));
    for (const size of [
      { width: 280, height: 200 },
      { width: 1120, height: 480 },
    ]) {
      layOut(size);
      holds(brokenTexts((await put(element, first)).panel));
    }
    layOut(SIZE);
  });
}

/** Panels that train, or have a model: to operate them takes four times as long as all others. */
const LONG = [
  'words',
  'block',
  'bounds',
  'learn',
  'extrapolation',
  'recurrence',
  'model',
  'microscope',
];

/** Registers the tests of the panels that take long, or of everything else. */
export function testsOfScenes({ long }) {
  if (!full)
    leaveToFullRun(
      'controls of panels in another state or in English, seldom acts, other sizes and none',
    );
  for (const [name, [element, ...patches]] of Object.entries(SCENES)) {
    if (LONG.includes(name) === long) testsOfScene(name, element, patches);
  }
}
