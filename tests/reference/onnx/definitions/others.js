// The rules of the other operators: RotaryEmbedding-23, RMSNormalization-23, LayerNormalization-17, Gelu-20 and
// Softmax-13.
import { f32, fractions, i64 } from '../support/inputs.js';
import { rotarySteps } from '../support/operators.js';

// --- RotaryEmbedding-23 ---

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
      wrong: {
        'they are neighbours': { pair: (i) => [2 * i, 2 * i + 1] },
        'the second half runs backwards': { pair: (i, r) => [i, r - 1 - i] },
      },
    },
    {
      rule: 'pairs are neighbours if interleaved',
      text: 'Element 2i turns with element 2i + 1.',
      section: rotary('attribute interleaved = 1'),
      cases: [
        rotaryCase('neighbours', {}, { interleaved: 1 }),
        rotaryCase('neighbours, 3D, positions', { flat: true, ids }, { interleaved: 1 }),
      ],
      wrong: { 'they are halves': { pair: (i, r) => [i, i + r / 2] } },
    },
    {
      rule: 'a pair turns from its first element to its second',
      text: '(x1, x2) becomes (cos x1 - sin x2, sin x1 + cos x2).',
      section: rotary('algorithm: real and imaginary values'),
      cases: [rotaryCase('one pair', { width: 2, heads: 1 })],
      wrong: {
        'it turns the other way': { turn: ([x, y], c, s) => [c * x + s * y, c * y - s * x] },
        'the parts are exchanged': { turn: ([x, y], c, s) => [s * x + c * y, c * x - s * y] },
      },
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
      wrong: {
        'the last ones turn': { first: (r) => 6 - r },
        'halves are those of the head': {
          pair: (i, r, interleaved) => (interleaved ? [2 * i + 1, 2 * i] : [i, i + 3]),
        },
      },
    },
    {
      rule: 'rotary_embedding_dim 0 turns all',
      text: 'The default is the whole head.',
      section: rotary('attribute rotary_embedding_dim'),
      cases: [rotaryCase('0', {}, { rotary_embedding_dim: 0 })],
      wrong: { 'it turns none': { rotated: (dim) => dim, refusal: () => undefined } },
    },
    {
      rule: 'position_ids choose rows of the caches',
      text: 'Token t of batch row b is turned by row position_ids[b, t], in any order and more than once.',
      section: rotary('inputs position_ids, cos_cache, sin_cache'),
      cases: [
        rotaryCase('positions', { ids }),
        rotaryCase('positions, one head', { ids, heads: 1 }),
      ],
      wrong: {
        'token t is at row t': { row: ({ t }) => t },
        'the positions of batch row 0 for all': { row: ({ t, positions }) => positions[t] },
      },
    },
    {
      rule: 'without position_ids the caches have a row for each token',
      text: 'They are then [batch, token, r / 2].',
      section: rotary('inputs cos_cache, sin_cache'),
      cases: [rotaryCase('a row for each token'), rotaryCase('and 3D', { flat: true })],
      wrong: { 'the rows of batch row 0 for all': { row: ({ t }) => t } },
    },
    {
      rule: 'all heads of a token turn alike',
      text: 'Rows of the caches are for tokens, and serve every head.',
      section: rotary('algorithm: caches are broadcast over heads'),
      cases: [rotaryCase('three heads', { heads: 3, width: 4 })],
      wrong: { 'head h has row h': { row: ({ b, h, tokens }) => b * tokens + h } },
    },
    {
      rule: '3D input holds heads side by side',
      text: '[batch, token, heads * head_size] with num_heads heads; the output has that shape too.',
      section: rotary('input X; attribute num_heads'),
      cases: [rotaryCase('3D', { flat: true, heads: 3, width: 4 })],
      wrong: {
        'heads alternate within a row': {
          index3: ({ heads, tokens, width }, [b, h, t, d]) =>
            ((b * tokens + t) * width + d) * heads + h,
        },
        'it is one head': { index3: rotarySteps.index4 },
      },
    },
    {
      rule: '4D input is batch, head, token, element',
      text: 'The heads of a 4D tensor are its second axis, and tokens its third.',
      section: rotary('input X'),
      cases: [rotaryCase('4D', { heads: 2, tokens: 3, width: 4 })],
      wrong: { 'tokens come before heads': { index4: rotarySteps.index3 } },
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
      wrong: { 'they are taken': { refusal: () => undefined } },
    },
  ],
};

// --- RMSNormalization-23, LayerNormalization-17 ---

