// What came of a call, in a form that can be compared: bits and shapes, or an error.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { QkvError } from 'qkv';
import { randomArray } from '../../../support/js/arrays.js';

const codes = [
  ...['invalid_argument', 'shape_mismatch', 'out_of_range', 'out_of_memory', 'disposed'],
  ...['unsupported', 'load_failed', 'busy'],
];

/** What the language says of a class (values.js) that was given as a function to call: the caller's own error. */
const isOfTheirFunction = (error) =>
  error instanceof TypeError && error.message.startsWith('Class constructor A cannot be invoked');

/** A QkvError that names the function, and says what was expected; or what a function of the caller's threw. */
export function expectTyped(error, fn, message = '') {
  if (isOfTheirFunction(error)) return;
  const what = `${message}${error?.stack ?? String(error)}`;
  assert.ok(error instanceof QkvError, `no QkvError: ${what}`);
  assert.ok(codes.includes(error.code), `code ${error.code}: ${what}`);
  assert.ok(error.message.startsWith(`${fn}: `), `${fn} is not named: ${what}`);
  const says = error.code === 'out_of_memory' ? /bytes|memory/ : /expected/;
  assert.match(error.message, says);
  assert.ok(error.message.length < 2000, `${error.message.length} characters`);
  assert.ok(error.cause === undefined || error.cause.planted || error.code !== 'unsupported', what);
}

const probe = randomArray([2, 3, 8], 6);
const contexts = [undefined, randomArray([2, 5, 6], 7), probe];

/** The arrays, numbers and texts in a result, by name; handles say what they hold, and are disposed. */
export async function arraysOf(result) {
  if (result === undefined) return {};
  if (typeof result.dispose === 'function') {
    try {
      return await held(result);
    } finally {
      await result.dispose();
    }
  }
  return named(Symbol.asyncIterator in Object(result) ? await collected(result) : result);
}

async function collected(iterable) {
  const all = [];
  for await (const each of iterable) all.push(each);
  return all;
}

/** The parts of a result by their paths; one that has no path is 'result'. */
function partsOf(value, path) {
  if (ArrayBuffer.isView(value)) return [[path, { data: value, shape: [value.length] }]];
  if (typeof value !== 'object' || value === null || value.data) return [[path, value]];
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return entries.flatMap(([key, part]) => partsOf(part, path ? `${path}.${key}` : `${key}`));
}
const named = (result) =>
  Object.fromEntries(partsOf(result, '').map(([path, part]) => [path || 'result', part]));

/** What a handle holds, or what a layer computes. */
export async function held(handle) {
  if ('toNdArray' in handle) return { tensor: await handle.toNdArray() };
  if ('keys' in handle) return { keys: await handle.keys(), values: await handle.values() };
  if ('truncate' in handle) return { length: handle.length };
  if ('step' in handle)
    return named({ state: handle.save({ optimizer: true }), steps: handle.steps });
  if ('generate' in handle) return named(handle.forward([0], { hidden: true }));
  for (const context of contexts) {
    try {
      return named(await handle.forward(probe, context && { context }));
    } catch (error) {
      if (error.code === 'disposed') throw error;
      // It wants another context, or none.
    }
  }
  return {};
}

/** Hashes of the bits, and shapes, as text. */
export function bitsOf(arrays) {
  const parts = Object.entries(arrays).map(([name, array]) => {
    if (!array?.data) return `${name}: ${String(array)}`;
    const { buffer, byteOffset, byteLength } = array.data;
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    const hash = createHash('sha1').update(bytes).digest('hex');
    return `${name} [${array.shape}]: ${hash}, begins with ${array.data.subarray(0, 3)}`;
  });
  return parts.sort().join('\n');
}

/** { arrays } of `call` with the plain arguments; undefined where the answer to the spoilt ones may be another. */
export async function inPlain({ plain, resized, comparable }, call) {
  if (!comparable) return undefined;
  try {
    return { arrays: await arraysOf(await call(plain)) };
  } catch (cause) {
    if (resized) return undefined;
    throw new Error(`taken, but not in plain: ${cause.message}`, { cause });
  }
}
