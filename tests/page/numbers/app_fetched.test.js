// What the page does when a file that it fetches does not arrive, in Node: the texts of another language, and the code of a panel.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';
import { noteObservers } from '../support/observers.js';
import { openWindow } from '../support/window.js';

const { workers, rest, leave } = openWindow();
globalThis.matchMedia = () => Object.assign(new EventTarget(), { matches: false });
const { bundled } = await import('../support/engine.js');

/** Whether files arrive; those of a language, when it is named. */
let lost;
let fetched;
/** What stands in the console. */
let told;
const file = (path, content) => async () => {
  fetched.push(path);
  if (lost && path.includes(lost)) throw new TypeError(`Failed to fetch ${path}`);
  return content;
};
const FILES = Object.fromEntries(
  ['map', 'row'].map((id) => [
    id,
    {
      'panel.ts': file(`${id}/panel.ts`),
      'en.json': file(`${id}/en.json`, { [`${id}.word`]: `${id} in English` }),
      'zh.json': file(`${id}/zh.json`, { [`${id}.word`]: `${id} in Chinese` }),
    },
  ]),
);
globalThis.globOf = (pattern) =>
  Object.fromEntries(
    Object.entries(FILES).flatMap(([id, files]) =>
      Object.entries(files)
        .filter(([name]) => pattern.endsWith('.ts') === name.endsWith('.ts'))
        .map(([name, fetch]) => [`./${id}/${name}`, fetch]),
    ),
  );
const paths = [
  ...['app/app', 'app/header', 'app/panel_watcher', 'features/panel', 'state/state', 'i18n/i18n'],
  ...['load', 'lessons/page/reader', 'lessons/page/lesson'].map((name) => `features/${name}`),
];
const web = await import(
  await bundled('app-fetched', {
    stdin: {
      contents: paths.map((path) => `export * from './${path}';`).join('\n'),
      ...{ resolveDir: join(root, 'web/src'), loader: 'ts' },
    },
    define: { 'import.meta.glob': 'globalThis.globOf' },
  })
);
const {
  App,
  Panel,
  watchPanels,
  loadPanel,
  LessonReader,
  readLesson,
  initialState,
  setLanguage,
  addTexts,
  t,
  TopPanel,
} = web;
customElements.define('qkv-top', TopPanel);
customElements.define(
  'qkv-panel-map',
  class extends Panel {
    template = () => '<p data-t="map.word"></p>';
    update({ state }) {
      this.dataset.seed = state.seed;
    }
  },
);

beforeEach(() => {
  [lost, fetched] = [null, []];
  told = [];
  mock.method(console, 'error', ({ message }) => told.push(message));
  document.body.innerHTML =
    '<section id="map"></section><section id="row"></section><section id="pair"></section>';
});
afterEach(async () => {
  await rest();
  leave();
  mock.restoreAll();
});

test('app: a language whose texts do not arrive is not taken, until they do', async () => {
  await loadPanel('map', 'en');
  document.querySelector('#map').innerHTML = '<qkv-panel-map data-panel></qkv-panel-map>';
  const panel = document.querySelector('qkv-panel-map');
  const says = () => [app.language, panel.textContent, panel.dataset.seed];
  const top = new TopPanel();
  document.body.append(top);
  const region = top.querySelector('[role=status]');
  const app = new App();
  app.start();
  const worker = workers.at(-1);
  const answer = () => {
    const { id } = worker.heard.findLast(({ type }) => type === 'run');
    worker.say({ type: 'frame', pixels: {}, news: { id, time: 1, info: {} } });
    worker.say({ type: 'rest', id });
  };
  worker.say({ type: 'ready', info: {} });
  answer();
  await rest();
  assert.deepEqual(says(), ['en', 'map in English', '7']);
  lost = 'zh';
  app.set({ language: 'zh' });
  assert.equal(app.settled, false);
  await rest();
  assert.deepEqual([...says(), app.settled], ['en', 'map in English', '7', true]);
  assert.equal(region.textContent, t('bar.notLoaded'), 'and who asked is told');
  app.set({ seed: 8 });
  answer();
  await rest();
  assert.deepEqual(says(), ['en', 'map in English', '8'], 'the page lives');
  lost = null;
  app.set({ language: 'zh' });
  await rest();
  assert.deepEqual(says(), ['zh', 'map in Chinese', '8']);
  assert.deepEqual(told, ['Failed to fetch map/zh.json']);
});

test('app: a panel that does not arrive is fetched when it comes near again, or the network', async () => {
  const observers = noteObservers();
  let added = 0;
  watchPanels({ language: 'en', panelAdded: () => added++ });
  observers.end();
  const [near] = observers;
  const looks = mock.method(near, 'observe').mock;
  const row = document.querySelector('#row');
  const comes = async (isIntersecting) => {
    near.act([{ target: row, isIntersecting }]);
    await rest();
    return fetched.splice(0).filter((path) => path.endsWith('panel.ts')).length;
  };
  const state = () => [near.observed.includes('row'), looks.calls.filter(({ arguments: [{ id }] }) => id === 'row').length, added]; // prettier-ignore
  const online = () => window.dispatchEvent(new Event('online'));
  online();
  assert.deepEqual(state(), [true, 0, 0], 'nothing was missed');
  lost = 'row/panel.ts';
  assert.equal(await comes(true), 1);
  assert.deepEqual(state(), [true, 0, 0], 'it is not asked for again by itself');
  assert.deepEqual([await comes(false), await comes(true)], [0, 1], 'it came near again');
  online();
  assert.deepEqual(state(), [true, 1, 0], 'it is looked whether it is near');
  lost = null;
  const twice = [comes(true), comes(true)];
  assert.deepEqual(await Promise.all(twice), [1, 0], 'fetched once at a time');
  assert.deepEqual(state(), [false, 1, 1]);
  online();
  assert.deepEqual(state(), [false, 1, 1], 'it is there');
  assert.deepEqual(told, Array(2).fill('Failed to fetch row/panel.ts'));
});

test('lessons: of the panels of a step those that arrive are shown', async () => {
  setLanguage('en');
  addTexts('en', JSON.parse(readFileSync(join(root, 'web/src/features/lessons/en.json'), 'utf8')));
  lost = 'row/panel.ts';
  const reader = new LessonReader();
  let added = 0;
  reader.host = {
    ...{ hold: null, settled: true, view: () => ({ state: initialState('en') }) },
    ...{ begin() {}, show() {}, panelAdded: () => added++ },
  };
  document.body.append(reader);
  const lesson = readLesson({ title: 'Of two', steps: [{ show: ['row', 'map'] }] });
  reader.open({ lesson, language: 'en', link: () => '', adapt() {}, leave() {} }, 0);
  await rest();
  assert.ok(fetched.includes('map/panel.ts'));
  assert.deepEqual([added, told], [1, ['Failed to fetch row/panel.ts']]);
});
