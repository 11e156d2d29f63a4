// Sliders whose numbers are rounded, in Node: by every press of an arrow key the number becomes another one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownPanel, web } from '../support/scene.js';

const SLIDERS = [
  ...['Radius', 'Output', 'Value', 'Query', 'Key', 'Factor'].map((name) => ['bounds', `bounds-${name.toLowerCase()}`, `bounds${name}`]), // prettier-ignore
  ['fragility', 'fragility-shake', 'fragilityShake'],
  ['block', 'block-gain', 'blockGain'],
];

for (const [id, slider, field] of SLIDERS) {
  test(`${field}: moves by each press of an arrow key, from end to end`, async () => {
    const [least, most] = web.LIMITS[field];
    const { panel, view, changes } = await shownPanel(`qkv-panel-${id}`, { [field]: least });
    const input = panel.querySelector(`#${slider}`);
    const [low, high, step] = ['min', 'max', 'step'].map((name) => Number(input[name]));
    /** What a browser makes of a press: the next step from the end, within both ends. */
    const press = (way) => {
      const steps = Math.round((Number(input.value) - low) / step) + way;
      input.value = String(Math.min(high, low + step * steps));
      input.dispatchEvent(new Event('input', { bubbles: true }));
      const now = changes.at(-1)[field];
      panel.update({ ...view, state: { ...view.state, [field]: now } });
      return now;
    };
    let now = least;
    while (Number(input.value) < high) {
      const next = press(1);
      assert.ok(next > now, `${next} after ${now}`);
      now = next;
    }
    assert.equal(now, most);
    while (Number(input.value) > low) {
      const next = press(-1);
      assert.ok(next < now, `${next} after ${now}`);
      now = next;
    }
    assert.equal(now, least);
  });
}
