// The panels of readings and of usage, in a window without a browser, and the files that have their place in the single page: what
// each reading is with and without what it is about, what is copied, and what is there at once.
import assert from 'node:assert/strict';
import { afterEach, describe, mock, test } from 'node:test';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';
import { openWindow } from '../support/window.js';

const { delays, leave, rest } = openWindow();
const { bundled, modules } = await import('../support/engine.js');
const web = await modules('features/checks/panel', 'features/use/panel', 'state/state');
afterEach(() => {
  leave();
  mock.restoreAll();
  web.setLanguage('en');
});

function put(id) {
  const panel = document.createElement(`qkv-panel-${id}`);
  document.body.append(panel);
  return { panel, text: (selector) => panel.querySelector(selector).textContent };
}

describe('checks: readings', () => {
  const check = { weights: 1.25e-7, entropy: 3.5e-6, rowSum: 6e-8, heads: 8 };
  const timing = { median: 0.25, samples: 9, calls: 4, tick: 0.005 };
  const memory = { usedBytes: 3 * 2 ** 20, heapBytes: 16 * 2 ** 20 };
  const report = { check, timing, memory };
  const info = { isa: 'wasm simd128', variant: 'simd', version: '1.2.3', threads: 1 };
  const frame = { info, request: { layer: { mask: 'causal' } } };
  const list = { tokens: ['a', 'b', 'c'] };

  test('are told with what is known, in either language and of every source', () => {
    const { panel } = put('checks');
    const show = (view = {}, state = {}) => {
      web.setLanguage(state.language ?? 'en');
      panel.update({ state: { ...web.initialState('en'), ...state }, list, frame, report, ...view });
      return [...panel.querySelectorAll('.reading')].map((item) =>
        [...item.querySelectorAll('dd')].map(({ textContent }) => textContent),
      );
    };
    const values = (...view) => show(...view).map(([value]) => value).slice(0, 5);
    const [weights, time, build, sum, memory_] = ['1.2×10⁻⁷', '250 µs', 'wasm simd128', '1 ± 6.0×10⁻⁸', '3.15 MB'];
    assert.deepEqual(values({ frame: null, report: null }), ['–', '–', '–', '–', '–']);
    assert.deepEqual(values({ report: null }), ['–', '–', build, '–', '–']);
    assert.deepEqual(values({ frame: null }), [weights, time, '–', sum, memory_]);
    assert.deepEqual(values(), [weights, time, build, sum, memory_]);
    assert.deepEqual(values({ report: { ...report, check: null } }), ['–', time, build, '–', memory_]);
    assert.deepEqual(values({ report: { ...report, timing: null } }), [weights, '–', build, sum, memory_]);
    const notes = show().map(([, note]) => note);
    assert.match(notes[0], /Heads checked: 8\. Entropies differ by at most 3\.5×10⁻⁶ nats\.$/);
    assert.match(notes[1], /^All heads on 3 tokens.*Median of 9 measurements; the last one averaged 4 calls; the clock ticks every 5 µs\.$/);
    assert.match(notes[2], /^The “simd” build of qkv 1\.2\.3, on one thread/);
    assert.match(notes[4], /^Of 16\.8 MB/);
    for (const [source, words] of [['constructed', 'weights built by hand'], ['random', 'random weights, seed 7'], ['yours', 'your numbers'], ['trained', 'weights learned by a trained model']]) {
      assert.equal(show({}, { source, seed: 7 })[5][0], words);
    }
    assert.match(show({}, { language: 'zh' })[5][0], /\p{Script=Han}/u);
  }); // prettier-ignore

  test('are taken away as a table, once there are some', async () => {
    const { panel } = put('checks');
    assert.equal(await panel.figure({ report: null, frame }), null);
    assert.equal(await panel.figure({ report, frame: null }), null);
    const { name, svg, table, data } = await panel.figure({ report, frame });
    const rows = (...values) => [
      ['Reading', 'Value'],
      ['Max error of a weight', values[0]],
      ['Max error of an entropy, nats', values[1]],
      ['Max |row sum − 1|', values[2]],
      ['Median time, ms', values[3]],
      ['Bytes in use', 3 * 2 ** 20],
      ['Build', 'wasm simd128'],
      ['Version', '1.2.3'],
    ];
    assert.deepEqual([name, table], ['checks', rows(1.25e-7, 3.5e-6, 6e-8, 0.25)]);
    assert.deepEqual(data, { ...report, info, layer: { mask: 'causal' } });
    assert.equal(svg.height, 9 * 24);
    const little = { memory, check: null, timing: null };
    const { table: found } = await panel.figure({ report: little, frame });
    assert.deepEqual(found, rows('', '', '', ''));
  });
});

