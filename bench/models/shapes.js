// The language models that are timed, with random weights: Llamas in the shapes of TinyStories 15M and 110M, and the shapes
// of Qwen2.5-0.5B and Llama-3.2-1B, whose heads share keys and values. What is timed of each, and the ids that everybody is
// given.
import { random } from '../random.js';

/** Rows of a prompt, and tokens decoded. */
export const PROMPT = 512;
export const DECODED = 64;

/** Of these many tokens ids are drawn: all vocabularies have more. */
const DRAWN = 32000;

const tinyStories = {
  ...{ architecture: 'llama', vocabulary: DRAWN, epsilon: 1e-5, ropeBase: 1e4 },
  ...{ contextLength: 1024, contexts: [16] },
};
/** Contexts of 4,096 tokens and those decoded. */
const long = { contextLength: 4352, contexts: [128, 1024, 4096] };

/**
 * Shapes, how many tokens are in the cache before the first that is decoded, and the formats of files. Left out are Q4_K_M of 15M,
 * whose rows have no whole blocks of 256, and what is more than a browser should take: F32 of 0.5B (2 GB), F16 of 1B (2.5 GB).
 */
export const shapes = {
  '15M': {
    ...{ dModel: 288, layers: 6, heads: 6, kvHeads: 6, dFeedForward: 768 },
    ...{ ...tinyStories, formats: ['F32', 'F16', 'Q8_0', 'Q4_0'] },
  },
  '110M': {
    ...{ dModel: 768, layers: 12, heads: 12, kvHeads: 12, dFeedForward: 2048 },
    ...{ ...tinyStories, formats: ['F32', 'F16', 'Q8_0', 'Q4_0', 'Q4_K_M'] },
  },
  'Qwen2.5-0.5B': {
    ...{ architecture: 'qwen2', vocabulary: 151936, epsilon: 1e-6, ropeBase: 1e6, qkvBiases: true },
    ...{ dModel: 896, layers: 24, heads: 14, kvHeads: 2, dFeedForward: 4864 },
    ...{ ...long, formats: ['F16', 'Q8_0', 'Q4_0', 'Q4_K_M'] },
  },
  'Llama-3.2-1B': {
    ...{ architecture: 'llama', vocabulary: 128256, epsilon: 1e-5, ropeBase: 5e5 },
    ...{ dModel: 2048, layers: 16, heads: 32, kvHeads: 8, dFeedForward: 8192 },
    ...{ ...long, contexts: [128, 1024], formats: ['Q8_0', 'Q4_0', 'Q4_K_M'] },
  },
};

/** All formats of files. */
export const formats = ['F32', 'F16', 'Q8_0', 'Q4_0', 'Q4_K_M'];

export const headWidth = ({ dModel, heads }) => dModel / heads;

/** What decoding after so many tokens is called in results. */
export const decodeAfter = (context) => `decode ${context}`;

/** Of all parameters those of matrices, which a token reads: the embedding counts once, as the output. */
export const matricesOf = (shape) =>
  Object.values(tensorsOf(shape)).reduce((sum, [rows, columns = 0]) => sum + rows * columns, 0);

/** The tensors of a shape by the names of GGUF: { name: [rows, columns] }, norms and biases [width]. The output is the embedding. */
export function tensorsOf({ dModel, layers, dFeedForward, vocabulary, qkvBiases, ...rest }) {
  const width = headWidth({ dModel, ...rest });
  const maps = { q: rest.heads * width, k: rest.kvHeads * width, v: rest.kvHeads * width };
  const tensors = { 'token_embd.weight': [vocabulary, dModel] };
  for (let l = 0; l < layers; l += 1) {
    const at = `blk.${l}.`;
    tensors[`${at}attn_norm.weight`] = [dModel];
    for (const [which, outputs] of Object.entries(maps)) {
      tensors[`${at}attn_${which}.weight`] = [outputs, dModel];
      if (qkvBiases) tensors[`${at}attn_${which}.bias`] = [outputs];
    }
    tensors[`${at}attn_output.weight`] = [dModel, dModel];
    tensors[`${at}ffn_norm.weight`] = [dModel];
    tensors[`${at}ffn_gate.weight`] = [dFeedForward, dModel];
    tensors[`${at}ffn_up.weight`] = [dFeedForward, dModel];
    tensors[`${at}ffn_down.weight`] = [dModel, dFeedForward];
  }
  return { ...tensors, 'output_norm.weight': [dModel] };
}

/** Standard deviation 0.02, as models start; uniform, because that is cheap. Norms are 1. */
export function weightsOf(name, shape) {
  if (name.endsWith('norm.weight')) return new Float32Array(shape[0]).fill(1);
  let seed = 1;
  for (let i = 0; i < name.length; i += 1) seed = Math.imul(seed ^ name.charCodeAt(i), 0x01000193);
  const data = random(
    seed,
    shape.reduce((n, extent) => n * extent),
  );
  for (let i = 0; i < data.length; i += 1) data[i] *= 0.02 * Math.sqrt(3);
  return data;
}

/** Ids of single characters of the tokenizer in file.js. */
export const FIRST_CHARACTER = 259;
export const ids = (seed, count) =>
  Array.from(
    random(seed, count),
    (x) => FIRST_CHARACTER + Math.floor(((x + 1) / 2) * (DRAWN - FIRST_CHARACTER)),
  );

/** The tokens of a prompt, of a context, and those that are decoded after it. */
export const promptIds = ids(1, PROMPT);
export const contextIds = (context) => ids(2, context);
export const decodedIds = ids(3, DECODED);

/** First and last code points of characters that are tokens, in the order of their ids. None of them is changed by a normal form. */
const ranges = [
  [0x4e00, 0x9fff], // ideographs
  [0xac00, 0xd7a3], // Hangul syllables
  [0x20000, 0x2a6df], // more ideographs
  [0xf0000, 0xffffd], // of private use
  [0x100000, 0x10fffd],
];

/** The character of an id. */
export function characterOf(id) {
  let i = id - FIRST_CHARACTER;
  for (const [first, last] of ranges) {
    if (i <= last - first) return String.fromCodePoint(first + i);
    i -= last - first + 1;
  }
  throw new RangeError(`no character is left for token ${id}`);
}

/** The id of such a character. */
export function idOf(character) {
  const point = character.codePointAt(0);
  let id = FIRST_CHARACTER;
  for (const [first, last] of ranges) {
    if (point >= first && point <= last) return id + point - first;
    id += last - first + 1;
  }
  throw new RangeError(`${character} is no token`);
}
