// What came of a call, in a form that can be compared: bits and shapes, or an error.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { QkvError } from 'qkv';
import { randomArray } from '../../../support/js/arrays.js';

const codes = [
  ...['invalid_argument', 'shape_mismatch', 'out_of_range', 'out_of_memory', 'disposed'],
  'unsupported',
];

/** A QkvError that names the function, and says what was expected. */
export function expectTyped(error, fn, message = '') {
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

/** The arrays in a result, by name; handles say what they hold, and are disposed. */
export async function arraysOf(result) {
  if (result === undefined) return {};
  if (result instanceof Float32Array) return { result: { data: result, shape: [result.length] } };
  if (typeof result.dispose === 'function') {
    try {
      return await held(result);
    } finally {
      await result.dispose();
    }
  }
  return named(result);
}

/** The arrays of a result by name, of which one alone has none. */
const named = (result) => ('data' in result ? { result } : result);

/** What a handle holds, or what a layer computes. */
export async function held(handle) {
  if ('toNdArray' in handle) return { tensor: await handle.toNdArray() };
  if ('truncate' in handle) return { keys: await handle.keys(), values: await handle.values() };
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

/** { result } of `call` with the plain arguments; undefined where the answer to the spoilt ones may be another. */
export function inPlain({ plain, resized, comparable }, call) {
  if (!comparable) return undefined;
  try {
    return { result: call(plain) };
  } catch (cause) {
    if (resized) return undefined;
    throw new Error(`taken, but not in plain: ${cause.message}`, { cause });
  }
}
