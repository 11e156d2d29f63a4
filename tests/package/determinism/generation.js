// Models that say something, for Node and for pages: tokens drawn one after another, and the logits behind them. The
// models, their weights and the draws are those of tests/core/language_model_generation_test.cpp.
import { create } from '../../../dist/models.js';
import { randomWeights } from '../../support/js/model-oracle.js';

const small = {
  vocabulary: 19,
  numLayers: 2,
  dModel: 24,
  numHeads: 4,
  dFeedForward: 40,
  maxLength: 48,
};
const rms = { ...small, normType: 'rms', positions: 'rotary', activation: 'swiglu', epsilon: 1e-6 };
const llama = { ...rms, numKvHeads: 2 };
const gpt2 = { ...small, activation: 'gelu_tanh', tiedEmbeddings: true };
const configs = {
  llama,
  gpt2,
  gemma2: {
    ...{ ...rms, activation: 'geglu_tanh', tiedEmbeddings: true, embeddingScale: 4.89898 },
    ...{ numLayers: 3, dModel: 64, dFeedForward: 96, numKvHeads: 2, dK: 8, postNorms: true },
    ...{ attentionScale: 0.25, attentionSoftcap: 5, logitSoftcap: 3, window: [3, null, 4] },
  },
  qwen3: { ...rms, numKvHeads: 2, dK: 10, qkNorm: true, rotary: { base: 1e6 } },
  bloom: { ...gpt2, numHeads: 6, positions: 'alibi', embeddingNorm: true },
  // Products and rows that threads share.
  wide: { ...llama, vocabulary: 300, dModel: 192, dFeedForward: 256 },
}; // prettier-ignore

/** A model, how its weights and its session are kept. */
export const generations = [
  ['llama', 'f32', 'f32'],
  ['llama', 'int8', 'bf16'],
  ['gpt2', 'bf16', 'f32'],
  ['gemma2', 'int8', 'f32'],
  ['qwen3', 'f32', 'bf16'],
  ['bloom', 'bf16', 'bf16'],
  ['wide', 'int8', 'f32'],
];

const drawn = {
  ...{ maxTokens: 24, temperature: 0.9, topK: 9, topP: 0.95, minP: 0.02, repetitionPenalty: 1.1 },
  seed: 2 ** 53 - 1,
};
const promptOf = ({ vocabulary }) =>
  Array.from({ length: 7 }, (_, i) => (7 * i * i + 3 * i + 1) % vocabulary);

const floats = (numbers) => ({ data: Float32Array.from(numbers), shape: [numbers.length] });

/** The tokens and how likely they were, the logits after them, and those of all tokens at once without a session. */
async function said(engine, [name, weights, cache]) {
  const config = configs[name];
  const model = create(engine, config, randomWeights(config, 5), { format: weights });
  const session = model.session({ format: cache });
  const prompt = promptOf(config);
  const tokens = [];
  for await (const token of model.generate(prompt, { ...drawn, session })) tokens.push(token);
  const ids = tokens.map(({ id }) => id);
  const result = {
    ids: floats(ids),
    logProbabilities: floats(tokens.map(({ logProbability }) => logProbability)),
    after: model.forward([3], { session }).logits,
    whole: model.forward([...prompt, ...ids]).logits,
  };
  session.dispose();
  model.dispose();
  return result;
} // prettier-ignore

/** By name, what each of them says: arrays by name. */
export async function generated(engine) {
  const all = {};
  for (const each of generations) all[each.join(' ')] = await said(engine, each);
  return all;
}
