// The rules of ONNX Attention-23, in the order of its text. `wrong` are readings of the operator that break the
// rule: the cases beside them tell them apart (make_rules.test.js).
import { attentionCase as example, bool, f16, f32 } from '../support/inputs.js';
import { steps } from '../support/attention.js';
import { toHalf } from '../support/half.js';
import { exponentials, shares, unguarded } from '../support/softmax.js';

const [yes, inf] = [{ is_causal: 1 }, Infinity];
const mode = (n) => ({ qk_matmul_output_mode: n });
const section = (part) => `Attention-23, ${part}`;

const layout = [
  {
    rule: '3D inputs hold heads side by side',
    text: 'A row of a 3D tensor is one token: the elements of head 0, then of head 1, and so on. Y is 3D as well, with the width of the values in each query head.',
    section: section('inputs Q, K, V; output Y'),
    cases: [
      example('3D, values wider than keys', { batch: 2, flat: true, d: 3, dV: 5 }),
      example('3D, grouped heads', { flat: true, heads: 4, kvHeads: 2, d: 2, dV: 3 }),
    ],
    wrong: {
      'heads alternate within a row': {
        index3: ({ heads, tokens, width }, [b, h, t, d]) =>
          ((b * tokens + t) * width + d) * heads + h,
      },
      'rows of one head follow each other': { index3: steps.index4 },
    },
  },
  {
    rule: '4D inputs are batch, head, token, element',
    text: 'The heads of a 4D tensor are its second axis, and tokens its third; so it is with Y.',
    section: section('inputs Q, K, V; output Y'),
    cases: [example('4D, three heads, two batch rows', { batch: 2, heads: 3, tq: 2, tk: 4 })],
    wrong: { 'tokens come before heads': { index4: steps.index3 } },
  },
  {
    rule: 'batch rows are apart',
    text: 'Queries read the keys and values of their own batch row.',
    section: section('inputs Q, K, V'),
    cases: [
      example('4D, three batch rows', { batch: 3, heads: 1 }),
      example('3D, two batch rows', { batch: 2, flat: true }),
    ],
    wrong: { 'keys of batch row 0 for all': { batchOfKeys: () => 0 } },
  },
  {
    rule: 'cross attention: keys may be more or fewer than queries',
    text: 'The numbers of queries and of keys are independent, and every query reads every key.',
    section: section('summary, self and cross attention'),
    cases: [
      example('as many keys as queries', { tq: 3, tk: 3 }),
      example('fewer keys than queries', { tq: 5, tk: 2 }),
      example('more keys than queries', { tq: 2, tk: 7 }),
      example('one query, many keys', { tq: 1, tk: 37, heads: 1 }),
    ],
    wrong: {
      'as many keys as queries are read': { keysRead: (tk, { q }) => Math.min(tk, q.tokens) },
      'the last key is left out': { keysRead: (tk) => tk - 1 },
    },
  },
  {
    rule: 'values have a width of their own',
    text: 'v_head_size may differ from head_size; Y has that of the values, and the scale that of the keys.',
    section: section('inputs V; output Y'),
    cases: [
      example('values wider than keys', { d: 2, dV: 5 }),
      example('values narrower than keys', { d: 4, dV: 1 }),
    ],
    wrong: { 'the scale is that of the values': { scale: (s, q) => 1 / Math.sqrt(q.valueWidth) } },
  },
];

const heads = [
  {
    rule: 'multi-head: each query head has its own keys and values',
    text: 'With as many key/value heads as query heads, head h reads head h.',
    section: section('summary, variant 1 (MHA)'),
    cases: [example('four heads', { heads: 4 })],
    wrong: {
      'all read head 0': { kvHead: () => 0 },
      'heads are reversed': { kvHead: (h, q) => q - 1 - h },
    },
  },
  {
    rule: 'grouped queries: neighbouring query heads share a key/value head',
    text: 'With q_num_heads a multiple of kv_num_heads, query head h reads head floor(h kv_num_heads / q_num_heads): each key/value head is repeated in place.',
    section: section('summary, variant 2 (GQA)'),
    cases: [
      example('six heads on two', { heads: 6, kvHeads: 2, tq: 2, d: 2 }),
      example('four heads on two, 3D', { heads: 4, kvHeads: 2, flat: true, d: 2 }),
    ],
    wrong: { 'key/value heads are tiled': { kvHead: (h, q, kv) => h % kv } },
  },
  {
    rule: 'multi-query: one key/value head serves all',
    text: 'With kv_num_heads = 1 every query head reads the same keys and values.',
    section: section('summary, variant 3 (MQA)'),
    cases: [
      example('three heads on one', { heads: 3, kvHeads: 1 }),
      example('three heads on one, 3D', { heads: 3, kvHeads: 1, flat: true }),
    ],
    wrong: { 'head h reads head h': { kvHead: (h) => h } },
  },
  {
    rule: 'the number of query heads is a multiple of that of key/value heads',
    text: 'Other numbers have no groups, and are refused.',
    section: section('summary, variant 2 (GQA)'),
    cases: [
      example('three heads on two', { heads: 3, kvHeads: 2 }),
      example('two heads on four, 3D', { heads: 2, kvHeads: 4, flat: true }),
    ],
    wrong: { 'any numbers are taken': { headsFit: () => true } },
  },
];

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
const product = (q, k) => q.reduce((sum, x, d) => sum + x * k[d], 0);

