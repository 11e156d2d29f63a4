// @run full, or after changes in web/src/features/extrapolation web/src/engine
// The panel extrapolation, in Node: models that say the token before, trained on short rows and tested on long ones.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { answersTo, layOut, rest, viewOf, web, workers } from '../support/scene.js';

const { modules, packageModule } = await import('../support/engine.js');
const { positionModels, rowsOf, dice, BLOCK, STEPS, TESTED } = await modules(
  ...['features/extrapolation/worker/position_models', 'features/extrapolation/shared/protocol'],
  'domain/random_ints',
);
const qkv = await (await packageModule('train')).init({ deterministic: true });
after(() => qkv.dispose());
const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

/** All that is told of a run. */
const run = (seed, trained) => [...positionModels(qkv, { seed, trained })];
const CHANCE = 1 / 16;

test('extrapolation: rows ask for the token before, the first for nothing', () => {
  const { ids, targets } = rowsOf(dice(1), 2, 5);
  targets.forEach((target, i) => assert.equal(target, i % 5 === 0 ? -1 : ids[i - 1]));
});

describe('extrapolation: trained on 64 positions', () => {
  const told = run(1, 64);
  const { accuracy, step } = told.at(-1);
  const inside = (way) => mean(accuracy[way].slice(0, 64 / BLOCK));
  const beyond = (way, from = 64, to = TESTED) =>
    mean(accuracy[way].slice(from / BLOCK, to / BLOCK));

  test('every model learns the positions it is trained on', () => {
    assert.equal(step, STEPS);
    for (const way of Object.keys(accuracy)) {
      assert.equal(accuracy[way].length, TESTED / BLOCK);
      assert.ok(inside(way) > 0.95, `${way}: ${inside(way)}`);
      assert.ok(mean(told[0].accuracy[way]) < 3 * CHANCE, `${way} at first`);
    }
  });

  test('a learned table falls to chance beyond it, clamped or not', () => {
    for (const way of ['learned', 'clamped']) {
      assert.ok(beyond(way) < 2 * CHANCE, `${way}: ${beyond(way)}`);
      assert.deepEqual(accuracy.learned.slice(0, 4), accuracy.clamped.slice(0, 4));
    }
  });

  test('rotary positions go on, farther than sinusoidal ones', () => {
    assert.ok(beyond('rotary', 64, 128) > 0.9, `rotary: ${beyond('rotary', 64, 128)}`);
    assert.ok(beyond('rotary') > beyond('sinusoidal') + 0.3);
  });

  test('the same seed gives the same numbers, and clamping leaves the model as it was', () => {
    assert.deepEqual(run(1, 64).at(-1), told.at(-1));
    assert.notDeepEqual(accuracy.learned, accuracy.clamped);
  });
});

test('extrapolation: trains when asked, shows what came of it, and begins again with another length', async () => {
  layOut({ width: 640, height: 320 });
  const element = 'qkv-panel-extrapolation';
  const panel = document.createElement(element);
  document.body.replaceChildren(panel);
  workers.length = 0;
  await rest();
  const show = async (patch) =>
    panel.update(await viewOf(element, patch, { ...web.initialState('en'), ...patch }, 1));
  await show({});
  assert.equal(workers.length, 0);
  panel.querySelector('.run').click();
  const [worker] = workers;
  assert.deepEqual(worker.heard, ['extrapolation', { type: 'run', settings: { seed: 1, trained: 64 } }]); // prettier-ignore
  for (const message of await answersTo(worker.heard)) worker.say(message);
  assert.match(panel.querySelector('.described').textContent, /^Trained for 240 steps, seed 1/);
  assert.match(panel.querySelector('[data-number=learned]').textContent, /^\d\.\d%$/);
  await show({ extrapolationTrained: 32 });
  assert.deepEqual(workers.at(-1).heard.at(-1).settings, { seed: 1, trained: 32 });
  assert.equal(panel.querySelector('.described').textContent, 'Step 0 of 240.', 'of the new run');
});
