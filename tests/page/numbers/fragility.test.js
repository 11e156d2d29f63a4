// The panel fragility, in Node: what shakes of the scores do to the softmax, against bounds that are worked out here in another way.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { engine, rest, viewOf, web } from '../support/scene.js';

const { modules } = await import('../support/engine.js');
const { sharpBound, worstChange, CURVE, DRAWS, errorOf, dice } = await modules(
  'features/fragility/shared/{bounds,constants}',
  ...['features/fragility/worker/frame_feature', 'domain/random_ints'],
);
const sum = (values) => values.reduce((a, b) => a + b, 0);
const near = (a, b, off) => assert.ok(Math.abs(a - b) <= off, `${a} is not ${b}`);
const softmax = (scores, tau) => {
  const powers = scores.map((score) => Math.exp((score - Math.max(...scores)) / tau));
  return powers.map((power) => power / sum(powers));
};
const apart = (a, b) => sum(a.map((value, i) => Math.abs(value - b[i])));

const ask = (scores, shake, temperature, seed = 1) =>
  engine.ask({
    ...{ fragilityScores: scores, fragilityShake: shake },
    ...{ fragilityTemperature: temperature, fragilitySeed: seed },
  }).fragility;

/** The largest change over every choice of +shake and -shake for each key. */
function worstOfCorners(scores, shake, tau) {
  const before = softmax(scores, tau);
  const corners = Array.from({ length: 2 ** scores.length }, (_, bits) =>
    scores.map((score, i) => score + ((bits >> i) & 1 ? shake : -shake)),
  );
  return Math.max(...corners.map((scoresAfter) => apart(before, softmax(scoresAfter, tau))));
}

describe('fragility: numbers', () => {
  const ROWS = [[2, 1.9, 1, 0.5, 0], [0, 0, 0, 0, 0], [5, -5, 1, 1.01, 2]]; // prettier-ignore
  for (const scores of ROWS) {
    test(`scores ${scores}: measured <= worst of the row <= 2 tanh <= ε/τ`, () => {
      const shake = 0.3;
      const { curve } = ask(scores, shake, 1);
      CURVE.forEach((tau, i) => {
        const worst = worstChange(scores, shake, tau);
        near(worst, worstOfCorners(scores, shake, tau), 1e-9);
        assert.ok(curve[i].mean <= curve[i].largest);
        assert.ok(curve[i].largest <= worst + 1e-5, `at τ = ${tau}`);
        assert.ok(
          worst < 1e-3 || curve[i].largest >= 0.3 * worst,
          `far from the worst at τ = ${tau}`,
        );
        assert.ok(worst <= sharpBound(shake, tau) + 1e-12);
        assert.ok(sharpBound(shake, tau) <= shake / tau);
      });
    });
  }

  test('the sharp bound is reached by two keys that lie ε apart', () => {
    for (const tau of [0.05, 0.3]) {
      const worst = worstChange([0.1, 0, -5, -5, -5], 0.1, tau);
      near(worst, sharpBound(0.1, tau), 1e-6);
    }
  });

  test('weights and changes at one temperature, from the scores that are told', () => {
    const scores = [2, 1.9, 1, 0.5, 0];
    const { weights, worst, here, error } = ask(scores, 0.1, 0.1);
    near(apart(Array.from(weights), softmax(scores, 0.1)), 0, 1e-5);
    const after = softmax(Array.from(worst.scores), 0.1);
    near(apart(Array.from(worst.weights), after), 0, 1e-5);
    near(here.largest, apart(softmax(scores, 0.1), after), 1e-5);
    assert.ok(error < 1e-5);
    worst.scores.forEach((score, i) => assert.ok(Math.abs(score - scores[i]) <= 0.1 + 1e-6));
  });

  test('weights that are right to float32 have the error of float32 alone, at any temperature', () => {
    const random = dice(7);
    const rows = Float32Array.from({ length: (1 + DRAWS) * 5 }, () => random.below(1000) / 150);
    for (const temperature of [0.07, 0.3, 1]) {
      const exact = Array.from({ length: 1 + DRAWS }, (_, i) =>
        softmax(Array.from(rows.subarray(5 * i, 5 * i + 5)), temperature),
      ).flat();
      const error = errorOf(rows, Float32Array.from(exact), temperature);
      assert.ok(error > 0 && error <= 2 ** -25, `${error} at τ = ${temperature}`);
    }
  });

  test('the winner changes as often as two uniform shakes exchange their order', () => {
    // The difference of two draws from U(-ε, ε) has a triangular density: above the gap it is (2 - gap / ε)^2 / 8.
    for (const [gap, share] of [
      [0.1, 1 / 8],
      [0.05, 1.5 ** 2 / 8],
      [0.2, 0],
    ]) {
      const draws = [1, 2, 3, 4].map((seed) => ask([gap, 0, -5, -5, -5], 0.1, 1, seed).flips);
      const sure = 5 * Math.sqrt((share * (1 - share)) / (4 * DRAWS));
      near(sum(draws) / 4, share, sure);
    }
  });

  test('as τ → 0, the mean change is twice the share of shakes that change the winner', () => {
    const { flips, curve } = ask([2, 1.9, -5, -5, -5], 0.5, 1);
    assert.ok(flips > 0.2);
    near(curve[0].mean, 2 * flips, 0.1);
    assert.ok(ask([2, 1, 0, 0, 0], 0.1, 1).curve[0].largest < 1e-5);
  });
});

test('fragility: says whether a shake can change the winner', async () => {
  const element = 'qkv-panel-fragility';
  const verdict = async (patch) => {
    const panel = document.createElement(element);
    document.body.replaceChildren(panel);
    await rest();
    panel.update(await viewOf(element, patch, { ...web.initialState('en'), ...patch }, 1));
    return panel.querySelector('.verdict').textContent;
  };
  assert.match(await verdict({}), /differ by 0\.0500, less than 2ε = 0\.2000/);
  assert.match(await verdict({ fragilityShake: 0.02 }), /not less than 2ε = 0\.0400/);
});
