// Ratios of the benchmark: intervals have the ratio that times were made with, and a change of a tenth is seen.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { median, pairedRatio, ratioCell, separateRatio, verdict } from '../../bench/ratios.js';
import { randomOf } from '../support/js/random.js';

/** Normal numbers (Box and Muller). */
function normalOf(random) {
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/**
 * Times of two contestants in turns, of which the second takes `ratio` times as long. A round is slow or fast for both, by a
 * third, and each call by three percent.
 */
function experiment(normal, ratio, rounds) {
  const own = [];
  const other = [];
  for (let round = 0; round < rounds; round += 1) {
    const machine = Math.exp(0.33 * normal());
    own.push(10 * machine * Math.exp(0.03 * normal()));
    other.push(10 * ratio * machine * Math.exp(0.03 * normal()));
  }
  return [own, other];
}

const contains = ([low, high], x) => low <= x && x <= high;

describe('ratios: paired rounds', () => {
  for (const rounds of [9, 11]) {
    test(`of ${rounds} rounds about 95 of 100 intervals have the ratio of the times`, () => {
      const normal = normalOf(randomOf(3));
      const trials = 300;
      let covered = 0;
      for (let trial = 0; trial < trials; trial += 1) {
        const { interval } = pairedRatio(...experiment(normal, 1.7, rounds));
        covered += contains(interval, 1.7) ? 1 : 0;
      }
      const share = covered / trials;
      assert.ok(share > 0.9 && share < 0.995, `${share} of the intervals`);
    });
  }

  test('a tenth more time is seen, where each of the times wanders by a third', () => {
    const normal = normalOf(randomOf(5));
    let seen = 0;
    let claimed = 0;
    for (let trial = 0; trial < 100; trial += 1) {
      const [own, other] = experiment(normal, 1.1, 9);
      seen += verdict(pairedRatio(own, other)) === 'faster' ? 1 : 0;
      assert.notEqual(verdict(pairedRatio(own, other)), 'slower');
      claimed += verdict(pairedRatio(...experiment(normal, 1, 9))) === 'as fast' ? 0 : 1;
    }
    assert.ok(seen > 95, `seen ${seen} times of 100`);
    assert.ok(claimed < 12, `claimed ${claimed} times of 100 where nothing differs`);
  });

  test('the ratio is the median of those of the rounds, and what exchanges the two inverts it', () => {
    const own = [1, 2, 4];
    const other = [2, 6, 4];
    assert.equal(pairedRatio(own, other).ratio, 2);
    assert.equal(pairedRatio(other, own).ratio, 0.5);
    assert.deepEqual(pairedRatio([3, 3, 3], [6, 6, 6]).interval, [2, 2]);
  });

  test('rounds without a partner are refused', () => {
    assert.throws(() => pairedRatio([1, 2], [1]), /pairs of 2 and 1 times/);
    assert.throws(() => pairedRatio([], []), RangeError);
  });
});

test('ratios: of other rounds, medians are compared, and a machine that wanders makes the interval wide', () => {
  const normal = normalOf(randomOf(9));
  const [own, other] = experiment(normal, 2, 9);
  const paired = pairedRatio(own, other);
  const separate = separateRatio(own, other);
  assert.equal(separate.ratio, median(other) / median(own));
  const width = ({ interval: [low, high] }) => high / low;
  assert.ok(width(separate) > 1.3 * width(paired), `${width(separate)} ${width(paired)}`);
});

test('ratios: the same times give the same interval', () => {
  const [own, other] = experiment(normalOf(randomOf(13)), 1.3, 11);
  assert.deepEqual(pairedRatio(own, other), pairedRatio(own, other));
});

test('ratios: a table marks what loses, and what is undecided', () => {
  const cell = (ratio, interval) => ratioCell({ ratio, interval });
  assert.equal(cell(2.345, [2.1, 2.6]), '**2.35x** (2.10–2.60)');
  assert.equal(cell(0.5, [0.4, 0.6]), '**0.50x** (0.40–0.60) **slower**');
  assert.equal(cell(1.02, [0.9, 1.1]), '**1.02x** (0.90–1.10) as fast');
  assert.equal(cell(14.57, [13, 15]), '**14.6x** (13.0–15.0)');
});