const scaling = [
  {
    rule: 'the default scale is 1 / sqrt(head_size)',
    text: 'Without the attribute, scores are q.k / sqrt(head_size), where head_size is the width of one head.',
    section: section('attribute scale'),
    cases: [
      example('4D, head size 4', { d: 4 }, mode(0)),
      example('3D, head size 4 of 8', { d: 4, flat: true }, mode(0)),
      example('head size 3', { d: 3 }),
    ],
    wrong: {
      'no scale': { scale: () => 1 },
      '1 / head_size': { scale: (s, { width }) => 1 / width },
      '1 / sqrt(hidden size)': { scale: (s, { width, heads }) => 1 / Math.sqrt(width * heads) },
    },
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
    wrong: {
      'the attribute is not looked at': { scale: (s, { width }) => 1 / Math.sqrt(width) },
      'it multiplies the default': { scale: (s, { width }) => s / Math.sqrt(width) },
      '0 means the default': { scale: (s, { width }) => s || 1 / Math.sqrt(width) },
    },
  },
  {
    rule: 'the scale is applied before the product',
    text: 'Both factors are scaled by sqrt(scale), so that a score overflows only if it is out of range itself.',
    section: section('attribute scale, and the pattern'),
    cases: [
      example('q.k beyond float32', { d: 2 }, { scale: 2 ** -126, ...mode(0) }, { bend: farApart }),
    ],
    wrong: {
      'the product is formed first, in float32': {
        product: (q, k, scale) => scale * Math.fround(product(q, k)),
      },
    },
  },
];

const band = '1100 1110 0111';

const masks = [
  {
    rule: 'a boolean mask says which keys take part',
    text: 'True lets the key take part; False gives it the bias -inf, and so no weight.',
    section: section('input attn_mask, boolean'),
    cases: [
      example('a band', { mask: bool([3, 4], band) }),
      example('a band, weights', { mask: bool([3, 4], band), flat: true }, mode(3)),
    ],
    wrong: {
      'True excludes': { maskTerm: (value) => (value ? -inf : 0) },
      'it is added as a number': { maskTerm: (value) => value },
    },
  },
  {
    rule: 'a float mask is added to the scores',
    text: 'Its elements are terms of the scores, after the scale; 0 changes nothing and does not exclude.',
    section: section('input attn_mask, float; the pattern'),
    cases: [
      example('fractions', { mask: f32([3, 4], [0, 0.5, -1, 0, 1.5, 0, -0.25, 2, -2, 1, 0, 0]) }),
      example('fractions, scale 0.25', { mask: [3, 4], flat: true }, { scale: 0.25, ...mode(2) }),
    ],
    wrong: {
      'it multiplies': { stages: (raw, bias) => ({ raw, capped: raw, biased: raw * bias }) },
      'it is scaled too': {
        stages: (raw, bias, { scale }) => ({ raw, capped: raw, biased: raw + bias * scale }),
      },
      '0 excludes': { maskTerm: (value) => (value === 0 ? -inf : value) },
    },
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
    wrong: {
      'very low terms exclude': { maskTerm: (value) => (value < -100 ? -inf : value) },
      '-inf is a low number': { maskTerm: (value) => Math.max(value, -4) },
    },
  },
  {
    rule: 'a mask of one or two axes serves all heads and batch rows',
    text: 'Masks broadcast right-aligned to [batch, head, query, key]: one axis is keys, two are queries and keys.',
    section: section('input attn_mask, shape'),
    cases: [
      example('[keys]', { batch: 2, mask: bool([4], '1011') }),
      example('[queries, keys], as many of both', { batch: 2, tq: 3, tk: 3, mask: [3, 3] }),
    ],
    wrong: {
      'queries and keys change places': {
        maskPosition: ([b, h, i, j], rank) => [b, h, j, i].slice(4 - rank),
      },
      'axes are aligned on the left': { maskPosition: (position, rank) => position.slice(0, rank) },
    },
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
    wrong: {
      'it is batch rows': {
        maskPosition: ([b, h, i, j], rank) => (rank === 3 ? [b, i, j] : [b, h, i, j]),
      },
    },
  },
  {
    rule: 'a mask of four axes has one element for each score',
    text: '[batch, head, query, key]; query heads, also where key/value heads are fewer.',
    section: section('input attn_mask, shape'),
    cases: [
      example('[batch, heads, queries, keys]', { batch: 2, tq: 2, mask: [2, 2, 2, 4] }),
      example('of query heads', { heads: 4, kvHeads: 2, tq: 2, d: 2, mask: [1, 4, 2, 4] }),
    ],
    wrong: {
      'batch row 0 for all': { maskPosition: ([, h, i, j]) => [0, h, i, j] },
      'head 0 for all': { maskPosition: ([b, , i, j]) => [b, 0, i, j] },
      'of key/value heads': { maskPosition: ([b, h, i, j]) => [b, Math.floor(h / 2), i, j] },
    },
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
    wrong: {
      'batch row 0 for all': { maskPosition: ([, h, i, j], n) => [0, h, i, j].slice(4 - n) },
      'head 0 for all': { maskPosition: ([b, , i, j], n) => [b, 0, i, j].slice(4 - n) },
      'query 0 for all': { maskPosition: ([b, h, , j], n) => [b, h, 0, j].slice(4 - n) },
    },
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
    wrong: { 'it is taken': { maskFits: () => true } },
  },
];

