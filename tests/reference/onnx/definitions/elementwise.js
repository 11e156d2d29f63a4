// The rules of ONNX Gelu-20 and Softmax-13.
import { f32, fractions } from '../support/inputs.js';

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
    },
    {
      rule: 'the form "tanh" has the hyperbolic tangent',
      text: 'x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).',
      section: gelu('summary; attribute approximate'),
      cases: [geluCase('tanh', { approximate: 'tanh' })],
    },
  ],
};

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
    },
    {
      rule: 'the default of axis is -1',
      text: 'Rows are the last axis.',
      section: softmax('attribute axis'),
      cases: [softmaxCase('no axis')],
    },
    {
      rule: 'elements of any size have a softmax',
      text: 'exp() of a large element would overflow, and so a row is taken relative to its largest element.',
      section: softmax('summary'),
      cases: [softmaxCase('up to 1000', { most: 1000, step: 0.5 })],
    },
  ],
};
