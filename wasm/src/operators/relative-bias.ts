// Positions as biases on scores.

import { Call } from '../memory/call.js';
import { checkArray, checkShaped } from '../arguments/arrays.js';
import { checkBoolean, checkInteger, mostInt } from '../arguments/numbers.js';
import { shapeText } from '../arguments/shapes.js';
import type { Instance } from '../memory/instance.js';
import { QkvError } from '../api/errors.js';
import { takeOptions } from '../arguments/values.js';
import type { ArrayInput, OwnedArray, OwnedNumbers, Qkv } from '../api/types.js';

type T5Options = NonNullable<Parameters<Qkv['t5RelativeBias']>[3]>;

/** The slopes that ALiBi has by default, for the function that messages name. */
export function paperSlopes(instance: Instance, fn: string, numHeads: number): OwnedNumbers {
  checkInteger(fn, 'numHeads', numHeads, 1, mostInt);
  return new Call(instance, fn).result('alibiSlopes', [numHeads], {}).data;
}

export function alibiSlopes(instance: Instance, numHeads: number): OwnedNumbers {
  return paperSlopes(instance, 'alibiSlopes', numHeads);
}

export function t5RelativeBias(
  instance: Instance,
  table: ArrayInput,
  queryLength: number,
  keyLength: number,
  options: T5Options = {},
): OwnedArray {
  const fn = 't5RelativeBias';
  const taken = takeOptions(fn, 'options', options, ['bidirectional', 'maxDistance', 'offset']);
  const { bidirectional = true, maxDistance = 128, offset = 0 } = taken;
  const input = checkArray(fn, 'table', table);
  if (input.shape.length !== 2) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: table is ${shapeText(input.shape)}, expected [numBuckets,H]`,
    );
  }
  checkInteger(fn, 'queryLength', queryLength, 0, mostInt);
  checkInteger(fn, 'keyLength', keyLength, 0, mostInt);
  checkBoolean(fn, 'bidirectional', bidirectional);
  checkInteger(fn, 'maxDistance', maxDistance, 1, mostInt);
  checkInteger(fn, 'offset', offset, -mostInt, mostInt);
  const call = new Call(instance, fn);
  const [, heads = 0] = input.shape;
  return call.result('t5RelativeBias', [heads, queryLength, keyLength], {
    ...{ table: call.input(input), bidirectional, maxDistance, offset },
  });
}

export function transformerXlBias(
  instance: Instance,
  givenQ: ArrayInput,
  givenR: ArrayInput,
  givenV: ArrayInput,
): OwnedArray {
  const fn = 'transformerXlBias';
  const q = checkArray(fn, 'q', givenQ);
  const r = checkArray(fn, 'r', givenR);
  const [batch = 0, heads = 0, tq = 0, width = 0] = q.shape;
  const [rows = 0] = r.shape;
  if (q.shape.length !== 4) {
    throw new QkvError('shape_mismatch', `${fn}: q is ${shapeText(q.shape)}, expected [B,H,Tq,d]`);
  }
  // r has Tk + Tq - 1 rows.
  const tk = rows + 1 - tq;
  if (r.shape.length !== 2 || r.shape[1] !== heads * width || tk < 0) {
    const expected = [tq > 0 ? `Tk+${tq - 1}` : 'Tk-1', heads * width];
    throw new QkvError(
      'shape_mismatch',
      `${fn}: r is ${shapeText(r.shape)}, expected ${shapeText(expected)} to match q ${shapeText(q.shape)}`,
    );
  }
  const v = checkShaped(fn, 'v', givenV, [heads, width]);
  const call = new Call(instance, fn);
  const given = { q: call.input(q), r: call.input(r), v: call.input(v) };
  return call.result(fn, [batch, heads, tq, tk], given);
}
