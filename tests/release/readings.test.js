// What tools/test.js reads of the runs of Catch2.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCatch2 } from '../../tools/readings.js';

test('readings: tests that passed, failed and were skipped, by names of any letters', () => {
  const report = [
    ...['begins a: b, <c> & "d"', 'passed a: b, <c> & "d"'],
    ...['begins begins failed', 'failed begins failed', 'begins e', 'skipped e', ''],
  ].join('\n');
  const found = (name, ok, skipped) => ({ name, ok, skipped, said: '' });
  assert.deepEqual(readCatch2(report), {
    tests: [
      found('a: b, <c> & "d"', true, false),
      found('begins failed', false, false),
      found('e', true, true),
    ],
    running: undefined,
  });
});

test('readings: a test that did not end has failed, and is the one that was running', () => {
  const { tests, running } = readCatch2('begins a\npassed a\nbegins b\n');
  assert.deepEqual(tests.map(({ name, ok }) => [name, ok]), [['a', true], ['b', false]]); // prettier-ignore
  assert.equal(running, 'b');
  assert.deepEqual(readCatch2(''), { tests: [], running: undefined });
});
