// @build each
// Gradients, training and language models against PyTorch, whose results in float64 are in fixtures/ (make_train_fixtures.py,
// make_model_fixtures.py).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { create } from 'qkv/models';
import { init } from 'qkv/train';
import { expectClose } from '../../support/js/check.js';
import { modelForward } from '../../support/js/model-oracle.js';
import { transposed, u } from '../../support/js/oracle.js';
import { models } from './support/models.js';
import * as torch from './support/state.js';

const engine = await init();
after(() => engine.dispose());

const { toArray } = torch;
const largest = (data) => Math.max(...data.map(Math.abs));

/** Errors are measured in u times the greatest element, times `terms`, the roundings on the way. */
function expectTorch(name, actual, { data }, terms) {
  expectClose(actual, data, u * terms * largest(data), { quantity: `torch ${name}`, what: name });
}
/** A matrix of PyTorch's, [out, in]. */
const turned = (matrix) => transposed({ ...matrix, data: Float64Array.from(matrix.data) });

const training = torch.fixture('training');

for (const c of training.attention) {
  test(`torch attentionBackward: ${c.name}`, () => {
    const [q, k, v, dOutput] = [c.q, c.k, c.v, c.d_output].map(toArray);
    const options = {
      ...{ causal: c.causal, softcap: c.softcap },
      ...(c.bias && { bias: toArray(c.bias) }),
    };
    const saved = engine.attention(q, k, v, { ...options, returnLse: true });
    const to = engine.attentionBackward(dOutput, q, k, v, saved, {
      ...{ ...options, needs: { bias: c.bias !== undefined } },
    });
    expectTorch('attentionBackward', to.dq.data, c.dq, 20);
    expectTorch('attentionBackward', to.dk.data, c.dk, 20);
    expectTorch('attentionBackward', to.dv.data, c.dv, 20);
    if (c.bias) expectTorch('attentionBackward', to.dBias.data, c.d_bias, 20);
  });
}

test('torch gru and gruBackward', () => {
  const { state, gradients, ...c } = training.gru;
  const [x, h0] = [c.x, c.h0].map(toArray);
  const weights = {
    ...{ wx: transposed(toArray(state.weight_ih_l0)), wh: transposed(toArray(state.weight_hh_l0)) },
    ...{ bx: toArray(state.bias_ih_l0).data, bh: toArray(state.bias_hh_l0).data },
  };
  const output = engine.gru(x, weights, { h0 });
  expectTorch('gru', output.data, c.output, 10);
  const to = engine.gruBackward(toArray(c.d_output), x, weights, { h0, output });
  expectTorch('gruBackward', to.dx.data, c.dx, 20);
  expectTorch('gruBackward', to.dh0.data, c.dh0, 20);
  expectTorch('gruBackward', to.dWeights.wx.data, turned(gradients.weight_ih_l0), 20);
  expectTorch('gruBackward', to.dWeights.wh.data, turned(gradients.weight_hh_l0), 20);
  expectTorch('gruBackward', to.dWeights.bx, gradients.bias_ih_l0, 20);
  expectTorch('gruBackward', to.dWeights.bh, gradients.bias_hh_l0, 20);
});

for (const c of training.cross_entropy) {
  test(`torch crossEntropy: ${c.name}`, () => {
    const options = { labelSmoothing: c.smoothing };
    const { loss, dLogits } = engine.crossEntropy(toArray(c.logits), c.targets, options);
    expectTorch('crossEntropy', dLogits.data, c.d_logits, 10);
    // The loss of a row has the bound of the header; its mean no more.
    assert.ok(Math.abs(loss - c.loss) < 60 * u, `${loss}, expected ${c.loss}`);
  });
}

/** The end of a name here, PyTorch's, and which third of its array (all of it without). */
const places = {
  ...{ 'norm1.gamma': ['norm1.weight'], 'norm1.beta': ['norm1.bias'] },
  ...{ 'norm2.gamma': ['norm2.weight'], 'norm2.beta': ['norm2.bias'] },
  ...{ 'attention.wq': ['self_attn.in_proj_weight', 0], 'attention.bq': ['self_attn.in_proj_bias', 0] },
  ...{ 'attention.wk': ['self_attn.in_proj_weight', 1], 'attention.bk': ['self_attn.in_proj_bias', 1] },
  ...{ 'attention.wv': ['self_attn.in_proj_weight', 2], 'attention.bv': ['self_attn.in_proj_bias', 2] },
  ...{ 'attention.wo': ['self_attn.out_proj.weight'], 'attention.bo': ['self_attn.out_proj.bias'] },
  ...{ 'feedForward.w1': ['linear1.weight'], 'feedForward.b1': ['linear1.bias'] },
  ...{ 'feedForward.w2': ['linear2.weight'], 'feedForward.b2': ['linear2.bias'] },
}; // prettier-ignore