function normCase(name, { shape = [2, 3, 4], scale = shape.slice(-1), B, unit = 1 }, attributes) {
  const make = fractions(name);
  const X = make(shape);
  return {
    name,
    attributes: attributes ?? {},
    inputs: {
      X: f32(
        shape,
        X.data.map((x) => x * unit),
      ),
      W: make(scale),
      ...(B && { B: make(B) }),
    },
  };
}

const tiny = 2 ** -9;
const mean = (row) => row.reduce((sum, x) => sum + x, 0) / row.length;
const squares = (row) => row.reduce((sum, x) => sum + x * x, 0);

/** Readings of the axes that are wrong for both norms. */
const wrongAxes = {
  'one axis alone': { normalised: (shape, axis) => [shape[axis]] },
  'all axes': { normalised: (shape) => shape },
  'the last axis': { normalised: (shape) => shape.slice(-1) },
};

/** Rules that both norms have, `of` an operator and a case of it. */
const normRules = (of, made) => [
  {
    rule: 'epsilon is inside the root',
    text: 'It is added to the mean of the squares, before the root.',
    section: of('equations'),
    cases: [made('epsilon 0.25', {}, { epsilon: 0.25 })],
    wrong: {
      'it is added to the root': {
        size: (row, epsilon) => Math.sqrt(squares(row) / row.length) + epsilon,
      },
      'it is added to the sum': {
        size: (row, epsilon) => Math.sqrt((squares(row) + epsilon) / row.length),
      },
      'the attribute is not looked at': { epsilon: () => 1e-5 },
    },
  },
  {
    rule: 'the default of epsilon is 1e-5',
    text: 'It shows where elements are of its size, or all zeros.',
    section: of('attribute epsilon'),
    cases: [made('elements of a five-hundredth', { unit: tiny }), made('zeros', { unit: 0 })],
    wrong: {
      '1e-6': { epsilon: () => 1e-6 },
      none: { epsilon: () => 0 },
    },
  },
  {
    rule: 'axis is the first of the axes that are normalised together',
    text: 'A row is everything from that axis to the last.',
    section: of('attribute axis'),
    cases: [
      made('axis 1 of three', { scale: [3, 4] }, { axis: 1 }),
      made('axis 0 of two', { shape: [3, 4], scale: [3, 4] }, { axis: 0 }),
    ],
    wrong: wrongAxes,
  },
  {
    rule: 'the default of axis is -1',
    text: 'Rows are the last axis.',
    section: of('attribute axis'),
    cases: [made('no axis', { shape: [2, 2, 3, 4] })],
    wrong: { 'the second axis': { axis: () => 1 } },
  },
  {
    rule: 'a negative axis counts from the end',
    text: '-1 is the last axis, -rank the first.',
    section: of('attribute axis'),
    cases: [
      made('axis -2', { scale: [3, 4] }, { axis: -2 }),
      made('axis -3: all', { scale: [2, 3, 4] }, { axis: -3 }),
    ],
    wrong: {
      'it counts from the last but one': { axis: (axis, rank) => Math.max(0, axis + rank - 1) },
      'it is the last': { axis: (axis, rank) => rank - 1 },
    },
  },
  {
    rule: 'the scale broadcasts to the normalised axes',
    text: 'Right-aligned; an axis of 1 is repeated.',
    section: of('input scale'),
    cases: [
      made('[4] on [3, 4]', { scale: [4] }, { axis: 1 }),
      made('[3, 1] on [3, 4]', { scale: [3, 1] }, { axis: 1 }),
      made('[1] on [4]', { scale: [1] }),
    ],
    wrong: {
      'it is a list, begun again at its end': {
        spread: ({ data }, extents, i) => data[(i + (i >= data.length ? 1 : 0)) % data.length],
      },
      'it is aligned on the left': {
        spread: ({ data }, extents, i) => data[Math.floor(i / extents.at(-1)) % data.length],
      },
      'its first element for all': { spread: ({ data }) => data[0] },
      'what is missing is 1': { spread: ({ data }, extents, i) => data[i] ?? 1 },
    },
  },
];

const rms = (part) => `RMSNormalization-23, ${part}`;
const layer = (part) => `LayerNormalization-17, ${part}`;

export const rmsNorm23 = {
  op: 'RMSNormalization',
  opset: 23,
  rules: [
    {
      rule: 'rows are divided by the root of the mean of their squares',
      text: 'The mean of the row itself is not subtracted.',
      section: rms('equations'),
      cases: [normCase('rows of four', {}), normCase('rows of seven', { shape: [3, 7] })],
      wrong: {
        'the mean is subtracted': { centre: mean },
        'by the root of their sum': { size: (row, e) => Math.sqrt(squares(row) + e) },
        'by the mean of their sizes': { size: (row, e) => mean(row.map(Math.abs)) + e },
      },
    },
    {
      rule: 'the scale multiplies the normalised row',
      text: 'Y is the normalised element times that of the scale, which takes no part in the mean of squares.',
      section: rms('second stage'),
      cases: [normCase('a scale', {})],
      wrong: {
        'it is 1 + scale': { finish: (z, factor) => z * (1 + factor) },
        'it is added': { finish: (z, factor) => z + factor },
      },
    },
    ...normRules(rms, normCase),
  ],
};

