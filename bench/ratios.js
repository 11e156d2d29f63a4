// How many times as long one contestant takes as another, and how sure that is: intervals by the bootstrap (Efron 1979), whose
// draws are seeded, so that the same times give the same interval.
import { random } from './random.js';

const DRAWS = 2000;
const SEED = 41;

/** The middle one of a list, or the mean of the two in the middle. */
export function median(list) {
  const sorted = [...list].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** As many of a list, each drawn from all of it. */
const redrawn = (list, numbers, from) =>
  list.map((_, i) => list[Math.floor(((numbers[from + i] + 1) / 2) * list.length)]);

/** The middle 95 % of `statistic(numbers, draw)` over all draws, each of which has `count` random numbers. */
function interval(count, statistic) {
  const numbers = random(SEED, DRAWS * count);
  const all = Array.from({ length: DRAWS }, (_, draw) => statistic(numbers, draw * count));
  all.sort((a, b) => a - b);
  return [all[Math.floor(0.025 * DRAWS)], all[Math.ceil(0.975 * DRAWS) - 1]];
}

/**
 * Of times that were taken in turns, `own[i]` and `other[i]` in the same round: the median over rounds of other / own, and its
 * 95 % interval. What slows both in a round leaves the ratio of that round alone.
 */
export function pairedRatio(own, other) {
  if (own.length !== other.length || own.length === 0) {
    throw new RangeError(`pairs of ${own.length} and ${other.length} times`);
  }
  const ratios = own.map((time, i) => other[i] / time);
  const drawn = (numbers, from) => median(redrawn(ratios, numbers, from));
  return { ratio: median(ratios), interval: interval(ratios.length, drawn), paired: true };
}

/** Of times that were not taken in turns: the ratio of their medians, with both lists drawn again. */
export function separateRatio(own, other) {
  const drawn = (numbers, from) =>
    median(redrawn(other, numbers, from + own.length)) / median(redrawn(own, numbers, from));
  return {
    ratio: median(other) / median(own),
    interval: interval(own.length + other.length, drawn),
    paired: false,
  };
}

/** What an interval says of the contestant whose times are below the line. */
export function verdict({ interval: [low, high] }) {
  if (low > 1) return 'faster';
  return high < 1 ? 'slower' : 'as fast';
}

const digits = (x) => (x >= 10 ? x.toFixed(1) : x.toFixed(2));

/** A cell of a table: the ratio and its interval; what loses is marked. */
export function ratioCell(about) {
  const { ratio, interval: range } = about;
  const mark = { faster: '', slower: ' **slower**', 'as fast': ' as fast' }[verdict(about)];
  return `**${digits(ratio)}x** (${range.map(digits).join('–')})${mark}`;
}
