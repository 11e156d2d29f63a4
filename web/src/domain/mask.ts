import type { Mask } from './choices';
import type { AttentionOptions } from 'qkv';
import { WINDOW } from './sources';

export function maskOptions(mask: Mask): Pick<AttentionOptions, 'causal' | 'window'> {
  if (mask === 'none') return {};
  return mask === 'causal' ? { causal: true } : { causal: true, window: [WINDOW - 1, 0] };
}

/** The keys [first, end) that a query may read. */
export function allowedKeys(mask: Mask, row: number, count: number): [first: number, end: number] {
  if (mask === 'none') return [0, count];
  return [mask === 'window' ? Math.max(0, row - WINDOW + 1) : 0, row + 1];
}
