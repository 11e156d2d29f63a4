// The language models that are timed: Llamas with random weights in the shapes of TinyStories 15M and 110M, and the ids
// that everybody is given.
import { random } from '../random.js';

const VOCABULARY = 32000;
export const CONTEXT = 1024;

/** Rows of a prompt, tokens decoded, and tokens in the cache before the first of them. */
export const PROMPT = 512;
export const DECODED = 64;
export const BEFORE = 16;

export const shapes = {
  '15M': { dModel: 288, layers: 6, heads: 6, dFeedForward: 768, vocabulary: VOCABULARY },
  '110M': { dModel: 768, layers: 12, heads: 12, dFeedForward: 2048, vocabulary: VOCABULARY },
};
export const formats = ['F32', 'F16', 'Q8_0'];
export const epsilon = 1e-5;
export const ropeBase = 10000;

/** The tensors of a shape by the names of GGUF: { name: [rows, columns] }, norms [width]. The output is the embedding. */
export function tensorsOf({ dModel, layers, dFeedForward, vocabulary }) {
  const tensors = { 'token_embd.weight': [vocabulary, dModel] };
  for (let l = 0; l < layers; l += 1) {
    const at = `blk.${l}.`;
    tensors[`${at}attn_norm.weight`] = [dModel];
    for (const which of ['q', 'k', 'v', 'output']) {
      tensors[`${at}attn_${which}.weight`] = [dModel, dModel];
    }
    tensors[`${at}ffn_norm.weight`] = [dModel];
    tensors[`${at}ffn_gate.weight`] = [dFeedForward, dModel];
    tensors[`${at}ffn_up.weight`] = [dFeedForward, dModel];
    tensors[`${at}ffn_down.weight`] = [dModel, dFeedForward];
  }
  return { ...tensors, 'output_norm.weight': [dModel] };
}

/** Standard deviation 0.02, as models start; uniform, because that is cheap. Norms are 1. */
export function weightsOf(name, shape) {
  if (shape.length === 1) return new Float32Array(shape[0]).fill(1);
  let seed = 1;
  for (let i = 0; i < name.length; i += 1) seed = Math.imul(seed ^ name.charCodeAt(i), 0x01000193);
  const data = random(seed, shape[0] * shape[1]);
  for (let i = 0; i < data.length; i += 1) data[i] *= 0.02 * Math.sqrt(3);
  return data;
}

/** Ids of single characters of the tokenizer in file.js. */
const FIRST_CHARACTER = 259;
export const ids = (seed, count) =>
  Array.from(
    random(seed, count),
    (x) => FIRST_CHARACTER + Math.floor(((x + 1) / 2) * (VOCABULARY - FIRST_CHARACTER)),
  );

/** The character of an id: ideographs, then Hangul syllables. */
export function characterOf(id) {
  const i = id - FIRST_CHARACTER;
  const ideographs = 0x9fff - 0x4e00 + 1;
  return String.fromCodePoint(i < ideographs ? 0x4e00 + i : 0xac00 + i - ideographs);
}

/** The id of such a character. */
export function idOf(character) {
  const point = character.codePointAt(0);
  return FIRST_CHARACTER + (point < 0xac00 ? point - 0x4e00 : 0x9fff - 0x4e00 + 1 + point - 0xac00);
}