/** PyTorch's numbers for an array of the trainer. */
function numbersOf(arrays, name) {
  const [, layer = '', end = name] = /^(layers\.\d+\.)(.*)$/.exec(name) ?? [];
  const ends = { 'norm.gamma': 'norm.weight', 'norm.beta': 'norm.bias' };
  const [place, third] = layer ? places[end] : [ends[name] ?? `${name}.weight`];
  const array = arrays[layer + place];
  const part = third === undefined ? array : torch.third(array, third);
  const isMap = part.shape.length === 2 && !['embedding', 'positions'].includes(name);
  return isMap ? turned(part) : part;
}

test('torch languageModel: its gradients and a hundred steps of AdamW', () => {
  const { state, options, ...c } = training.model;
  const sizes = { vocabulary: 7, numLayers: 2, dModel: 8, dFeedForward: 16, maxLength: 6 };
  const trainer = engine.languageModel({ ...sizes, numHeads: c.num_heads }, {
    ...{ learningRate: options.learning_rate, weightDecay: options.weight_decay },
    ...{ clipNorm: options.clip_norm, epsilon: options.epsilon, betas: [0.9, options.beta2] },
  }); // prettier-ignore
  const parameters = trainer.parameters();
  for (const name of parameters.names) {
    const { data, shape } = numbersOf(state, name);
    parameters.set(name, { data: Float32Array.from(data), shape });
  }
  const batch = { ids: c.ids.flat(), targets: c.targets.flat(), batch: c.ids.length };
  const expectNear = (what, actual, expected, bound) =>
    expectClose(actual, expected, bound, { size: 1, what, quantity: `torch ${what}` });
  for (const [step, expected] of c.losses.entries()) {
    const { loss, gradientNorm } = trainer.step(batch);
    // That the rounding of a gradient moves the next steps lets the difference grow with their number.
    const grown = 4 * u * (step + 1);
    expectNear('losses of a hundred steps', [loss], [expected], grown);
    expectNear('norms of a hundred steps', [gradientNorm], [c.norms[step]], 5 * grown);
    for (const name of step === 0 ? parameters.names : []) {
      const { data } = numbersOf(c.gradients, name);
      expectNear('gradients of a language model', parameters.gradient(name).data, data, 20 * u);
    }
  }
  for (const name of parameters.names) {
    // The gradient of a bias of keys is 0 but for rounding, of which AdamW makes steps of its own.
    if (name.endsWith('attention.bk')) continue;
    const { data } = numbersOf(c.last, name);
    expectNear('weights after a hundred steps', parameters.value(name).data, data, 200 * u);
  }
  trainer.dispose();
});

for (const { config, weights, ...c } of models()) {
  test(`torch language model: ${c.name}`, () => {
    const pass = { batch: c.ids.length, tokenTypes: c.types?.flat(), keyLengths: c.lengths };
    const model = create(engine, config, weights);
    const found = model.forward(Int32Array.from(c.ids.flat()), {
      ...{ batch: pass.batch, hidden: true },
      ...(c.types && { tokenTypes: Int32Array.from(pass.tokenTypes), keyLengths: pass.keyLengths }),
    });
    model.dispose();
    const of = (results) => (config.head === false ? results.hidden : results.logits);
    // The bound of a block (core/include/qkv/transformer.hpp), once for each of the two.
    const bounds = c.output.data.map((y) => 2 * 4e-6 * Math.max(1, Math.abs(y)));
    expectClose(of(found).data, c.output.data, bounds, { quantity: 'torch language model' });
    if (config.rotary) return; // the formulas here have no scaling
    const exact = of(modelForward(config, weights, c.ids.flat(), pass));
    // An epsilon of 1e-5 is rounded to float32 in the config, which moves results by as much as 3e-12.
    expectClose(exact, c.output.data, 1e-11, { what: 'exact' });
  });
}
