// Two prompts that are compared, token by token.

import { QkvError } from '../api/errors.js';

/** Refuses two prompts of different lengths. */
export function checkAlike(fn: string, clean: Int32Array, corrupt: Int32Array): void {
  if (clean.length === corrupt.length) return;
  const most = Math.max(clean.length, corrupt.length);
  const at = Array.from({ length: most }, (_, i) => i).findIndex((i) => clean[i] !== corrupt[i]);
  const said = (ids: Int32Array): string => (at < ids.length ? `${ids[at]}` : 'no token');
  throw new QkvError(
    'shape_mismatch',
    `${fn}: corrupt has ${corrupt.length} tokens and clean ${clean.length}, expected as many; they first differ at token ${at}: ` +
      `${said(corrupt)} in corrupt, ${said(clean)} in clean`,
  );
}
