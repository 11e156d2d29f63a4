// The trained model as the page knows it, in Node: what it is asked when, when it rests, and what it is to the other panels; and
// what the page asks for at first.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { modules } from '../support/engine.js';

const { TrainedModel, initialState, requestOf } = await modules(
  'app/{trained_model,first,request}',
  'state/{state,first}',
);
const stateOf = (patch = {}) => ({ ...initialState('en'), ...patch });
const info = { id: 5, notDrawn: null, numLayers: 2, numHeads: 3, causal: true };
const loaded = (more = {}) => ({ kind: 'loaded', info: { ...info, ...more } });
const answers = (news) => ({ kind: 'answers', news });
const reading = { ids: [4, 2], labels: ['one', 'two'] };
const load = (files = { kind: 'address', name: 'austen', url: 'a' }) => ({ kind: 'load', files });

let sent;
let model;
beforeEach(() => {
  sent = [];
  model = new TrainedModel((message) => sent.push(message));
});
const kinds = () => sent.splice(0).map(({ kind }) => kind);

test('trained: the tokens of no model are one list for ever', () => {
  assert.equal(model.tokens, model.tokens);
  assert.deepEqual(model.tokens, { tokens: [], own: 0, total: 0, textCut: false });
  model.receive(loaded({ notDrawn: 'alibi' }));
  assert.equal(
    model.tokens,
    new TrainedModel(() => undefined).tokens,
    'also where it cannot be drawn',
  );
});

describe('trained: what is asked', () => {
  test('a load asks for what the state shows before it begins', () => {
    model.tell(load(), stateOf({ modelTopK: 3 }));
    assert.deepEqual(sent[0].ask.sampling, { temperature: 0.8, topK: 3, topP: 1 });
    assert.deepEqual(kinds(), ['ask', 'load']);
    assert.deepEqual(model.view.loading, { what: 'austen', loaded: 0, total: 0 });
    model.tell(load(), stateOf({ modelTopK: 3 }));
    assert.deepEqual(kinds(), ['load'], 'the same was asked');
    const files = [{ name: 'a' }, { name: 'b' }];
    model.tell(load({ kind: 'files', files }), stateOf());
    assert.equal(model.view.loading.what, 'a, b');
  });

  test('a load whose code did not come asks again when it is tried again', () => {
    model.tell(load(), stateOf());
    assert.deepEqual(kinds(), ['ask', 'load']);
    model.receive({ kind: 'refused', failure: { code: 'load_failed', message: 'no network' } });
    assert.equal(model.view.refused.what, 'austen');
    model.tell(load(), stateOf());
    assert.deepEqual(kinds(), ['ask', 'load']);
  });

  test('another word is passed on as it is', () => {
    const message = { kind: 'write' };
    model.tell(message, stateOf());
    assert.deepEqual([sent, model.view.loading], [[message], null]);
  });

  test('a change of the state asks again where there is a model', () => {
    model.follow(stateOf());
    assert.deepEqual(kinds(), []);
    model.receive(loaded());
    model.follow(stateOf());
    assert.deepEqual(kinds(), ['ask']);
    model.follow(stateOf({ seed: 3 }));
    assert.deepEqual(kinds(), [], 'which it does not depend on');
    model.follow(stateOf({ text: 'other' }));
    assert.deepEqual(kinds(), ['ask']);
  });

  test('all is asked again of a model that was lost', () => {
    model.receive(loaded());
    model.follow(stateOf());
    model.receive(answers({ reading }));
    model.lose();
    const { view, tokens, text, heads, atRest } = model;
    assert.deepEqual(
      [view.info, view.answers, tokens.tokens, text, heads],
      [null, {}, [], null, null],
    );
    assert.equal(atRest, true);
    kinds();
    model.tell(load(), stateOf());
    assert.deepEqual(kinds(), ['ask', 'load']);
  });
});

