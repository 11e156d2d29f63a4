// Hooks that hold every refused call to its promise: nothing is changed then.
import assert from 'node:assert/strict';
import { afterEach, beforeEach } from 'node:test';
import { expectSame } from './check.js';

/** How often the hooks have looked. */
let looks = 0;

/**
 * After each test `engine` has the handles it had before, `out` holds what it held, and `compute()` gives
 * the bits it always gave. Call it at the top of a file or of a describe().
 */
export function nothingChanges(engine, out, compute) {
  const expected = compute();
  let handles;
  beforeEach(() => {
    handles = engine.memory().handles;
    out.view().fill(42);
  });
  afterEach(() => {
    looks += 1;
    assert.equal(engine.memory().handles, handles, 'handles after an error');
    assert.ok(
      out.view().every((x) => x === 42),
      'out is as it was',
    );
    expectSame(compute(), expected);
  });
}

/** For a last test of a file: the hooks did run. */
export const expectLooks = (least) => assert.ok(looks >= least, `the hooks looked ${looks} times`);
