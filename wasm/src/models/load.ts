// Models from files.

import type { LoadOptions, Source } from '../api/load-types.js';
import type { KeptFormat } from '../api/model-types.js';
import { QkvError } from '../api/errors.js';
import { checkBoolean, checkChoice } from '../arguments/numbers.js';
import { checkSignal, throwIfAborted } from '../arguments/signal.js';
import { takeOptions } from '../arguments/values.js';
import { resolveConfig } from '../language/config.js';
import type { Arguments } from '../memory/abi.js';
import type { Instance } from '../memory/instance.js';
import { fileCacheOf } from './cache/model-cache.js';
import { Filler } from './fill.js';
import { WasmLanguageModel } from './model.js';
import { type OpenedModel, openModel } from './open.js';
import { bytesIn, formatIn, formats, type Kept } from './kept.js';
import type { ModelState } from './model-state.js';
import { checkProgress } from '../arguments/progress.js';
import { checkHashes, Opener } from './sources/opener.js';
import { type RequestOptions, Requests } from './sources/requests.js';
import type { Rows } from './stream.js';

const fn = 'load';

/** What the core calls the types of files: I8 is another word there, and all others are theirs. */
const typeOf = (stored: string) =>
  (stored === 'I8' ? 'int8' : stored.toLowerCase()) as Arguments<'fillModel'>['type'];

const put = (filler: Filler, { parameter, type, ...rows }: Rows): void =>
  filler.put({ ...rows, type: typeOf(type), name: parameter.name });

/** What WebAssembly memory can have. */
const mostBytes = 2 ** 32;
const all = (format: KeptFormat): Kept => ({ format, byName: new Map() });

/** Weights that do not fit into what is left of the memory. Names the formats in which they do. */
function noRoom(
  instance: Instance,
  { parameters }: OpenedModel,
  kept: Kept,
  cause?: QkvError,
): QkvError {
  const bytes = bytesIn(kept, parameters);
  const left = mostBytes - instance.raw(fn)._allocatedBytes();
  const fitting = (['bf16', 'int8', 'int4'] as const)
    .map((format) => [format, bytesIn(all(format), parameters)] as const)
    .filter(([, size]) => size < Math.min(left, bytes))
    .map(([format, size]) => `'${format}' (${size} bytes)`);
  const what = cause?.message ?? `${fn}: out of memory: ${bytes} bytes could not be allocated`;
  const wayOut =
    fitting.length > 0 ? `, expected format ${fitting.join(' or ')}` : '; they fit in no format';
  return new QkvError(
    'out_of_memory',
    `${what} for the weights, which take ${bytes} as '${kept.format}'${wayOut}`,
    { cause },
  );
}

/** Makes the model, whose arrays are filled later. */
function makeModel(instance: Instance, opened: OpenedModel, kept: Kept) {
  // What no memory holds is refused before it grows to its end for it, where it would stay.
  const { config: given, endTokens: ends, parameters } = opened;
  if (bytesIn(kept, parameters) >= mostBytes) throw noRoom(instance, opened, kept);
  const { tokenizer, tokenizerProblem, chatTemplates, pooling, names, ignored } = opened;
  const said = { tokenizer, tokenizerProblem, chatTemplates, pooling, names, ignored };
  const formatsOf = parameters.map((each) => formatIn(kept, each));
  const { format } = kept;
  const plan = { ...said, config: resolveConfig(fn, given), format, formats: formatsOf, ends };
  let state: ModelState | undefined;
  try {
    const model = new WasmLanguageModel(fn, instance, plan, (made) => {
      state = made;
    });
    if (!state) throw new RangeError('no model');
    return { model, state };
  } catch (error) {
    const isFull = error instanceof QkvError && error.code === 'out_of_memory';
    throw isFull ? noRoom(instance, opened, kept, error) : error;
  }
}

/** Fills a model of what was opened; it is given back if that fails. */
async function fill(
  instance: Instance,
  opened: OpenedModel,
  options: LoadOptions,
): Promise<WasmLanguageModel> {
  const { format, signal, onProgress } = options;
  const { model, state } = makeModel(instance, opened, format ? all(format) : opened.kept);
  const filler = new Filler(fn, state);
  try {
    await opened.stream((rows) => put(filler, rows), {
      ...{ signal: signal as AbortSignal, onProgress },
      room: (size) => filler.room(size),
    });
    throwIfAborted(signal);
    state.finish(fn);
    return model;
  } catch (error) {
    model.dispose();
    throw error;
  } finally {
    filler.dispose();
  }
}

const optionNames = [
  ...(['format', 'maxLength', 'head', 'signal', 'onProgress'] as const),
  ...(['headers', 'hub', 'fetch', 'tries', 'sha256', 'cache'] as const),
] as const;

export async function load(
  instance: Instance,
  source: Source | string,
  given: LoadOptions = {},
): Promise<WasmLanguageModel> {
  const options = takeOptions(fn, 'options', given, optionNames);
  const { format, signal, onProgress, maxLength, head = true, cache } = options;
  checkBoolean(fn, 'head', head);
  if (format !== undefined) checkChoice(fn, 'format', format, formats);
  checkSignal(fn, signal);
  checkProgress(fn, onProgress);
  const requests = new Requests({ ...(options as RequestOptions), isKept: cache !== undefined });
  const opener = new Opener(requests, fileCacheOf(cache), checkHashes(options.sha256));
  const opened = await openModel(source, { maxLength, head, signal, opener });
  try {
    return await fill(instance, opened, options);
  } finally {
    opened.close();
  }
}
