// What ONNX Attention-25 adds to 24: windows. Its words on softcap, modes and precision are those of 23.
import { attentionCase as example, bool } from '../support/inputs.js';
const causal = { is_causal: 1 };
const mode = (n) => ({ qk_matmul_output_mode: n });
const window = (left, right) => ({ left_window_size: left, right_window_size: right });
const section = (part) => `Attention-25, ${part}`;

const sides = [
  {
    rule: 'left_window_size: how many keys before its own position a query reads',
    text: 'A query at position p reads no key j < p - left_window_size; the key at that distance is the last it reads.',
    section: section('attribute left_window_size'),
    cases: [
      example('left 2', { tq: 5, tk: 5 }, { left_window_size: 2 }),
      example(
        'left 1, 3D, weights',
        { flat: true, tq: 4, tk: 4 },
        {
          left_window_size: 1,
          ...mode(3),
        },
      ),
    ],
  },
  {
    rule: 'right_window_size: how many keys after its own position a query reads',
    text: 'A query at position p reads no key j > p + right_window_size; the key at that distance is the last it reads.',
    section: section('attribute right_window_size'),
    cases: [
      example('right 1', { tq: 4, tk: 5 }, { right_window_size: 1 }),
      example('right 2, weights', { tq: 3, tk: 6, heads: 1 }, { right_window_size: 2, ...mode(3) }),
    ],
  },
  {
    rule: 'the two sides of a window are independent',
    text: 'With both, a query at p reads the keys from p - left_window_size to p + right_window_size.',
    section: section('sliding windows'),
    cases: [
      example('left 2, right 1', { tq: 4, tk: 6 }, window(2, 1)),
      example('left 0, right 2', { tq: 3, tk: 6, batch: 2 }, { ...window(0, 2), ...mode(3) }),
    ],
  },
  {
    rule: 'a window of 0 leaves the own position',
    text: '0 is a bound: no key on that side but the one at the position itself.',
    section: section('attributes left_window_size, right_window_size'),
    cases: [
      example('left 0, right 0: the diagonal', { tq: 3, tk: 4 }, window(0, 0)),
      example('left 0', { tq: 3, tk: 4 }, { left_window_size: 0 }),
      example('right 0', { tq: 3, tk: 4 }, { right_window_size: 0 }),
    ],
  },
  {
    rule: 'a window of -1 is unbounded',
    text: 'The default: that side excludes nothing.',
    section: section('attributes left_window_size, right_window_size'),
    cases: [
      example('-1 on both sides', { tq: 4, tk: 4 }, window(-1, -1)),
      example('left -1, right 0', { tq: 4, tk: 4 }, window(-1, 0)),
      example('left 1, right -1', { tq: 4, tk: 4 }, window(1, -1)),
    ],
  },
  {
    rule: 'a window below -1 is refused',
    text: 'Sizes are -1 or at least 0.',
    section: section('attributes left_window_size, right_window_size'),
    cases: [
      example('left -2', { tq: 2, tk: 2 }, window(-2, 0)),
      example('right -2', { tq: 2, tk: 2 }, window(0, -2)),
    ],
  },
];

const positions = [
  {
    rule: 'a window without a cache: query i is at position i',
    text: 'The offset is 0, whether keys are more or fewer than queries.',
    section: section('sliding windows, offset'),
    cases: [
      example('more keys than queries', { tq: 2, tk: 6 }, window(1, 1)),
      example('more queries than keys', { tq: 5, tk: 3 }, window(2, 0)),
    ],
  },
  {
    rule: 'a window with a past: query i is at position past_sequence_length + i',
    text: 'Distances are counted across the past and the new keys.',
    section: section('sliding windows, offset'),
    cases: [
      example('two tokens after three', { tq: 2, tk: 2, past: 3 }, window(2, 0)),
      example(
        'causal, one token after four, 3D',
        { flat: true, tq: 1, tk: 1, past: 4 },
        {
          ...causal,
          left_window_size: 2,
        },
      ),
      example('two queries, three new keys', { tq: 2, tk: 3, past: 2 }, window(1, 1)),
    ],
  },
  {
    rule: 'a window with nonpad_kv_seqlen: query i is at position nonpad_kv_seqlen - q_sequence_length + i',
    text: 'Each batch row has its own, also when the call is not causal.',
    section: section('sliding windows, offset'),
    cases: [
      example('lengths 6 and 3', { batch: 2, tq: 2, tk: 6, d: 2, lengths: [6, 3] }, window(1, 0)),
      example(
        'lengths 4 and 5, one query',
        { batch: 2, tq: 1, tk: 5, lengths: [4, 5] },
        {
          ...causal,
          left_window_size: 1,
        },
      ),
      example(
        'lengths 3 and 4, right 1',
        { batch: 2, tq: 3, tk: 5, lengths: [3, 4] },
        {
          ...window(0, 1),
          ...mode(2),
        },
      ),
    ],
  },
];