const causality = [
  {
    rule: 'causal: query i reads the keys up to i',
    text: 'Key j takes part if j <= i: for as many queries as keys, the lower triangle with its diagonal.',
    section: section('attribute is_causal'),
    cases: [
      example('a square', { tq: 4, tk: 4 }, yes),
      example('a square, 3D, weights', { flat: true, tq: 4, tk: 4 }, { ...yes, ...mode(3) }),
    ],
    wrong: {
      'without the diagonal': { causal: (i, j) => j < i },
      'the upper triangle': { causal: (i, j) => j >= i },
      'the attribute is not looked at': { causal: () => true },
    },
  },
  {
    rule: 'causal without a past: the first query stands at the first key',
    text: 'With past_sequence_length = 0 the rule stays j <= i, also for more keys or more queries.',
    section: section('attribute is_causal, past_sequence_length'),
    cases: [
      example('more keys than queries', { tq: 3, tk: 5 }, yes),
      example('more queries than keys', { tq: 5, tk: 3 }, yes),
    ],
    wrong: { 'the last query stands at the last key': { offset: ({ tq, tk }) => tk - tq } },
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
    wrong: {
      'the past does not count': { offset: () => 0 },
      'the last query stands at the last key': { offset: ({ tq, tk }) => tk - tq },
      'only the past is read': { causal: (i, j, offset) => j < offset },
    },
  },
  {
    rule: 'causal and a boolean mask: both must allow a key',
    text: 'The two exclude independently of each other.',
    section: section('summary, attention bias, item 2'),
    cases: [
      example('a mask with holes', { tq: 4, mask: bool([4, 4], '1111 1011 0111 1101') }, yes),
      example('a mask of padding', { batch: 2, mask: bool([2, 1, 1, 4], '1110 1011') }, yes),
    ],
    wrong: {
      'one of them is enough': {
        compose: (mask, { causal }) => (causal || mask === 0 ? 0 : -inf),
      },
      'the mask takes the place of causality': { compose: (mask) => mask },
      'causality takes the place of the mask': {
        compose: (mask, { causal }) => (causal ? 0 : -inf),
      },
    },
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
    wrong: {
      'a finite term of the mask allows': {
        compose: (mask, { causal }) => (causal || mask !== 0 ? mask : -inf),
      },
      'the mask takes the place of causality': { compose: (mask) => mask },
      'causality takes the place of the mask': {
        compose: (mask, { causal }) => (causal ? 0 : -inf),
      },
    },
  },
];

