// A small model as Trainer.save() writes it: arrays by our names, matrices as [in, out], int8 with float16 scales of blocks of
// 32 inputs: along the first axis of maps, along the last of tables.
import { newTruth } from './truth.js';

const config = {
  ...{ vocabulary: 9, numLayers: 1, dModel: 40, numHeads: 2, dFeedForward: 48, maxLength: 6 },
  ...{ normType: 'layer', activation: 'gelu', positions: 'learned', window: null },
  ...{ rotary: {}, biases: true, causal: true, epsilon: 1e-5 },
};

export const ownMetadata = (changes = {}) => ({
  ...{ format: 'qkv', kind: 'language_model', config: JSON.stringify({ ...config, ...changes }) },
});

/** A float16 that is a power of two, for each block. */
const scaleAt = (i) => 2 ** ((i % 5) - 8);

/** The tensor in int8 and its scales, and the numbers that they are. */
function quantised({ shape: [rows, columns], values }, isTable) {
  const numbers = Int8Array.from(values, (x) => Math.round(x * 127));
  const scaleShape = isTable ? [rows, Math.ceil(columns / 32)] : [Math.ceil(rows / 32), columns];
  const scales = Float32Array.from({ length: scaleShape[0] * scaleShape[1] }, (_, i) => scaleAt(i));
  const read = numbers.map
    ? Float32Array.from(numbers, (n, i) => {
        const [row, column] = [Math.floor(i / columns), i % columns];
        const at = isTable ? row * scaleShape[1] + (column >> 5) : (row >> 5) * columns + column;
        return n * scales[at];
      })
    : undefined;
  return {
    stored: { type: 'I8', shape: [rows, columns], values: numbers },
    scales: { type: 'F16', shape: scaleShape, values: scales },
    read,
  };
}

/** { truth, tensors } of such a model; scales stand before or behind what they are of. */
export function ownModel({ format = 'f32', scalesFirst = false, vocabulary = 9 } = {}) {
  const truth = newTruth();
  const { array } = truth;
  const tensors = {};
  const tables = ['embedding', 'positions'];
  const put = (name, shape) => {
    const tensor = array(name, shape);
    if (shape.length === 1 || format === 'f32') {
      tensors[name] = tensor;
      return;
    }
    if (format === 'bf16') {
      tensors[name] = { ...tensor, type: 'BF16' };
      return;
    }
    const { stored, scales, read } = quantised(tensor, tables.includes(name));
    truth.arrays[name].data = read;
    if (scalesFirst) tensors[`${name}.scale`] = scales;
    tensors[name] = stored;
    if (!scalesFirst) tensors[`${name}.scale`] = scales;
  };
  const [d, f] = [40, 48];
  const norm = (name) => ['gamma', 'beta'].forEach((kind) => put(`${name}.${kind}`, [d]));
  const map = (name, bias, from, to) => {
    put(name, [from, to]);
    put(bias, [to]);
  };
  put('embedding', [vocabulary, d]);
  put('positions', [6, d]);
  norm('layers.0.norm1');
  for (const x of 'qkvo') map(`layers.0.attention.w${x}`, `layers.0.attention.b${x}`, d, d);
  norm('layers.0.norm2');
  map('layers.0.feedForward.w1', 'layers.0.feedForward.b1', d, f);
  map('layers.0.feedForward.w2', 'layers.0.feedForward.b2', f, d);
  norm('norm');
  put('head', [d, vocabulary]);
  return { truth, tensors, config };
}
