// Every control of every panel, in Node: what a panel says and draws at first, what each of its controls asks for, and what is
// otherwise on the panel after that, is what tests/page/operated says. QKV_REFRESH=1 writes down what is now: look at the
// difference before you commit it.
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { full, leaveToFullRun } from '../../support/js/full.js';
import {
  actsOf,
  differences,
  linesOf,
  named,
  refresh,
  requireWritten,
  rounded,
  seldomOn,
} from '../support/operate.js';
import { answersTo, engine, layOut, rest, told, viewOf, web, workers } from '../support/scene.js';
import { otherStates } from '../support/states.js';
import { SIZE, done, hashed } from '../support/window.js';

// ---- scenes: elements, each in its states ----

const MORE = { learn: [{ learnExperiment: 'noise' }] };

/** By name: the element, and the states that it is put in. */
const SCENES = {
  top: ['qkv-top', {}],
  sentence: ['qkv-sentence', {}, { source: 'random', length: 24 }],
  instruments: ['qkv-instruments', {}, { source: 'yours', maskKind: 'window' }],
  ...Object.fromEntries(
    web.PANEL_IDS.map((id) => {
      // A question of the panel is put as well, whose answer nobody has seen yet.
      const other = otherStates[id] && [{ ...otherStates[id], ...web.asksOf(id) }];
      return [id, [`qkv-panel-${id}`, {}, ...(other ?? []), ...(MORE[id] ?? [])]];
    }),
  ),
};

