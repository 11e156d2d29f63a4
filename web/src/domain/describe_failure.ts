import type { Failure } from './failure';

/**
 * What the page is told of an error: of the package its code. Errors are known by their form, because in the single file those of
 * `qkv/models` are of a class of their own.
 */
export function describeFailure(error: unknown): Failure {
  const of = error as { code?: unknown; message?: unknown } | null | undefined;
  const code = typeof of?.code === 'string' ? of.code : 'unexpected';
  return { code, message: typeof of?.message === 'string' ? of.message : String(error) };
}
