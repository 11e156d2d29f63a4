// @build any
// What the tests assert with, which must fail where it should.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectBelowCeiling } from '../../support/js/ceilings.js';
import { expectClose, expectSame } from '../../support/js/check.js';

const floats = (...values) => Float32Array.from(values);

describe('check: expectClose()', () => {
  test('passes what is within its bounds', () => {
    expectClose(floats(1, 2, 3), [1, 2.001, 3], 0.01);
    expectClose([1, -Infinity, Infinity], [1, -Infinity, Infinity], [0, 0, 0]);
    expectClose([0.001], [0], 0.01, { size: 1 });
    expectClose(new Float32Array(0), [], 0, { empty: true });
  });

  for (const [what, says, ...args] of [
    [
      'a number beyond its bound',
      /element 1 is 2, expected 2\.1 within 0\.01/,
      [1, 2],
      [1, 2.1],
      0.01,
    ],
    ['NaN', /is NaN/, [1, NaN], [1, 2], 0.01],
    ['an expected NaN', /expected NaN/, [1, 2], [1, NaN], 0.01],
    ['infinity where a number is expected', /is Infinity/, [Infinity], [1], 0.01],
    ['a number where infinity is expected', /expected -Infinity/, [1, 64], [-Infinity, 64], [1, 0]],
    ['numbers that are missing', /elements/, [1], [1, 2], 0.01],
    ['no numbers', /no element is compared/, [], [], 0.01],
    ['numbers where none are expected', /elements/, [1], [], 0, { empty: true }],
    ['a bound that is NaN', /bound 0 is NaN/, [1], [1], NaN],
    ['one bound of many that is NaN', /bound 1 is NaN/, [1, 2], [1, 2], [0, NaN]],
    ['a bound below 0', /bound 0 is -1/, [1], [1], -1],
    ['a bound that is infinite', /bound 1 is Infinity/, [1, 1], [1, Infinity], [0, Infinity]],
    ['bounds that are missing', /bounds/, [1, 2], [1, 2], [0]],
    ['a bound that says nothing', /says nothing/, [1, 1], [1, 1], 1 / 32],
    ['a bound where all is 0', /says nothing/, [0], [0], 1e-9],
    [
      'a quantity without a ceiling',
      /no ceiling for nobody/,
      [1],
      [1],
      0.01,
      { quantity: 'nobody' },
    ],
  ]) {
    test(`refuses ${what}`, () => assert.throws(() => expectClose(...args), says));
  }
});

test('check: a quantity stays below its ceiling', () => {
  const known = { x: 0.5 };
  expectBelowCeiling('x', 0.5, known);
  assert.throws(() => expectBelowCeiling('x', 0.51, known), /error \/ bound is 0\.51/);
  assert.throws(() => expectBelowCeiling('x', NaN, known), /NaN/);
  assert.throws(() => expectBelowCeiling('y', 0, known), /no ceiling for y/);
});

test('check: expectSame() compares bits', () => {
  expectSame(floats(NaN, 0, 1), floats(NaN, 0, 1));
  assert.throws(() => expectSame(floats(0), floats(-0)), /element 0 is 0/);
  assert.throws(() => expectSame(floats(1), floats(1, 2)), /elements/);
});
