// Gradients of norms, of softmax and of activations.

import type {
  ActivationKind,
  GateGradients,
  GateKind,
  LayerNormGradients,
  RmsNormGradients,
} from '../api/train-types.js';
import type {
  ArrayInput,
  LayerNormOptions,
  OwnedArray,
  RmsNormOptions,
  SoftmaxOptions,
} from '../api/types.js';
import { checkArray, checkShaped, checkVector } from '../arguments/arrays.js';
import { aroundAxis, checkAxis } from '../arguments/axes.js';
import { checkChoice, checkNumber } from '../arguments/numbers.js';
import { asMatrix, sizeOf } from '../arguments/shapes.js';
import { takeOptions } from '../arguments/values.js';
import { take } from '../language/rows.js';
import { Call } from '../memory/call.js';
import type { Instance } from '../memory/instance.js';

/** What a norm's backward has room for and reads: beta only for its length, as the gradients do not depend on it. */
function startNorm(
  instance: Instance,
  fn: string,
  [givenDOutput, givenX]: readonly [ArrayInput, ArrayInput],
  options: LayerNormOptions,
) {
  const x = checkArray(fn, 'x', givenX);
  const { axis = -1, epsilon = 1e-5 } = options;
  const from = checkAxis(fn, x, axis);
  checkNumber(fn, 'epsilon', epsilon);
  const matrix = asMatrix(x.shape, from);
  const [, columns] = matrix;
  const dOutput = checkShaped(fn, 'dOutput', givenDOutput, x.shape);
  const gamma = checkVector(fn, 'gamma', options.gamma, columns);
  checkVector(fn, 'beta', options.beta, columns);
  const call = new Call(instance, fn);
  const fields = {
    dOut: call.input(dOutput, matrix),
    x: call.input(x, matrix),
    gamma: call.input(gamma),
    epsilon,
    dx: call.output('dx', matrix),
    dGamma: call.output('dGamma', [columns]),
  };
  return { call, fields, shape: x.shape, columns };
}

export function layerNormBackward(
  instance: Instance,
  dOutput: ArrayInput,
  x: ArrayInput,
  given: LayerNormOptions = {},
): LayerNormGradients {
  const fn = 'layerNormBackward';
  const options = takeOptions(fn, 'options', given, ['gamma', 'beta', 'axis', 'epsilon']);
  const { call, fields, shape, columns } = startNorm(instance, fn, [dOutput, x], options);
  const dBeta = call.output('dBeta', [columns]);
  call.run(fn, { ...fields, dBeta });
  const [dx, dGamma] = [take(call, fields.dx, shape), call.read(fields.dGamma)];
  return { dx, dGamma, dBeta: call.read(dBeta) };
}

export function rmsNormBackward(
  instance: Instance,
  dOutput: ArrayInput,
  x: ArrayInput,
  given: RmsNormOptions = {},
): RmsNormGradients {
  const fn = 'rmsNormBackward';
  const options = takeOptions(fn, 'options', given, ['gamma', 'axis', 'epsilon']);
  const { call, fields, shape } = startNorm(instance, fn, [dOutput, x], options);
  call.run(fn, fields);
  return { dx: take(call, fields.dx, shape), dGamma: call.read(fields.dGamma) };
}

export function softmaxBackward(
  instance: Instance,
  givenDOutput: ArrayInput,
  givenOutput: ArrayInput,
  given: SoftmaxOptions = {},
): OwnedArray {
  const fn = 'softmaxBackward';
  const { axis = -1, temperature = 1 } = takeOptions(fn, 'options', given, ['axis', 'temperature']);
  const output = checkArray(fn, 'output', givenOutput);
  const shape = aroundAxis(output.shape, checkAxis(fn, output, axis));
  checkNumber(fn, 'temperature', temperature);
  const dOutput = checkShaped(fn, 'dOutput', givenDOutput, output.shape);
  const call = new Call(instance, fn);
  const dx = call.output('dx', shape);
  const [dOut, out] = [call.input(dOutput, shape), call.input(output, shape)];
  call.run(fn, { dOut, out, temperature, dx });
  return take(call, dx, output.shape);
}

const activations: readonly ActivationKind[] = ['relu', 'gelu', 'gelu_tanh', 'silu'];

export function activationBackward(
  instance: Instance,
  givenDOutput: ArrayInput,
  givenX: ArrayInput,
  kind: ActivationKind,
): OwnedArray {
  const fn = 'activationBackward';
  checkChoice(fn, 'kind', kind, activations);
  const x = checkArray(fn, 'x', givenX);
  const dOutput = checkShaped(fn, 'dOutput', givenDOutput, x.shape);
  const call = new Call(instance, fn);
  const size = [sizeOf(x.shape)];
  const dx = call.output('dx', size);
  const [dOut, from] = [call.input(dOutput, size), call.input(x, size)];
  call.run(fn, { dOut, x: from, activation: kind, dx });
  return take(call, dx, x.shape);
}

/** The activation in each gate. */
const gates = { swiglu: 'silu', geglu: 'gelu', geglu_tanh: 'gelu_tanh' } as const;

export function gateBackward(
  instance: Instance,
  givenDOutput: ArrayInput,
  givenX: ArrayInput,
  givenY: ArrayInput,
  kind: GateKind,
): GateGradients {
  const fn = 'gateBackward';
  checkChoice(fn, 'kind', kind, Object.keys(gates));
  const x = checkArray(fn, 'x', givenX);
  const y = checkShaped(fn, 'y', givenY, x.shape);
  const dOutput = checkShaped(fn, 'dOutput', givenDOutput, x.shape);
  const call = new Call(instance, fn);
  const size = [sizeOf(x.shape)];
  const [dx, dy] = [call.output('dx', size), call.output('dy', size)];
  call.run(fn, {
    ...{ dOut: call.input(dOutput, size), x: call.input(x, size), gated: call.input(y, size) },
    ...{ activation: gates[kind], dx, dy },
  });
  return { dx: take(call, dx, x.shape), dy: take(call, dy, x.shape) };
}
