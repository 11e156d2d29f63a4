// Files of models, as others write them.
import { randomWeights } from './model-oracle.js';

/** The config of a llama2.c checkpoint of these sizes. */
export const checkpointConfig = (sizes) => ({
  ...{ normType: 'rms', positions: 'rotary', activation: 'swiglu', rotary: { interleaved: true } },
  ...{ tiedEmbeddings: true, ...sizes },
});

const transposed = ({ data, shape: [rows, columns] }) =>
  data.map((_, at) => data[(at % rows) * columns + Math.floor(at / rows)]);

/** The parts of a checkpoint (Karpathy 2023) one after another; `weights` are those of arraysOf(). */
export function* checkpointParts(config, weights) {
  const { dModel, dFeedForward, numLayers, numHeads, numKvHeads = numHeads } = config;
  const sizes = [dModel, dFeedForward, numLayers, numHeads, numKvHeads];
  yield Int32Array.of(...sizes, config.vocabulary, config.maxLength);
  yield weights.embedding.data;
  const layers = Array.from({ length: numLayers }, (_, i) => i);
  const names = {
    rms_att: 'norm1.gamma',
    ...{ wq: 'attention.wq', wk: 'attention.wk', wv: 'attention.wv', wo: 'attention.wo' },
    ...{ rms_ffn: 'norm2.gamma', w1: 'feedForward.wGate', w2: 'feedForward.w2' },
    w3: 'feedForward.w1',
  };
  for (const name of Object.values(names)) {
    for (const layer of layers) {
      const array = weights[`layers.${layer}.${name}`];
      yield array.shape.length === 2 ? transposed(array) : array.data;
    }
  }
  yield weights['norm.gamma'].data;
  // Tables of rotations, which nobody reads.
  yield new Float32Array(config.maxLength * (dModel / numHeads));
}

/** A checkpoint as a Blob. */
export const checkpoint = (config, weights = randomWeights(config, 3)) =>
  new Blob([...checkpointParts(config, weights)]);
