// The panel lookup, in Node: what a dictionary and a soft look-up answer, by their definitions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rest, viewOf, web } from '../support/scene.js';
import { modules } from '../support/engine.js';

const { READINGS, hardAnswer, softAnswer } = await modules('features/lookup/shared/readings');
const ELEMENT = 'qkv-panel-lookup';

test('lookup: a dictionary answers only with an entry that it has', () => {
  for (const { key, value } of READINGS) assert.equal(hardAnswer(key), value);
  assert.deepEqual([11, 8.5, 7].map(hardAnswer), [null, null, null]);
});

test('lookup: the soft answer is the mean of all values, weighted by softmax(−(q − k)²/2τ)', () => {
  for (const question of [8, 11, 13.5]) {
    for (const temperature of [0.05, 1, 20]) {
      const powers = READINGS.map(({ key }) =>
        Math.exp(-((question - key) ** 2) / (2 * temperature)),
      );
      const sum = powers.reduce((a, b) => a + b);
      const wanted = READINGS.reduce((total, { value }, i) => total + (value * powers[i]) / sum, 0);
      const { answer, weights } = softAnswer(question, temperature);
      assert.ok(Math.abs(answer - wanted) < 1e-12);
      assert.ok(Math.abs(weights.reduce((a, b) => a + b) - 1) < 1e-12);
    }
  }
  assert.ok(Math.abs(softAnswer(12.5, 0.05).answer - hardAnswer(12)) < 1e-6, 'towards the argmax');
});

test('lookup: shows both answers, and what is asked is in the link', async () => {
  const panel = document.createElement(ELEMENT);
  document.body.replaceChildren(panel);
  await rest();
  const show = async (patch) => {
    panel.update(await viewOf(ELEMENT, patch, { ...web.initialState('en'), ...patch }, 1));
    return [...panel.querySelectorAll('.lookup-answer')].map(({ textContent }) => textContent);
  };
  const [none, mean] = await show({});
  assert.deepEqual(
    [none, mean],
    [
      'No entry for 11:00: there is no answer.',
      `Answer: ${softAnswer(11, 1).answer.toPrecision(4)} °C`,
    ],
  );
  assert.equal((await show({ lookupQuestion: 12 }))[0], 'Answer: 14 °C');
  const read = (raw) => web.parseFragment(`#v=1&${raw}`, 'en');
  assert.deepEqual(
    ['9.3', '99', 'x'].map((raw) => read(`uq=${raw}`).lookupQuestion),
    [9.5, 18, null],
  );
  assert.equal(read('ut=0.5').lookupTemperature, 0.5);
});
