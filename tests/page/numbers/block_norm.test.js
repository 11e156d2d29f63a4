// The worked norm of the panel block, in Node: by the formulas, and as the core has it.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { modules, packageModule } from '../support/engine.js';
import { shownPanel } from '../support/scene.js';

const { workedNorm } = await modules('features/block/shared/worked_norm');
const qkv = await (await packageModule('index')).init();
after(() => qkv.dispose());
const near = (a, b, off) => assert.ok(Math.abs(a - b) <= off, `${a} is not ${b}`);
const mean = (row) => row.reduce((a, b) => a + b, 0) / row.length;
const EPSILON = 1e-5;

describe('block: a worked norm', () => {
  for (const row of [
    [2, 4, -1, 0, 3, 4],
    [5, 5, 5, 5, 5, 5],
    [1000, -1000, 0, 0, 0, 1],
  ]) {
    for (const type of ['layer', 'rms']) {
      test(`${type} of ${row}`, () => {
        const worked = workedNorm(row, type, { gain: 2, shift: -0.5 });
        const centre = type === 'layer' ? mean(row) : 0;
        const deviation = Math.sqrt(mean(row.map((x) => (x - centre) ** 2)) + EPSILON);
        near(worked.centre, centre, 1e-12);
        near(worked.deviation, deviation, 1e-9);
        const x = { data: Float32Array.from(row), shape: [1, row.length] };
        const gamma = new Float32Array(row.length).fill(2);
        const { data } =
          type === 'layer'
            ? qkv.layerNorm(x, { gamma, beta: gamma.map(() => -0.5) })
            : qkv.rmsNorm(x, { gamma });
        row.forEach((value, i) => {
          near(worked.output[i], (2 * (value - centre)) / deviation - 0.5, 1e-9);
          near(worked.output[i], data[i] - (type === 'rms' ? 0.5 : 0), 1e-5);
        });
      });
    }
  }

  test('ten times a row is as good as the row', () => {
    const [one, ten] = [
      [2, 4, -1],
      [20, 40, -10],
    ].map((row) => workedNorm(row, 'layer', { gain: 1, shift: 0 }));
    one.output.forEach((value, i) => near(ten.output[i], value, 1e-5));
    near(ten.deviation / one.deviation, 10, 1e-4);
  });
});

test('block: the band is around the mean with LayerNorm, and around 0 with RMSNorm', async () => {
  const titles = async (blockType) => {
    const { panel } = await shownPanel('qkv-panel-block', { blockType });
    const drawn = panel.querySelector('[data-figure=norm]');
    return Array.from(drawn.querySelectorAll('.plot-title'), ({ textContent }) => textContent);
  };
  assert.deepEqual(await titles('layer'), ['before: mean ± σ', 'after, on a scale of its own']);
  assert.deepEqual(await titles('rms'), ['before: 0 ± σ', 'after, on a scale of its own']);
});
