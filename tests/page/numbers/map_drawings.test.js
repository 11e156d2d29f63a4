// Arcs, names and drawings of the map in Node, from frames that the test makes: which arcs and labels are drawn, what heads are
// called and said to do, and what the files contain.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { frameOf, mapScene, rowOf, tokensOf } from '../support/map_frames.js';
import { openWindow } from '../support/window.js';

const { rest, leave } = openWindow();
HTMLCanvasElement.prototype.toDataURL = () => 'data:';
const { modules } = await import('../support/engine.js');
const web = await modules(
  'features/map/page/{arcs_part,figure}',
  'features/head_names',
  'ui/heatmap_svg',
  'state/state',
);

const { viewOf, put } = mapScene({ ...web.initialState('en'), look: 'arcs' });
afterEach(leave);

/** The arcs of so many tokens, of which `query` is chosen. */
async function arcs(count, query = count - 1) {
  const scene = put('qkv-arcs');
  await rest();
  const frame = frameOf({ tokens: tokensOf(count), query });
  scene.show({ frame, query });
  return { ...scene, frame, paths: [...scene.part.querySelectorAll('path')] };
}
const width = (path) => Number(path.getAttribute('stroke-width'));

test('arcs: of few tokens those of every row, of many those of the query; thicker for more weight, the query above', async () => {
  for (const [count, rows] of [[4, 4], [64, 64], [65, 1]]) {
    const { frame, paths, find } = await arcs(count);
    const drawn = web.arcsOf(frame);
    assert.equal(new Set(drawn.map(({ query }) => query)).size, rows, `${count} tokens`);
    const widths = drawn.map(({ weight }) => 0.5 + 5 * weight).sort();
    assert.deepEqual(paths.map(width).sort(), widths);
    const own = drawn.filter(({ query }) => query === count - 1);
    const described = paths.map(({ classList }) => classList.contains('described'));
    assert.deepEqual(described, paths.map((_, i) => i >= paths.length - own.length));
    assert.match(find('.arcs-note').textContent, rows > 1 ? /For every query/ : /the chosen query/);
  }
}); // prettier-ignore

test('arcs: each token has its label as long as a label has 14 pixels, and the query always has', async () => {
  // Lines are 34 pixels high, or as high as 640 allow.
  for (const [count, query, labels] of [[4, 2, 4], [45, 0, 45], [46, 0, 23], [46, 45, 24], [70, 0, 35]]) {
    const { texts } = await arcs(count, query);
    assert.equal(texts('.arc-query').length, labels, `${count} tokens, query ${query}`);
    assert.deepEqual(texts('.arc-query.described'), [`t${query}`]);
    for (const key of texts('.arc-key.described')) assert.ok(texts('.arc-key').includes(key));
  } // prettier-ignore
});

test('arcs: of a row the strongest keys that carry seven tenths of it', () => {
  const arcsOf = (...weights) => {
    const row = { row: 3, weights: Float64Array.from(weights) };
    const frame = { request: { layer: { tokens: weights.map(String) } }, matrix: null, query: row };
    return web.arcsOf(frame).map(({ query, key, weight }) => `${query} ${key} ${weight}`);
  };
  assert.deepEqual(arcsOf(0.25, 0.5, 0.25), ['3 1 0.5', '3 0 0.25']);
  assert.deepEqual(arcsOf(0.7, 0.3), ['3 0 0.7']);
  assert.deepEqual(arcsOf(0.69, 0.31), ['3 0 0.69', '3 1 0.31']);
  assert.deepEqual(arcsOf(0.1, 0, 0.2), ['3 2 0.2', '3 0 0.1']);
  assert.deepEqual(arcsOf(0, 0), []);
  const frame = { request: { layer: { tokens: ['a', 'b'] } }, query: null };
  assert.deepEqual(web.arcsOf({ ...frame, matrix: null }), []);
  const matrix = Float32Array.of(1, 0, 0.25, 0.75);
  assert.deepEqual(web.arcsOf({ ...frame, matrix }), [
    { query: 0, key: 0, weight: 1 },
    { query: 1, key: 1, weight: 0.75 },
  ]);
});

test('arcs: a screen reader hears the strongest keys of the query, listed as its language lists', async () => {
  for (const [language, list] of [['en', /: t0 0\.\d+, t3 0\.\d+$/], ['zh', /：t0 0\.\d+、t3 0\.\d+$/]]) {
    web.setLanguage(language);
    const { find } = await arcs(4, 3);
    assert.match(find('.arcs-stage').getAttribute('aria-valuetext'), list);
  }
  web.setLanguage('en');
}); // prettier-ignore

// ---- names and files ----

test('names: heads built by hand are called by what they do, others by their number', () => {
  const names = [
    'it → animal',
    'previous token',
    'same token',
    'first token',
    'nearby',
    'mean of all',
  ];
  const trainedHeads = { layers: 2, perLayer: 3 };
  for (const [source, ...expected] of [
    ['constructed', ...names, 'Head 7'],
    ['random', 'Head 1', 'Head 2'],
    ['yours', 'Q and K as given'],
    ['trained', 'Head 0.0', 'Head 0.1', 'Head 0.2', 'Head 1.0'],
  ]) {
    assert.deepEqual(expected.map((_, head) => web.headName({ source, trainedHeads }, head)), expected);
  } // prettier-ignore
});