const layerCase = (name, sizes, attributes) =>
  normCase(name, { B: sizes.scale ?? (sizes.shape ?? [4]).slice(-1), ...sizes }, attributes);

export const layerNorm17 = {
  op: 'LayerNormalization',
  opset: 17,
  rules: [
    {
      rule: 'rows get mean 0 and variance 1',
      text: 'The mean is subtracted, and the root of the mean of the squares of what is left divides: of n, not n - 1.',
      section: layer('equations'),
      cases: [layerCase('rows of four', {}), layerCase('rows of seven', { shape: [3, 7] })],
      wrong: {
        'the mean is not subtracted': { centre: () => 0 },
        'of n - 1': { size: (row, e) => Math.sqrt(squares(row) / (row.length - 1) + e) },
      },
    },
    {
      rule: 'scale and B come last',
      text: 'Y is the normalised element times that of the scale plus that of B.',
      section: layer('second stage'),
      cases: [layerCase('scale and B', {})],
      wrong: {
        'B first': { finish: (z, factor, term) => (z + term) * factor },
        'no B': { finish: (z, factor) => z * factor },
      },
    },
    {
      rule: 'B may be left out',
      text: 'It is 0 then.',
      section: layer('input B'),
      cases: [normCase('no B', {})],
      wrong: { 'it is 1': { finish: (z, factor) => z * factor + 1 } },
    },
    ...normRules(layer, layerCase),
  ],
};

// --- Gelu-20 ---

const points = f32([2, 7], [-3, -2, -1.5, -1, -0.5, -0.25, 0, 0.125, 0.25, 0.5, 1, 1.5, 2, 3]);
const geluCase = (name, attributes) => ({ name, attributes, inputs: { x: points } });
const gelu = (part) => `Gelu-20, ${part}`;

export const gelu20 = {
  op: 'Gelu',
  opset: 20,
  rules: [
    {
      rule: 'the default form has the error function',
      text: 'x / 2 (1 + erf(x / sqrt(2))).',
      section: gelu('summary; attribute approximate'),
      cases: [geluCase('no attribute', {}), geluCase('none', { approximate: 'none' })],
      wrong: {
        'it is the form with tanh': { form: () => 'tanh' },
        'it is x sigmoid(1.702 x)': { none: (x) => x / (1 + Math.exp(-1.702 * x)) },
      },
    },
    {
      rule: 'the form "tanh" has the hyperbolic tangent',
      text: 'x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).',
      section: gelu('summary; attribute approximate'),
      cases: [geluCase('tanh', { approximate: 'tanh' })],
      wrong: { 'the attribute is not looked at': { form: () => 'none' } },
    },
  ],
};

// --- Softmax-13 ---

const softmaxCase = (name, { shape = [2, 3, 4], ...how } = {}, attributes = {}) => ({
  ...{ name, attributes },
  inputs: { x: fractions(name)(shape, how) },
});
const softmax = (part) => `Softmax-13, ${part}`;

export const softmax13 = {
  op: 'Softmax',
  opset: 13,
  rules: [
    {
      rule: 'the axis is one alone',
      text: 'Elements along it sum to 1; the axes after it are not joined to it.',
      section: softmax('attribute axis'),
      cases: [
        softmaxCase('axis 1 of three', {}, { axis: 1 }),
        softmaxCase('axis 0', {}, { axis: 0 }),
        softmaxCase('axis -2', {}, { axis: -2 }),
      ],
      wrong: {
        'it is joined with those after it': {
          row: (shape, axis) => [shape.slice(axis).reduce((n, extent) => n * extent, 1), 1],
        },
        'it is the last': { axis: (axis, rank) => rank - 1 },
      },
    },
    {
      rule: 'the default of axis is -1',
      text: 'Rows are the last axis.',
      section: softmax('attribute axis'),
      cases: [softmaxCase('no axis')],
      wrong: { 'the second axis': { axis: () => 1 } },
    },
    {
      rule: 'elements of any size have a softmax',
      text: 'exp() of a large element would overflow, and so a row is taken relative to its largest element.',
      section: softmax('summary'),
      cases: [softmaxCase('up to 1000', { most: 1000, step: 0.5 })],
      wrong: { 'exp() of the element itself': { shift: () => 0 } },
    },
  ],
};
