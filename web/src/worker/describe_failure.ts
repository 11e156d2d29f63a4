import { QkvError } from 'qkv';
import type { Failure } from '../domain/failure';

/** What the page is told of an error. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof QkvError) return { code: error.code, message: error.message };
  return { code: 'unexpected', message: error instanceof Error ? error.message : String(error) };
}
