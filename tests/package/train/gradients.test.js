// @build each
// Every gradient of qkv/train is the transpose of the forward function's derivative, <J u, w> = <u, J^T w>, with J u by central
// differences in float64. The bounds of the headers are held in tests/core/train.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { init } from 'qkv/train';
import { randomArray } from '../../support/js/arrays.js';
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

/** What float32 may be off, of the sizes of all terms: 1.5 times the worst that was measured. */
const CEILING = 6.3e-7;

for (const of of casesOf(engine)) {
  test(`gradients of ${of.name} are the transpose of the derivative`, () => {
    const inputs = wideInputs(of);
    const dOutput = randomArray(of.outShape, 90);
    const actual = of.call(engine, dOutput);
    for (const [name, { data, shape }] of Object.entries(of.inputs)) {
      assert.deepEqual(actual[name].shape, shape, name);
      for (const seed of [91, 92, 93]) {
        const zeros = Object.entries(inputs).map(([n, a]) => [n, new Float64Array(a.data.length)]);
        const direction = randomArray([data.length], seed).data;
        const directions = { ...Object.fromEntries(zeros), [name]: direction };
        const forward = dot(derivative(of.value, inputs, directions), dOutput.data);
        const gradient = Array.from(actual[name].data);
        const size = dot(gradient.map(Math.abs), direction.map(Math.abs));
        const off = Math.abs(dot(gradient, direction) - forward) / (size || 1);
        assert.ok(off <= CEILING, `d ${name} is off by ${off} of ${size}`);
      }
    }
  });
}
