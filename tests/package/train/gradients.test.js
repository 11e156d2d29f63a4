// @build each
// Every gradient of qkv/train: of the formula within its bound, and the transpose of the forward function's derivative,
// <J u, w> = <u, J^T w>, with J u by central differences in float64.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv/train';
import { randomArray } from '../../support/js/arrays.js';
import { expectClose } from '../../support/js/check.js';
import { casesOf, wideInputs } from './cases.js';

const engine = await init();
after(() => engine.dispose());

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

/** d value / d t of the inputs + t directions at t = 0, by differences of the fourth order. */
function derivative(value, inputs, directions) {
  const step = 1e-3;
  const at = (t) => {
    const moved = Object.entries(inputs).map(([name, { data, shape }]) => [
      name,
      { data: data.map((x, i) => x + t * directions[name][i]), shape },
    ]);
    return value(Object.fromEntries(moved));
  };
  const [a, b, c, d] = [-2, -1, 1, 2].map((n) => at(n * step));
  return Array.from(a, (_, i) => (a[i] - d[i] + 8 * (c[i] - b[i])) / (12 * step));
}

for (const of of casesOf(engine)) {
  describe(`gradients of ${of.name}`, () => {
    const inputs = wideInputs(of);
    const dOutput = randomArray(of.outShape, 90);
    const exact = of.gradients(inputs, { ...dOutput, data: Float64Array.from(dOutput.data) });
    const actual = of.call(engine, dOutput);
    const operator = of.name.split(':')[0];

    test('are those of the formula', () => {
      for (const [name, { shape }] of Object.entries(of.inputs)) {
        assert.deepEqual(actual[name].shape, shape, name);
        const { data, bound } = exact[name];
        expectClose(actual[name].data, data, bound, {
          quantity: `${operator}Backward`,
          what: `element of d ${name}`,
        });
      }
    });

    test('are the transpose of the derivative', () => {
      for (const [name, { data }] of Object.entries(of.inputs)) {
        const zeros = Object.entries(inputs).map(([n, a]) => [n, new Float64Array(a.data.length)]);
        const direction = randomArray([data.length], 91).data;
        const directions = { ...Object.fromEntries(zeros), [name]: direction };
        const forward = dot(derivative(of.value, inputs, directions), dOutput.data);
        const size = dot(exact[name].data.map(Math.abs), direction.map(Math.abs));
        const off = Math.abs(dot(exact[name].data, direction) - forward);
        assert.ok(off <= 1e-7 * size, `the oracle's d ${name} is off by ${off} of ${size}`);
        const bound = dot(exact[name].bound, direction.map(Math.abs));
        const gap = Math.abs(dot(Array.from(actual[name].data), direction) - forward);
        assert.ok(gap <= bound + 1e-7 * size, `d ${name} is off by ${gap} of ${size}`);
      }
    });
  });
}
