// Small language models of every kind that the package knows.

const small = {
  ...{ vocabulary: 19, numLayers: 2, dModel: 16, numHeads: 4, dFeedForward: 24, maxLength: 24 },
};
const rms = { normType: 'rms', positions: 'rotary', activation: 'swiglu' };

/** By a name for tests. */
export const kinds = {
  gpt2: { ...small, activation: 'gelu_tanh', tiedEmbeddings: true },
  llama: { ...small, ...rms, numKvHeads: 2, epsilon: 1e-6, rotary: { base: 500 } },
  'llama of llama2.c': {
    ...{ ...small, ...rms, rotary: { interleaved: true }, tiedEmbeddings: true },
  },
  'llama 3.1': {
    ...{ ...small, ...rms, numKvHeads: 1 },
    rotary: {
      base: 100,
      scaling: { type: 'llama3', factor: 4, originalLength: 16, highFrequencyFactor: 3 },
    },
  },
  mistral: { ...small, ...rms, window: 5 },
  qwen2: { ...small, ...rms, qkvBiases: true },
  qwen3: { ...small, ...rms, qkNorm: true, dK: 6 },
  gemma2: {
    ...{ ...small, ...rms, activation: 'geglu_tanh', tiedEmbeddings: true, postNorms: true },
    ...{ embeddingScale: 4, attentionSoftcap: 5, logitSoftcap: 3, attentionScale: 0.4 },
    window: [3, null],
  },
  'gpt-neox': {
    ...{ ...small, positions: 'rotary', rotary: { rotaryDim: 2 }, parallelResidual: true },
  },
  bert: {
    ...{ ...small, causal: false, norm: 'post', tokenTypes: 2, embeddingNorm: true, head: false },
    epsilon: 1e-12,
  },
  alibi: { ...small, positions: 'alibi', activation: 'relu' },
  sinusoidal: { ...small, positions: 'sinusoidal', norm: 'post', activation: 'silu' },
  'attention alone': { ...small, positions: 'none', dFeedForward: 0 },
  geglu: { ...small, activation: 'geglu', biases: false },
  phi: {
    ...{ ...small, positions: 'rotary', rotary: { rotaryDim: 2 }, parallelResidual: true },
    headBias: true,
  },
  nemotron: { ...small, positions: 'rotary', activation: 'relu2' },
  hunyuan: { ...small, ...rms, numKvHeads: 2, qkNorm: true, qkNormOf: 'rotated' },
  olmo2: { ...small, ...rms, numKvHeads: 2, norm: 'after', qkNorm: true, qkNormOf: 'whole' },
  gemma3: {
    ...{ ...small, ...rms, postNorms: true, qkNorm: true, window: [3, null] },
    rotary: [{ base: 50 }, { base: 500, scaling: { type: 'linear', factor: 2 } }],
  },
  smollm3: { ...small, ...rms, rotary: [null, { base: 50 }] },
  'phi 3': {
    ...{ ...small, ...rms },
    rotary: {
      scaling: {
        ...{ type: 'longrope', originalLength: 16, attentionFactor: 1.25 },
        ...{ shortFactors: [1, 1.5], longFactors: [1.25, 4] },
      },
    },
  },
  modernbert: {
    ...{ ...small, positions: 'rotary', rotary: [{ base: 50 }, { base: 500 }], biases: false },
    ...{ activation: 'geglu', embeddingNorm: true, causal: false, head: false, firstNorm: false },
    ...{ symmetricWindow: true, window: [null, 4] },
  },
  t5: {
    ...{ ...small, ...rms, positions: 'none', activation: 'relu', causal: false, head: false },
    ...{ relativeBuckets: 8, relativeMaxDistance: 16, attentionScale: 1 },
  },
  experts: { ...small, ...rms, numExperts: 5, expertsPerToken: 2 },
  'normalized experts': {
    ...{ ...small, activation: 'gelu', numExperts: 3, expertsPerToken: 2, normalizedExperts: true },
  },
  't5 decoder': { ...small, ...rms, positions: 'none', relativeBuckets: 6, relativeMaxDistance: 9 },
};

/** Those with an encoder, which say nothing without a source. */
export const pairs = {
  't5 pair': {
    ...{ ...kinds.t5, causal: true, head: true, tiedEmbeddings: true },
    ...{ encoderLayers: 3, startToken: 5 },
  },
  'flan-t5': {
    ...{ ...kinds['t5 decoder'], numKvHeads: 2, dK: 6, activation: 'geglu_tanh' },
    encoderLayers: 1,
  },
};

/** Rows of tokens, the same on every run. */
export const rowsOf = ({ vocabulary }, count, seed = 1) =>
  Array.from({ length: count }, (_, i) => (7 * i * i + 3 * i * seed + seed) % vocabulary);

/**
 * How far float32 may be from exact numbers of at most `size`: every sum along the way has a rounding for each of its terms,
 * and what a layer is given off it may pass on enlarged. The factor is for that; random models of these sizes stay at a
 * hundredth of it.
 */
export function boundOf(config, size, tokens = config.maxLength) {
  const { numLayers, dModel, dFeedForward } = config;
  const terms = 2 * dModel + dFeedForward + tokens + 60;
  return 4 * 2 ** -24 * terms * (numLayers + 1) * size;
}

/** The largest of numbers without their signs. */
export const sizeIn = (numbers) => numbers.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