const softcaps = [
  {
    rule: 'softcap bends the scores',
    text: 'A score s becomes c tanh(s / c), of the scaled score.',
    section: section('attribute softcap'),
    cases: [
      example('softcap 0.75', {}, { softcap: 0.75, ...mode(1) }),
      example('softcap 2, scale 1, 3D', { flat: true }, { softcap: 2, scale: 1 }),
    ],
    wrong: {
      'it clips': { cap: (s, c) => Math.min(c, Math.max(-c, s)) },
      'the score is not divided': { cap: (s, c) => c * Math.tanh(s) },
      'the result is not multiplied': { cap: (s, c) => Math.tanh(s / c) },
      'the attribute is not looked at': { cap: (s) => s },
    },
  },
  {
    rule: 'softcap 0 is none',
    text: 'The default leaves the scores as they are.',
    section: section('attribute softcap'),
    cases: [example('softcap 0', {}, { softcap: 0, ...mode(1) })],
    wrong: { 'it caps at 0': { cap: () => 0 } },
  },
  {
    rule: 'softcap comes after the scale',
    text: 'The scaled score is bent; it is not scaled afterwards.',
    section: section('the pattern'),
    cases: [example('scale 0.25', { d: 8 }, { scale: 0.25, softcap: 1, ...mode(1) })],
    wrong: {
      'the scale comes last': {
        stages: (raw, bias, { cap, softcap, scale }) => {
          const capped = scale * cap(raw / scale, softcap);
          return { raw, capped, biased: capped + bias };
        },
      },
    },
  },
  {
    rule: 'softcap comes before the mask',
    text: 'What the mask adds is not bent: -inf stays -inf, and the key keeps no weight.',
    section: section('the pattern'),
    cases: [
      example('a boolean mask', { mask: bool([3, 4], band) }, { softcap: 0.5 }),
      example('a float mask', { mask: [3, 4] }, { softcap: 0.5, ...mode(2) }),
      example('causal', { tq: 4 }, { softcap: 0.5, ...yes }),
    ],
    wrong: {
      'it bends the sum': {
        stages: (raw, bias, { cap, softcap }) => {
          const biased = cap(raw + bias, softcap);
          return { raw, capped: cap(raw, softcap), biased };
        },
      },
    },
  },
];

const zeros = (scores, biases) => biases.every((bias) => bias === -inf) && scores.map(() => 0);

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

const normalising = [
  {
    rule: 'weights are the softmax over the keys',
    text: 'Each row of weights is exp(score) by its sum over the keys that take part, so that it sums to 1.',
    section: section('the pattern'),
    cases: [
      example('weights', {}, mode(3)),
      example('weights, scale 3', { heads: 1, tk: 6 }, { ...mode(3), scale: 3 }),
    ],
    wrong: {
      'they are not divided by the sum': { softmax: (scores) => exponentials(scores) },
      'a sink joins the sum': { softmax: (scores) => shares(exponentials(scores), 1) },
      'they are powers of 2': {
        softmax: (scores) => shares(exponentials(scores.map((s) => s * Math.LN2))),
      },
    },
  },
  {
    rule: 'scores of any size have a softmax',
    text: 'exp() of a large score would overflow, and so a row is taken relative to its largest score.',
    section: section('the pattern, Softmax'),
    cases: [example('scale 400', { d: 2 }, { scale: 400 })],
    wrong: {
      'exp() of the score itself': { softmax: (scores) => shares(scores.map((s) => Math.exp(s))) },
    },
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
    wrong: {
      float16: {
        softmax: (scores) => shares(exponentials(scores.map(toHalf)).map(toHalf)).map(toHalf),
      },
    },
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
    wrong: {
      'it is NaN': { softmax: unguarded },
      'it is the mean of the values': {
        softmax: (scores, biases) =>
          shares(zeros(scores, biases) ? scores.map(() => 1) : exponentials(scores)),
      },
    },
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
    wrong: {
      'it is read off the scores': {
        softmax: (scores) =>
          scores.every((s) => s === -inf) ? scores.map(() => 0) : unguarded(scores),
      },
    },
  },
];

const newFirst = (t, past, now) => (t < now ? { of: 'now', t } : { of: 'past', t: t - now });

