// What ONNX Attention-24 adds to 23: key lengths, causality by them, and masks that end before the keys do.
// Two things have no case. qk_matmul_output of modes 0 and 1 has the scores of the padding in ONNX; this library
// never reads the padding, and says -inf there. And the text lets a last axis of 1 in a mask be repeated or be
// padded; opset 23, where it can only be repeated, has cases of it.
import { attentionCase as example, bool, f32 } from '../support/inputs.js';
const causal = { is_causal: 1 };
const mode = (n) => ({ qk_matmul_output_mode: n });
const section = (part) => `Attention-24, ${part}`;

/** The padding of K and V, from key 2 on, is larger than all else. */
const loudPadding = ({ K, V }) => {
  const loud = ({ shape, data }) => {
    const [, , tokens, width] = shape;
    return f32(
      shape,
      data.map((x, i) => (Math.floor(i / width) % tokens < 2 ? x : 64)),
    );
  };
  return { K: loud(K), V: loud(V) };
};

const lengths = [
  {
    rule: 'nonpad_kv_seqlen: keys from the length on are padding',
    text: 'In batch row b the keys 0 to nonpad_kv_seqlen[b] - 1 take part, and no other.',
    section: section('input nonpad_kv_seqlen'),
    cases: [
      example('lengths 3 and 1', { batch: 2, lengths: [3, 1] }),
      example('lengths 2 and 4, 3D, weights', { batch: 2, flat: true, lengths: [2, 4] }, mode(3)),
      example('lengths with grouped heads', {
        ...{ batch: 2, heads: 4, kvHeads: 2, d: 2 },
        ...{ tq: 1, tk: 5, lengths: [5, 2] },
      }),
    ],
  },
  {
    rule: 'nonpad_kv_seqlen: padding contributes nothing',
    text: 'Whatever numbers the padding of K and V has, results are the same.',
    section: section('input nonpad_kv_seqlen; KV cache use case 2'),
    cases: [
      example('loud padding', { tk: 6, lengths: [2] }, mode(3), { bend: loudPadding }),
      example('loud padding, causal', { tq: 2, tk: 6, lengths: [2] }, causal, {
        bend: loudPadding,
      }),
    ],
  },
  {
    rule: 'nonpad_kv_seqlen 0: a batch row without keys gives zeros',
    text: 'All keys are padding, so that all rows are without any key.',
    section: section('fully masked rows'),
    cases: [
      example('lengths 0 and 2', { batch: 2, tq: 2, lengths: [0, 2] }, mode(3)),
      example('lengths 2 and 0, causal', { batch: 2, tq: 2, lengths: [2, 0] }, causal),
    ],
  },
  {
    rule: 'nonpad_kv_seqlen alone shifts nothing',
    text: 'Without causality every query reads all keys in use.',
    section: section('attribute is_causal'),
    cases: [example('fewer queries than keys', { tq: 2, tk: 6, lengths: [4] }, mode(2))],
  },
];

