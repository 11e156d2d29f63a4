// Which objects the package made itself. A proxy of one has no memory, nor has an object that inherits from one.

import type { KvCache, Tensor } from '../api/types.js';
import { isRecord } from './values.js';

type Kind = 'tensor' | 'cache';

const kinds = new WeakMap<object, Kind>();

/** Enters an object that was just made. */
export function enter(object: object, kind: Kind): void {
  kinds.set(object, kind);
}

export const isTensor = (value: unknown): value is Tensor =>
  isRecord(value) && kinds.get(value) === 'tensor';

export const isCache = (value: unknown): value is KvCache =>
  isRecord(value) && kinds.get(value) === 'cache';