const pasts = [
  {
    rule: 'the new keys and values follow those of the past',
    text: 'present_key and present_value are the past and then the new tokens, head by head, 4D also for 3D inputs.',
    section: section('inputs past_key, past_value; outputs present_key, present_value'),
    cases: [
      example('a past of three', { batch: 2, tq: 2, tk: 2, past: 3, d: 2, dV: 3 }),
      example('a past of two, 3D', { flat: true, tq: 2, tk: 2, past: 2, d: 2, dV: 3 }),
      example('grouped heads', { heads: 4, kvHeads: 2, tq: 1, tk: 1, past: 3, d: 2 }),
    ],
    wrong: { 'the new ones come first': { source: newFirst } },
  },
  {
    rule: 'queries read the past and the new keys',
    text: 'Attention is over total_sequence_length = past_sequence_length + kv_sequence_length keys.',
    section: section('inputs past_key, past_value'),
    cases: [
      example('weights over five keys', { tq: 2, tk: 2, past: 3 }, mode(3)),
      example('a past of no tokens', { tq: 2, tk: 3, past: 0 }),
    ],
    wrong: { 'the past alone': { keysRead: (total, { past }) => past } },
  },
  {
    rule: 'the last axis of a mask is past and new keys',
    text: 'Element j of the mask is for key j of all, the past first.',
    section: section('input attn_mask, total_sequence_length'),
    cases: [
      example('boolean', { tq: 2, tk: 2, past: 2, mask: bool([2, 4], '1011 0110') }),
      example('float', { tq: 2, tk: 2, past: 3, mask: [2, 5] }),
    ],
    wrong: {
      'the new keys come first in it': {
        maskPosition: ([b, h, i, j], rank) => [b, h, i, j < 2 ? j + 2 : j - 2].slice(4 - rank),
      },
    },
  },
];

const capped = { softcap: 0.75 };
const holds = (name) => ({ mode: (n, row) => row[name] });

const matmulOutputs = [
  {
    rule: 'qk_matmul_output of mode 0 is the scaled product',
    text: 'scale q.k of every query and key, before softcap and mask, also of excluded keys. It is the default.',
    section: section('attribute qk_matmul_output_mode, 0'),
    cases: [
      example('with softcap and mask', { mask: [3, 4] }, { ...capped, ...mode(0) }),
      example('causal, excluded keys too', { tq: 2, tk: 4 }, { ...yes, ...mode(0) }),
      example('the default mode', { mask: bool([3, 4], band) }, capped, {
        outputs: ['Y', 'qk_matmul_output'],
      }),
    ],
    wrong: {
      'after the softcap': holds('capped'),
      'after the mask': holds('biased'),
      weights: holds('weights'),
    },
  },
  {
    rule: 'qk_matmul_output of mode 1 is after the softcap',
    text: 'c tanh(scale q.k / c), before the mask; without a softcap the same as mode 0.',
    section: section('attribute qk_matmul_output_mode, 1'),
    cases: [
      example('with softcap and mask', { mask: [3, 4] }, { ...capped, ...mode(1) }),
      example('without softcap', { mask: bool([3, 4], band), flat: true }, mode(1)),
    ],
    wrong: { 'before the softcap': holds('raw'), 'after the mask': holds('biased') },
  },
  {
    rule: 'qk_matmul_output of mode 2 is after softcap and mask',
    text: 'What the softmax is given: -inf where a mask or causality excludes a key.',
    section: section('attribute qk_matmul_output_mode, 2'),
    cases: [
      example('with softcap and mask', { mask: [3, 4] }, { ...capped, ...mode(2) }),
      example('causal, boolean mask', { mask: bool([3, 4], band) }, { ...yes, ...mode(2) }),
    ],
    wrong: {
      'before the softcap': holds('raw'),
      'before the mask': holds('capped'),
      weights: holds('weights'),
    },
  },
  {
    rule: 'qk_matmul_output of mode 3 is the weights',
    text: 'The result of the softmax, which multiplies the values.',
    section: section('attribute qk_matmul_output_mode, 3'),
    cases: [
      example('with softcap and mask', { mask: [3, 4] }, { ...capped, ...mode(3) }),
      example('causal', { tq: 3, tk: 3, heads: 1 }, { ...yes, ...mode(3) }),
    ],
    wrong: { 'what the softmax is given': holds('biased') },
  },
  {
    rule: 'qk_matmul_output has a row for each query head and a column for each key of all',
    text: '[batch, q_num_heads, q_sequence_length, total_sequence_length], also for 3D inputs, grouped heads and a past.',
    section: section('output qk_matmul_output'),
    cases: [0, 1, 2, 3].map((n) =>
      example(
        `mode ${n}, 3D, grouped heads, a past`,
        { flat: true, heads: 4, kvHeads: 2, tq: 2, tk: 1, past: 2, d: 2, mask: [2, 3] },
        { ...capped, ...mode(n) },
      ),
    ),
    wrong: {
      'a row for the query head of another group': { kvHead: (h, q, kv) => h % kv },
      'the new keys first': { source: newFirst },
    },
  },
];

export default {
  op: 'Attention',
  opset: 23,
  rules: [
    ...[...layout, ...heads, ...scaling, ...masks, ...causality],
    ...[...softcaps, ...normalising, ...pasts, ...matmulOutputs],
  ],
};