test('names: what a head does is said of the mask and the positions that the layer has', () => {
  const constructed = (head, positions, mask, ...keys) => [
    { source: 'constructed', positions, mask },
    head,
    keys,
  ];
  const [near, sides] = ['near', 'sides'].map((name) => `how.reference.${name}`);
  const any = { positions: 'none', mask: 'window' };
  for (const [settings, head, keys] of [
    constructed(0, 'sinusoidal', 'causal', 'how.reference', near),
    constructed(0, 'sinusoidal', 'none', 'how.reference', sides),
    constructed(0, 'sinusoidal', 'window', 'how.reference', near, 'how.reference.window'),
    constructed(0, 'none', 'window', 'how.reference', 'how.reference.even', 'how.reference.window'),
    constructed(1, 'sinusoidal', 'window', 'how.previous'),
    constructed(2, 'none', 'window', 'how.same'),
    constructed(3, 'sinusoidal', 'causal', 'how.first'),
    constructed(3, 'sinusoidal', 'window', 'how.first', 'how.first.window'),
    constructed(4, 'sinusoidal', 'none', 'how.local'),
    constructed(5, 'none', 'none', 'how.mean'),
    ...[1, 3, 4].map((head) => constructed(head, 'none', 'window', 'how.lost')),
    constructed(6, 'sinusoidal', 'none', 'how.random'),
    [{ ...any, source: 'random' }, 0, ['how.random']],
    [{ ...any, source: 'trained' }, 0, ['how.trained']],
    [{ ...any, source: 'yours' }, 0, ['how.yours']],
  ]) {
    assert.deepEqual(web.storyOf(settings, head), keys, JSON.stringify([settings, head]));
  } // prettier-ignore
});

test('names: the head that looks for animals says which it knows in the text', () => {
  const story = (head, ...tokens) => web.headStory(web.initialState('en'), head, tokens);
  assert.match(story(0, 'Cat', 'the', 'cat', 'dogs'), /in this text: cat, dogs\.$/);
  assert.match(story(0, 'no'), /It knows no animal in this text/);
  assert.doesNotMatch(story(0), /in this text[.:]/);
  assert.doesNotMatch(story(2, 'cat'), /in this text/);
});

test('map: its file has the shown values in a table and in colours, what is masked hatched', () => {
  const canvas = document.createElement('canvas');
  const figure = (count, { state, ...more } = {}) => {
    const frame = frameOf({ tokens: tokensOf(count), ...more });
    const heads = [0, 1, 2].map((head) => {
      const rows = Array.from({ length: count }, (_, row) => rowOf(count, head, row, 'causal'));
      const all = (name) => Float32Array.from(rows.flatMap((row) => [...row[name]]));
      return { head, weights: all('weights'), scores: all('scores') };
    });
    const view = viewOf({ frame, state: { look: 'map', ...state } });
    return { ...web.mapFigure(view, { request: frame.request, heads }, canvas), frame, heads };
  };
  const parts = (svg, name) => svg.body.match(new RegExp(`<${name} `, 'g'))?.length ?? 0;
  const table = (values) => [
    ['', ...tokensOf(4)],
    ...tokensOf(4).map((token, row) => [token, ...values.slice(4 * row, 4 * row + 4)]),
  ];
  const { heads, ...plain } = figure(4);
  assert.deepEqual(plain.table, table(heads[0].weights));
  assert.deepEqual(figure(4, { show: 'scores', range: 2 }).table, table(heads[0].scores));
  const difference = heads[1].weights.map((weight, i) => weight - heads[2].weights[i]);
  const two = figure(4, { head: 1, other: 2 });
  assert.deepEqual(two.table, table(difference));
  assert.ok(two.svg.body.includes('previous token − same token · τ 1 · '));
  assert.equal(parts(plain.svg, 'rect'), 16);
  assert.equal(plain.svg.body.split('url(#masked)').length - 1, 6, 'the upper triangle');
  // Cells are 36 pixels or what 640 allow; from 65 tokens on the canvas itself is the picture.
  for (const [count, side, cells, labels] of [[17, 36, 289, 17], [64, 10, 4096, 32], [65, 9, 0, 33]]) {
    const { svg } = figure(count, { query: 5 });
    assert.deepEqual([svg.width, svg.height], [134 + side * count, 134 + side * count]);
    assert.deepEqual([parts(svg, 'rect'), parts(svg, 'image')], [cells, cells > 0 ? 0 : 1]);
    assert.equal(parts(svg, 'text'), 1 + 2 * labels, `${count} tokens`);
  } // prettier-ignore
  const drawn = figure(5, { state: { look: 'arcs' } });
  assert.equal(parts(drawn.svg, 'path'), web.arcsOf(drawn.frame).length);
  assert.equal(parts(drawn.svg, 'text'), 1 + 2 * 5);
});

test('map: what is no number has the colour in a drawing that it has on the page', () => {
  for (const show of ['scores', 'weights', 'sqrt', 'log', 'difference']) {
    assert.equal(web.colours(show, 1)(NaN), '#ff00ff', show);
    assert.notEqual(web.colours(show, 1)(0.25), '#ff00ff', show);
  }
});
