// Panels on a page of their own, in Node: the elements, what the page hands them in a state, and what their workers answer.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import { root } from '../../support/js/files.js';
import { until } from '../../support/js/patience.js';
import { tickingClock } from './clock.js';
import { panelIds } from './panel_ids.js';
import { openWindow } from './window.js';

export const { told, workers, rest, layOut, empty } = openWindow();
const { modules, packageModule, startEngine } = await import('./engine.js');
export const engine = await startEngine();
export const web = await modules(
  ...[
    'state/state',
    'state/page',
    'domain/tokenizer',
    'features/index',
    'features/map/panel',
    'chapters/index',
    'app/trained_model',
  ],
  ...[
    'features/learn/worker/training_loop',
    'features/recurrence/worker/training_loop',
    'features/extrapolation/worker/position_models',
    'features/model/worker/model_host',
    'features/model/shared/model_view',
    'features/microscope/shared/ready_pairs',
    'features/microscope/state',
    'features/words/page/word_source',
  ],
  ...panelIds.filter((id) => id !== 'map').map((id) => `features/${id}/panel`),
  'features/pictures/panel',
  ...['app/header', 'app/instruments', 'app/sentence'],
);
for (const [name, Part] of Object.entries({
  ...{ 'qkv-panel-map': web.MapPanel, 'qkv-top': web.TopPanel },
  ...{ 'qkv-instruments': web.InstrumentsPanel, 'qkv-sentence': web.SentencePanel },
})) {
  customElements.define(name, Part);
}

// ---- what panels fetch ----

const fetchElsewhere = globalThis.fetch;
globalThis.fetch = (address, ...more) =>
  String(address).startsWith('file:')
    ? Promise.resolve(new Response(readFileSync(new URL(address))))
    : fetchElsewhere(address, ...more);
await web.fetchWords();

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
export async function answersTo(messages) {
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
  } else if (id === 'extrapolation') {
    for (const tested of web.positionModels(qkv, messages[0].settings))
      said.push({ type: 'tested', tested });
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

const models = new Map();
/** The page's view of a model of ours and a text, worked out once. */
async function modelView(name, begin = () => {}, isThere = () => true) {
  if (models.has(name)) return models.get(name);
  const file = readFileSync(join(root, `models/${name}/${name}.safetensors`));
  const url = URL.createObjectURL(new Blob([file]));
  const state = web.initialState('en');
  let view;
  const trainedModel = new web.TrainedModel((message) => host.receive(message));
  mock.method(performance, 'now', () => 1000); // how often it is asked depends on what else there is to do
  const host = new web.ModelHost(engine.qkv, (message) => {
    trainedModel.receive(message);
    view = trainedModel.view;
  });
  trainedModel.tell({ kind: 'load', files: { kind: 'address', name, url } }, state);
  await until(() => trainedModel.atRest && view.answers.rollout && view.answers.near);
  begin((message) => trainedModel.tell(message, state));
  await until(() => isThere(view));
  mock.restoreAll();
  models.set(name, view);
  return view;
}

/** The same of the model of names, taken apart on its pair of prompts. */
const microscopeView = () =>
  modelView(
    'names',
    (tell) => {
      const ask = web.microscopeAsk(web.initialState('en'), web.readyPair('names', true));
      tell({ kind: 'microscope', ask });
      tell({ kind: 'maps' });
    },
    ({ microscope: { maps } }) => maps !== null && !maps.running,
  );

/** What panels that follow a model see of one. */
const modelViews = {
  'qkv-panel-model': () => modelView('austen'),
  'qkv-panel-microscope': microscopeView,
};

/**
 * What the worker works out behind the frames: `studies` of panels and the `report` on the latest frame. After a change of the
 * state or the language they are those of before, as on the page for a while.
 */
const known = new Map();
async function behindFrames(element, patch) {
  const key = JSON.stringify([element, { ...patch, language: undefined }]);
  if (!known.has(key)) {
    const found = /scale|temperature/.test(element) ? engine.studies() : {};
    const studies = { temperature: null, scale: null, ...found };
    known.set(key, { studies, report: await reported() });
  }
  return known.get(key);
}

/** What is known of the latest frame besides. */
async function reported() {
  const report = await ticking(() => engine.report());
  const timing = { median: 0.05, samples: 9, calls: 2, tick: 0.005 };
  // How much is in use depends on what was computed before.
  return { ...report, timing, memory: { heapBytes: 2 ** 22, usedBytes: 2 ** 20 } };
}

const lists = new Map();
/** The tokens of a state: of the same text the same list, as on the page. */
function listOf({ text, tokenizer, length }) {
  const key = JSON.stringify([text, tokenizer, length]);
  if (!lists.has(key)) lists.set(key, web.tokenize(text, tokenizer, length));
  return lists.get(key);
}

const LATEST = 8;
const views = new Map();
/** What the page hands its panels in this state, which began with `patch`; the same view whenever it is asked for. */
export async function viewOf(element, patch, state, look, when = (view) => view) {
  const key = JSON.stringify([element, state, look]);
  const view = views.get(key) ?? (await newView(element, patch, state, look));
  views.set(key, view);
  if (views.size > LATEST) views.delete(views.keys().next().value);
  return when(view);
}

async function newView(element, patch, state, look) {
  const list = listOf(state);
  const frame = { ...engine.ask(state), request: engine.request(), time: 1 };
  return {
    ...{ state, list, look, frame, theme: 'light', ...(await behindFrames(element, patch)) },
    engine: { kind: 'ready', info: engine.qkv.info },
    model: (await modelViews[element]?.()) ?? web.NO_MODEL,
    heads: { source: state.source, trainedHeads: null },
    ...{ frameTime: 1, query: state.query ?? list.tokens.length - 1, linkProblem: null },
  };
}

/** A panel on a page of its own, in the first state but for `patch`, and what it asks for. */
export async function shownPanel(element, patch) {
  const panel = document.createElement(element);
  const changes = [];
  panel.addEventListener('state-change', ({ detail }) => changes.push(detail));
  document.body.replaceChildren(panel);
  await rest();
  const view = await viewOf(element, patch, { ...web.initialState('en'), ...patch }, 1);
  panel.update(view);
  return { panel, view, changes, text: (selector) => panel.querySelector(selector).textContent };
}
