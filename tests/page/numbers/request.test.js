// @build any
// What the page asks its worker for, in Node: what is on the screen, and no more.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules } from '../support/engine.js';

const { requestOf, initialState, trainedHeadName } = await modules(
  'app/request',
  'state/state',
  'domain/sources',
);
const state = initialState('en');
const tokens = ['The', 'cat'];
const seen = {
  query: 1,
  described: null,
  dragging: false,
  sees: () => false,
  surfaces: {},
  ratio: 1,
};

test('request: nothing is asked for panels that are not on the screen', () => {
  const { layer, view, surfaces, ratio, ...panels } = requestOf(state, tokens, seen);
  assert.deepEqual([surfaces, ratio], [{}, 1]);
  assert.ok(Object.keys(panels).length >= 5);
  assert.ok(Object.values(panels).every((asked) => asked === null));
  assert.deepEqual(layer.tokens, tokens);
  assert.deepEqual([view.query, view.described], [1, 1]);
});

test('request: each panel on the screen is asked for by its own state', () => {
  const on = (id) => requestOf(state, tokens, { ...seen, sees: (other) => other === id });
  assert.deepEqual(on('row').row.numbers, state.numbers);
  assert.equal(on('row').temperature, null);
  assert.deepEqual(on('temperature').temperature, { scores: 'random', gain: state.gain });
  assert.equal(on('scale').scale, state.sample);
  assert.equal(on('masks').masks.maskKind, state.maskKind);
  assert.equal(on('positions').positions.scheme, state.scheme);
});

test('request: a head, a row and a comparison that are not there are brought into range', () => {
  const ask = (patch, more) => requestOf({ ...state, ...patch }, tokens, { ...seen, ...more }).view;
  assert.equal(ask({ source: 'random', head: 5 }).head, 3);
  assert.equal(ask({ source: 'yours', head: 5 }).head, 0);
  assert.equal(ask({ head: 2, other: 2 }).other, null);
  assert.equal(ask({ source: 'random', other: 4 }).other, null);
  assert.equal(ask({ other: 3 }).other, 3);
  assert.deepEqual(
    [ask({ other: 3, look: 'arcs' }).other, ask({ look: 'arcs' }).matrix],
    [null, true],
  );
  assert.equal(ask({}, { described: 9 }).described, 1);
});

test('request: a trained model has as many heads as it is said to have, and one while there is none', () => {
  const ask = (heads) => {
    const trained = { text: { model: 1, ids: [4, 2] }, heads, mask: 'causal' };
    return requestOf({ ...state, source: 'trained', head: 9 }, tokens, { ...seen, trained });
  };
  const heads = { layers: 2, perLayer: 3 };
  assert.equal(ask(heads).view.head, 5);
  assert.equal(ask(null).view.head, 0);
  const { layer } = ask(heads);
  assert.deepEqual([layer.trainedHeads, layer.trained.ids, layer.mask], [heads, [4, 2], 'causal']);
  assert.deepEqual([0, 2, 3, 5].map((head) => trainedHeadName(layer, head)), ['0.0', '0.2', '1.0', '1.2']); // prettier-ignore
});

test('request: heads of another source have nothing of a model that is there', () => {
  const trained = { text: { model: 1, ids: [4] }, heads: { layers: 2, perLayer: 8 }, mask: 'none' };
  const { layer, view } = requestOf({ ...state, head: 9 }, tokens, { ...seen, trained });
  assert.deepEqual([layer.trained, layer.trainedHeads, layer.mask], [null, null, state.mask]);
  assert.equal(view.head, 5);
});
