// @about web/src/features/pair/
// The panel of one score, in Node, from numbers that the test makes: what it shows in states that a page is seldom in, what its
// controls ask for, which rows it makes anew, and its drawing.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { notesOf } from '../support/notes.js';
import { fire, requireWritten } from '../support/operate.js';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...['panel', 'page/product_bars', 'page/figure', 'page/sentences', 'state'].map(
    (name) => `features/pair/${name}`,
  ),
  'state/state',
);
const initial = { ...web.initialState('en'), text: '' };
afterEach(() => {
  leave();
  web.setLanguage('en');
});

const part = (weight, ...values) => ({ weight, part: Float64Array.from(values) });
const PAIR = {
  ...{ query: 2, key: 1, temperature: 0.5, scale: Math.fround(1 / Math.sqrt(3)) },
  ...{ q: Float32Array.of(1, -2, 0.5), k: Float32Array.of(3, 0.25, -0) },
  ...{ v: Float32Array.of(0.75, -0.125, 1e6), products: Float64Array.of(3, -0.5, -0) },
  ...{ dot: 2.5, score: 1.4434, weight: 0.625, lse: 0.5, allowed: 3 },
  output: Float32Array.of(0.5, -0.25, 0),
  shares: [
    { key: 0, ...part(0.25, 0.125, 0, -0.25) },
    { key: 1, ...part(0.625, 0.5, -0.0625, 0.25) },
    { key: 2, ...part(0.125, -0.125, 0, 0) },
  ],
  rest: null,
  sums: { score: 1.234e-7, output: 5e-8 },
  error: { score: 2.345e-7, weight: 3.456e-8, output: 4.567e-8 },
};
const TOKENS = ['The', 'cat', '<sat>'];
/** A pair of a head of two numbers, whose other keys are told together. */
const SHORT = {
  ...PAIR,
  ...{ q: Float32Array.of(1, 2), k: Float32Array.of(3, 4), v: Float32Array.of(0, 0) },
  ...{ products: Float64Array.of(3, 8), output: Float32Array.of(0, 0), allowed: 9, weight: 1 },
  shares: [
    { key: 1, ...part(1, 0, 0) },
    { key: 2, ...part(0, 0, 0) },
  ],
  rest: { keys: 7, ...part(0.5, 0, 0) },
};

function put(tokens = TOKENS) {
  const panel = document.createElement('qkv-panel-pair');
  document.body.append(panel);
  const { lines, note } = notesOf(panel);
  let look = 0;
  const view = ({ pair = PAIR, state = {}, head = 1, list = tokens, ...more } = {}) => ({
    ...{ state: { ...initial, ...state }, look: ++look, list: { tokens: list } },
    heads: { source: state.source ?? 'constructed', trainedHeads: { layers: 1, perLayer: 4 } },
    frame: { pair, request: { layer: { tokens }, view: { head } } },
    ...more,
  });
  const show = (title, more) => note(title, () => panel.update(view(more)));
  return { panel, lines, note, show, view, find: (selector) => panel.querySelector(selector) };
}

test('pair: what it shows in each state', () => {
  const { panel, lines, note, show, view } = put();
  show('before a frame', { frame: null });
  show('without tokens', { list: [] });
  show('no pair', { pair: null });
  show('a pair');
  const same = view();
  note('once more', () => panel.update(same));
  note('and again', () => panel.update(same));
  show('not current', { list: ['a', 'b', 'c'] });
  show('a chosen key', { state: { pairKey: 1 } });
  show('another key', { pair: { ...PAIR, key: 2, weight: 0.125 }, state: { pairKey: 2 } });
  show('two numbers, and a rest', { pair: SHORT });
  show('keys beyond the tokens', {
    pair: { ...SHORT, query: 9, key: 8, shares: [{ key: 8, ...part(0.5, 1, -1) }] },
  });
  show('no numbers', { pair: { ...PAIR, k: Float32Array.of(NaN, Infinity, 1), dot: NaN } });
  for (const [scale, title] of [
    [1 / Math.sqrt(3) + 5e-7, 'a scale that is nearly the usual one'],
    [1 / Math.sqrt(3) + 7e-7, 'one that is not'],
    [1 / Math.sqrt(3) - 7e-7, 'one that is not, either'],
    [0.25, 'its own scale'],
  ]) {
    show(title, { pair: { ...PAIR, scale } });
  }
  for (const source of ['random', 'yours', 'trained', 'constructed']) {
    show(source, { state: { source, seed: 11 }, head: 3 });
  }
  web.setLanguage('zh');
  show('in Chinese', { state: { language: 'zh', positions: 'none' }, head: 0 });
  requireWritten('pair-states', lines);
});

test('pair: what its controls ask for', () => {
  const asked = [];
  document.addEventListener('state-change', ({ detail }) => asked.push(detail));
  const { show, find } = put();
  show('');
  const radio = find('[name=pair-key][value="2"]');
  radio.checked = true;
  fire(radio, 'change');
  find('.pair-strongest').click();
  fire(find('.pair-list'), 'change');
  assert.deepEqual(asked, [{ pairKey: 2 }, { pairKey: null }]);
});

