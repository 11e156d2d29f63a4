// What the page's script does at which address, in Node: what it defines, leaves on the page and keeps.
import assert from 'node:assert/strict';
import { exampleSaid } from '../support/texts.js';
import { afterEach, describe, mock, test } from 'node:test';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';
import { openWindow } from '../support/window.js';

const { told, workers, rest, leave } = openWindow();
globalThis.matchMedia = () => Object.assign(new EventTarget(), { matches: false });
const { bundled, modules } = await import('../support/engine.js');
const { textsOf } = await import('../support/texts.js');
const { PANEL_IDS, initialState } = await modules('features/index', 'state/state');
const page = document.documentElement;
const headings = {
  name: 'headings',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^virtual:headings$/ }, ({ path }) => ({ path, namespace: 'headings' }));
    onLoad({ filter: /./, namespace: 'headings' }, () => ({
      contents: JSON.stringify({ en: textsOf('en'), zh: textsOf('zh') }),
      loader: 'json',
    }));
  },
};
const main = await bundled('main', {
  entryPoints: [join(root, 'web/src/app/main.ts')],
  plugins: [headings],
  define: { 'import.meta.glob': 'Object', 'import.meta.env.MODE': '"production"' },
});

afterEach(async () => {
  await rest();
  leave();
  mock.restoreAll();
  for (const name of ['lesson', 'embed']) delete page.dataset[name];
});

let times = 0;
/** Runs the script of the page at an address; returns the elements that it defines, and the files that it keeps. */
async function opened(address) {
  history.replaceState(null, '', `https://page.example/${address}`);
  document.body.innerHTML = PANEL_IDS.map(
    (id) => `<section id="${id}"><div class="section-head"></div></section>`,
  ).join('');
  mock.method(console, 'error', () => {}); // a class of lessons is defined once
  const defined = [];
  const kept = [];
  const define = customElements.define.bind(customElements);
  mock.method(customElements, 'define', (name, Part) => {
    defined.push(name);
    if (!customElements.get(name)) define(name, Part);
  });
  const register = async (file) => void kept.push(file);
  Object.defineProperty(navigator, 'serviceWorker', { value: { register }, configurable: true });
  globalThis.top = globalThis;
  times += 1;
  await import(`${main}?${times}`);
  await rest();
  window.dispatchEvent(new Event('load'));
  const sections = [...document.querySelectorAll('section')].map(({ id }) => id);
  return { defined, kept, sections };
}

describe('app: the script of the page', () => {
  test('brings its parts to life, and says what is behind its pixels', async () => {
    const { defined, kept, sections } = await opened('');
    const parts = ['top', 'failure', 'instruments', 'sentence', 'first-minute', 'panel-map'];
    for (const name of parts) assert.ok(defined.includes(`qkv-${name}`), name);
    assert.deepEqual(kept, ['service-worker.js']);
    assert.deepEqual(sections, PANEL_IDS);
    assert.equal(document.querySelectorAll('.menu').length, PANEL_IDS.length - 1);
    const { __qkv: own } = window;
    const map = document.createElement('qkv-panel-map');
    const snapshot = own.snapshot();
    assert.deepEqual(Object.keys(snapshot), [
      ...['state', 'engine', 'tokens', 'total', 'query', 'shown', 'frame', 'report', 'studies'],
    ]);
    assert.deepEqual(snapshot.state, initialState('en'));
    assert.deepEqual(
      [snapshot.engine, snapshot.total, snapshot.query, snapshot.shown, snapshot.frame],
      [{ kind: 'loading' }, 11, 7, null, null],
    );
    assert.equal(snapshot.tokens.length, 11);
    Object.defineProperty(map, 'shown', { value: 'a cell' });
    document.querySelector('#map').append(map);
    assert.equal(own.snapshot().shown, 'a cell');
    own.set({ seed: 3 });
    assert.equal(own.snapshot().state.seed, 3);
    assert.equal(own.settled(), false);
    assert.equal(own.sees('map'), false);
    assert.equal(own.paintsInWorker, true);
    await assert.rejects(own.tensors(), /nothing was computed/);
    assert.equal(own.parseFragment('#v=1&seed=4', 'en').seed, 4);
    assert.equal(own.formatFragment(initialState('en')), `#v=1&lang=en&${exampleSaid()}`);
    assert.deepEqual(
      told.filter(({ type }) => type === 'start'),
      [{ type: 'start' }],
    );
    workers.at(-1).say({ type: 'ready', info: {} });
    assert.equal(told.at(-1).type, 'run');
  });

  test('leaves one panel on the page of a frame, keeps nothing there, and ignores it beside a lesson', async () => {
    const cost = await opened('?embed=cost');
    assert.deepEqual([cost.sections, cost.kept, page.dataset.embed], [['cost'], [], 'cost']);
    delete page.dataset.embed;
    const lesson = await opened('?embed=cost&lesson=order');
    assert.deepEqual([lesson.sections, page.dataset.embed], [PANEL_IDS, 'lesson']);
    assert.deepEqual(lesson.kept, []);
    delete page.dataset.embed;
    assert.deepEqual((await opened('?embed=other')).sections, PANEL_IDS);
    assert.equal(page.dataset.embed, undefined);
    const whole = await opened('?lesson=order');
    assert.deepEqual([whole.sections, page.dataset.embed], [PANEL_IDS, undefined]);
    assert.deepEqual(whole.kept, ['service-worker.js']);
  });
});
