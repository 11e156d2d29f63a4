// Operators from arrays to arrays: norms, activations, tables, statistics.

import { Call } from '../memory/call.js';
import {
  checkArray,
  checkChoice,
  checkInteger,
  requireIntegers,
  checkNumber,
  checkVector,
  type Input,
  mostInt,
  shapeText,
  sizeOf,
} from '../arguments/check.js';
import type { ArrayName, Operator } from '../memory/abi.js';
import type { Engine } from '../engine.js';
import { QkvError } from '../api/errors.js';
import { takeOptions } from '../arguments/values.js';
import { checkOut, type To } from '../arguments/out.js';
import type {
  ArrayInput,
  GeluOptions,
  LayerNormOptions,
  NdArray,
  Qkv,
  RmsNormOptions,
  SoftmaxOptions,
} from '../api/types.js';

/** [rows, columns] when an operator works on the last axes and does not care about the others. */
const asMatrix = (shape: readonly number[], axis: number): readonly [number, number] => [
  sizeOf(shape.slice(0, axis)),
  sizeOf(shape.slice(axis)),
];

/** `axis` of x, counted from the front. */
function checkAxis(fn: string, { length: rank }: readonly number[], axis: number): number {
  if (rank === 0) throw new QkvError('shape_mismatch', `${fn}: x is [], expected [...,n]`);
  checkInteger(fn, 'axis', axis, -rank, rank - 1);
  return axis < 0 ? axis + rank : axis;
}

function norm(
  engine: Engine,
  fn: 'layerNorm' | 'rmsNorm',
  given: ArrayInput,
  options: To<LayerNormOptions>,
): NdArray {
  const x = checkArray(fn, 'x', given);
  const { axis = -1, epsilon = 1e-5 } = options;
  const from = checkAxis(fn, x.shape, axis);
  checkNumber(fn, 'epsilon', epsilon);
  const [rows, columns] = asMatrix(x.shape, from);
  const call = new Call(engine, fn);
  call.input('x', x, [rows, columns]);
  call.input('gamma', checkVector(fn, 'gamma', options.gamma, columns));
  call.input('beta', checkVector(fn, 'beta', options.beta, columns));
  const out = checkOut(fn, options.out, x.shape);
  return call.result(fn, [rows, columns], { axis: -1, epsilon }, { as: x.shape, out });
}

export function layerNorm(engine: Engine, x: ArrayInput, options: To<LayerNormOptions>): NdArray {
  engine.raw('layerNorm');
  const names = ['gamma', 'beta', 'axis', 'epsilon', 'out'];
  return norm(engine, 'layerNorm', x, takeOptions('layerNorm', 'options', options, names));
}

export function rmsNorm(engine: Engine, x: ArrayInput, options: To<RmsNormOptions>): NdArray {
  engine.raw('rmsNorm');
  const names = ['gamma', 'axis', 'epsilon', 'out'];
  return norm(engine, 'rmsNorm', x, takeOptions('rmsNorm', 'options', options, names));
}

export function gelu(engine: Engine, given: ArrayInput, options: To<GeluOptions>): NdArray {
  const fn = 'gelu';
  engine.raw(fn);
  const taken = takeOptions(fn, 'options', options, ['approximate', 'out']);
  const { approximate = 'none' } = taken;
  checkChoice(fn, 'approximate', approximate, ['none', 'tanh']);
  const x = checkArray(fn, 'x', given);
  const call = new Call(engine, fn);
  const size = [sizeOf(x.shape)];
  call.input('x', x, size);
  const out = checkOut(fn, taken.out, x.shape);
  const activation = approximate === 'tanh' ? 1 : 0;
  return call.result(fn, size, { activation }, { as: x.shape, out });
}

