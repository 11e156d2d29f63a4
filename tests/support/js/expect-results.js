// Results of attention() or forward() against an oracle's.
import assert from 'node:assert/strict';
import { expectClose } from './check.js';
import { attention } from './oracle.js';

/**
 * Every result that was `asked` for is there and within its bound, and below the ceiling of `method` if that is given.
 * Those in `empty` have no elements.
 */
export function expectResults(actual, exact, tk, { method, asked = ['output'], empty = [] }) {
  assert.deepEqual(Object.keys(actual).sort(), [...asked].sort());
  const size = (name) => (name === 'entropy' || name === 'lse' ? Math.log(tk) + 1 : undefined);
  for (const name of asked) {
    const { data, bound } = exact[name];
    const about = { size: size(name), what: name, quantity: method && `${method}.${name}` };
    expectClose(actual[name].data, data, bound, { ...about, empty: empty.includes(name) });
  }
}

export const allExtras = { returnWeights: true, returnLse: true, returnEntropy: true };
export const allResults = ['output', 'weights', 'lse', 'entropy'];

/** attention() of an engine with all that it returns, against the oracle; its results. */
export function expectAttention(engine, { q, k, v }, options = {}, empty = []) {
  const result = engine.attention(q, k, v, { ...allExtras, ...options });
  const about = { method: 'attention', asked: allResults, empty };
  expectResults(result, attention(q, k, v, options), k.shape.at(-2), about);
  return result;
}
