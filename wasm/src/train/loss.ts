import type { CrossEntropy, CrossEntropyOptions } from '../api/train-types.js';
import type { ArrayInput } from '../api/types.js';
import { checkArray } from '../arguments/arrays.js';
import { checkInteger, checkNumber, mostInt } from '../arguments/numbers.js';
import { takeOptions } from '../arguments/values.js';
import { checkWhole, take } from '../language/rows.js';
import { Call } from '../memory/call.js';
import type { Instance } from '../memory/instance.js';
import { rowsOf } from './matrix-rows.js';

export function crossEntropy(
  instance: Instance,
  givenLogits: ArrayInput,
  givenTargets: ArrayLike<number>,
  given: CrossEntropyOptions = {},
): CrossEntropy {
  const fn = 'crossEntropy';
  const { ignoreIndex = -1, labelSmoothing = 0 } = takeOptions(fn, 'options', given, [
    'ignoreIndex',
    'labelSmoothing',
  ]);
  const logits = checkArray(fn, 'logits', givenLogits);
  const matrix = rowsOf(fn, 'logits', logits, '[N,V] or [...,V]');
  const targets = checkWhole(fn, 'targets', givenTargets, matrix[0]);
  checkInteger(fn, 'ignoreIndex', ignoreIndex, -mostInt - 1, mostInt);
  checkNumber(fn, 'labelSmoothing', labelSmoothing);
  const call = new Call(instance, fn);
  const dLogits = call.output('dLogits', matrix);
  const found = call.output('found', [6]);
  call.run(fn, {
    ...{ logits: call.input(logits, matrix), targets: call.input(targets) },
    ...{ ignoreIndex, labelSmoothing, dLogits, found },
  });
  // Three numbers of float64, as wasm/bindings/train/schema.js says.
  const [loss = NaN, correct = 0, counted = 0] = new Float64Array(call.read(found).buffer);
  return { loss, correct, counted, dLogits: take(call, dLogits, logits.shape) };
}
