import { QkvError } from '../../api/errors.js';
import { checkInteger } from '../../arguments/numbers.js';
import { describe, listOf } from '../../arguments/values.js';

/** Most texts of `stop`, and most tokens of `stopTokens`. */
export const mostStops = 1000;

/** A list of tokens of an option, or undefined where it is not given. */
export function tokenListOf(
  fn: string,
  name: string,
  given: unknown,
  vocabulary: number,
  most = mostStops,
): readonly number[] | undefined {
  if (given === undefined) return undefined;
  const list = listOf(fn, name, given, most);
  if (!list) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(given)}, expected an array of tokens`,
    );
  }
  list.forEach((token, i) => checkInteger(fn, `${name}[${i}]`, token, 0, vocabulary - 1));
  return list as number[];
}
