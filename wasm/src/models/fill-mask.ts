// What a model of masked tokens puts in their place.

import type { Guess } from '../api/inspect-types.js';
import type { FillMaskOptions } from '../api/model-types.js';
import { QkvError } from '../api/errors.js';
import { checkInteger } from '../arguments/numbers.js';
import { takeOptions } from '../arguments/values.js';
import { Call } from '../memory/call.js';
import { guessesOf } from './microscope/lens.js';
import { checkHead } from './microscope/one-pass.js';
import type { ModelState } from './model-state.js';
import { tokensOf } from './text.js';

const fn = 'LanguageModel.fillMask';

/** The token that stands for one to be filled in. */
function maskOf({ spec }: ModelState, given: number | undefined): number {
  const mask = given === undefined ? spec.tokenizer?.mask : given;
  if (mask === undefined) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: mask is undefined and the tokenizer has none, expected the number of the token`,
    );
  }
  checkInteger(fn, 'mask', mask, 0, spec.config.vocabulary - 1);
  return mask;
}

export function fillMask(
  state: ModelState,
  text: unknown,
  given: FillMaskOptions,
): readonly (readonly Guess[])[] {
  const { config } = state.spec;
  const taken = takeOptions(fn, 'options', given, ['top', 'mask']);
  state.live(fn);
  checkHead(fn, state.spec, true);
  if (config.causal) {
    throw new QkvError(
      'unsupported',
      `${fn}: the model reads from left to right, expected one that reads what stands after a mask, too`,
    );
  }
  const { top = Math.min(5, config.vocabulary) } = taken;
  checkInteger(fn, 'top', top, 1, Math.min(config.vocabulary, 64));
  const mask = maskOf(state, taken.mask);
  const rows = tokensOf(fn, 'text', text, state.spec);
  const places = Array.from(rows.source.keys()).filter((i) => rows.source[i] === mask);
  const [first = 0, last = 0] = [places[0], places[places.length - 1]];
  if (places.length === 0) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: text has no token ${mask}, expected one at least, which is to be filled in`,
    );
  }
  const call = new Call(state.instance, fn);
  const rowCount = last + 1 - first;
  const guesses = call.output('guesses', [rowCount * top]);
  const probabilities = call.output('guesses', [rowCount * top]);
  const places32 = Int32Array.of(config.numLayers - 1, top, first, last + 1);
  const lenses = call.input({ name: 'text', shape: [1, 4], source: places32 });
  const sites = { lenses, guesses, probabilities };
  call.run('forwardModel', { model: state.live(fn), ids: call.input(rows), sites });
  const guessesAt = guessesOf(fn, state, call, { guesses, probabilities, top });
  return places.map((place) => guessesAt((place - first) * top));
}
