// Models for the tests of examples/: those of models/ as numbers, what follows a text by the formulas in float64, and folders as the hub
// has them.
import { safetensors } from '../package/models/support/files.js';
import { fromFloat16 } from '../support/js/half.js';
import { read } from '../support/js/files.js';
import { logProbabilities, modelForward } from '../support/js/model-oracle.js';

/** A model of models/: { config, weights, tokens }, its int8 blocks of 32 in the axis that is summed over as numbers. */
export function published(path) {
  const bytes = read(path);
  const start = 8 + Number(bytes.readBigUInt64LE());
  const { __metadata__: metadata, ...header } = JSON.parse(bytes.toString('utf8', 8, start));
  const arrays = { F32: Float32Array, F16: Uint16Array, I8: Int8Array };
  const stored = Object.entries(header).map(([name, { dtype, shape, data_offsets: ends }]) => {
    const [begin, end] = ends.map((at) => start + at);
    return [name, { shape, data: new arrays[dtype](bytes.buffer.slice(begin, end)) }];
  });
  const byName = Object.fromEntries(stored);
  const numbers = (name, { shape, data }) => {
    const scale = byName[`${name}.scale`];
    if (!scale) return data;
    const [, columns] = shape;
    const block = (row, column) =>
      name === 'embedding'
        ? row * scale.shape[1] + Math.floor(column / 32)
        : Math.floor(row / 32) * columns + column;
    return Float64Array.from(data, (q, i) => {
      const at = block(Math.floor(i / columns), i % columns);
      return q * fromFloat16(scale.data[at]);
    });
  };
  const weights = stored
    .filter(([name]) => !name.endsWith('.scale'))
    .map(([name, array]) => [name, { shape: array.shape, data: numbers(name, array) }]);
  return {
    config: JSON.parse(metadata.config),
    weights: Object.fromEntries(weights),
    tokens: JSON.parse(metadata.tokenizer).tokens,
  };
}

/** Of each id but the first: what the likeliest token and it have by the tokens before, as ln of probabilities. */
export function likelihoods(config, weights, ids, options) {
  const { logits } = modelForward(config, weights, ids, options);
  const { vocabulary } = config;
  return ids.slice(1).map((id, t) => {
    const row = logProbabilities(logits.subarray(t * vocabulary, (t + 1) * vocabulary));
    return { id, own: row[id], most: Math.max(...row) };
  });
}
/** Their mean negative log-likelihood, in nats. */
export const lossOf = (all) => -all.reduce((sum, { own }) => sum + own, 0) / all.length;

/** The likeliest tokens after a prompt, until there are `count` or one of `ends`. */
export function greedy(config, weights, prompt, count, ends = []) {
  const ids = [...prompt];
  while (ids.length < prompt.length + count) {
    const { logits } = modelForward(config, weights, ids);
    const last = Array.from(logits.subarray(-config.vocabulary));
    const id = last.indexOf(Math.max(...last));
    if (ends.includes(id)) break;
    ids.push(id);
  }
  return ids.slice(prompt.length);
}

/** By their ids. */
export const words = [
  '[UNK]',
  '[CLS]',
  '[SEP]',
  'the',
  'a',
  'dog',
  'cat',
  'in',
  'park',
  'sleeps',
  '.',
];
const special = words
  .slice(0, 3)
  .map((content, id) => ({ id, content, special: true, normalized: false }));
/** A tokenizer of whole words as the hub has them, between [CLS] and [SEP]. */
const hub = {
  'tokenizer_config.json': { tokenizer_class: 'BertTokenizer', do_lower_case: true },
  'tokenizer.json': {
    ...{ version: '1.0', truncation: null, padding: null, added_tokens: special },
    normalizer: {
      ...{ type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true },
      ...{ strip_accents: null, lowercase: true },
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      ...{ type: 'BertProcessing', cls: ['[CLS]', 1], sep: ['[SEP]', 2] },
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      ...{ type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##' },
      ...{ max_input_chars_per_word: 100, vocab: Object.fromEntries(words.map((w, i) => [w, i])) },
    },
  },
};
/** What it makes of a text. */
export const wordIds = (said) => {
  const all = said.toLowerCase().match(/[\p{L}\p{N}]+|[^\p{L}\p{N}\s]/gu);
  return [1, ...all.map((word) => Math.max(0, words.indexOf(word))), 2];
};
/** The files of a model of families.js with this tokenizer. */
export const filesOf = ({ config, tensors }) => ({
  ...{ 'config.json': config, 'model.safetensors': safetensors(tensors), ...hub },
});
