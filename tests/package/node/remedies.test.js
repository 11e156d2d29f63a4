// @build any
// What messages advise: the way out of mistakes that come from the habits of other libraries.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init, zeros } from 'qkv';
import { init as inline } from 'qkv/inline';
import { create, load } from 'qkv/models';
import { init as initToTrain } from 'qkv/train';
import { expectThrows } from '../../support/js/check.js';
import { root } from '../../support/js/files.js';

const engine = await init();
const train = await initToTrain();
const sizes = {
  vocabulary: 4,
  numLayers: 1,
  dModel: 8,
  numHeads: 2,
  dFeedForward: 8,
  maxLength: 4,
};

test('messages: of numbers that are no array of this package, how to make one', () => {
  for (const x of [[1, 2], [[1, 2]], new Float64Array(2), new Float32Array(2)]) {
    expectThrows(() => engine.gelu(x), 'gelu', 'invalid_argument', 'array([[1, 2]]) makes one');
  }
  for (const data of [[1, 2], new Float64Array(2)]) {
    const says = 'Float32Array.from(data) makes the elements';
    expectThrows(() => engine.gelu({ data, shape: [2] }), 'gelu', 'invalid_argument', says);
  }
});

test('messages: of a tensor of qkv/inline, which has a core of its own, how to hand it over', async () => {
  const other = await inline();
  const tensor = other.tensor([4, 8]);
  const says = ['of this copy of the package', 'tensor.toNdArray()'];
  expectThrows(() => engine.gelu(tensor), 'gelu', 'invalid_argument', ...says);
  expectThrows(
    () => create(other, sizes, { embedding: tensor }),
    'create',
    'invalid_argument',
    ...says,
  );
});

test('messages: of matrices that are stored the other way round, which option says so', () => {
  const [w, wk] = [zeros([8, 8]), zeros([4, 8])];
  const config = { dModel: 8, numHeads: 2, numKvHeads: 1 };
  const layer = () => engine.multiHeadAttention(config, { wq: w, wk, wv: wk, wo: w });
  expectThrows(
    layer,
    'multiHeadAttention',
    'shape_mismatch',
    'weightLayout',
    "'out_in' for matrices stored as in PyTorch",
  );
  const says = ['set layout to', "'out_in' for a matrix stored as in PyTorch"];
  expectThrows(() => engine.linear(zeros([2, 8]), wk), 'linear', 'shape_mismatch', ...says);
  const neither = () => engine.linear(zeros([2, 5]), wk);
  assert.throws(neither, ({ message }) => !message.includes('layout'));
});

test('messages: of options as other libraries call them, what they are called here', async () => {
  const model = await load(engine, { weights: `${root}/models/austen/austen.safetensors` });
  const habits = [
    [
      (o) => engine.attention(1, 1, 1, o),
      { is_causal: 'causal', num_heads: 'numHeads', attn_mask: 'mask', dropout_p: 'dropout' },
    ],
    [
      (o) => model.generate('a', o),
      {
        max_new_tokens: 'maxTokens',
        max_tokens: 'maxTokens',
        top_k: 'topK',
        repetition_penalty: 'repetitionPenalty',
        stop_sequences: 'stop',
      },
    ],
    [
      (o) => train.languageModel(sizes, o),
      { weight_decay: 'weightDecay', dropout_rate: 'dropout' },
    ],
  ];
  for (const [call, names] of habits) {
    for (const [habit, name] of Object.entries(names)) {
      const says = `unknown key '${habit}', expected '${name}'`;
      assert.throws(
        () => call({ [habit]: 1 }),
        ({ message }) => message.includes(says),
        habit,
      );
    }
  }
  // What resembles nothing gets the whole list.
  assert.throws(() => model.generate('a', { do_sample: 1 }), /'do_sample', expected maxTokens, /);
});

test('messages: of a learning rate that is a text, what it may be', () => {
  const says = 'learningRate is "1e-3", expected a number or { peak, warmup, steps }';
  const made = () => train.languageModel(sizes, { learningRate: '1e-3' });
  expectThrows(made, 'languageModel', 'invalid_argument', says);
});

test('messages: of the file of another config, the keys that differ and no others', () => {
  const file = train.languageModel(sizes).save();
  const other = train.languageModel({ ...sizes, dModel: 16 });
  const says = 'bytes hold the config dK 4, dModel 8, expected dK 8, dModel 16 of this trainer';
  expectThrows(() => other.load(file), 'Trainer.load', 'invalid_argument', says);
});
