import type { Failure } from './failure';

/**
 * The code and the message of an error; an error without a code has `unexpected`. It is recognised by its form, not by its class, because in
 * the page of a single file `qkv/models` has a class of errors of its own.
 */
export function describeFailure(error: unknown): Failure {
  const of = error as { code?: unknown; message?: unknown } | null | undefined;
  const code = typeof of?.code === 'string' ? of.code : 'unexpected';
  return { code, message: typeof of?.message === 'string' ? of.message : String(error) };
}
