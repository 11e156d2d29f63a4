// ONNX Attention-23: from products to weights: the scale, the softcap and the softmax.
import { attentionCase as example, bool, f16, f32 } from '../../support/inputs.js';

const inf = Infinity;
const yes = { is_causal: 1 };
const mode = (n) => ({ qk_matmul_output_mode: n });
const section = (part) => `Attention-23, ${part}`;

/** Factors whose product is out of the range of float32, though with a tiny scale the score is not. */
const farApart = ({ Q, K }) => ({
  Q: f32(
    Q.shape,
    Q.data.map((x) => x * 2 ** 100),
  ),
  K: f32(
    K.shape,
    K.data.map((x) => x * 2 ** 28),
  ),
});

export const scaling = [
  {
    rule: 'the default scale is 1 / sqrt(head_size)',
    text: 'Without the attribute, scores are q.k / sqrt(head_size), where head_size is the width of one head.',
    section: section('attribute scale'),
    cases: [
      example('4D, head size 4', { d: 4 }, mode(0)),
      example('3D, head size 4 of 8', { d: 4, flat: true }, mode(0)),
      example('head size 3', { d: 3 }),
    ],
  },
  {
    rule: 'a given scale takes the place of the default',
    text: 'Scores are scale q.k, and 1 / sqrt(head_size) is no part of them. 0 is a scale too.',
    section: section('attribute scale'),
    cases: [
      example('scale 1.5', {}, { scale: 1.5, ...mode(0) }),
      example('scale 0.125', { flat: true }, { scale: 0.125 }),
      example('scale 0: all weights are equal', {}, { scale: 0 }),
    ],
  },
  {
    rule: 'the scale is applied before the product',
    text: 'Both factors are scaled by sqrt(scale), so that a score overflows only if it is out of range itself.',
    section: section('attribute scale, and the pattern'),
    cases: [
      example('q.k beyond float32', { d: 2 }, { scale: 2 ** -126, ...mode(0) }, { bend: farApart }),
    ],
  },
];

export const softcaps = [
  {
    rule: 'softcap bends the scores',
    text: 'A score s becomes c tanh(s / c), of the scaled score.',
    section: section('attribute softcap'),
    cases: [
      example('softcap 0.75', {}, { softcap: 0.75, ...mode(1) }),
      example('softcap 2, scale 1, 3D', { flat: true }, { softcap: 2, scale: 1 }),
    ],
  },
  {
    rule: 'softcap 0 is none',
    text: 'The default leaves the scores as they are.',
    section: section('attribute softcap'),
    cases: [example('softcap 0', {}, { softcap: 0, ...mode(1) })],
  },
  {
    rule: 'softcap comes after the scale',
    text: 'The scaled score is bent; it is not scaled afterwards.',
    section: section('the pattern'),
    cases: [example('scale 0.25', { d: 8 }, { scale: 0.25, softcap: 1, ...mode(1) })],
  },
  {
    rule: 'softcap comes before the mask',
    text: 'What the mask adds is not bent: -inf stays -inf, and the key keeps no weight.',
    section: section('the pattern'),
    cases: [
      example('a boolean mask', { mask: bool([3, 4], '1100 1110 0111') }, { softcap: 0.5 }),
      example('a float mask', { mask: [3, 4] }, { softcap: 0.5, ...mode(2) }),
      example('causal', { tq: 4 }, { softcap: 0.5, ...yes }),
    ],
  },
];

/** Scores that are the same in all number types, and values that show the last digits of the weights. */
const halves = ({ Q, K, V }) => ({
  Q: f16(f32(Q.shape, [1, 0, 0, 1])),
  K: f16(f32(K.shape, [0, 1, 1, 0, 0, 3])),
  V: f16(f32(V.shape, [-1960, 1440, -1954])),
});

/** Key 0 is infinite, and so is its score. */
const infiniteKey = ({ Q, K }) => ({
  Q: f32(
    Q.shape,
    Q.data.map((x) => Math.abs(x) + 1),
  ),
  K: f32(
    K.shape,
    K.data.map((x, i) => (i < K.shape[3] ? inf : x)),
  ),
});

export const normalising = [
  {
    rule: 'weights are the softmax over the keys',
    text: 'Each row of weights is exp(score) by its sum over the keys that take part, so that it sums to 1.',
    section: section('the pattern'),
    cases: [
      example('weights', {}, mode(3)),
      example('weights, scale 3', { heads: 1, tk: 6 }, { ...mode(3), scale: 3 }),
    ],
  },
  {
    rule: 'scores of any size have a softmax',
    text: 'exp() of a large score would overflow, and so a row is taken relative to its largest score.',
    section: section('the pattern, Softmax'),
    cases: [example('scale 400', { d: 2 }, { scale: 400 })],
  },
  {
    rule: 'softmax_precision 1 is float32',
    text: 'It asks for the softmax in float32: no change to float32 scores, and more than float16 ones have.',
    section: section('attribute softmax_precision'),
    cases: [
      example('float32', {}, { softmax_precision: 1 }),
      example(
        'float16',
        { heads: 1, tq: 2, tk: 3, d: 2, dV: 1 },
        { softmax_precision: 1, scale: 1 },
        { bend: halves },
      ),
    ],
  },
  {
    rule: 'a row without any key gives zeros',
    text: 'Where every bias of a row is -inf, its output and its weights are 0 and not NaN; other rows are as ever.',
    section: section('summary, attention bias, and its errata'),
    cases: [
      example('a boolean row of False', { mask: bool([3, 4], '1101 0000 0111') }, mode(3)),
      example('a float row of -inf', {
        mask: f32([3, 4], [0, 1, 0, 0, -inf, -inf, -inf, -inf, 0, 0, -1, 0]),
      }),
      example(
        'by mask and causality together',
        { tq: 3, mask: bool([4], '0111') },
        {
          ...yes,
          ...mode(3),
        },
      ),
      example('a batch row of padding alone, 3D', {
        ...{ batch: 2, flat: true, tq: 2 },
        mask: bool([2, 1, 1, 4], '0000 1110'),
      }),
    ],
  },
  {
    rule: 'whether a row has a key is read off the bias',
    text: 'A row without any key gives zeros even where its scores are infinite or NaN.',
    section: section('summary, attention bias: combined additive bias'),
    cases: [
      example('a key of infinity', { tq: 1, heads: 1, mask: bool([1, 4], '0000') }, mode(3), {
        bend: infiniteKey,
      }),
    ],
  },
];
