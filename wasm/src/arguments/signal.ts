import { QkvError } from '../api/errors.js';
import { describe, reading } from './values.js';

/** Undefined, or what aborts. */
export function checkSignal(fn: string, signal: unknown): void {
  if (signal === undefined) return;
  const fits = reading(fn, 'signal', () => {
    const { aborted, addEventListener } = (signal ?? {}) as Partial<AbortSignal>;
    return typeof aborted === 'boolean' && typeof addEventListener === 'function';
  });
  if (!fits) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: signal is ${describe(signal)}, expected an AbortSignal`,
    );
  }
}

/** What a signal was aborted with; older engines know no reason. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw signal.reason ?? new DOMException('aborted', 'AbortError');
}
