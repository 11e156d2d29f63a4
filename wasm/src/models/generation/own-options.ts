// Options of generate() that other ways to generate do not have.

import { QkvError } from '../../api/errors.js';
import { copiedOptions, describe } from '../../arguments/values.js';

/** A copy of options, none of which is one of these; each has the reason why it is refused. */
export function withoutOptions(
  fn: string,
  options: object,
  reasons: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const own = copiedOptions(fn, options as Record<string, unknown>);
  for (const [name, reason] of Object.entries(reasons)) {
    if (own[name] === undefined) continue;
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(own[name])}, expected none: ${reason}`,
    );
  }
  return own;
}

const ofOne = 'it is an option of generate() alone';
/** Those of a generation in a session of the caller's, and of what is read and changed there. */
export const ofOneGeneration = {
  ...{ session: ofOne, reuse: ofOne, inspect: ofOne, read: ofOne, edit: ofOne },
} as const;
