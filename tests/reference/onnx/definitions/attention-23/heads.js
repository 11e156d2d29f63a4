// ONNX Attention-23: how tensors hold heads and tokens, and which heads go together.
import { attentionCase as example } from '../../support/inputs.js';

const section = (part) => `Attention-23, ${part}`;

export const layout = [
  {
    rule: '3D inputs hold heads side by side',
    text: 'A row of a 3D tensor is one token: the elements of head 0, then of head 1, and so on. Y is 3D as well, with the width of the values in each query head.',
    section: section('inputs Q, K, V; output Y'),
    cases: [
      example('3D, values wider than keys', { batch: 2, flat: true, d: 3, dV: 5 }),
      example('3D, grouped heads', { flat: true, heads: 4, kvHeads: 2, d: 2, dV: 3 }),
    ],
  },
  {
    rule: '4D inputs are batch, head, token, element',
    text: 'The heads of a 4D tensor are its second axis, and tokens its third; so it is with Y.',
    section: section('inputs Q, K, V; output Y'),
    cases: [example('4D, three heads, two batch rows', { batch: 2, heads: 3, tq: 2, tk: 4 })],
  },
  {
    rule: 'batch rows are apart',
    text: 'Queries read the keys and values of their own batch row.',
    section: section('inputs Q, K, V'),
    cases: [
      example('4D, three batch rows', { batch: 3, heads: 1 }),
      example('3D, two batch rows', { batch: 2, flat: true }),
    ],
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
  },
  {
    rule: 'values have a width of their own',
    text: 'v_head_size may differ from head_size; Y has that of the values, and the scale that of the keys.',
    section: section('inputs V; output Y'),
    cases: [
      example('values wider than keys', { d: 2, dV: 5 }),
      example('values narrower than keys', { d: 4, dV: 1 }),
    ],
  },
];

export const heads = [
  {
    rule: 'multi-head: each query head has its own keys and values',
    text: 'With as many key/value heads as query heads, head h reads head h.',
    section: section('summary, variant 1 (MHA)'),
    cases: [example('four heads', { heads: 4 })],
  },
  {
    rule: 'grouped queries: neighbouring query heads share a key/value head',
    text: 'With q_num_heads a multiple of kv_num_heads, query head h reads head floor(h kv_num_heads / q_num_heads): each key/value head is repeated in place.',
    section: section('summary, variant 2 (GQA)'),
    cases: [
      example('six heads on two', { heads: 6, kvHeads: 2, tq: 2, d: 2 }),
      example('four heads on two, 3D', { heads: 4, kvHeads: 2, flat: true, d: 2 }),
    ],
  },
  {
    rule: 'multi-query: one key/value head serves all',
    text: 'With kv_num_heads = 1 every query head reads the same keys and values.',
    section: section('summary, variant 3 (MQA)'),
    cases: [
      example('three heads on one', { heads: 3, kvHeads: 1 }),
      example('three heads on one, 3D', { heads: 3, kvHeads: 1, flat: true }),
    ],
  },
  {
    rule: 'the number of query heads is a multiple of that of key/value heads',
    text: 'Other numbers have no groups, and are refused.',
    section: section('summary, variant 2 (GQA)'),
    cases: [
      example('three heads on two', { heads: 3, kvHeads: 2 }),
      example('two heads on four, 3D', { heads: 2, kvHeads: 4, flat: true }),
    ],
  },
];