const compositions = [
  {
    rule: 'a window is not causal by itself',
    text: 'With left_window_size alone, all later keys are read.',
    section: section('sliding windows'),
    cases: [example('left 1, is_causal 0', { tq: 4, tk: 5 }, { left_window_size: 1 })],
  },
  {
    rule: 'a window and causality: both must allow a key',
    text: 'With is_causal no later key is read, however wide the window is to the right.',
    section: section('attribute right_window_size; sliding windows'),
    cases: [
      example('left 1, right 2', { tq: 4, tk: 4 }, { ...causal, ...window(1, 2) }),
      example('right 2', { tq: 4, tk: 4 }, { ...causal, right_window_size: 2 }),
      example(
        'left 1, weights',
        { tq: 4, tk: 4 },
        {
          ...causal,
          left_window_size: 1,
          ...mode(3),
        },
      ),
    ],
  },
  {
    rule: 'a window and a boolean mask: both must allow a key',
    text: 'The mask takes keys out of the window and brings none back.',
    section: section('sliding windows'),
    cases: [
      example(
        'a mask with holes',
        {
          ...{ tq: 4, tk: 4 },
          mask: bool([4, 4], '1011 1101 0111 1110'),
        },
        window(1, 1),
      ),
      example('a mask that ends', { tq: 3, tk: 4, mask: bool([3, 2], '11 11 11') }, window(2, 1)),
    ],
  },
  {
    rule: 'a window and a float mask add up',
    text: 'The mask is added to the scores of the keys within the window.',
    section: section('sliding windows'),
    cases: [
      example('fractions', { tq: 4, tk: 4, mask: [4, 4] }, { ...window(1, 1), ...mode(2) }),
      example(
        'fractions by head, lengths',
        {
          ...{ batch: 2, heads: 2, tq: 2, tk: 4, lengths: [4, 3] },
          mask: [2, 2, 4],
        },
        window(1, 0),
      ),
    ],
  },
  {
    rule: 'a window and nonpad_kv_seqlen: padding stays out',
    text: 'A window that reaches past the keys in use brings none of the padding in.',
    section: section('sliding windows; input nonpad_kv_seqlen'),
    cases: [example('right 2 at the end', { tq: 2, tk: 6, lengths: [3] }, window(0, 2))],
  },
  {
    rule: 'a row that a window leaves without any key gives zeros',
    text: 'As where masks do: 0 in Y and in the weights, -inf after the bias.',
    section: section('fully masked rows; sliding windows'),
    cases: [
      example('queries beyond the keys', { tq: 5, tk: 2 }, { ...window(1, 0), ...mode(3) }),
      example(
        'a window of masked keys',
        {
          ...{ tq: 3, tk: 3 },
          mask: bool([3], '011'),
        },
        { ...window(0, 0), ...mode(2) },
      ),
      example('positions before the keys', { tq: 3, tk: 3, lengths: [1] }, window(-1, 0)),
    ],
  },
  {
    rule: 'qk_matmul_output shows a window from mode 2 on',
    text: 'Modes 0 and 1 hold the scores of all keys; mode 2 holds -inf outside the window.',
    section: section('attribute qk_matmul_output_mode'),
    cases: [0, 1, 2].map((n) =>
      example(
        `mode ${n}`,
        { tq: 3, tk: 5, heads: 1 },
        {
          ...{ ...window(1, 0), softcap: 1 },
          ...mode(n),
        },
      ),
    ),
  },
];

export default { op: 'Attention', opset: 25, rules: [...sides, ...positions, ...compositions] };
