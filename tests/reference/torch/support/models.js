// The language models of make_model_fixtures.py as this package takes them.
import { transposed } from '../../../support/js/oracle.js';
import { fixture, toArray } from './state.js';

const small = { vocabulary: 11, numLayers: 2, dModel: 12, numHeads: 3, dFeedForward: 20, maxLength: 6 }; // prettier-ignore
const llama3 = { type: 'llama3', factor: 8, originalLength: 64 };
const configs = {
  gpt2: { ...small, activation: 'gelu_tanh', tiedEmbeddings: true },
  llama: {
    ...{ ...small, numHeads: 4, numKvHeads: 2, dK: 8, normType: 'rms', epsilon: 1e-6 },
    ...{ activation: 'swiglu', positions: 'rotary', rotary: { base: 500_000, scaling: llama3 } },
  },
  bert: {
    ...{ ...small, causal: false, norm: 'post', epsilon: 1e-12, tokenTypes: 2 },
    ...{ embeddingNorm: true, head: false },
  },
};

const isTable = (name) => ['embedding', 'positions', 'tokenTypes'].includes(name);

/** Arrays of this package: matrices the other way round than nn.Linear keeps them. */
const weightsOf = (state) =>
  Object.fromEntries(
    Object.entries(state).map(([name, array]) => {
      const own = toArray(array);
      return [name, own.shape.length === 2 && !isTable(name) ? transposed(own) : own];
    }),
  );

/** Those that adapters.json has besides. */
const further = {
  bert: {
    ...{ ...configs.bert, head: true, tiedEmbeddings: true, headBias: true },
    ...{ headTransform: 'gelu', headNorm: true },
  },
  gemma2: {
    ...{ ...small, normType: 'rms', epsilon: 1e-6, activation: 'geglu_tanh', positions: 'rotary' },
    ...{ tiedEmbeddings: true, postNorms: true, embeddingScale: 3.5, window: [2, null] },
    ...{ attentionScale: 0.25, attentionSoftcap: 2, logitSoftcap: 1.5 },
  },
};

/** Every model of models.json: { name, config, weights, ids, output, types, lengths }. */
export const models = () =>
  fixture('models').cases.map(({ state, ...c }) => ({
    ...c,
    config: configs[c.name],
    weights: weightsOf(state),
  }));

/**
 * Every model of adapters.json, whose weights are those of models.json and its own: { name, config, weights, format, ids, targets, types,
 * lengths, rank, alpha, maps, loss, adapters, gradients }; format if the weights are not float32.
 */
export function adaptedModels() {
  const { rank, alpha, cases } = fixture('adapters');
  const states = new Map(models().map((each) => [each.name, each.weights]));
  return cases.map(({ state, ...c }) => ({
    ...{ ...c, rank, alpha, config: further[c.name] ?? configs[c.name] },
    weights: { ...states.get(c.name), ...weightsOf(state) },
  }));
}