describe('use: the example', () => {
  /** The panel after its button was pressed, and what the page was asked to copy. */
  async function pressed(refuses) {
    const copied = [];
    const clipboard = {
      async writeText(text) {
        if (refuses) throw new Error('no');
        copied.push(text);
      },
    };
    Object.defineProperty(navigator, 'clipboard', { value: clipboard, configurable: true });
    const selected = [];
    mock.method(globalThis, 'getSelection', () => ({
      selectAllChildren: (element) => selected.push(element),
    }));
    const { panel, text } = put('use');
    panel.update({});
    const example = panel.querySelector('.example-code');
    const said = [];
    const button = panel.querySelector('.copy');
    const observer = new MutationObserver(() => said.push(button.textContent));
    observer.observe(button, { childList: true, subtree: true, characterData: true });
    delays.clear();
    button.click();
    await rest();
    observer.disconnect();
    assert.deepEqual([...delays], [2000]);
    return { copied, selected, example, said, text };
  }

  test('is copied, and the button says so for two seconds', async () => {
    const { copied, selected, example, said, text } = await pressed(false);
    assert.deepEqual([copied, selected.length], [[example.textContent], 0]);
    assert.match(copied[0], /qkv\.attention\(x, x, x, \{/);
    assert.deepEqual([said[0], text('[role=status]'), text('.copy')], ['Copied', 'Copied', 'Copy']);
  });

  test('can be scrolled by keyboard, in a box that has a role for its name', () => {
    const { panel } = put('use');
    const boxes = [...panel.querySelectorAll('[tabindex]')];
    const named = boxes.map((box) => [box.getAttribute('role'), box.getAttribute('aria-label')]);
    assert.deepEqual(named, [['region', 'Install command'], ['region', 'Example']]); // prettier-ignore
  });

  test('is selected where nothing may be copied', async () => {
    const { copied, selected, example, said, text } = await pressed(true);
    assert.deepEqual([copied, selected.length], [[], 1]);
    assert.ok(selected[0] === example);
    const wanted = web.textOf('usage.selected');
    assert.deepEqual([said[0], text('[role=status]'), text('.copy')], [wanted, wanted, 'Copy']);
  });
});

describe('the single page', () => {
  const source = (contents) => ({
    stdin: { contents, resolveDir: join(root, 'web/src'), loader: 'ts' },
  });

  test('has the texts of all panels at once, and runs a panel when it is opened', async () => {
    const asked = [];
    const opened = [];
    const files = {
      './a/en.json': { 'a.title': 'An A' },
      './a/zh.json': { 'a.title': '甲' },
      './b/en.json': { 'b.title': 'A B' },
      './b/zh.json': { 'b.title': '乙' },
    };
    globalThis.qkvGlob = (pattern, options) => {
      asked.push([pattern, options]);
      return options ? files : { './a/panel.ts': async () => opened.push('a') };
    };
    const contents = "export * from './features/load_inside'; export * from './i18n/i18n';";
    const define = { 'import.meta.glob': 'globalThis.qkvGlob' };
    const inside = await import(await bundled('inside', { ...source(contents), define }));
    delete globalThis.qkvGlob;
    assert.deepEqual(asked, [
      ['./*/{en,zh}.json', { eager: true, import: 'default' }],
      ['./*/panel.ts', undefined],
    ]);
    for (const [language, ...texts] of [
      ['en', 'An A', 'A B'],
      ['zh', '甲', '乙'],
    ]) {
      inside.setLanguage(language);
      assert.deepEqual(
        ['a.title', 'b.title'].map((key) => inside.textOf(key)),
        texts,
      );
    }
    assert.deepEqual(opened, []);
    for (const id of ['a', 'other']) assert.equal(await inside.loadPanel(id), undefined);
    assert.deepEqual(opened, ['a']);
    for (const load of [inside.loadWords, inside.loadLanguage]) {
      const loading = load();
      assert.ok(loading instanceof Promise);
      assert.equal(await loading, undefined);
    }
  });

  test('leaves the models out, and says where they are', async () => {
    const contents =
      "export * from './features/model/page/load_part'; export * from './features/model/shared/model_view';" +
      "export * from './state/state'; export * from './i18n/i18n';";
    const plugin = {
      name: 'files inside',
      setup({ onResolve }) {
        const path = join(root, 'web/src/features/model/page/shipped_files_inside.ts');
        onResolve({ filter: /\/shipped_files$/ }, () => ({ path }));
      },
    };
    const define = { 'import.meta.glob': 'Object' };
    const single = await import(
      await bundled('single', { ...source(contents), define, plugins: [plugin] })
    );
    const { textsOf } = await import('../support/texts.js');
    single.addTexts('en', textsOf('en'));
    customElements.define('qkv-single-load', single.LoadPart);
    const part = document.createElement('qkv-single-load');
    document.body.append(part);
    const asked = [];
    for (const event of ['state-change', 'model-tell']) {
      part.addEventListener(event, ({ type }) => asked.push(type));
    }
    part.update({ state: single.initialState('en'), model: single.NO_MODEL, look: 1 });
    for (const name of ['austen', 'tang']) {
      const card = part.querySelector(`[data-model=${name}]`);
      const [button, outside] = ['.load', '.model-outside'].map((of) => card.querySelector(of));
      assert.deepEqual([button.hidden, outside.hidden], [true, false]);
      assert.ok(outside.textContent.includes(`${name}.safetensors`));
      button.click();
    }
    assert.deepEqual(asked, ['state-change', 'state-change']); // no model is asked for
  });
});
