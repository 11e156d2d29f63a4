// Whether two numbers are as close as a test demands.
import assert from 'node:assert/strict';

export const close = (a, b, most, what) =>
  assert.ok(Math.abs(a - b) <= most, `${what}: ${a} and ${b} differ by more than ${most}`);