export function softmax(engine: Engine, given: ArrayInput, options: To<SoftmaxOptions>): NdArray {
  const fn = 'softmax';
  engine.raw(fn);
  const taken = takeOptions(fn, 'options', options, ['axis', 'temperature', 'out']);
  const { axis = -1, temperature = 1 } = taken;
  const x = checkArray(fn, 'x', given);
  const from = checkAxis(fn, x.shape, axis);
  checkNumber(fn, 'temperature', temperature);
  // Any rank is three axes to the core: what is before, the one asked for, what is after.
  const parts = [x.shape.slice(0, from), x.shape.slice(from, from + 1), x.shape.slice(from + 1)];
  const shape = parts.map(sizeOf);
  const call = new Call(engine, fn);
  call.input('x', x, shape);
  const out = checkOut(fn, taken.out, x.shape);
  return call.result(fn, shape, { axis: 1, temperature }, { as: x.shape, out });
}

/** A table of rows. */
function checkTable(fn: string, given: NdArray, expected: string): Input {
  const table = checkArray(fn, 'table', given);
  if (table.shape.length !== 2) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: table is ${shapeText(table.shape)}, expected ${expected}`,
    );
  }
  return table;
}

export function embedding(engine: Engine, givenTable: NdArray, ids: Int32Array): NdArray {
  const fn = 'embedding';
  engine.raw(fn);
  const table = checkTable(fn, givenTable, '[vocabulary,dModel]');
  const checked = requireIntegers(fn, 'ids', ids);
  const call = new Call(engine, fn);
  call.input('table', table);
  call.input('ids', checked);
  return call.result(fn, [...checked.shape, table.shape[1] ?? 0], {});
}

export function learnedEncoding(
  engine: Engine,
  givenTable: NdArray,
  length: number,
  options: NonNullable<Parameters<Qkv['learnedEncoding']>[2]>,
): NdArray {
  const fn = 'learnedEncoding';
  engine.raw(fn);
  const { offset = 0, outOfRange = 'error' } = takeOptions(fn, 'options', options, [
    'offset',
    'outOfRange',
  ]);
  const table = checkTable(fn, givenTable, '[maxLength,dModel]');
  checkInteger(fn, 'length', length, 0, mostInt);
  checkInteger(fn, 'offset', offset, 0, mostInt);
  checkChoice(fn, 'outOfRange', outOfRange, ['error', 'clamp']);
  const call = new Call(engine, fn);
  call.input('table', table);
  return call.result(fn, [length, table.shape[1] ?? 0], {
    ...{ offset, clamp: outOfRange === 'clamp' ? 1 : 0 },
  });
}

export function entropy(engine: Engine, given: ArrayInput): NdArray {
  const fn = 'entropy';
  engine.raw(fn);
  const weights = checkArray(fn, 'weights', given);
  if (weights.shape.length === 0) {
    throw new QkvError('shape_mismatch', `${fn}: weights is [], expected [...,T]`);
  }
  const shape = weights.shape.slice(0, -1);
  const [rows, columns] = asMatrix(weights.shape, shape.length);
  const call = new Call(engine, fn);
  call.input('x', weights, [rows, columns]);
  return call.result(fn, [rows], {}, { as: shape });
}

export function headStatistics(
  engine: Engine,
  given: ArrayInput,
): ReturnType<Qkv['headStatistics']> {
  const fn = 'headStatistics';
  engine.raw(fn);
  const weights = checkArray(fn, 'weights', given);
  const [batch = 0, heads = 0] = weights.shape;
  if (weights.shape.length !== 4) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: weights is ${shapeText(weights.shape)}, expected [B,H,Tq,Tk]`,
    );
  }
  const call = new Call(engine, fn);
  const shape = [batch, heads];
  call.input('x', weights);
  for (const name of ['entropy', 'lse', 'weights', 'out'] as const) call.output(name, shape);
  call.run(fn satisfies Operator, {});
  const read = (name: ArrayName): NdArray => ({ data: call.read(name), shape });
  return {
    entropy: read('entropy'),
    distance: read('lse'),
    maxWeight: read('weights'),
    firstKey: read('out'),
  };
}
