// Models from a config and weights in memory.

import { QkvError } from '../api/errors.js';
import type { CreateOptions, LanguageModelConfig, Tokenizer } from '../api/model-types.js';
import type { NdArray } from '../api/types.js';
import { checkArray, checkStill, type Input } from '../arguments/arrays.js';
import { checkChoice, checkInteger } from '../arguments/numbers.js';
import { isTensor } from '../arguments/genuine.js';
import { shapeText, sizeOf } from '../arguments/shapes.js';
import { describe, isRecord, newFloats, reading, takeOptions } from '../arguments/values.js';
import { plainView } from '../arguments/views.js';
import { resolveConfig } from '../language/config.js';
import { some } from '../arguments/name-list.js';
import type { Instance } from '../memory/instance.js';
import { tensorAddress } from '../memory/tensor.js';
import { Filler } from './fill.js';
import { WasmLanguageModel } from './model.js';
import type { NamedArray } from '../language/named-arrays.js';
import { formats } from './kept.js';
import type { ModelState } from './model-state.js';

/** Bytes that are put into a model at once. */
const piece = 2 ** 20;

/** The option `tokenizer`: something with encode() and decode(). */
function checkTokenizer(fn: string, given: unknown): asserts given is Tokenizer | undefined {
  if (given === undefined) return;
  const fits = reading(fn, 'tokenizer', () => {
    const { encode, decode } = (given ?? {}) as Partial<Tokenizer>;
    return typeof encode === 'function' && typeof decode === 'function';
  });
  if (!fits) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: tokenizer is ${describe(given)}, expected an object with encode() and decode()`,
    );
  }
}

/** The weights have the names of the arrays, and no other. */
function checkNames(
  fn: string,
  given: ReadonlyMap<string, unknown>,
  arrays: ModelState['arrays'],
): void {
  const missing = [...arrays.keys()].filter((name) => !given.has(name));
  const surplus = [...given.keys()].filter((name) => !arrays.has(name));
  if (missing.length === 0 && surplus.length === 0) return;
  const what = missing.length > 0 ? `have no ${some(missing)}` : `have ${some(surplus)}`;
  const expected = missing.length > 0 ? 'every array of the model' : 'only the arrays of the model';
  throw new QkvError('invalid_argument', `${fn}: weights ${what}, expected ${expected}`);
}

/** The numbers of an array where the model's memory does not move them. */
function ownNumbers(fn: string, instance: Instance, { name, shape, source }: Input) {
  if (!isTensor(source)) return instance.owned(fn, source);
  const at = tensorAddress(instance, fn, name, source);
  const copy = newFloats(fn, sizeOf(shape));
  copy.set(new Float32Array(instance.buffer(fn), at, copy.length));
  return copy;
}

/** The arrays that were given, each by its name. What is in WebAssembly memory is copied, as the model makes that grow. */
function takeArrays(fn: string, instance: Instance, weights: unknown): ReadonlyMap<string, Input> {
  const given = isRecord(weights)
    ? reading(fn, 'weights', () => Object.entries(weights))
    : undefined;
  if (!given) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: weights is ${describe(weights)}, expected an object with an array for each name`,
    );
  }
  return new Map(
    given.map(([name, value]) => {
      const input = checkArray(fn, `weights[${JSON.stringify(name)}]`, value as NdArray);
      return [name, { ...input, source: ownNumbers(fn, instance, input) }];
    }),
  );
}

/** The array has its shape; `positions` may have more rows than the model has tokens. */
function checkShape(fn: string, name: string, input: Input, { shape }: NamedArray): void {
  const [rows = 0, ...rest] = input.shape;
  const fits = name === 'positions' ? rows >= (shape[0] ?? 0) : rows === shape[0];
  if (fits && String(rest) === String(shape.slice(1))) return;
  throw new QkvError(
    'shape_mismatch',
    `${fn}: ${input.name} is ${shapeText(input.shape)}, expected ${shapeText(shape)}`,
  );
}

/** Puts float32 numbers into an array, some rows at a time. */
function putAll(filler: Filler, name: string, data: Float32Array, { shape }: NamedArray): void {
  const [rows, width] = shape.length === 1 ? [1, shape[0] ?? 0] : [shape[0] ?? 0, shape[1] ?? 0];
  // A whole number of blocks of int8.
  const most = Math.max(32, Math.floor(piece / 4 / width / 32) * 32);
  // Not by properties of its own, which may say anything.
  const { buffer, byteOffset, byteLength } = plainView(data);
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  const rowBytes = 4 * width;
  for (let first = 0; first < rows; first += most) {
    const count = Math.min(most, rows - first);
    const part = bytes.subarray(first * rowBytes, (first + count) * rowBytes);
    filler.put({ name, type: 'f32', layout: 'in_out', bytes: part, count, rowBytes });
  }
}

export function create(
  instance: Instance,
  givenConfig: LanguageModelConfig,
  weights: Readonly<Record<string, NdArray>>,
  givenOptions: CreateOptions = {},
): WasmLanguageModel {
  const fn = 'create';
  const options = takeOptions(fn, 'options', givenOptions, ['format', 'maxLength', 'tokenizer']);
  const { format = 'f32', tokenizer, maxLength } = options;
  checkChoice(fn, 'format', format, formats);
  checkTokenizer(fn, tokenizer);
  const whole = resolveConfig(fn, givenConfig);
  if (maxLength !== undefined) checkInteger(fn, 'maxLength', maxLength, 1, whole.maxLength);
  const config = Object.freeze({ ...whole, maxLength: maxLength ?? whole.maxLength });
  const given = takeArrays(fn, instance, weights);
  return new WasmLanguageModel(fn, instance, { config, format, tokenizer, ends: [] }, (state) => {
    checkNames(fn, given, state.arrays);
    for (const [name, input] of given) {
      checkShape(fn, name, input, state.arrays.get(name) as NamedArray);
      checkStill(fn, input.name, input.source as Float32Array, sizeOf(input.shape));
    }
    const filler = new Filler(fn, state);
    try {
      for (const [name, { source }] of given) {
        putAll(filler, name, source as Float32Array, state.arrays.get(name) as NamedArray);
      }
    } finally {
      filler.dispose();
    }
    state.finish(fn);
  });
}
