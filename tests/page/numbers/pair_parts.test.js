// The panel of one score, in Node, from numbers that the test makes: what it shows in states that a page is seldom in, what its
// controls ask for, which rows it makes anew, and its drawing.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  'features/pair/{panel,state}',
  'features/pair/page/{product_bars,figure,sentences}',
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
  let look = 0;
  const view = ({ pair = PAIR, state = {}, head = 1, list = tokens, ...more } = {}) => ({
    ...{ state: { ...initial, ...state }, look: ++look, list: { tokens: list } },
    heads: { source: state.source ?? 'constructed', trainedHeads: { layers: 1, perLayer: 4 } },
    frame: { pair, request: { layer: { tokens }, view: { head } } },
    ...more,
  });
  const show = (more) => panel.update(view(more));
  const find = (selector) => panel.querySelector(selector);
  const texts = (selector) =>
    [...panel.querySelectorAll(selector)].map(({ textContent }) => textContent);
  return { panel, show, view, find, texts, text: (selector) => find(selector).textContent };
}

test('pair: without a pair it says why', () => {
  const { show, find, text } = put();
  for (const [more, why] of [
    [{ frame: null }, 'pair.loading'],
    [{ list: [] }, 'pair.empty'],
    [{ pair: null }, 'pair.loading'],
    [{}, null],
  ]) {
    show(more);
    assert.deepEqual([find('.pair-waiting').hidden, find('.pair-parts').hidden], [!why, !!why]);
    if (why) assert.equal(text('.pair-waiting'), web.textOf(why));
  }
  show({ list: ['a', 'b', 'c'], pair: { ...PAIR, weight: 0.5 } });
  assert.equal(text('#pair-keys'), 'Keys of “<sat>”', 'a frame of other words changes nothing');
});

test('pair: each key has its weight, and all together their sum', () => {
  const { show, find, texts, panel } = put();
  show();
  assert.equal(find('#pair-keys').textContent, 'Keys of “<sat>”');
  assert.deepEqual(texts('.pair-list bdi'), TOKENS);
  assert.deepEqual(texts('.pair-list b'), ['.250', '.625', '.125']);
  assert.deepEqual(texts('.pair-sum b'), ['1.000']);
  assert.equal(find('.pair-list :checked').value, '1');
  const names = [...panel.querySelectorAll('.pair-list input')].map((radio) =>
    radio.getAttribute('aria-label'),
  );
  assert.equal(names[1], '1 “cat”, weight 0.625');
  show({ pair: SHORT });
  assert.deepEqual(texts('.pair-rest .rest-name'), ['7 more']);
  assert.deepEqual(texts('.pair-list b'), ['1.000', '.000', '.500']);
});

test('pair: the score is the sum of the products, scaled, divided by τ, and in the softmax', () => {
  const { show, texts, find } = put();
  show();
  const cells = (of) => texts(`[data-of=${of}] tbody td`);
  assert.deepEqual(cells('score'), ['1.0000', '3.0000', '3.0000', '−2.0000', '0.2500', '−0.5000', '0.5000', '0.0000', '0.0000']);
  // The value, the weight times the value, and the output.
  assert.deepEqual(cells('value').slice(0, 6), ['0.7500', '0.4688', '0.5000', '−0.1250', '−0.0781', '−0.2500']);
  const steps = () => texts('.pair-steps dt').map((name, i) => [name, texts('.pair-steps dd')[i]]);
  assert.deepEqual(steps(), [
    ['sum of the products, q·k', '2.5000'],
    ['times 1/√3 = 0.5774: score s', '1.4434'],
    ['divided by τ = 0.5', '2.8868'],
    ['softmax over 3 keys: weight p', '0.6250'],
  ]);
  for (const [off, usual] of [[5e-7, true], [7e-7, false], [-7e-7, false], [0.25, false]]) {
    show({ pair: { ...PAIR, scale: 1 / Math.sqrt(3) + off } });
    assert.equal(find('.pair-score .formula').hidden, !usual);
    assert.match(steps()[1][0], usual ? /^times 1\/√3/ : /the scale of this model/);
  }
}); // prettier-ignore

test('pair: it says where the head is from, what was computed by whom, and how far off it is', () => {
  const { show, text, find } = put();
  const own =
    /^The core computes q, k, v, the score.*by 1\.2×10⁻⁷\..*off by 2\.3×10⁻⁷, the weight by 3\.5×10⁻⁸ and the output by at most 4\.6×10⁻⁸\.$/;
  for (const [source, from, check] of [
    ['constructed', 'previous token: ', own],
    ['random', 'Head 2: ', own],
    ['yours', 'Q and K as given: ', /^The core computes the score.*from these q, k and v/],
    ['trained', 'Head 0.1: ', /^The core computes the score.*from these q, k and v/],
  ]) {
    show({ state: { source, seed: 11 } });
    assert.ok(text('.pair-made').startsWith(from), text('.pair-made'));
    assert.match(text('.pair-check'), check);
  }
  for (const pairKey of [null, 1]) {
    show({ state: { pairKey } });
    assert.equal(find('.pair-strongest').hidden, pairKey === null);
  }
});

