// `qkv/inline`: what `qkv` is, in one file.

import type { InitOptions, Qkv } from '../api/types.js';
import { behind } from '../load/init.js';
import { inlineKey } from '../load/inline-key.js';
import { init as load } from './index.js';

export * from './index.js';

/** As `init` of `qkv`. */
export async function init(options: InitOptions = {}): Promise<Qkv> {
  const engine = await load(options);
  return Object.defineProperty(engine, inlineKey, { value: () => behind.get(engine) });
}
