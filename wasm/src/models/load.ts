// Models from files.

import type { LoadOptions, Source, WeightFormat } from '../api/model-types.js';
import { QkvError } from '../api/errors.js';
import { checkChoice } from '../arguments/numbers.js';
import { sizeOf } from '../arguments/shapes.js';
import { checkSignal, throwIfAborted } from '../arguments/signal.js';
import { describe, takeOptions } from '../arguments/values.js';
import { resolveConfig } from '../language/config.js';
import type { Arguments } from '../memory/abi.js';
import type { Instance } from '../memory/instance.js';
import { isPacked } from './config.js';
import { Filler } from './fill.js';
import { WasmLanguageModel } from './model.js';
import { type OpenedModel, openModel } from './open.js';
import { checkTokenizer, formats } from './options.js';
import type { ModelState } from './model-state.js';
import type { Rows } from './stream.js';

const fn = 'load';

/** What the core calls the types of files. */
const types: Readonly<Record<string, Arguments<'fillModel'>['type']>> = {
  ...{ F32: 'f32', F16: 'f16', BF16: 'bf16', Q8_0: 'q8_0', I8: 'int8' },
};

function put(filler: Filler, { parameter, type: stored, ...rows }: Rows): void {
  const type = types[stored];
  if (!type) throw new RangeError(`no type ${stored}`);
  filler.put({ ...rows, type, name: parameter.name });
}

/** What WebAssembly memory can have. */
const mostBytes = 2 ** 32;
/** Of int8 each block of 32 has a scale of two bytes. */
const bytesPerNumber: Readonly<Record<WeightFormat, number>> = { f32: 4, bf16: 2, int8: 34 / 32 };

/** About as many bytes as the weights take; rows and columns that are rounded up add a little. */
const bytesOf = ({ parameters }: OpenedModel, format: WeightFormat): number =>
  parameters.reduce(
    (sum, each) =>
      sum + Math.ceil(sizeOf(each.shape) * (isPacked(each) ? bytesPerNumber[format] : 4)),
    0,
  );

/** Weights that do not fit into what is left of the memory. Names the formats in which they do. */
function noRoom(instance: Instance, opened: OpenedModel, format: WeightFormat, cause?: QkvError) {
  const bytes = bytesOf(opened, format);
  const left = mostBytes - instance.raw(fn)._allocatedBytes();
  const fitting = (['bf16', 'int8'] as const)
    .filter((other) => bytesOf(opened, other) < Math.min(left, bytes))
    .map((other) => `'${other}' (${bytesOf(opened, other)} bytes)`);
  const what = cause?.message ?? `${fn}: out of memory: ${bytes} bytes could not be allocated`;
  const wayOut =
    fitting.length > 0 ? `, expected format ${fitting.join(' or ')}` : '; they fit in no format';
  return new QkvError(
    'out_of_memory',
    `${what} for the weights, which take ${bytes} as '${format}'${wayOut}`,
    { cause },
  );
}

/** Makes the model, whose arrays are filled later. */
function makeModel(instance: Instance, opened: OpenedModel, format: WeightFormat) {
  // What no memory holds is refused before it grows to its end for it, where it would stay.
  if (bytesOf(opened, format) >= mostBytes) throw noRoom(instance, opened, format);
  const { config: given, endTokens: ends } = opened;
  const { tokenizer, tokenizerProblem, pooling, ignored } = opened;
  const said = { tokenizer, tokenizerProblem, pooling, ignored };
  const plan = { ...said, config: resolveConfig(fn, given), format, ends };
  let state: ModelState | undefined;
  try {
    const model = new WasmLanguageModel(fn, instance, plan, (made) => {
      state = made;
    });
    if (!state) throw new RangeError('no model');
    return { model, state };
  } catch (error) {
    const isFull = error instanceof QkvError && error.code === 'out_of_memory';
    throw isFull ? noRoom(instance, opened, format, error) : error;
  }
}

/** Fills a model of what was opened; it is given back if that fails. */
async function fill(
  instance: Instance,
  opened: OpenedModel,
  options: LoadOptions,
): Promise<WasmLanguageModel> {
  const { format = opened.format, signal, onProgress } = options;
  const { model, state } = makeModel(instance, opened, format);
  const filler = new Filler(fn, state);
  try {
    await opened.stream((rows) => put(filler, rows), { signal: signal as AbortSignal, onProgress });
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

export async function load(
  instance: Instance,
  source: Source,
  given: LoadOptions = {},
): Promise<WasmLanguageModel> {
  const names = ['format', 'maxLength', 'signal', 'onProgress'] as const;
  const options = takeOptions(fn, 'options', given, names);
  const { format, signal, onProgress, maxLength } = options;
  if (format !== undefined) checkChoice(fn, 'format', format, formats);
  checkSignal(fn, signal);
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw new QkvError(
      'invalid_argument',
      `${fn}: onProgress is ${describe(onProgress)}, expected a function`,
    );
  }
  const opened = await openModel(source, { maxLength, signal: signal });
  try {
    checkTokenizer(fn, opened.tokenizer);
    return await fill(instance, opened, options);
  } finally {
    opened.close();
  }
}
