// What the tests assert with.
import assert from 'node:assert/strict';
import { QkvError } from 'qkv';
import { expectBelowCeiling } from './ceilings.js';

const largest = (values) => values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);

/** Bounds that say something: finite, and far below the numbers that they are about. */
function expectTelling(bounds, size) {
  const wrong = bounds.findIndex((bound) => !(bound >= 0 && bound < Infinity));
  assert.ok(wrong < 0, `bound ${wrong} is ${bounds[wrong]}`);
  const widest = largest(bounds);
  assert.ok(widest <= size / 64, `the bound ${widest} says nothing about numbers up to ${size}`);
}

/**
 * |actual - expected| <= bound for every element; infinities must be the same. `bound` is a number or
 * one for each element. A bound that would let anything pass is refused: it must be below 1/64 of
 * `size`, by default the largest expected number. Where everything expected is 0, so is the bound.
 * Nothing at all may be compared only if it is said to be `empty`. A `quantity` is held to its ceiling,
 * too: error / bound stays below what ceilings.json says.
 */
export function expectClose(actual, expected, bound, options = {}) {
  const { size, what = 'element', quantity, empty = false } = options;
  assert.equal(actual.length, expected.length, `${what}s`);
  assert.ok(expected.length > 0 || empty, `no ${what} is compared`);
  const bounds = typeof bound === 'number' ? Array(expected.length).fill(bound) : Array.from(bound);
  assert.equal(bounds.length, expected.length, 'bounds');
  expectTelling(bounds, size ?? largest(Array.from(expected).filter(Number.isFinite)));
  let worst = 0;
  for (let i = 0; i < expected.length; ++i) {
    const off = actual[i] === expected[i] ? 0 : Math.abs(actual[i] - expected[i]);
    if (!(off <= bounds[i])) {
      const was = `${what} ${i} is ${actual[i]}, expected ${expected[i]} within ${bounds[i]}`;
      assert.fail(`${was}: off by ${off}`);
    }
    if (off > 0) worst = Math.max(worst, off / bounds[i]);
  }
  if (quantity) expectBelowCeiling(quantity, worst);
}

/** Bit for bit the same float32 numbers (so -0 is not 0, and a NaN is itself). */
export function expectSame(actual, expected, what = 'element') {
  assert.equal(actual.length, expected.length, `${what}s`);
  const bits = (a) => new Uint32Array(a.buffer, a.byteOffset, a.length);
  const [is, should] = [bits(actual), bits(expected)];
  for (let i = 0; i < is.length; ++i) {
    if (is[i] !== should[i]) assert.fail(`${what} ${i} is ${actual[i]}, expected ${expected[i]}`);
  }
}

/** Results of a call, arrays and shapes, bit for bit. */
export function expectSameResult(actual, expected) {
  assert.deepEqual(Object.keys(actual).sort(), Object.keys(expected).sort());
  for (const name of Object.keys(expected)) {
    assert.deepEqual([...actual[name].shape], [...expected[name].shape], `shape of ${name}`);
    expectSame(actual[name].data, expected[name].data, name);
  }
}

/**
 * A QkvError with this code whose message begins with the name of the function, contains every one of
 * `says`, and tells what was expected.
 */
export function expectQkvError(error, fn, code, ...says) {
  assert.ok(error instanceof QkvError, `expected a QkvError, got ${error?.stack ?? error}`);
  assert.ok(error instanceof Error);
  assert.equal(error.name, 'QkvError');
  const { message } = error;
  assert.equal(error.code, code, message);
  const told = (text) => assert.ok(message.includes(text), `"${message}" lacks "${text}"`);
  assert.ok(message.startsWith(`${fn}: `), `"${message}" does not begin with "${fn}: "`);
  says.forEach(told);
  if (code !== 'out_of_memory') told('expected');
}

/** `call` throws such an error. */
export function expectThrows(call, fn, code, ...says) {
  let result;
  try {
    result = call();
  } catch (error) {
    expectQkvError(error, fn, code, ...says);
    return;
  }
  assert.fail(`expected ${code}, got ${JSON.stringify(result)?.slice(0, 200)}`);
}

/** `promise` is rejected with such an error. */
export async function expectRejects(promise, fn, code, ...says) {
  const settled = await promise.then(
    (value) => ({ value }),
    (error) => ({ error }),
  );
  assert.ok('error' in settled, `expected ${code}, got a result`);
  expectQkvError(settled.error, fn, code, ...says);
}

/** Whether two engines have one memory: what one takes is in use for the other. */
export function shareMemory(one, other) {
  const before = other.memory().usedBytes;
  const tensor = one.tensor([1000]);
  const shared = other.memory().usedBytes - before >= 4000;
  tensor.dispose();
  return shared;
}
