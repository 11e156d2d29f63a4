// Results of attention() or forward() against an oracle's.
import assert from 'node:assert/strict';
import { expectClose } from './check.js';

/** Every result that the call returned is within its bound; none that was asked for is missing. */
export function expectResults(actual, exact, tk, asked = ['output']) {
  assert.deepEqual(Object.keys(actual).sort(), [...asked].sort());
  const size = (name) => (name === 'entropy' || name === 'lse' ? Math.log(tk) + 1 : undefined);
  for (const name of asked) {
    const { data, bound } = exact[name];
    expectClose(actual[name].data, data, bound, { size: size(name), what: name });
  }
}

export const allExtras = { returnWeights: true, returnLse: true, returnEntropy: true };
export const allResults = ['output', 'weights', 'lse', 'entropy'];
