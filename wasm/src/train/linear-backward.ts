// Gradients of linear maps, of embeddings and of rotary positions.

import type { LinearBackwardOptions, LinearGradients } from '../api/train-types.js';
import type { ArrayInput, OwnedArray, RotaryOptions } from '../api/types.js';
import { checkArray, checkShaped } from '../arguments/arrays.js';
import { coreShape, headsShape } from '../arguments/heads.js';
import { checkBoolean, checkInteger, mostInt } from '../arguments/numbers.js';
import { takeOptions } from '../arguments/values.js';
import { checkWhole, take } from '../language/rows.js';
import { Call } from '../memory/call.js';
import type { Instance } from '../memory/instance.js';
import { checkRows, checkWeights } from '../operators/linear.js';
import { CheckedRotary, rotaryNames } from '../operators/rotary.js';
import { rowsOf } from './matrix-rows.js';

export function linearBackward(
  instance: Instance,
  givenDOutput: ArrayInput,
  givenX: ArrayInput,
  givenW: ArrayInput,
  given: LinearBackwardOptions = {},
): LinearGradients {
  const fn = 'linearBackward';
  const { bias, ...options } = takeOptions(fn, 'options', given, ['layout', 'bias']);
  checkBoolean(fn, 'bias', bias);
  const { w, layout, widths } = checkWeights(fn, givenW, options);
  const { x, read, written, result } = checkRows(fn, givenX, widths, undefined);
  const dOutput = checkShaped(fn, 'dOutput', givenDOutput, result.as);
  const call = new Call(instance, fn);
  const slots = {
    dx: call.output('dx', read),
    dw: call.output('dw', w.shape),
    dBias: bias ? call.output('dBias', [widths[1]]) : undefined,
  };
  const [dOut, rows] = [call.input(dOutput, written), call.input(x, read)];
  call.run(fn, { dOut, x: rows, w: call.input(w), layout, ...slots });
  const [dx, dw] = [take(call, slots.dx, x.shape), take(call, slots.dw)];
  return { dx, dw, ...(slots.dBias && { dBias: call.read(slots.dBias) }) };
}

export function embeddingBackward(
  instance: Instance,
  givenDOutput: ArrayInput,
  givenIds: ArrayLike<number>,
  vocabulary: number,
): OwnedArray {
  const fn = 'embeddingBackward';
  const dOutput = checkArray(fn, 'dOutput', givenDOutput);
  const matrix = rowsOf(fn, 'dOutput', dOutput, '[ids,dModel] or [...,dModel]');
  const ids = checkWhole(fn, 'ids', givenIds, matrix[0]);
  checkInteger(fn, 'vocabulary', vocabulary, 0, mostInt);
  const call = new Call(instance, fn);
  const dTable = call.output('dTable', [vocabulary, matrix[1]]);
  call.run(fn, { dOut: call.input(dOutput, matrix), ids: call.input(ids), dTable });
  return take(call, dTable);
}

export function rotaryEmbeddingBackward(
  instance: Instance,
  given: ArrayInput,
  givenOptions: RotaryOptions = {},
): OwnedArray {
  const fn = 'rotaryEmbeddingBackward';
  const dOutput = checkArray(fn, 'dOutput', given);
  const options = takeOptions(fn, 'options', givenOptions, rotaryNames);
  const { numHeads } = options;
  if (numHeads !== undefined) checkInteger(fn, 'numHeads', numHeads, 1, mostInt);
  const form = headsShape(fn, dOutput, numHeads, 'numHeads');
  const rotary = new CheckedRotary(fn, options, [form.batch, form.tokens]);
  const call = new Call(instance, fn);
  const dx = call.output('dx', coreShape(form));
  call.run(fn, {
    dOut: call.input(dOutput, coreShape(form)),
    numHeads: form.heads,
    rotary: rotary.fields(call),
    dx,
  });
  return take(call, dx, dOutput.shape);
}