/** What is done to a panel before it is written down. */
const BEGINNINGS = {
  'qkv-panel-recurrence': (panel) => panel.querySelector('[data-press=step]').click(),
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
/** The page at other times, besides that at which everything is there; `of` says for which elements. */
const TIMES = {
  'before the first frame': {
    when: (view) => ({ ...view, ...nothing, engine: { kind: 'loading' } }),
  },
  'after the engine could not be loaded': {
    when: (view) => ({ ...view, ...nothing, engine: { kind: 'failed', during: 'load', failure } }),
  },
  'after a frame that failed': {
    when: (view) => ({ ...view, engine: { kind: 'failed', during: 'run', failure } }),
  },
  ...Object.fromEntries(
    Object.entries({
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
      'after all heads were taken out': (model) => ({ ...model, changes }),
      'after what the model could not do': (model) => ({ ...model, failed: failure }),
    }).map(([name, model]) => [
      name,
      { of: /-model$/, when: (view) => ({ ...view, model: model(view.model) }) },
    ]),
  ),
};

// ---- operating ----

const EVENTS = [
  ...[
    'state-change',
    'surface-resized',
    'canvas-given',
    'row-told',
    'temperature-held',
    'model-tell',
  ],
  ...['engine-retry', 'theme-change', 'guessed', 'lesson-open'],
];
/** Those whose drawings and tables are written down here. */
const TAKEN = ['block', 'recurrence', 'learn', 'model', 'cost'].map((id) => `qkv-panel-${id}`);
const writtenDown = (value) =>
  JSON.stringify(value, (key, part) => (part instanceof HTMLElement ? part.localName : part)) ?? '';

/** The page hears its parts at the document, so events that do not get there count for nothing. */
let hear = () => undefined;
for (const name of EVENTS) {
  document.addEventListener(name, ({ detail }) => hear(name, detail));
}

/** An element on a page of its own, in this state. */
async function put(element, patch) {
  document.body.replaceChildren();
  workers.length = 0;
  const said = [];
  let state = { ...web.initialState('en'), ...patch };
  const panel = document.createElement(element);
  let look = 1;
  let view;
  const draw = async () => panel.update((view = await viewOf(element, patch, state, look)));
  hear = (name, detail) => {
    said.push(`${name} ${writtenDown(detail)}`);
    if (name === 'state-change') state = { ...state, ...detail };
    if (name === 'state-change' && detail.language) look += 1;
  };
  document.body.append(panel);
  await rest();
  await draw();
  BEGINNINGS[element]?.(panel, state);
  for (const worker of [...workers]) {
    for (const message of await answersTo(worker.heard)) worker.say(message);
  }
  await rest();
  for (const list of [said, told, done]) list.length = 0;
  const before = linesOf(panel);
  return {
    panel,
    before,
    /** What is written once more when it is told the same again: which lines, and what of them. */
    again() {
      const observer = new MutationObserver(() => undefined);
      observer.observe(panel, {
        ...{ subtree: true, childList: true, characterData: true, attributes: true },
      });
      panel.update(view);
      const records = observer.takeRecords();
      observer.disconnect();
      return [
        ...new Set(
          records.map(({ type, attributeName, target }) => {
            const of = target.nodeType === 1 ? target : target.parentElement;
            return `${attributeName ?? type} of ${named(of)}`;
          }),
        ),
      ].sort();
    },
    /** In which fields a text is replaced while somebody is typing it. */
    typedOver() {
      const over = [];
      const fields = 'input[type=number], input[type=text], textarea';
      for (const field of panel.querySelectorAll(fields)) {
        field.focus();
        field.value = '7';
        panel.update({ ...view, look: ++look });
        if (field.value !== '7') over.push(named(field));
        field.blur();
      }
      return over;
    },
    /** What is otherwise at another time. */
    async at(when) {
      panel.update(await viewOf(element, patch, state, ++look, when));
      await rest();
      return differences(before, linesOf(panel));
    },
    /** What can be taken away of it, in lines. Drawings of other panels are kept by export.test.js. */
    async taken() {
      if (!TAKEN.includes(element)) return [];
      const view = await viewOf(element, patch, state, look);
      const figure = await panel.figure(view, () => Promise.resolve(engine.tensors()));
      const { name: file, svg, table, data } = figure;
      const drawn = svg.body.replaceAll('><', '>\n<').split('\n').map(rounded);
      const told = [...table.map(writtenDown), writtenDown(data)].map(rounded);
      return ['', `--- taken away: ${file}, ${svg.width} x ${svg.height}`, ...drawn, ...told];
    },
    /** What came of an act, in lines. */
    async after(act) {
      act(panel);
      await rest();
      if (said.some((line) => line.startsWith('state-change'))) await draw();
      await rest();
      const messages = told.map((message) => `worker: ${writtenDown(message)}`);
      return [...done, ...said, ...messages, ...differences(before, linesOf(panel))];
    },
  };
}

/** What an act asks for, and of what is otherwise then a hash. */
function inShort(came) {
  const isOfPanel = (line) => /^[-+] /.test(line);
  const otherwise = came.filter(isOfPanel);
  const rest =
    otherwise.length > 0 ? [`${otherwise.length} lines ${hashed(otherwise.join('\n'))}`] : [];
  return [...came.filter((line) => !isOfPanel(line)), ...rest];
}

/** What comes of acts on an element that is as new before each of them, as `say` has it. */
async function recordActs(element, patch, acts, say = (came) => came) {
  const lines = [];
  let one;
  for (const { title, run } of acts) {
    one ??= await put(element, patch);
    mock.method(Math, 'random', () => 0.375);
    const came = await one.after(run);
    mock.restoreAll();
    if (came.length === 0) continue; // it is as it was
    lines.push('', `== ${title}`, ...say(came));
    one = undefined;
  }
  return lines;
}

/** What a full run asks besides, in the first state: what readers seldom do, and other sizes of the window. */
async function recordSeldom(element, patch) {
  const { panel, before } = await put(element, patch);
  const acts = actsOf(panel, seldomOn);
  const lines = ['=== seldom', ...(await recordActs(element, patch, acts, inShort))];
  for (const size of [
    { width: 280, height: 200 },
    { width: 1120, height: 480 },
  ]) {
    layOut(size);
    const other = await put(element, patch);
    lines.push('', `=== ${size.width} pixels wide`, ...inShort(differences(before, other.before)));
  }
  layOut(SIZE);
  return lines;
}

/** All there is to write down of an element in one state. */
async function record(element, patch, first) {
  const one = await put(element, patch);
  const lines = [`=== ${JSON.stringify(patch)}`, ...one.before, ...(await one.taken())];
  lines.push(...(await recordActs(element, patch, actsOf(one.panel))));
  for (const [time, { of = /./, when }] of Object.entries(TIMES)) {
    if (!of.test(element) || patch !== first) continue;
    const then = await put(element, patch);
    lines.push('', `=== ${time}`, ...(await then.at(when)));
  }
  if (patch === first) lines.push(...(await recordIdle(element, patch)));
  return [...lines, ''];
}

/**
 * What an element writes anew though nothing changed, and over what is typed, and what it shows otherwise while it has no size;
 * with one it must be as ever.
 */
async function recordIdle(element, patch) {
  const first = await put(element, patch);
  const rewritten = first.again();
  const typedOver = first.typedOver();
  layOut({ width: 0, height: 0 });
  const { panel, before } = await put(element, patch);
  layOut(SIZE);
  await rest();
  // Who has had no size may have drawn a canvas once more, or once less.
  const besidesDrawing = (lines) =>
    lines.map((line) => line.replace(/ drawn \d+ calls .*/, ' drawn'));
  const otherwise = differences(besidesDrawing(first.before), besidesDrawing(linesOf(panel)));
  assert.deepEqual(otherwise, [], 'it is shown as it is from the beginning');
  const shown = differences(first.before, before).filter((line) => line.startsWith('+'));
  return [
    ...['', '=== told the same again', ...rewritten],
    ...['', '=== typed over', ...typedOver],
    ...['', '=== without a size', ...shown],
  ];
}

const whole = full || refresh;
if (!full) leaveToFullRun('controls of panels in another state, seldom acts and other sizes');
for (const [name, [element, ...patches]] of Object.entries(SCENES)) {
  test(`${name}: what it shows, what its controls ask for, and what is otherwise then`, async () => {
    const lines = [];
    const asked = whole ? patches : patches.slice(0, 1);
    for (const patch of asked) lines.push(...(await record(element, patch, patches[0])));
    if (whole) lines.push(...(await recordSeldom(element, patches[0])));
    const rest = asked.length < patches.length ? `=== ${JSON.stringify(patches[1])}` : '=== seldom';
    requireWritten(name, lines, whole ? undefined : rest);
  });
}
