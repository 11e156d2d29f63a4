import { random, type TrainQkv } from 'qkv/train';
import { median, quantile } from '../../../domain/averages';
import {
  LAYER_HEADS,
  LENGTHS,
  REPEATS,
  WIDTH,
  type Spread,
  type Timing,
} from '../shared/timing_settings';

/** One timing lasts at least so long, in ms: clocks of browsers are coarse. */
const LEAST = 6;

/** One pass, with nothing to set up. */
interface Passes {
  readonly gru: () => unknown;
  readonly attention: () => unknown;
  readonly dispose: () => void;
}

/** Random weights of a size at which neither gates nor softmax saturate. */
function matrix(rows: number, columns: number, seed: number) {
  const { data, shape } = random([rows, columns], seed);
  return { data: data.map((x) => x * Math.sqrt(3 / rows)), shape };
}

/** A layer of each kind of the same width, on the same x. Times do not depend on what the numbers are. */
function passes(qkv: TrainQkv, length: number): Passes {
  const gates = 3 * WIDTH;
  const unit = {
    ...{ wx: matrix(WIDTH, gates, 1), wh: matrix(WIDTH, gates, 2) },
    ...{ bx: new Float32Array(gates), bh: new Float32Array(gates) },
  };
  const [wq, wk, wv, wo] = [3, 4, 5, 6].map((seed) => matrix(WIDTH, WIDTH, seed));
  if (!wq || !wk || !wv || !wo) throw new Error('four matrices were made');
  const layer = qkv.multiHeadAttention(
    { dModel: WIDTH, numHeads: LAYER_HEADS },
    { wq, wk, wv, wo },
  );
  const x = qkv.tensor([1, length, WIDTH], random([1, length, WIDTH], 7).data);
  return {
    gru: () => qkv.gru(x, unit),
    attention: () => layer.forward(x),
    dispose: () => {
      layer.dispose();
      x.dispose();
    },
  };
}

/** Milliseconds of one pass, of as many as take long enough to be measured. */
function time(pass: () => unknown, now: () => number): number {
  const start = now();
  let passes = 0;
  do {
    pass();
    passes++;
  } while (now() - start < LEAST);
  return (now() - start) / passes;
}

const spreadOf = (values: readonly number[]): Spread => ({
  median: median(values),
  low: quantile(values, 0.25),
  high: quantile(values, 0.75),
});

/**
 * Times of both at every length. All lengths are timed once before any is timed again, and the two by turns, so that a machine
 * that is slow for a moment is slow for all. Yields what is known after every length.
 */
export function* timings(
  qkv: TrainQkv,
  now: () => number,
  lengths = LENGTHS,
): Generator<Timing[], void> {
  const found = lengths.map((length) => ({
    length,
    both: passes(qkv, length),
    gru: [] as number[],
    attention: [] as number[],
  }));
  try {
    for (const { both } of found) {
      both.gru();
      both.attention();
    }
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      for (const each of found) {
        each.gru.push(time(each.both.gru, now));
        each.attention.push(time(each.both.attention, now));
        yield found
          .filter(({ gru }) => gru.length > 0)
          .map(({ length, gru, attention }) => ({
            length,
            gru: spreadOf(gru),
            attention: spreadOf(attention),
          }));
      }
    }
  } finally {
    for (const { both } of found) both.dispose();
  }
}
