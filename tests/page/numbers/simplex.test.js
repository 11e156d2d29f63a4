// The panel simplex, in Node: softmax as the weights with the highest p·s + tau H(p), by the formulas; and what hands do to the point.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fire } from '../support/operate.js';
import { engine, shownPanel, web } from '../support/scene.js';

const { modules } = await import('../support/engine.js');
const { objective, slopes, divergence, toThousandths, Triangle, drawSlopes, pagePen } =
  await modules(
    ...['features/simplex/shared/objective', 'features/simplex/page/{triangle,slope_plot}'],
    'ui/plot',
  );
const shown = (patch) => shownPanel('qkv-panel-simplex', patch);
const sum = (values) => values.reduce((a, b) => a + b, 0);
const near = (a, b, off = 1e-6) => assert.ok(Math.abs(a - b) <= off, `${a} is not ${b}`);

const CASES = [
  { scores: [2, 1, 0], temperature: 1 },
  { scores: [-5, 5, 4.99], temperature: 20 },
  { scores: [0.3, 0.3, -2.5], temperature: 0.25 },
];
/** Points of the triangle, corners and edges among them. */
const POINTS = [[1, 0, 0], [0, 0.5, 0.5], [0.2, 0.3, 0.5], [0.9, 0.05, 0.05], [1 / 3, 1 / 3, 1 / 3]]; // prettier-ignore
/** p·s - tau sum p ln p, where 0 ln 0 is 0. */
const valueOf = (p, s, tau) =>
  sum(p.map((weight, i) => weight * s[i] - (weight > 0 ? tau * weight * Math.log(weight) : 0)));

describe('simplex: numbers', () => {
  for (const { scores, temperature } of CASES) {
    test(`scores ${scores} at τ = ${temperature}`, () => {
      const asked = { simplexScores: scores, simplexTemperature: temperature };
      const { best, value, error } = engine.ask(asked).simplex;
      const powers = scores.map((score) => Math.exp(score / temperature));
      const softmax = powers.map((power) => power / sum(powers));
      softmax.forEach((weight, i) => near(best[i], weight, 1e-6));
      assert.ok(error < 1e-6);
      near(value, temperature * Math.log(sum(powers)), 1e-5);
      near(valueOf(softmax, scores, temperature), value, 1e-5);
      for (const p of POINTS) {
        const here = objective(p, scores, temperature);
        near(here, valueOf(p, scores, temperature), 1e-12);
        assert.ok(here <= value + 1e-5, `${p} is higher`);
        near(value - here, temperature * divergence(p, softmax), 1e-5);
      }
      // What a little weight from one key to another changes is the difference of their slopes.
      const p = [0.2, 0.3, 0.5];
      const found = slopes(p, scores, temperature);
      const moved = valueOf([0.2 + 1e-6, 0.3 - 1e-6, 0.5], scores, temperature);
      near((moved - valueOf(p, scores, temperature)) / 1e-6, found[0] - found[1], 1e-3);
      for (const slope of slopes(softmax, scores, temperature))
        near(slope, value - temperature, 1e-5);
    });
  }

  test('places of weights, and weights of places', () => {
    const triangle = new Triangle(400);
    for (const p of POINTS) {
      triangle.weights(triangle.spot(p)).forEach((weight, i) => near(weight, p[i], 1e-12));
    }
    assert.deepEqual(toThousandths([2, -1, 2]), [0.5, 0, 0.5]);
    assert.equal(sum(toThousandths([0.0005, 0.9995, 0]).map((weight) => weight * 1000)), 1000);
  });

  test('the slope of a weight of 0 is an arrow, not a number', () => {
    const marks = { slopes: [Infinity, 0, 1], lambda: 1 };
    const drawn = drawSlopes(pagePen, 300, marks, { names: ['a', 'b', 'c'], title: '' });
    assert.equal(drawn.match(/<circle/g).length, 2);
    assert.doesNotMatch(drawn, /NaN|Infinity/);
  });
});

test('simplex: a link keeps scores, temperature and point, and says nothing where they are as at first', () => {
  const state = (said) => web.parseFragment(`#v=1&${said}`, 'en');
  const read = state('sxs=9,-0.126,0&sxt=0.5&sxp=250,250');
  assert.deepEqual(read.simplexScores, [5, -0.13, 0]);
  assert.deepEqual([read.simplexTemperature, read.simplexPoint], [0.5, [0.25, 0.25, 0.5]]);
  assert.match(web.formatFragment(read), /&sxs=5%2C-0.13%2C0&sxt=0.5&sxp=250%2C250$/);
  for (const said of ['sxs=1,2', 'sxs=1,,2', 'sxs=1,2,x', 'sxp=700,400', 'sxp=a,b', 'sxp=1']) {
    const { simplexScores, simplexPoint } = state(said);
    assert.deepEqual([simplexScores, simplexPoint], [null, null], said);
  }
  assert.doesNotMatch(web.formatFragment(state('')), /sx/);
});

describe('simplex: the panel', () => {
  test('arrow keys move the point, and the button leads to the maximum', async () => {
    const { panel, changes, text } = await shown({ simplexPoint: [0.2, 0.3, 0.5] });
    assert.match(text('.verdict'), /from key 3 to key 1/);
    const handle = panel.querySelector('.simplex-handle');
    for (const key of ['ArrowRight', 'ArrowUp', 'x'])
      fire(handle, 'keydown', KeyboardEvent, { key });
    panel.querySelector('.to-best').click();
    assert.deepEqual(
      changes.map(({ simplexPoint }) => simplexPoint),
      [[0.18, 0.32, 0.5], [0.19, 0.29, 0.52], [0.665, 0.245, 0.09]], // prettier-ignore
    );
  });

  test('at softmax the slopes are equal, in a corner one is infinite', async () => {
    assert.match(
      (await shown({ simplexPoint: [0.665, 0.245, 0.09] })).text('.verdict'),
      /are equal/,
    );
    assert.match((await shown({ simplexPoint: [1, 0, 0] })).text('.verdict'), /Key 2 has weight 0/);
  });

  test('nothing moves while controls are hidden', async () => {
    const { panel, changes } = await shown({ controls: false });
    fire(panel.querySelector('.simplex-handle'), 'keydown', KeyboardEvent, { key: 'ArrowUp' });
    assert.deepEqual(changes, []);
  });
});
