// ONNX Attention-23: boolean and float masks, their shapes, and causality.
import { attentionCase as example, bool, f32 } from '../../support/inputs.js';

const inf = Infinity;
const yes = { is_causal: 1 };
const mode = (n) => ({ qk_matmul_output_mode: n });
const section = (part) => `Attention-23, ${part}`;

const band = '1100 1110 0111';

export const masks = [
  {
    rule: 'a boolean mask says which keys take part',
    text: 'True lets the key take part; False gives it the bias -inf, and so no weight.',
    section: section('input attn_mask, boolean'),
    cases: [
      example('a band', { mask: bool([3, 4], band) }),
      example('a band, weights', { mask: bool([3, 4], band), flat: true }, mode(3)),
    ],
  },
  {
    rule: 'a float mask is added to the scores',
    text: 'Its elements are terms of the scores, after the scale; 0 changes nothing and does not exclude.',
    section: section('input attn_mask, float; the pattern'),
    cases: [
      example('fractions', { mask: f32([3, 4], [0, 0.5, -1, 0, 1.5, 0, -0.25, 2, -2, 1, 0, 0]) }),
      example('fractions, scale 0.25', { mask: [3, 4], flat: true }, { scale: 0.25, ...mode(2) }),
    ],
  },
  {
    rule: 'a float mask excludes by -inf alone',
    text: 'A finite term, however low, is one term among others: where all keys have it, it cancels.',
    section: section('input attn_mask, float'),
    cases: [
      example('-inf at some keys', {
        mask: f32([3, 4], [0, -inf, 0, 1, -inf, -inf, -1, 0, 0.5, 0, 0, -inf]),
      }),
      example('a row at -512', {
        mask: f32([3, 4], [0, 0, 0, 0, ...Array(4).fill(-512), 0, -512, 0, 0]),
      }),
    ],
  },
  {
    rule: 'a mask of one or two axes serves all heads and batch rows',
    text: 'Masks broadcast right-aligned to [batch, head, query, key]: one axis is keys, two are queries and keys.',
    section: section('input attn_mask, shape'),
    cases: [
      example('[keys]', { batch: 2, mask: bool([4], '1011') }),
      example('[queries, keys], as many of both', { batch: 2, tq: 3, tk: 3, mask: [3, 3] }),
    ],
  },
  {
    rule: 'the first of three axes of a mask is heads',
    text: 'Right-aligned, three axes are heads, queries and keys, also where there are as many batch rows as heads.',
    section: section('input attn_mask, shape'),
    cases: [
      example('[heads, queries, keys], boolean', {
        ...{ batch: 2, heads: 2, tq: 2, tk: 3 },
        mask: bool([2, 2, 3], '110 011 101 001'),
      }),
      example('[heads, queries, keys], float', { batch: 2, heads: 2, tq: 2, mask: [2, 2, 4] }),
    ],
  },
  {
    rule: 'a mask of four axes has one element for each score',
    text: '[batch, head, query, key]; query heads, also where key/value heads are fewer.',
    section: section('input attn_mask, shape'),
    cases: [
      example('[batch, heads, queries, keys]', { batch: 2, tq: 2, mask: [2, 2, 2, 4] }),
      example('of query heads', { heads: 4, kvHeads: 2, tq: 2, d: 2, mask: [1, 4, 2, 4] }),
    ],
  },
  {
    rule: 'an axis of 1 in a mask is repeated',
    text: 'Any axis of the mask may be 1 and then serves all batch rows, heads, queries or keys.',
    section: section('input attn_mask, shape'),
    cases: [
      example('[batch, 1, 1, keys]: padding', {
        ...{ batch: 2, tq: 2 },
        mask: bool([2, 1, 1, 4], '1100 1111'),
      }),
      example('[1, heads, 1, keys]', { batch: 2, tq: 2, mask: [1, 2, 1, 4] }),
      example('[queries, 1]: a row without keys', { mask: bool([3, 1], '1 0 1') }),
    ],
  },
  {
    rule: 'a mask that does not broadcast is refused',
    text: 'An axis that is neither 1 nor that of the scores has no meaning.',
    section: section('input attn_mask, shape'),
    cases: [
      example('two of three queries', { mask: [2, 4] }),
      example('three of two heads', { mask: bool([3, 1, 4], '1111 1111 1111') }),
      example('five of four keys', { mask: [3, 5] }),
    ],
  },
];

export const causality = [
  {
    rule: 'causal: query i reads the keys up to i',
    text: 'Key j takes part if j <= i: for as many queries as keys, the lower triangle with its diagonal.',
    section: section('attribute is_causal'),
    cases: [
      example('a square', { tq: 4, tk: 4 }, yes),
      example('a square, 3D, weights', { flat: true, tq: 4, tk: 4 }, { ...yes, ...mode(3) }),
    ],
  },
  {
    rule: 'causal without a past: the first query stands at the first key',
    text: 'With past_sequence_length = 0 the rule stays j <= i, also for more keys or more queries.',
    section: section('attribute is_causal, past_sequence_length'),
    cases: [
      example('more keys than queries', { tq: 3, tk: 5 }, yes),
      example('more queries than keys', { tq: 5, tk: 3 }, yes),
    ],
  },
  {
    rule: 'causal with a past: query i reads the past and the new keys up to i',
    text: 'Key j takes part if j <= i + past_sequence_length.',
    section: section('attribute is_causal, past_sequence_length'),
    cases: [
      example('two tokens after three', { tq: 2, tk: 2, past: 3 }, yes),
      example('one token after four', { tq: 1, tk: 1, past: 4, flat: true }, yes),
      example('two queries, four new keys, a past of two', { tq: 2, tk: 4, past: 2 }, yes),
    ],
  },
  {
    rule: 'causal and a boolean mask: both must allow a key',
    text: 'The two exclude independently of each other.',
    section: section('summary, attention bias, item 2'),
    cases: [
      example('a mask with holes', { tq: 4, mask: bool([4, 4], '1111 1011 0111 1101') }, yes),
      example('a mask of padding', { batch: 2, mask: bool([2, 1, 1, 4], '1110 1011') }, yes),
    ],
  },
  {
    rule: 'causal and a float mask add up',
    text: 'The mask is added to the scores of the keys that causality leaves.',
    section: section('summary, attention bias, item 2'),
    cases: [
      example('fractions', { tq: 4, mask: [4, 4] }, { ...yes, ...mode(2) }),
      example('fractions by head', { tq: 2, mask: [2, 2, 4] }, yes),
      example('fractions after a past', { tq: 2, tk: 2, past: 2, mask: [2, 4] }, yes),
    ],
  },
];