const frontiers = [
  {
    rule: 'causal with nonpad_kv_seqlen: the last query stands at the last key in use',
    text: 'Query i of batch row b reads key j if j <= i + nonpad_kv_seqlen[b] - q_sequence_length.',
    section: section('offset, external cache'),
    cases: [
      example(
        'prefill goes on: lengths 5 and 3',
        {
          ...{ batch: 2, tq: 3, tk: 6, d: 2 },
          lengths: [5, 3],
        },
        causal,
      ),
      example('one query: lengths 4 and 2', { batch: 2, tq: 1, tk: 5, lengths: [4, 2] }, causal),
      example('all keys in use', { tq: 2, tk: 4, lengths: [4] }, { ...causal, ...mode(3) }),
    ],
  },
  {
    rule: 'causal with a length below the number of queries: leading rows have no key and give zeros',
    text: 'The offset is then negative, and stays so: rows 0 to -offset - 1 are zeros, in the weights too.',
    section: section('offset < 0; fully masked rows'),
    cases: [
      example('two of four tokens', { tq: 4, tk: 4, lengths: [2] }, { ...causal, ...mode(3) }),
      example('one and three of three', { batch: 2, tk: 5, d: 2, lengths: [1, 3] }, causal),
    ],
  },
  {
    rule: 'causal with a past or with neither: as in opset 23',
    text: 'The offset is past_sequence_length, or 0 without a cache.',
    section: section('offset'),
    cases: [
      example('two tokens after two', { tq: 2, tk: 2, past: 2 }, causal),
      example('three queries, five keys', { tq: 3, tk: 5 }, causal),
      example('a new key more than queries', { tq: 1, tk: 2, past: 2 }, causal),
    ],
  },
  {
    rule: 'causal, nonpad_kv_seqlen and a boolean mask: all three must allow a key',
    text: 'The mask excludes independently of the frontier and of the padding.',
    section: section('summary, attention bias, item 2'),
    cases: [
      example(
        'a mask of each batch row',
        {
          ...{ batch: 2, tq: 2, tk: 4, lengths: [4, 3] },
          mask: bool([2, 1, 2, 4], '1011 0111 1101 0111'),
        },
        causal,
      ),
    ],
  },
  {
    rule: 'causal, nonpad_kv_seqlen and a float mask add up',
    text: 'The mask is added to the scores of the keys that frontier and padding leave.',
    section: section('summary, attention bias, item 2'),
    cases: [
      example(
        'fractions',
        { batch: 2, tq: 2, tk: 4, lengths: [4, 3], mask: [2, 4] },
        {
          ...causal,
          ...mode(2),
        },
      ),
    ],
  },
  {
    rule: 'with a frontier of each batch row, the first of three axes of a mask is still heads',
    text: 'Masks broadcast right-aligned before the frontiers are added.',
    section: section('input attn_mask; offset'),
    cases: [
      example(
        'as many heads as batch rows, float',
        {
          ...{ batch: 2, heads: 2, tq: 2, tk: 4, lengths: [4, 3] },
          mask: [2, 2, 4],
        },
        causal,
      ),
      example(
        'as many heads as batch rows, boolean',
        {
          ...{ batch: 2, heads: 2, tq: 1, tk: 4, lengths: [4, 3] },
          mask: bool([2, 1, 4], '1010 0111'),
        },
        causal,
      ),
    ],
  },
];

const short = bool([3, 3], '110 011 111');

const shortMasks = [
  {
    rule: 'a boolean mask that is too short excludes the rest',
    text: 'Keys past its last axis are as if it were False there.',
    section: section('input attn_mask, padding'),
    cases: [
      example('three of five keys', { tk: 5, mask: short }, mode(3)),
      example('three of five keys, causal', { tq: 5, tk: 5, mask: bool([1, 3], '101') }, causal),
      example('of each head', { tk: 4, tq: 1, mask: bool([2, 1, 2], '11 01') }),
    ],
  },
  {
    rule: 'a float mask that is too short excludes the rest',
    text: 'It is padded with -inf, not with 0.',
    section: section('input attn_mask, padding'),
    cases: [
      example('two of four keys', { mask: [3, 2] }, mode(2)),
      example('two of four keys, four axes', { batch: 2, tq: 2, mask: [2, 2, 2, 2] }),
    ],
  },
  {
    rule: 'a mask that is too short is padded to the past and the new keys',
    text: 'Its first element is for the first key of the past; what is missing are the last keys of all.',
    section: section('input attn_mask, total_sequence_length'),
    cases: [
      example('four of five keys', { tq: 2, tk: 2, past: 3, mask: [2, 4] }),
      example('two of four keys', { tq: 2, tk: 2, past: 2, mask: bool([2, 2], '11 01') }),
    ],
  },
  {
    rule: 'a mask may end at the longest nonpad_kv_seqlen',
    text: 'What it leaves out is padding in all batch rows.',
    section: section('KV cache use case 2'),
    cases: [
      example('a mask of three keys, lengths 3 and 2', {
        ...{ batch: 2, tk: 5, d: 2, lengths: [3, 2] },
        mask: short,
      }),
      example(
        'a float mask of four keys, causal',
        {
          ...{ batch: 2, tq: 2, tk: 5, lengths: [4, 2] },
          mask: [2, 4],
        },
        causal,
      ),
    ],
  },
];

const matmulOutputs = [
  {
    rule: 'qk_matmul_output of modes 2 and 3 shows the padding as excluded',
    text: 'Scores of keys that are not in use are -inf after the bias, and their weights 0.',
    section: section('attribute qk_matmul_output_mode'),
    cases: [
      example('mode 2', { batch: 2, tq: 2, lengths: [3, 1] }, mode(2)),
      example('mode 3, a mask that ends', { tk: 5, lengths: [2], mask: short }, mode(3)),
    ],
  },
];

export default {
  op: 'Attention',
  opset: 24,
  rules: [...lengths, ...frontiers, ...shortMasks, ...matmulOutputs],
};
