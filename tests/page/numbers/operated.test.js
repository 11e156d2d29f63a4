// Every control of every panel, in Node: what a panel says and draws at first, what each of its controls asks for, and what is
// otherwise on the panel after that, is what tests/page/operated says. QKV_REFRESH=1 writes down what is now: look at the
// difference before you commit it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { root } from '../../support/js/files.js';
import { full, leaveToFullRun } from '../../support/js/full.js';
import { until } from '../../support/js/patience.js';
import { tickingClock } from '../support/clock.js';
import {
  actsOf,
  differences,
  linesOf,
  named,
  refresh,
  requireWritten,
  rounded,
} from '../support/operate.js';
import { otherStates } from '../support/states.js';
import { openWindow, SIZE } from '../support/window.js';

const { told, workers, rest, layOut } = openWindow();
const { modules, startEngine } = await import('../support/engine.js');
const engine = await startEngine();
const web = await modules(
  ...['state/state', 'domain/tokenizer', 'features/index', 'features/map/panel', 'app/trained'],
  ...[
    'features/learn/session',
    'features/recurrence/desk',
    'features/model/host',
    'features/model/store',
  ],
  ...[
    'pair',
    'row',
    'temperature',
    'scale',
    'masks',
    'positions',
    'block',
    'recurrence',
    'learn',
    'model',
  ].map((id) => `features/${id}/panel`),
  ...['cost', 'checks', 'use'].map((id) => `features/${id}/panel`),
  ...['app/header', 'app/instruments', 'app/sentence'],
);
for (const [name, Part] of Object.entries({
  ...{ 'qkv-panel-map': web.MapPanel, 'qkv-top': web.TopPanel },
  ...{ 'qkv-instruments': web.InstrumentsPanel, 'qkv-sentence': web.SentencePanel },
})) {
  customElements.define(name, Part);
}

const packageModule = (name) => import(pathToFileURL(join(root, `dist/${name}.js`)).href);

// ---- scenes: elements, each in its states ----

/** In these a question of the panel is put as well, whose answer nobody has seen yet. */
const ASKING = {
  scale: { scaleAsk: true },
  masks: { masksAsk: true },
  positions: { positionsAsk: true },
};
const MORE = { learn: [{ learnExperiment: 'noise' }] };

/** By name: the element, and the states that it is put in. */
const SCENES = {
  top: ['qkv-top', {}],
  sentence: ['qkv-sentence', {}, { source: 'random', length: 24 }],
  instruments: ['qkv-instruments', {}, { source: 'yours', maskKind: 'window' }],
  ...Object.fromEntries(
    web.PANEL_IDS.map((id) => {
      const other = otherStates[id] && [{ ...otherStates[id], ...ASKING[id] }];
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

// ---- workers of panels, which answer what is asked of them at first ----

/** Does work with a ticking clock. */
async function ticking(work) {
  mock.method(performance, 'now', tickingClock());
  try {
    return await work();
  } finally {
    mock.restoreAll();
  }
}
const trained = packageModule('train').then(({ init }) => init({ deterministic: true }));

/** What a worker says to the messages that a panel begins with; the same every time. */
const answers = new Map();
async function answersTo(messages) {
  const key = JSON.stringify(messages);
  if (!answers.has(key)) answers.set(key, await ticking(() => answered(messages)));
  return answers.get(key);
}

async function answered([id, ...messages]) {
  const said = [];
  const qkv = await trained;
  if (id === 'recurrence') {
    const desk = new web.Desk(qkv, () => performance.now());
    for (const message of messages) said.push(...desk.take(message));
    for (let turn = 0; turn < 40 && desk.busy; ++turn) said.push(...desk.turn());
  } else if (id === 'learn') {
    let next;
    const session = new web.Session(
      qkv,
      (message) => said.push(structuredClone(message)),
      (again) => (next = again),
    );
    for (const message of messages) session.receive(message);
    for (let turn = 0; turn < 40 && next; ++turn) {
      const again = next;
      next = undefined;
      again();
    }
  }
  return said;
}

// ---- views ----

let model;
/** The page's view of our English model and a text, worked out once. */
async function modelView() {
  if (model) return model;
  const file = readFileSync(join(root, 'models/austen/austen.safetensors'));
  const url = URL.createObjectURL(new Blob([file]));
  const state = web.initialState('en');
  let view;
  const trainedModel = new web.TrainedModel((message) => host.receive(message));
  mock.method(performance, 'now', () => 1000); // how often it is asked depends on what else there is to do
  const host = new web.ModelHost(engine.qkv, (message) => {
    trainedModel.receive(message);
    view = trainedModel.view;
  });
  trainedModel.tell({ kind: 'load', files: { kind: 'address', name: 'austen', url } }, state);
  await until(() => trainedModel.atRest && view.answers.rollout && view.answers.near);
  mock.restoreAll();
  return (model = view);
}

/** What panels have worked out; after a change of the state it is that of before, as on the page for a while. */
const known = new Map();
function studiesOf(element, patch) {
  const key = JSON.stringify([element, patch]);
  if (!known.has(key)) known.set(key, /scale|temperature/.test(element) ? engine.studies() : {});
  return { temperature: null, scale: null, ...known.get(key) };
}

/** What is known of the latest frame besides. */
async function reported() {
  const report = await ticking(() => engine.report());
  const timing = { median: 0.05, samples: 9, calls: 2, tick: 0.005 };
  // How much is in use depends on what was computed before.
  return { ...report, timing, memory: { heapBytes: 2 ** 22, usedBytes: 2 ** 20 } };
}

/** What the page hands its panels in this state, which began with `patch`. */
async function viewOf(element, patch, state, look, when = (view) => view) {
  const list = web.tokenize(state.text, state.tokenizer, state.length);
  const frame = { ...engine.ask(state), request: engine.request(), time: 1 };
  const studies = studiesOf(element, patch);
  const report = await reported();
  return when({
    ...{ state, list, look, frame, studies, report, theme: 'light' },
    engine: { kind: 'ready', info: engine.qkv.info },
    model: element === 'qkv-panel-model' ? await modelView() : web.NO_MODEL,
    ...{ heads: 'constructed', frameTime: 1, query: state.query ?? list.tokens.length - 1 },
  });
}

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
  said.length = 0;
  told.length = 0;
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
      return [...said, ...messages, ...differences(before, linesOf(panel))];
    },
  };
}

/** All there is to write down of an element in one state. */
async function record(element, patch, first) {
  let one = await put(element, patch);
  const lines = [`=== ${JSON.stringify(patch)}`, ...one.before, ...(await one.taken())];
  for (const { title, run } of actsOf(one.panel)) {
    mock.method(Math, 'random', () => 0.375);
    const came = await one.after(run);
    mock.restoreAll();
    if (came.length === 0) continue; // it is as it was
    lines.push('', `== ${title}`, ...came);
    one = await put(element, patch);
  }
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

if (!full) leaveToFullRun('controls of panels in another state');
for (const [name, [element, ...patches]] of Object.entries(SCENES)) {
  test(`${name}: what it shows, what its controls ask for, and what is otherwise then`, async () => {
    const lines = [];
    const asked = full || refresh ? patches : patches.slice(0, 1);
    for (const patch of asked) lines.push(...(await record(element, patch, patches[0])));
    const end = asked.length < patches.length ? `=== ${JSON.stringify(patches[1])}` : undefined;
    requireWritten(name, lines, end);
  });
}
