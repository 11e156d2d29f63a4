// ONNX Attention-23: the past and the present of keys and values, and qk_matmul_output.
import { attentionCase as example, bool } from '../../support/inputs.js';

const yes = { is_causal: 1 };
const mode = (n) => ({ qk_matmul_output_mode: n });
const section = (part) => `Attention-23, ${part}`;

export const pasts = [
  {
    rule: 'the new keys and values follow those of the past',
    text: 'present_key and present_value are the past and then the new tokens, head by head, 4D also for 3D inputs.',
    section: section('inputs past_key, past_value; outputs present_key, present_value'),
    cases: [
      example('a past of three', { batch: 2, tq: 2, tk: 2, past: 3, d: 2, dV: 3 }),
      example('a past of two, 3D', { flat: true, tq: 2, tk: 2, past: 2, d: 2, dV: 3 }),
      example('grouped heads', { heads: 4, kvHeads: 2, tq: 1, tk: 1, past: 3, d: 2 }),
    ],
  },
  {
    rule: 'queries read the past and the new keys',
    text: 'Attention is over total_sequence_length = past_sequence_length + kv_sequence_length keys.',
    section: section('inputs past_key, past_value'),
    cases: [
      example('weights over five keys', { tq: 2, tk: 2, past: 3 }, mode(3)),
      example('a past of no tokens', { tq: 2, tk: 3, past: 0 }),
    ],
  },
  {
    rule: 'the last axis of a mask is past and new keys',
    text: 'Element j of the mask is for key j of all, the past first.',
    section: section('input attn_mask, total_sequence_length'),
    cases: [
      example('boolean', { tq: 2, tk: 2, past: 2, mask: bool([2, 4], '1011 0110') }),
      example('float', { tq: 2, tk: 2, past: 3, mask: [2, 5] }),
    ],
  },
];

const band = '1100 1110 0111';
const capped = { softcap: 0.75 };

export const matmulOutputs = [
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
  },
  {
    rule: 'qk_matmul_output of mode 1 is after the softcap',
    text: 'c tanh(scale q.k / c), before the mask; without a softcap the same as mode 0.',
    section: section('attribute qk_matmul_output_mode, 1'),
    cases: [
      example('with softcap and mask', { mask: [3, 4] }, { ...capped, ...mode(1) }),
      example('without softcap', { mask: bool([3, 4], band), flat: true }, mode(1)),
    ],
  },
  {
    rule: 'qk_matmul_output of mode 2 is after softcap and mask',
    text: 'What the softmax is given: -inf where a mask or causality excludes a key.',
    section: section('attribute qk_matmul_output_mode, 2'),
    cases: [
      example('with softcap and mask', { mask: [3, 4] }, { ...capped, ...mode(2) }),
      example('causal, boolean mask', { mask: bool([3, 4], band) }, { ...yes, ...mode(2) }),
    ],
  },
  {
    rule: 'qk_matmul_output of mode 3 is the weights',
    text: 'The result of the softmax, which multiplies the values.',
    section: section('attribute qk_matmul_output_mode, 3'),
    cases: [
      example('with softcap and mask', { mask: [3, 4] }, { ...capped, ...mode(3) }),
      example('causal', { tq: 3, tk: 3, heads: 1 }, { ...yes, ...mode(3) }),
    ],
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
  },
];