test('trained: it rests when all is answered and nothing is loaded', () => {
  const rests = [];
  const note = () => rests.push(model.atRest);
  note();
  model.tell(load(), stateOf());
  note();
  model.receive(loaded());
  note();
  model.receive(answers({ reading }));
  note();
  model.receive({ kind: 'answered' });
  note();
  model.follow(stateOf());
  note();
  model.follow(stateOf({ modelAt: 1 }));
  note();
  model.receive({ kind: 'answered' });
  note();
  model.receive({ kind: 'speed', speed: {} });
  note();
  assert.deepEqual(rests, [true, false, false, false, true, true, false, true, true]);
  model.lose();
  model.tell(load(), stateOf());
  model.receive({ kind: 'refused', failure: {} });
  assert.deepEqual([model.atRest, model.view.refused.what], [true, 'austen']);
});

describe('trained: as a source of the other panels', () => {
  const seen = () => [model.heads, model.tokens.tokens, model.text, model.mask];
  test('it has nothing before it is there, or has read', () => {
    assert.deepEqual(seen(), [null, [], null, 'causal']);
    model.receive(loaded());
    assert.deepEqual(seen(), [{ layers: 2, perLayer: 3 }, [], null, 'causal']);
  });

  test('it has its heads, tokens and mask', () => {
    model.receive(loaded());
    model.receive(answers({ reading }));
    assert.deepEqual(seen(), [
      ...[{ layers: 2, perLayer: 3 }, ['one', 'two'], { model: 5, ids: [4, 2] }, 'causal'],
    ]);
    assert.deepEqual(model.tokens, { tokens: ['one', 'two'], own: 2, total: 2, textCut: false });
    model.receive(loaded({ causal: false }));
    assert.equal(model.mask, 'none');
  });

  test('it has none that cannot be drawn', () => {
    model.receive(loaded({ notDrawn: 'bias', causal: false }));
    model.receive(answers({ reading }));
    assert.deepEqual(seen(), [null, [], null, 'none']);
    assert.deepEqual(model.tokens, { tokens: [], own: 0, total: 0, textCut: false });
  });
});

test('request: what is asked of the layer and of its picture', () => {
  const trained = { text: { model: 1, ids: [1] }, heads: { layers: 1, perLayer: 2 }, mask: 'none' };
  const surfaces = { map: { width: 1, height: 2 } };
  const seen = {
    query: 1,
    described: null,
    dragging: true,
    sees: (id) => id === 'scale',
    surfaces,
    ratio: 2,
  };
  const ask = (patch, more) => requestOf(stateOf(patch), ['a', 'b'], { ...seen, ...more });
  const { layer, view, surfaces: asked, ratio, scale, row } = ask({ seed: 3, mask: 'window' });
  assert.deepEqual(layer, {
    ...{ tokens: ['a', 'b'], source: 'constructed', seed: 3, positions: 'sinusoidal' },
    ...{
      temperature: 1,
      numbers: stateOf().numbers,
      mask: 'window',
      trained: null,
      trainedHeads: null,
    },
  });
  assert.deepEqual(view, {
    ...{
      head: 0,
      other: null,
      show: 'weights',
      query: 1,
      described: 1,
      matrix: false,
      dragging: true,
    },
    ranks: false,
  });
  assert.deepEqual([asked, ratio, scale, row], [surfaces, 2, 1, null]);
  const of = (patch, more) => ask(patch, more).view;
  assert.equal(of({ order: 'rank' }).ranks, true);
  assert.equal(of({ head: 5 }).head, 5);
  assert.equal(of({ head: 6 }).head, 5);
  assert.deepEqual(
    [of({ other: 5 }).other, of({ other: 6 }).other, of({ other: 0 }).other],
    [5, null, null],
  );
  assert.equal(of({ head: 1, other: 0 }).other, 0);
  assert.deepEqual(
    [of({ show: 'log' }).show, of({ show: 'log', look: 'arcs' }).show],
    ['log', 'weights'],
  );
  assert.deepEqual(
    [
      of({}, { described: 0 }).described,
      of({}, { described: 1 }).described,
      of({}, { described: 2 }).described,
    ],
    [0, 1, 1],
  );
  const learned = ask({ source: 'trained', mask: 'causal', head: 9 }, { trained });
  assert.deepEqual(
    [learned.layer.mask, learned.layer.trained, learned.view.head],
    ['none', trained.text, 1],
  );
  assert.deepEqual(ask({ source: 'trained', mask: 'window' }).layer.mask, 'window');
});