test('pair: what is said of the components depends on the head, its source and the positions', () => {
  const [value, without] = ['value', 'without'].map((name) => `pair.made.${name}`);
  const made = (name, ...more) => [`pair.made.${name}`, ...more, value];
  for (const [source, positions, head, keys] of [
    ['constructed', 'sinusoidal', 0, made('reference')],
    ['constructed', 'none', 0, made('reference', without)],
    ...[1, 3, 4].map((head) => ['constructed', 'none', head, made('positions', without)]),
    ['constructed', 'sinusoidal', 1, made('positions')],
    ['constructed', 'none', 2, made('same')],
    ['constructed', 'none', 5, made('mean')],
    ['constructed', 'none', 6, ['pair.made.random']],
    ['random', 'none', 0, ['pair.made.random']],
    ['trained', 'none', 0, ['pair.made.trained']],
    ['yours', 'none', 0, ['pair.made.yours']],
  ]) {
    assert.deepEqual(web.madeOf({ source, positions }, head), keys, `${source} ${head}`);
  }
  assert.match(web.madeStory({ ...initial, positions: 'none' }, 5), /^In this head W_Q and W_K are 0/);
  assert.deepEqual(web.pairRequest({ pairKey: 3 }), { key: 3 });
  const { pairKey } = web.pairFields;
  assert.deepEqual([pairKey.key, pairKey.initial], ['pk', null]);
  assert.deepEqual(['0', '1023', '1024'].map((raw) => pairKey.read(raw)), [0, 1023, 1023]);
}); // prettier-ignore

test('pair: bars begin at zero', () => {
  assert.deepEqual(web.reachOf([1, 2]), [0, 2]);
  assert.deepEqual(web.reachOf([-1], [3], []), [-1, 3]);
  assert.deepEqual(web.reachOf([-1, -2]), [-2, 0]);
  assert.deepEqual(web.reachOf([0]), [0, 1]);
  assert.deepEqual(web.reachOf(), [0, 1]);
  assert.equal(web.barStyle(2, [0, 8]), 'left: 0%; width: 25%');
  assert.equal(web.barStyle(-1, [-2, 2]), 'left: 25%; width: 25%');
  assert.equal(web.barStyle(1, [-1, 3]), 'left: 25%; width: 25%');
  assert.equal(web.barStyle(0, [-1, 3]), 'left: 25%; width: 0%');
  assert.deepEqual(web.columns([1, -2, 0, 0.5], 2), {
    up: 'M0.1 1v-0.500h.8V1zM3.1 1v-0.250h.8V1z',
    down: 'M1.1 1v1.000h.8V1z',
  });
  assert.deepEqual(web.columns([1, -2], 0), { up: '', down: '' });
});

test('pair: its file has all components in a table, with bars, and the way to the weight', async () => {
  const { svg, table, data } = web.pairFigure(PAIR, TOKENS);
  assert.deepEqual(table[0], ['component', 'q', 'k', 'q*k', 'v', 'weight*v', 'output']);
  assert.deepEqual(table[2], [2, -2, 0.25, -0.5, -0.125, 0.625 * -0.125, -0.25]);
  assert.equal(table.length, 4);
  for (const words of ['cat', 'q·k = 2.5000', 's = 2.5000 · 0.5774 = 1.4434', 'p = 0.6250 (τ = 0.5)']) {
    assert.ok(svg.body.includes(words), words);
  }
  const bars = [...svg.body.matchAll(/<rect x="([\d.]+)"[^>]* width="([\d.]+)"[^>]*fill="(#\w+)"/g)];
  // Products from -0.5 to 3 on 130 pixels from 290 on.
  const unit = 130 / 3.5;
  const drawn = bars.filter((_, i) => i % 2 === 0).map(([, x, width, colour]) => [+x, +width, colour]);
  const wanted = [3, -0.5, 0].map((p) => [290 + (Math.min(0, p) + 0.5) * unit, Math.abs(p) * unit, p < 0 ? '#d55e00' : '#0072b2']);
  drawn.forEach(([x, width, colour], i) => {
    assert.ok(Math.abs(x - wanted[i][0]) < 0.01 && Math.abs(width - wanted[i][1]) < 0.01);
    assert.equal(colour, wanted[i][2]);
  });
  assert.deepEqual(data.pair.tokens, { query: '<sat>', key: 'cat' });
  const { panel, view } = put();
  assert.equal(await panel.figure(view({ frame: null })), null);
  assert.equal(await panel.figure(view({ pair: null })), null);
  assert.equal((await panel.figure(view())).name, 'pair');
  // The numbers may still be of the sentence of a moment ago: so are their tokens.
  const late = await panel.figure(view({ list: ['Now', 'other', 'words'] }));
  assert.deepEqual(late.data.pair.tokens, { query: '<sat>', key: 'cat' });
}); // prettier-ignore
