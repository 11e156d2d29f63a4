// linear(), linearLayer() and its forward().
import { randomArray, zeros } from '../../../support/js/arrays.js';
import { all, array, choice, floats, options, output, beside, refused, to } from './kinds.js';

const x = randomArray([2, 3, 8], 1);
const w = randomArray([8, 5], 2);

const matrix = all(
  array(
    [8, 5],
    [...to('[in,out]', [], [40], [1, 8, 5]), ...to('[in,out] of at least 1', [8, 0], [0, 5])],
  ),
  [beside({ 'options.layout': 'out_in' }, refused(zeros([40]), 'shape_mismatch', 'w is [40]', '[out,in]'))], // prettier-ignore
);
const rows = array(
  x.shape,
  [[], [7], [8, 3], [2, 3, 9]].map((shape) => [shape, '[...,8]']),
);
const out = { 'options.out': output([2, 3, 5], [], [2, 3, 5, 1], [2, 9, 5]) };
const ofWeights = {
  options: options('layout', 'lay_out'),
  'options.bias': floats(5),
  'options.layout': choice('in_out', 'out_in'),
};

export const linear = {
  method: 'Qkv.linear',
  says: 'linear',
  base: () => ({ x, w, options: {} }),
  call: ({ engine }, args) => engine.linear(args.x, args.w, args.options),
  kinds: { x: rows, w: matrix, ...ofWeights, ...out },
};

export const linearLayer = {
  method: 'Qkv.linearLayer',
  says: 'linearLayer',
  base: () => ({ w, options: {} }),
  call: ({ engine }, args) => engine.linearLayer(args.w, args.options).dispose(),
  kinds: { w: matrix, ...ofWeights },
};

let layer;
export const forwardLinear = {
  method: 'LinearLayer.forward',
  says: 'forward',
  base: () => ({ x, options: {} }),
  call: ({ engine }, args) => {
    layer ??= engine.linearLayer(w);
    return layer.forward(args.x, args.options);
  },
  kinds: { x: rows, options: options('out', 'outt'), ...out },
};
