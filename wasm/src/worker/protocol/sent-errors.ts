// Errors on their way back.

import { QkvError } from '../../api/errors.js';
import { attempt } from '../../arguments/values.js';
import type { SentError } from './messages.js';

/** What it says of itself. Anything can be thrown, also what has no text. */
export const textOf = (error: unknown): string =>
  attempt(() => (error instanceof Error ? error.message : String(error))) ??
  'an object without a text';

/** What an error of the worker is here; what is not a QkvError there becomes one. */
export function sendable(fn: string, error: unknown): SentError {
  const { cause, stack } = error instanceof Error ? error : { cause: undefined, stack: undefined };
  const sent = (of: unknown): SentError['cause'] => ({
    name: of instanceof Error ? of.name : 'Error',
    message: textOf(of),
  });
  if (error instanceof QkvError) {
    const { code, message } = error;
    return { code, message, stack, cause: cause === undefined ? undefined : sent(cause) };
  }
  // Only an allocation that JavaScript itself makes, of a result, ends in a RangeError.
  const code = error instanceof RangeError ? 'out_of_memory' : 'unsupported';
  return { code, message: `${fn}: ${textOf(error)}`, stack, cause: sent(error) };
}

/** The error, with the stack that it had in the worker. */
export function receive({ code, message, stack, cause }: SentError): QkvError {
  const options = cause && { cause: Object.assign(new Error(cause.message), { name: cause.name }) };
  const error = new QkvError(code, message, options);
  if (stack !== undefined) error.stack = stack;
  return error;
}
