// The files of a model on their way to the worker that loads it.

import type { ModelCache } from '../../api/load-types.js';
import type { AsyncLanguageModel, LoadModelOptions, ModelSource } from '../../api/worker-types.js';
import { copiedOptions, isRecord, listOf, reading, tagOf } from '../../arguments/values.js';
import { wholeAddress } from '../../platform/addresses.js';
import { fieldsOf } from '../protocol/messages.js';
import type { Caller, Method } from './handles.js';
import { RemoteModel, stoppedAt } from './remote-models.js';

/** An address as a worker understands it, whose own is another one. */
function sendable(place: unknown): unknown {
  if (tagOf(place) === 'ArrayBuffer') return new Uint8Array(place as ArrayBuffer);
  const isText = typeof place === 'string';
  if (!isText && tagOf(place) !== 'URL') return place;
  return isText ? wholeAddress(place) : String(place);
}

/** More files than a model has; the other side says so. */
const mostFiles = 2 ** 16;

/** Files beside the weights, each parsed or where it is. */
const besides = ['config', 'generation', 'pooling', 'tokenizer', 'tokenizerConfig'] as const;

/** A template, or where it is. */
const sentTemplate = (given: unknown): unknown =>
  typeof given === 'string' && /\{[{%#]/.test(given) ? given : sendable(given);

/** The source of a model as it is sent. */
function sentSource(source: unknown): unknown {
  // As an object, to which a load() of somebody's may add.
  if (typeof source === 'string' || tagOf(source) === 'URL') return { weights: sendable(source) };
  if (!isRecord(source)) return source;
  return reading('loadModel', 'source', () => {
    // What it has now, inherited fields too, as messages.ts sends them.
    const { weights, ...rest } = Object.fromEntries(fieldsOf(source));
    const places = listOf('loadModel', 'weights', weights, mostFiles)?.map(sendable);
    for (const name of besides) {
      if (rest[name] !== undefined) rest[name] = sendable(rest[name]);
    }
    if (rest['chatTemplate'] !== undefined)
      rest['chatTemplate'] = sentTemplate(rest['chatTemplate']);
    return { ...rest, weights: places ?? sendable(weights) };
  });
}

/** A cache as it is sent: what it was made of, of which the worker makes it again. */
function sentCache(cache: unknown): unknown {
  if (tagOf(cache) !== 'ModelCache') return cache;
  const { name, kind, folder, maxBytes } = cache as ModelCache;
  return { name, kind, maxBytes, ...(folder !== undefined && { folder }) };
}

/** Loads a model in a worker. */
export async function loadModel(
  caller: Caller,
  source: ModelSource | string,
  options: LoadModelOptions = {},
): Promise<AsyncLanguageModel> {
  const fn = 'loadModel';
  const { onProgress, cache, ...given } = copiedOptions(fn, options);
  const rest = { ...given, ...(cache !== undefined && { cache: sentCache(cache) }) };
  const manner = stoppedAt(fn, onProgress);
  const method: Method = { ...{ fn, method: fn, names: ['source', 'options'] }, manner };
  const { answer, lane } = await caller.run(method, [sentSource(source), rest]);
  if (!answer.handle) throw new TypeError('no handle');
  return new RemoteModel(caller, lane, answer.handle);
}
