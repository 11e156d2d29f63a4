// The rules of ONNX RMSNormalization-23 and LayerNormalization-17.
import { f32, fractions } from '../support/inputs.js';

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

/** Rules that both norms have, `of` an operator and a case of it. */
const normRules = (of, made) => [
  {
    rule: 'epsilon is inside the root',
    text: 'It is added to the mean of the squares, before the root.',
    section: of('equations'),
    cases: [made('epsilon 0.25', {}, { epsilon: 0.25 })],
  },
  {
    rule: 'the default of epsilon is 1e-5',
    text: 'It shows where elements are of its size, or all zeros.',
    section: of('attribute epsilon'),
    cases: [made('elements of a five-hundredth', { unit: tiny }), made('zeros', { unit: 0 })],
  },
  {
    rule: 'axis is the first of the axes that are normalised together',
    text: 'A row is everything from that axis to the last.',
    section: of('attribute axis'),
    cases: [
      made('axis 1 of three', { scale: [3, 4] }, { axis: 1 }),
      made('axis 0 of two', { shape: [3, 4], scale: [3, 4] }, { axis: 0 }),
    ],
  },
  {
    rule: 'the default of axis is -1',
    text: 'Rows are the last axis.',
    section: of('attribute axis'),
    cases: [made('no axis', { shape: [2, 2, 3, 4] })],
  },
  {
    rule: 'a negative axis counts from the end',
    text: '-1 is the last axis, -rank the first.',
    section: of('attribute axis'),
    cases: [
      made('axis -2', { scale: [3, 4] }, { axis: -2 }),
      made('axis -3: all', { scale: [2, 3, 4] }, { axis: -3 }),
    ],
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
    },
    {
      rule: 'the scale multiplies the normalised row',
      text: 'Y is the normalised element times that of the scale, which takes no part in the mean of squares.',
      section: rms('second stage'),
      cases: [normCase('a scale', {})],
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
    },
    {
      rule: 'scale and B come last',
      text: 'Y is the normalised element times that of the scale plus that of B.',
      section: layer('second stage'),
      cases: [layerCase('scale and B', {})],
    },
    {
      rule: 'B may be left out',
      text: 'It is 0 then.',
      section: layer('input B'),
      cases: [normCase('no B', {})],
    },
    ...normRules(layer, layerCase),
  ],
};
