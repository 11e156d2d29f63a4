// Norms and activations along an axis.

import type {
  ArrayInput,
  GeluOptions,
  LayerNormOptions,
  OwnedArray,
  RmsNormOptions,
  SoftmaxOptions,
} from '../api/types.js';
import { checkArray, checkVector } from '../arguments/arrays.js';
import { aroundAxis, checkAxis } from '../arguments/axes.js';
import { checkChoice, checkNumber } from '../arguments/numbers.js';
import { checkOut, type To } from '../arguments/out.js';
import { asMatrix, sizeOf } from '../arguments/shapes.js';
import { takeOptions } from '../arguments/values.js';
import { Call } from '../memory/call.js';
import type { Instance } from '../memory/instance.js';

function norm(
  instance: Instance,
  fn: 'layerNorm' | 'rmsNorm',
  given: ArrayInput,
  options: To<LayerNormOptions>,
): OwnedArray {
  const x = checkArray(fn, 'x', given);
  const { axis = -1, epsilon = 1e-5 } = options;
  const from = checkAxis(fn, x, axis);
  checkNumber(fn, 'epsilon', epsilon);
  const [rows, columns] = asMatrix(x.shape, from);
  const call = new Call(instance, fn);
  const fields = {
    x: call.input(x, [rows, columns]),
    gamma: call.input(checkVector(fn, 'gamma', options.gamma, columns)),
    beta: call.input(checkVector(fn, 'beta', options.beta, columns)),
    epsilon,
  };
  const out = checkOut(fn, options.out, x.shape);
  return call.result(fn, [rows, columns], fields, { as: x.shape, out });
}

export function layerNorm(
  instance: Instance,
  x: ArrayInput,
  options: To<LayerNormOptions> = {},
): OwnedArray {
  const names = ['gamma', 'beta', 'axis', 'epsilon', 'out'] as const;
  return norm(instance, 'layerNorm', x, takeOptions('layerNorm', 'options', options, names));
}

export function rmsNorm(
  instance: Instance,
  x: ArrayInput,
  options: To<RmsNormOptions> = {},
): OwnedArray {
  const names = ['gamma', 'axis', 'epsilon', 'out'] as const;
  return norm(instance, 'rmsNorm', x, takeOptions('rmsNorm', 'options', options, names));
}

export function gelu(
  instance: Instance,
  given: ArrayInput,
  options: To<GeluOptions> = {},
): OwnedArray {
  const fn = 'gelu';
  const taken = takeOptions(fn, 'options', options, ['approximate', 'out']);
  const { approximate = 'none' } = taken;
  checkChoice(fn, 'approximate', approximate, ['none', 'tanh']);
  const x = checkArray(fn, 'x', given);
  const call = new Call(instance, fn);
  const size = [sizeOf(x.shape)];
  const fields = {
    x: call.input(x, size),
    activation: approximate === 'tanh' ? ('gelu_tanh' as const) : ('gelu' as const),
  };
  const out = checkOut(fn, taken.out, x.shape);
  return call.result(fn, size, fields, { as: x.shape, out });
}

export function softmax(
  instance: Instance,
  given: ArrayInput,
  options: To<SoftmaxOptions> = {},
): OwnedArray {
  const fn = 'softmax';
  const taken = takeOptions(fn, 'options', options, ['axis', 'temperature', 'out']);
  const { axis = -1, temperature = 1 } = taken;
  const x = checkArray(fn, 'x', given);
  const from = checkAxis(fn, x, axis);
  checkNumber(fn, 'temperature', temperature);
  const shape = aroundAxis(x.shape, from);
  const call = new Call(instance, fn);
  const fields = { x: call.input(x, shape), temperature };
  const out = checkOut(fn, taken.out, x.shape);
  return call.result(fn, shape, fields, { as: x.shape, out });
}
