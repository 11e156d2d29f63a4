// Which objects the package made itself. A proxy of one has no memory, nor has an object that inherits from one.

import type { KvCache, Tensor } from '../api/types.js';
import { isRecord } from './values.js';

const kinds = new WeakMap<object, 'tensor' | 'cache'>();

/** Takes note of an object that was just made. */
export function register(object: object, kind: 'tensor' | 'cache'): void {
  kinds.set(object, kind);
}

export const isTensor = (value: unknown): value is Tensor =>
  isRecord(value) && kinds.get(value) === 'tensor';

export const isCache = (value: unknown): value is KvCache =>
  isRecord(value) && kinds.get(value) === 'cache';
