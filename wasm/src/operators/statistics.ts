// Statistics of attention weights.

import { QkvError } from '../api/errors.js';
import type { ArrayInput, OwnedArray, Qkv } from '../api/types.js';
import { checkArray, type Input } from '../arguments/arrays.js';
import { asMatrix, shapeText } from '../arguments/shapes.js';
import { Call, type Slot } from '../memory/call.js';
import type { Instance } from '../memory/instance.js';

const refusal = (fn: string, { name, shape }: Input, expected: string): QkvError =>
  new QkvError('shape_mismatch', `${fn}: ${name} is ${shapeText(shape)}, expected ${expected}`);

export function entropy(instance: Instance, given: ArrayInput): OwnedArray {
  const fn = 'entropy';
  const weights = checkArray(fn, 'weights', given);
  if (weights.shape.length === 0) throw refusal(fn, weights, '[...,T]');
  const shape = weights.shape.slice(0, -1);
  const [rows, columns] = asMatrix(weights.shape, shape.length);
  const call = new Call(instance, fn);
  const fields = { weights: call.input(weights, [rows, columns]) };
  return call.result(fn, [rows], fields, { as: shape });
}

export function headStatistics(
  instance: Instance,
  given: ArrayInput,
): ReturnType<Qkv['headStatistics']> {
  const fn = 'headStatistics';
  const weights = checkArray(fn, 'weights', given);
  const [batch = 0, heads = 0] = weights.shape;
  if (weights.shape.length !== 4) throw refusal(fn, weights, '[B,H,Tq,Tk]');
  const call = new Call(instance, fn);
  const shape = [batch, heads];
  const slots = {
    entropy: call.output('entropy', shape),
    distance: call.output('distance', shape),
    maxWeight: call.output('maxWeight', shape),
    firstKey: call.output('firstKey', shape),
  };
  call.run(fn, { weights: call.input(weights), ...slots });
  const read = (slot: Slot): OwnedArray => ({ data: call.read(slot), shape });
  return {
    entropy: read(slots.entropy),
    distance: read(slots.distance),
    maxWeight: read(slots.maxWeight),
    firstKey: read(slots.firstKey),
  };
}

export function attentionRollout(instance: Instance, given: ArrayInput): OwnedArray {
  const fn = 'attentionRollout';
  const weights = checkArray(fn, 'weights', given);
  const [, , rows = 0, columns] = weights.shape;
  if (weights.shape.length !== 4 || rows !== columns) throw refusal(fn, weights, '[L,H,T,T]');
  const call = new Call(instance, fn);
  return call.result(fn, [rows, rows], { weights: call.input(weights) });
}
