// The methods that the two sides agree on: what a worker runs on its engine and on what that has made, and nothing
// else that a message may name.

import type {
  KvCache,
  MultiHeadAttention,
  Qkv,
  Tensor,
  TransformerBlock,
} from '../../api/types.js';
import type { Maker } from './messages.js';

/** What has names of methods, and no symbols. */
type Names<T, Without = never> = Exclude<keyof T, Without | symbol>;

/**
 * The parameters of an engine's operators. In `options` the worker reads what is left without the options of every
 * call; `call` are those alone, and are not sent.
 */
export const operators = {
  attention: ['q', 'k', 'v', 'options'],
  tensor: ['shape', 'data', 'call'],
  kvCache: ['options'],
  multiHeadAttention: ['config', 'weights', 'call'],
  transformerBlock: ['config', 'weights', 'call'],
  sinusoidalEncoding: ['length', 'dModel', 'options'],
  sinusoidalShift: ['k', 'dModel', 'options'],
  rotaryEmbedding: ['x', 'options'],
  learnedEncoding: ['table', 'length', 'options'],
  alibiSlopes: ['numHeads', 'call'],
  t5RelativeBias: ['table', 'queryLength', 'keyLength', 'options'],
  transformerXlBias: ['q', 'r', 'v', 'call'],
  layerNorm: ['x', 'options'],
  rmsNorm: ['x', 'options'],
  gelu: ['x', 'options'],
  softmax: ['x', 'options'],
  embedding: ['table', 'ids', 'call'],
  entropy: ['weights', 'call'],
  headStatistics: ['weights', 'call'],
} as const satisfies Record<Names<Qkv, 'info' | 'memory' | 'dispose'>, readonly string[]>;

/** An engine is let go by `{ end: true }`, not by a call: others of the worker may have the same. */
export const engineMethods: readonly string[] = [...Object.keys(operators), 'memory'];

/** The methods of what an engine's method of this name makes. */
export const handleMethods: Readonly<Record<Maker, readonly string[]>> = {
  tensor: ['toNdArray', 'set', 'dispose'] satisfies Names<Tensor>[],
  kvCache: ['append', 'keys', 'values', 'truncate', 'dispose'] satisfies Names<KvCache>[],
  multiHeadAttention: ['forward', 'dispose'] satisfies Names<MultiHeadAttention>[],
  transformerBlock: ['forward', 'dispose'] satisfies Names<TransformerBlock>[],
};

/** What messages call it. */
export const handleNames: Readonly<Record<Maker, string>> = {
  tensor: 'tensor',
  kvCache: 'cache',
  multiHeadAttention: 'layer',
  transformerBlock: 'block',
};
