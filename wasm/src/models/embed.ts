// Vectors of texts.

import { QkvError } from '../api/errors.js';
import type { Embeddings, EmbedOptions } from '../api/model-types.js';
import { checkBoolean, checkChoice } from '../arguments/numbers.js';
import { checkSignal } from '../arguments/signal.js';
import { describe, listOf, newFloats, takeOptions } from '../arguments/values.js';
import { Call } from '../memory/call.js';
import type { ModelSpec } from './model-spec.js';
import type { ModelState } from './model-state.js';
import { checkProgress } from '../arguments/progress.js';
import { checkAlone, tokensOf } from './text.js';
import { inPasses, mostTexts, type RowsOfPass, shortened } from './texts.js';

const fn = 'LanguageModel.embed';

type TextPooling = NonNullable<EmbedOptions['pooling']>;
const poolings: readonly string[] = ['mean', 'cls', 'last'];

/** The default: what the files say, or the mean. */
export function usualPooling({ pooling = 'mean' }: ModelSpec): TextPooling | undefined {
  return poolings.includes(pooling) ? (pooling as TextPooling) : undefined;
}

/** The mean of rows of `width` numbers, or the first or last of them, in float64. */
function pool(all: Float32Array, width: number, pooling: TextPooling): Float64Array {
  const rows = pooling === 'last' ? all.subarray(all.length - width) : all;
  const count = pooling === 'cls' ? 1 : rows.length / width;
  const sum = new Float64Array(width);
  for (let i = 0; i < count * width; i += 1)
    sum[i % width] = (sum[i % width] ?? 0) + (rows[i] ?? 0);
  return sum.map((x) => x / count);
}

/** The option, or the default of the model. */
function poolingFor(spec: ModelSpec, given: TextPooling | undefined): TextPooling {
  if (given !== undefined) checkChoice(fn, 'pooling', given, poolings);
  const pooling = given ?? usualPooling(spec);
  if (pooling !== undefined) return pooling;
  throw new QkvError(
    'invalid_argument',
    `${fn}: pooling is undefined and the file says ${describe(spec.pooling)}, expected 'mean', 'cls' or 'last'`,
  );
}

/** The tokens of all texts, and which of them were cut. */
function rowsOf(
  spec: ModelSpec,
  given: unknown,
  { truncate, plain }: { readonly truncate: boolean; readonly plain: boolean },
) {
  const texts = listOf(fn, 'texts', given, mostTexts);
  if (!texts) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: texts is ${describe(given)}, expected an array of texts or lists of tokens`,
    );
  }
  const truncated: number[] = [];
  const rows = texts.map((text, i) => {
    const name = `texts[${i}]`;
    const cut = truncate ? shortened(fn, name, text, spec, plain) : undefined;
    if (cut) truncated.push(i);
    return { ids: tokensOf(fn, name, cut ?? text, spec, { isVector: true, plain }).source };
  });
  return { rows, truncated };
}

/** The streams of the rows of a pass, [places, length, dModel]. */
function hiddenOf(state: ModelState, { places, length, ids, lengths }: RowsOfPass): Float32Array {
  const call = new Call(state.instance, fn);
  const shape = [places.length, length];
  const hidden = call.output('hidden', [...shape, state.spec.config.dModel]);
  const isPadded = lengths.some((own) => own < length);
  const keyLengths = { name: 'keyLengths', shape: [places.length], source: lengths };
  call.run('forwardModel', {
    ...{ model: state.live(fn), hidden, sites: {} },
    ids: call.input({ name: 'texts', shape, source: ids }),
    keyLengths: isPadded ? call.input(keyLengths) : undefined,
  });
  return call.read(hidden);
}

export async function embed(
  state: ModelState,
  given: unknown,
  options: EmbedOptions,
): Promise<Embeddings> {
  const names = ['pooling', 'normalize', 'truncate', 'plain', 'signal', 'onProgress'] as const;
  const taken = takeOptions(fn, 'options', options, names);
  const { normalize = true, truncate = false, plain = false, signal, onProgress } = taken;
  const { spec } = state;
  checkAlone(
    fn,
    spec,
    "its encoder alone: load the files with architectures: ['T5EncoderModel'] in the config",
  );
  const pooling = poolingFor(spec, taken.pooling);
  checkBoolean(fn, 'normalize', normalize);
  checkBoolean(fn, 'truncate', truncate);
  checkBoolean(fn, 'plain', plain);
  checkSignal(fn, signal);
  checkProgress(fn, onProgress);
  state.live(fn);
  const { rows, truncated } = rowsOf(spec, given, { truncate, plain });
  const { dModel } = spec.config;
  const data = newFloats(fn, rows.length * dModel);
  await inPasses(rows, { signal, onProgress }, (pass) => {
    const hidden = hiddenOf(state, pass);
    pass.places.forEach((place, row) => {
      const from = row * pass.length * dModel;
      const own = hidden.subarray(from, from + (pass.lengths[row] ?? 0) * dModel);
      const vector = pool(own, dModel, pooling);
      // Not Math.hypot(), which takes no more numbers than a call has room for.
      const norm = normalize ? Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0)) : 1;
      data.set(norm > 0 ? vector.map((x) => x / norm) : vector, place * dModel);
    });
  });
  return { data, shape: [rows.length, dModel], truncated };
}
