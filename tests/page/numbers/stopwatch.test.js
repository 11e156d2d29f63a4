// @build any
// How long calls take by the stopwatch of the worker, in Node with a clock of the test.
import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import { tickingClock } from '../support/clock.js';
import { modules } from '../support/engine.js';

const { Stopwatch } = await modules('worker/stopwatch');
afterEach(() => mock.restoreAll());

/** A stopwatch under this clock: what it says, and how often it called and yielded. */
function stopwatch(now, work = () => undefined) {
  mock.method(performance, 'now', now);
  const watch = new Stopwatch();
  return {
    measure(kind) {
      let made = 0;
      const counted = () => {
        made += 1;
        work();
      };
      const turns = [...watch.measure(kind, counted)].length;
      return { made, turns, ...watch.reading() };
    },
  };
}

test('stopwatch: calls shorter than a tick are repeated for ten ticks', () => {
  const { measure } = stopwatch(tickingClock());
  // Each look at the clock is a tick, and each call is followed by one: three samples of ten calls are 20 ms and more.
  assert.deepEqual(measure('a'), { made: 30, turns: 2, median: 1, samples: 3, calls: 10, tick: 1 });
  assert.deepEqual(
    [1, 2, 3].map(() => measure('a').samples),
    [5, 6, 7],
  );
  assert.equal(measure('b').samples, 3, 'another kind begins anew');
});

test('stopwatch: long calls are made once, and at most fifteen samples are kept', () => {
  const clock = tickingClock();
  let spent = 0;
  const { measure } = stopwatch(
    () => clock() + spent,
    () => (spent += 29),
  );
  const first = measure('a');
  assert.deepEqual([first.median, first.calls, first.samples, first.tick], [30, 1, 3, 1]);
  for (let n = 0; n < 20; n++) measure('a');
  assert.equal(measure('a').samples, 15);
});

test('stopwatch: five samples of calls that take little, and no more than 64 calls where the clock stands', () => {
  let looks = 0;
  // The clock goes on at every thousandth look, by a millisecond.
  const { measure } = stopwatch(() => Math.floor(looks++ / 1000));
  const { samples, calls, tick } = measure('a');
  assert.deepEqual([samples, calls, tick], [5, 64, 1]);
});

test('stopwatch: the time of every sample counts, not that of one of them', () => {
  const clock = tickingClock();
  let [spent, made] = [0, 0];
  // Two samples of ten short calls, then calls of 30 ms: 1 + 10 + 30 ms are more than a few samples may take.
  const { measure } = stopwatch(
    () => clock() + spent,
    () => (spent += ++made > 20 ? 29 : 0),
  );
  assert.deepEqual([measure('a').samples, made], [3, 21]);
});
