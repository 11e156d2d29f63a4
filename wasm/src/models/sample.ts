// A token from logits that the caller has.

import { QkvError } from '../api/errors.js';
import type { SampledToken, SamplingOptions, TokenLogits } from '../api/sampling-types.js';
import { checkArray, checkVector, type Input } from '../arguments/arrays.js';
import { checkInteger } from '../arguments/numbers.js';
import { shapeText, sizeOf } from '../arguments/shapes.js';
import { isFloat32Array, takeOptions } from '../arguments/values.js';
import { checkWhole, found } from '../language/rows.js';
import { Call } from '../memory/call.js';
import type { Instance } from '../memory/instance.js';
import { allowedOf, choiceIn, logitBiasOf, samplingOf } from './sampling-options.js';

const fn = 'sample';
const names = [
  ...['temperature', 'topK', 'topP', 'minP', 'repetitionPenalty', 'frequencyPenalty'],
  ...['presencePenalty', 'seed', 'step', 'seen', 'logitBias', 'allowed', 'topLogprobs'],
] as const;

/** Logits of one token, however many axes of 1 are before them. */
function logitsOf(given: TokenLogits): Input & { readonly shape: readonly [number] } {
  const input = isFloat32Array(given)
    ? (checkVector(fn, 'logits', given) as Input)
    : checkArray(fn, 'logits', given);
  const vocabulary = input.shape[input.shape.length - 1] ?? 0;
  if (vocabulary > 0 && sizeOf(input.shape) === vocabulary)
    return { ...input, shape: [vocabulary] };
  throw new QkvError(
    'shape_mismatch',
    `${fn}: logits is ${shapeText(input.shape)}, expected those of one token, [vocabulary]`,
  );
}

export function sample(
  instance: Instance,
  givenLogits: TokenLogits,
  givenOptions: SamplingOptions = {},
): SampledToken {
  const taken = takeOptions(fn, 'options', givenOptions, names);
  const logits = logitsOf(givenLogits);
  const [vocabulary] = logits.shape;
  const { step = 0, seen, topLogprobs: top = 0 } = taken;
  checkInteger(fn, 'step', step, 0, Number.MAX_SAFE_INTEGER);
  checkInteger(fn, 'topLogprobs', top, 0, vocabulary);
  const sampling = { ...samplingOf(fn, taken), step };
  const call = new Call(instance, fn);
  const choice = choiceIn(call, {
    seen: seen === undefined ? undefined : checkWhole(fn, 'seen', seen),
    bias: logitBiasOf(fn, taken.logitBias, vocabulary),
    allowed: allowedOf(fn, taken.allowed, vocabulary),
    top,
  });
  const slot = call.output('found', [4]);
  call.run('sampleToken', {
    ...{ logits: call.input(logits, logits.shape), sampling, choice: choice.fields, found: slot },
  });
  const [id = -1, logProbability = NaN] = found(call, slot);
  return { id, logProbability, ...choice.result() };
}
