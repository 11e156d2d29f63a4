// A trained model as the source of the other panels, in Node: the map, rows and scores are those of the model's own pass.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { austen, files } from '../support/austen.js';
import { close } from '../support/close.js';
import { modules, packageModule, resultOf } from '../support/engine.js';

const web = await modules(
  'features/model/worker/{safetensors,model_host,open_model}',
  'features/row/state',
  'worker/{pipeline,background}',
  'app/request',
  'state/state',
);
const qkv = await (await packageModule('index')).init();

describe('a source of the other panels', () => {
  const TEXT = 'She was tired.';
  let frame;
  let pipeline;
  let request;
  let model;
  let ids;
  before(async () => {
    pipeline = new web.Pipeline(qkv);
    const said = [];
    pipeline.model = new web.ModelHost(qkv, (message) => said.push(message));
    pipeline.model.receive({ kind: 'load', files });
    while (!said.some(({ kind }) => kind === 'loaded')) await new Promise(setImmediate);
    ({ model, ids } = await austen(qkv, web, TEXT));
    const state = {
      ...web.initialState('en'),
      source: 'trained',
      head: 14,
      temperature: 1,
      mask: 'none',
    };
    const tokens = ids.map(String);
    const visible = {
      query: 9,
      described: 4,
      dragging: false,
      sees: () => false,
      surfaces: {},
      ratio: 1,
    };
    request = web.requestOf(state, tokens, {
      ...visible,
      trained: { text: { model: 1, ids }, mask: 'causal' },
    });
    request = { ...request, view: { ...request.view, head: 14, matrix: true } };
    frame = pipeline.run(1, request).frame;
  });

  test('the map has the weights of the model’s own pass, of every head', () => {
    assert.equal(frame.numHeads, 16);
    assert.equal(request.layer.mask, 'causal', 'the mask is the model’s own');
    const { layers } = model.forward(ids, { inspect: { weights: true } });
    const T = ids.length;
    const { heads } = new web.Background(pipeline).tensors(request, 'all');
    heads.forEach(({ weights }, at) => {
      const { data } = layers.get(at >> 2).weights;
      const wanted = data.subarray((at & 3) * T * T, ((at & 3) + 1) * T * T);
      weights.forEach((weight, i) => close(weight, wanted[i], 2e-6, `head ${at}, cell ${i}`));
    });
    frame.matrix.forEach((weight, i) => assert.equal(weight, heads[14].weights[i]));
  });

  test('rows, temperatures and the check against float64 hold as for the other sources', () => {
    const T = ids.length;
    frame.query.weights.forEach((weight, i) => close(weight, frame.matrix[9 * T + i], 1e-7, 'row'));
    const at = { ...request, layer: { ...request.layer, temperature: 0.5 } };
    const cold = pipeline.run(2, at).frame;
    const { scores } = frame.query;
    const powers = Array.from(scores, (s) => Math.exp(s / 0.5));
    const sum = powers.reduce((a, b) => a + b);
    cold.query.weights.forEach((weight, i) => close(weight, powers[i] / sum, 1e-6, 'colder'));
    const { report } = resultOf(new web.Background(pipeline).work(at));
    assert.equal(report.check.heads, 16);
    assert.ok(report.check.weights > 0 && report.check.weights < 2e-6, `${report.check.weights}`);
    assert.ok(report.check.entropy < 1e-5, `${report.check.entropy}`);
  });

  test('a row is described step by step: its products add up to the scores, and its weights are those of the core', () => {
    const asked = web.rowRequest(web.initialState('en'));
    const { row } = pipeline.run(5, { ...request, row: asked }).frame;
    const { learned } = row;
    assert.equal(learned.width, 32);
    assert.equal(learned.allowed, 10, 'a causal query reads itself and what is before it');
    const { query } = frame;
    learned.keys.forEach((key, i) => {
      const sum = learned.terms[i].reduce((a, b) => a + b, 0);
      close(sum / Math.sqrt(32), query.scores[key], 1e-4, `score of key ${key}`);
      close(learned.weights[i], query.weights[key], 1e-6, `weight of key ${key}`);
    });
    const least = Math.min(...learned.keys.map((key) => query.weights[key]));
    const others = Array.from({ length: 10 }, (_, key) => key).filter(
      (key) => !learned.keys.includes(key),
    );
    assert.ok(
      others.every((key) => query.weights[key] <= least),
      'no other key has more',
    );
    assert.ok(learned.error < 1e-4, `${learned.error}`);
  });

  test('a row is described at the temperature of the map', () => {
    const asked = web.rowRequest(web.initialState('en'));
    const layer = { ...request.layer, temperature: 2.5 };
    const { row, query } = pipeline.run(6, { ...request, layer, row: asked }).frame;
    const { learned } = row;
    learned.keys.forEach((key, i) => {
      close(learned.scaled[i], query.scores[key], 1e-6, `score of key ${key}`);
      close(learned.tempered[i], query.scores[key] / 2.5, 1e-6, `divided, of key ${key}`);
      close(learned.weights[i], query.weights[key], 1e-6, `weight of key ${key}`);
      close(learned.exps[i] / learned.sum, query.weights[key], 1e-6, `share of key ${key}`);
    });
    assert.ok(learned.error < 1e-4, `${learned.error}`);
  });

  test('another model, or none, has no heads', () => {
    const other = { ...request, layer: { ...request.layer, trained: { model: 9, ids } } };
    assert.equal(pipeline.run(3, other).frame.numHeads, 0);
    const none = { ...request, layer: { ...request.layer, trained: null, tokens: [] } };
    assert.equal(pipeline.run(4, none).frame.query, null);
  });
});
