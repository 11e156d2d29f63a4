// Positions as biases on scores.

import { Call } from '../memory/call.js';
import { checkArray, checkBoolean, checkInteger, mostInt, shapeText } from '../arguments/check.js';
import type { Engine } from '../engine.js';
import { QkvError } from '../api/errors.js';
import { takeOptions } from '../arguments/values.js';
import type { ArrayInput, NdArray, Qkv } from '../api/types.js';

type T5Options = NonNullable<Parameters<Qkv['t5RelativeBias']>[3]>;

/** `fn` is who asks, for messages. */
export function alibiSlopes(engine: Engine, numHeads: number, fn = 'alibiSlopes'): Float32Array {
  engine.raw(fn);
  checkInteger(fn, 'numHeads', numHeads, 1, mostInt);
  return new Call(engine, fn).result('alibiSlopes', [numHeads], {}).data;
}

export function t5RelativeBias(
  engine: Engine,
  table: NdArray,
  [queryLength, keyLength]: readonly [number, number],
  options: T5Options,
): NdArray {
  const fn = 't5RelativeBias';
  engine.raw(fn);
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
  const call = new Call(engine, fn);
  call.input('table', input);
  const [, heads = 0] = input.shape;
  return call.result('t5RelativeBias', [heads, queryLength, keyLength], {
    ...{ bidirectional: Number(bidirectional), maxDistance, offset },
  });
}

export function transformerXlBias(
  engine: Engine,
  givenQ: ArrayInput,
  givenR: NdArray,
  givenV: NdArray,
): NdArray {
  const fn = 'transformerXlBias';
  engine.raw(fn);
  const q = checkArray(fn, 'q', givenQ);
  const r = checkArray(fn, 'r', givenR);
  const v = checkArray(fn, 'v', givenV);
  const [batch = 0, heads = 0, tq = 0, width = 0] = q.shape;
  const [rows = 0] = r.shape;
  if (q.shape.length !== 4) {
    throw new QkvError('shape_mismatch', `${fn}: q is ${shapeText(q.shape)}, expected [B,H,Tq,d]`);
  }
  const least = Math.max(tq - 1, 0);
  if (r.shape.length !== 2 || r.shape[1] !== heads * width || rows < least) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: r is ${shapeText(r.shape)}, expected [Tk+${least},${heads * width}] to match q ${shapeText(q.shape)}`,
    );
  }
  const call = new Call(engine, fn);
  call.input('q', q);
  call.input('table', r);
  call.input('v', v);
  return call.result('transformerXlBias', [batch, heads, tq, rows - least], {});
}