test('pair: rows and the focus stay as long as they are about the same keys', () => {
  const { show, find } = put();
  show('');
  const first = find('.pair-list input');
  const second = find('[name=pair-key][value="1"]');
  second.focus();
  show('', { pair: { ...PAIR, weight: 0.5 } });
  assert.equal(find('.pair-list input'), first);
  assert.equal(document.activeElement, second);
  show('', { pair: { ...PAIR, rest: { keys: 1, ...part(0, 0, 0, 0) } } });
  assert.notEqual(find('.pair-list input'), first);
  assert.equal(document.activeElement, find('.pair-list input'));
  document.activeElement.blur();
  const made = find('.pair-list input');
  show('', { pair: { ...PAIR, rest: { keys: 2, ...part(0, 0, 0, 0) } } });
  assert.notEqual(find('.pair-list input'), made);
  assert.notEqual(document.activeElement, find('.pair-list input'));
});

test('pair: rows are made anew for other keys and other words', () => {
  const { show, find, panel } = put();
  const names = () => Array.from(panel.querySelectorAll('.pair-list bdi'), (of) => of.textContent);
  const keys = () => Array.from(panel.querySelectorAll('.pair-list input'), ({ value }) => value);
  show('');
  const first = find('.pair-list input');
  const others = PAIR.shares.map((share, i) => ({ ...share, key: [0, 2, 3][i] }));
  show('', { pair: { ...PAIR, key: 2, shares: others } });
  assert.deepEqual(
    [keys(), names()],
    [
      ['0', '2', '3'],
      ['The', '<sat>', ''],
    ],
  );
  assert.notEqual(find('.pair-list input'), first);
  const words = ['A', 'dog', 'ran', 'off'];
  show('', {
    pair: { ...PAIR, key: 2, shares: others },
    list: words,
    frame: frameOf(words, others),
  });
  assert.deepEqual(names(), ['A', 'ran', 'off']);
});
const frameOf = (tokens, shares) => ({
  pair: { ...PAIR, key: 2, shares },
  request: { layer: { tokens }, view: { head: 1 } },
});

test('pair: what the heads are made of', () => {
  const lines = [];
  for (const source of ['constructed', 'random', 'trained', 'yours']) {
    for (const positions of ['none', 'sinusoidal']) {
      for (let head = 0; head < 7; head++) {
        const keys = web.madeOf({ source, positions }, head).join(' ');
        lines.push(`${source} ${positions} ${head}: ${keys}`);
      }
    }
  }
  for (const language of ['en', 'zh']) {
    web.setLanguage(language);
    lines.push(web.madeStory({ ...initial, language, positions: 'none' }, 0));
  }
  requireWritten('pair-words', lines);
  assert.deepEqual(web.pairRequest({ pairKey: 3 }), { key: 3 });
  const { pairKey } = web.pairFields;
  const read = ['-1', '0', '1023', '1024', '5000', 'x'].map((raw) => pairKey.read(raw));
  assert.deepEqual([pairKey.key, pairKey.initial, ...read.slice(1, 3)], ['pk', null, 0, 1023]);
  assert.deepEqual(read.slice(3, 5), [1023, 1023]);
});

test('pair: bars begin at zero', () => {
  assert.deepEqual(web.reachOf([1, 2]), [0, 2]);
  assert.deepEqual(web.reachOf([-1], [3], []), [-1, 3]);
  assert.deepEqual(web.reachOf([-1, -2]), [-2, 0]);
  assert.deepEqual(web.reachOf([0]), [0, 1]);
  assert.deepEqual(web.reachOf(), [0, 1]);
  const box = document.createElement('div');
  box.innerHTML = '<i></i>';
  const drawn = (value, reach) => {
    web.drawBar(box, value, reach);
    const { left, width } = box.firstChild.style;
    return `${left} ${width}`;
  };
  assert.equal(drawn(2, [0, 8]), '0% 25%');
  assert.equal(drawn(-1, [-2, 2]), '25% 25%');
  assert.equal(drawn(1, [-1, 3]), '25% 25%');
  assert.equal(drawn(0, [-1, 3]), '25% 0%');
  assert.deepEqual(web.columns([1, -2, 0, 0.5], 2), {
    up: 'M0.1 1v-0.500h.8V1zM3.1 1v-0.250h.8V1z',
    down: 'M1.1 1v1.000h.8V1z',
  });
  assert.deepEqual(web.columns([1, -2], 0), { up: '', down: '' });
  let writes = 0;
  const place = {
    words: 'a',
    get textContent() {
      return this.words;
    },
    set textContent(words) {
      ++writes;
      this.words = words;
    },
  };
  web.write(place, 'a');
  assert.equal(writes, 0);
  web.write(place, 'b');
  assert.deepEqual([writes, place.words], [1, 'b']);
});

test('pair: its drawing and its table', async () => {
  const lines = [];
  for (const [title, pair, tokens] of [
    ['three numbers', PAIR, TOKENS],
    ['two', SHORT, []],
  ]) {
    const { name, svg, table, data } = web.pairFigure(pair, tokens);
    lines.push('', `== ${title}: ${name}, ${svg.width} x ${svg.height}`);
    lines.push(...svg.body.replaceAll('><', '>\n<').split('\n'));
    lines.push(...table.map((row) => row.join(' | ')), JSON.stringify(data.pair.tokens));
    assert.deepEqual({ ...data.pair, tokens: 0 }, { ...pair, tokens: 0 });
  }
  requireWritten('pair-figures', lines);
  const { panel, view } = put();
  assert.equal(await panel.figure(view({ frame: null })), null);
  assert.equal(await panel.figure(view({ pair: null })), null);
  assert.equal((await panel.figure(view())).name, 'pair');
});
