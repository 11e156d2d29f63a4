// The rules of ONNX RotaryEmbedding-23.
import { fractions, i64 } from '../support/inputs.js';

/** Cosines and sines need not be such: the operator multiplies by what it is given. */
function rotaryCase(name, sizes = {}, attributes = {}) {
  const { batch = 2, heads = 2, tokens = 3, width = 6, flat = false, ids, columns } = sizes;
  const make = fractions(name);
  const half = columns ?? (attributes.rotary_embedding_dim || width) / 2;
  const rows = ids ? [7] : [batch, tokens];
  return {
    name,
    attributes: { ...(flat && { num_heads: heads }), ...attributes },
    inputs: {
      input: make(flat ? [batch, tokens, heads * width] : [batch, heads, tokens, width]),
      cos_cache: make([...rows, Math.floor(half)]),
      sin_cache: make([...rows, Math.floor(half)]),
      ...(ids && { position_ids: i64([batch, tokens], ids) }),
    },
  };
}

const ids = [0, 1, 2, 6, 2, 2];
const rotary = (part) => `RotaryEmbedding-23, ${part}`;

export const rotary23 = {
  op: 'RotaryEmbedding',
  opset: 23,
  rules: [
    {
      rule: 'pairs are halves by default',
      text: 'Element i turns with element i + r / 2, where r elements of a head turn.',
      section: rotary('attribute interleaved = 0'),
      cases: [rotaryCase('halves'), rotaryCase('halves, 3D, positions', { flat: true, ids })],
    },
    {
      rule: 'pairs are neighbours if interleaved',
      text: 'Element 2i turns with element 2i + 1.',
      section: rotary('attribute interleaved = 1'),
      cases: [
        rotaryCase('neighbours', {}, { interleaved: 1 }),
        rotaryCase('neighbours, 3D, positions', { flat: true, ids }, { interleaved: 1 }),
      ],
    },
    {
      rule: 'a pair turns from its first element to its second',
      text: '(x1, x2) becomes (cos x1 - sin x2, sin x1 + cos x2).',
      section: rotary('algorithm: real and imaginary values'),
      cases: [rotaryCase('one pair', { width: 2, heads: 1 })],
    },
    {
      rule: 'rotary_embedding_dim: only the first elements turn',
      text: 'The first rotary_embedding_dim elements of each head turn, and the others are copied.',
      section: rotary('attribute rotary_embedding_dim'),
      cases: [
        rotaryCase('four of six', {}, { rotary_embedding_dim: 4 }),
        rotaryCase('two of six, 3D', { flat: true }, { rotary_embedding_dim: 2 }),
        rotaryCase('four of six, neighbours', { ids }, { rotary_embedding_dim: 4, interleaved: 1 }),
      ],
    },
    {
      rule: 'rotary_embedding_dim 0 turns all',
      text: 'The default is the whole head.',
      section: rotary('attribute rotary_embedding_dim'),
      cases: [rotaryCase('0', {}, { rotary_embedding_dim: 0 })],
    },
    {
      rule: 'position_ids choose rows of the caches',
      text: 'Token t of batch row b is turned by row position_ids[b, t], in any order and more than once.',
      section: rotary('inputs position_ids, cos_cache, sin_cache'),
      cases: [
        rotaryCase('positions', { ids }),
        rotaryCase('positions, one head', { ids, heads: 1 }),
      ],
    },
    {
      rule: 'without position_ids the caches have a row for each token',
      text: 'They are then [batch, token, r / 2].',
      section: rotary('inputs cos_cache, sin_cache'),
      cases: [rotaryCase('a row for each token'), rotaryCase('and 3D', { flat: true })],
    },
    {
      rule: 'all heads of a token turn alike',
      text: 'Rows of the caches are for tokens, and serve every head.',
      section: rotary('algorithm: caches are broadcast over heads'),
      cases: [rotaryCase('three heads', { heads: 3, width: 4 })],
    },
    {
      rule: '3D input holds heads side by side',
      text: '[batch, token, heads * head_size] with num_heads heads; the output has that shape too.',
      section: rotary('input X; attribute num_heads'),
      cases: [rotaryCase('3D', { flat: true, heads: 3, width: 4 })],
    },
    {
      rule: '4D input is batch, head, token, element',
      text: 'The heads of a 4D tensor are its second axis, and tokens its third.',
      section: rotary('input X'),
      cases: [rotaryCase('4D', { heads: 2, tokens: 3, width: 4 })],
    },
    {
      rule: 'caches have half as many columns as elements turn',
      text: 'Others are refused, and so is a head of which an odd number of elements would turn.',
      section: rotary('inputs cos_cache, sin_cache; input X: head_size is even'),
      cases: [
        rotaryCase('two columns for six elements', { columns: 2 }),
        rotaryCase('three columns for two of six', { columns: 3 }, { rotary_embedding_dim: 2 }),
        rotaryCase('an odd head', { width: 5 }),
      ],
    },
  ],
};
