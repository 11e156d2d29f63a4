// Vectors of texts.

import { QkvError } from '../api/errors.js';
import type { EmbedOptions } from '../api/model-types.js';
import type { OwnedArray } from '../api/types.js';
import { checkBoolean, checkChoice } from '../arguments/numbers.js';
import { describe, listOf, newFloats, takeOptions } from '../arguments/values.js';
import { Call } from '../memory/call.js';
import type { ModelState } from './state.js';
import { tokensOf } from './text.js';

/** Most texts of a call. */
const mostTexts = 2 ** 20;

/** The mean of rows of `width` numbers, or the first of them, in float64. */
function pool(rows: Float32Array, width: number, pooling: 'mean' | 'cls'): Float64Array {
  const count = pooling === 'cls' ? 1 : rows.length / width;
  const sum = new Float64Array(width);
  for (let i = 0; i < count * width; i += 1)
    sum[i % width] = (sum[i % width] ?? 0) + (rows[i] ?? 0);
  return sum.map((x) => x / count);
}

export function embed(state: ModelState, given: unknown, options: EmbedOptions): OwnedArray {
  const fn = 'LanguageModel.embed';
  const taken = takeOptions(fn, 'options', options, ['pooling', 'normalize']);
  const { pooling = 'mean', normalize = true } = taken;
  checkChoice(fn, 'pooling', pooling, ['mean', 'cls']);
  checkBoolean(fn, 'normalize', normalize);
  const texts = listOf(fn, 'texts', given, mostTexts);
  if (!texts) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: texts is ${describe(given)}, expected an array of texts or lists of tokens`,
    );
  }
  const all = texts.map((text, i) =>
    tokensOf(fn, `texts[${i}]`, text, state.plan, { isVector: true }),
  );
  const { dModel } = state.plan.config;
  const data = newFloats(fn, all.length * dModel);
  for (const [i, rows] of all.entries()) {
    const call = new Call(state.instance, fn);
    const hidden = call.output('hidden', [...rows.shape, dModel]);
    const readings = { rowBegin: 0, rowEnd: -1 };
    call.run('forwardModel', { model: state.live(fn), ids: call.input(rows), hidden, readings });
    const vector = pool(call.read(hidden), dModel, pooling);
    // Not Math.hypot(), which takes no more numbers than a call has room for.
    const norm = normalize ? Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0)) : 1;
    data.set(norm > 0 ? vector.map((x) => x / norm) : vector, i * dModel);
  }
  return { data, shape: [all.length, dModel] };
}
