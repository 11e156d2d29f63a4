// The methods that the two sides agree on: what a worker runs on its engine and on what that has made, and nothing
// else that a message may name.

import type { LanguageModel, Session } from '../../api/model-types.js';
import type {
  KvCache,
  LinearLayer,
  MultiHeadAttention,
  Tensor,
  TransformerBlock,
} from '../../api/types.js';
import type { Kind } from './messages.js';

/** What has names of methods, and no symbols. */
type Names<T> = Exclude<keyof T, symbol>;

/**
 * The parameters of an engine's operators, from wasm/bindings/schema.js. In `options` the worker reads what is left
 * without the options of every call; `call` are those alone, and are not sent.
 */
export const operators: Readonly<Record<string, readonly string[]>> = QKV_METHODS;

/** An engine is let go by `{ end: true }`, not by a call: others of the worker may have the same. */
export const engineMethods: readonly string[] = [...Object.keys(operators), 'memory', 'loadModel'];

/** The methods of what a handle is of. */
export const handleMethods: Readonly<Record<Kind, readonly string[]>> = {
  tensor: ['toNdArray', 'set', 'dispose'] satisfies Names<Tensor>[],
  kvCache: ['append', 'keys', 'values', 'truncate', 'dispose'] satisfies Names<KvCache>[],
  multiHeadAttention: ['forward', 'dispose'] satisfies Names<MultiHeadAttention>[],
  transformerBlock: ['forward', 'dispose'] satisfies Names<TransformerBlock>[],
  linearLayer: ['forward', 'dispose'] satisfies Names<LinearLayer>[],
  loadModel: [
    ...([
      'forward',
      'session',
      'generate',
      'loss',
      'embed',
      'dispose',
    ] satisfies Names<LanguageModel>[]),
  ],
  session: ['truncate', 'dispose'] satisfies Names<Session>[],
  tokens: ['next', 'dispose'],
};

/** What methods of models make. */
export const modelMakers: Readonly<Record<string, Kind>> = {
  session: 'session',
  generate: 'tokens',
};

/** What messages call it. */
export const handleNames: Readonly<Record<Kind, string>> = {
  tensor: 'tensor',
  kvCache: 'cache',
  multiHeadAttention: 'layer',
  transformerBlock: 'block',
  linearLayer: 'layer',
  loadModel: 'model',
  session: 'session',
  tokens: 'generation',
};
