// Checks of single values. The core checks again; what is checked here is what only JavaScript can get wrong.

import { QkvError } from '../api/errors.js';
import { describe } from './values.js';

/** What an integer of the core holds. */
export const mostInt = 2 ** 31 - 1;

/** A whole number within [least, most]. */
export function checkInteger(
  fn: string,
  name: string,
  value: unknown,
  least: number,
  most: number,
): asserts value is number {
  if (!Number.isSafeInteger(value)) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(value)}, expected a whole number`,
    );
  }
  if (Number(value) < least || Number(value) > most) {
    throw new QkvError(
      'out_of_range',
      `${fn}: ${name} is ${describe(value)}, expected ${least} to ${most}`,
    );
  }
}

/** An option that is left out, true or false. */
export function checkBoolean(fn: string, name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'boolean') {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(value)}, expected a boolean`,
    );
  }
}

/** A number that is finite as a float32, too. What range it may take the core knows. */
export function checkNumber(fn: string, name: string, value: unknown): asserts value is number {
  if (typeof value !== 'number' || !Number.isFinite(Math.fround(value))) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(value)}, expected a number that is finite as a float32`,
    );
  }
}

/** checkNumber() for an option, which may be left out. */
export function checkOption(fn: string, name: string, value: unknown): void {
  if (value !== undefined) checkNumber(fn, name, value);
}

/** One of these words. */
export function checkChoice(
  fn: string,
  name: string,
  value: string,
  choices: readonly string[],
): void {
  if (!choices.includes(value)) {
    const expected = choices.map((choice) => `'${choice}'`).join(' or ');
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(value)}, expected ${expected}`,
    );
  }
}
