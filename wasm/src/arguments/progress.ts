// The option `onProgress`.

import { QkvError } from '../api/errors.js';
import { describe } from './values.js';

export function checkProgress(fn: string, onProgress: unknown): void {
  if (onProgress === undefined || typeof onProgress === 'function') return;
  throw new QkvError(
    'invalid_argument',
    `${fn}: onProgress is ${describe(onProgress)}, expected a function`,
  );
}
