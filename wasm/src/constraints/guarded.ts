// What is too large, or nested too deeply, for any of the compilers.

import { QkvError } from '../api/errors.js';
import { mostStates, TooLarge } from './automaton.js';

/** What `make` makes. `name` is what was too large for it. */
export function guarded<T>(name: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof TooLarge)
      throw new QkvError(
        'unsupported',
        `${name} needs more than ${mostStates} states, expected smaller numbers of repetitions and lengths`,
      );
    // The engine's stack is at its end.
    if (error instanceof RangeError)
      throw new QkvError('unsupported', `${name} is nested too deeply, expected fewer levels`, {
        cause: error,
      });
    throw error;
  }
}
