// What hands and keys do with the dot of the temperature, and the part of the panel about a gain.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fire } from '../support/operate.js';
import { openWindow } from '../support/window.js';

openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules('features/temperature/page/{drag_dial,gain_part}', 'ui/numbers');

// ---- hands and keys ----

test('temperature: keys take the steps of a slider, and stop at its ends', () => {
  const handle = document.createElement('div');
  let now = 1;
  const set = [];
  web.pressing(handle, { temperature: () => now, set: (to) => set.push(to), at: () => NaN });
  const press = (key) => {
    const event = new KeyboardEvent('keydown', { key, cancelable: true });
    handle.dispatchEvent(event);
    return [set.splice(0)[0], event.defaultPrevented];
  };
  const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
  for (now of [1, 0.05, 0.06, 19.5, 20]) {
    for (const [key, step] of Object.entries({ ...steps, Home: -1000, End: 1000 })) {
      const [to, taken] = press(key);
      // A hundred steps are a factor of ten.
      const wanted = Math.min(20, Math.max(0.05, now * 10 ** (step / 100)));
      assert.ok(taken && Math.abs(to / wanted - 1) < 0.012, `${key} at ${now}: ${to}, not ${wanted}`);
    }
    for (const key of ['a', 'Enter']) assert.deepEqual(press(key), [undefined, false]);
  }
  now = null;
  for (const key of Object.keys(steps)) assert.deepEqual(press(key), [undefined, false], 'without controls');
}); // prettier-ignore

test('temperature: a drag is of one pointer, the first button, and further than a click', () => {
  const stage = document.createElement('div');
  stage.getBoundingClientRect = () => ({ left: 40 });
  const heard = [];
  let now = 1;
  stage.setPointerCapture = (id) => heard.push(`holds ${id}`);
  web.dragging(stage, {
    temperature: () => now,
    at: (x) => x / 100,
    set: (to) => heard.push(to),
    hold: (held) => heard.push(held),
  });
  const say = (type, clientX, more = {}) =>
    fire(stage, type, PointerEvent, { clientX, button: 0, buttons: 1, pointerId: 4, ...more });
  const expect = (wanted, why) => assert.deepEqual(heard.splice(0), wanted, why);
  say('pointerdown', 100);
  say('pointermove', 103);
  expect([], 'three pixels are a click');
  say('pointermove', 97);
  expect([]);
  say('pointermove', 104);
  expect(['holds 4', true, 0.64], 'four are a drag');
  say('pointermove', 101);
  expect([0.61], 'also near where it began');
  say('pointermove', 200, { pointerId: 5 });
  expect([], 'another pointer');
  say('pointerup', 140);
  expect([false], 'the end of a drag goes nowhere');
  say('pointermove', 300);
  say('pointerup', 300);
  expect([], 'nothing is held');
  say('pointerdown', 100, { button: 2 });
  say('pointermove', 200);
  say('pointerup', 200);
  expect([], 'another button');
  now = null;
  say('pointerdown', 100);
  say('pointermove', 200);
  say('pointerup', 200);
  expect([], 'while the controls are put away');
  now = 1;
  say('pointerdown', 140);
  say('pointerup', 140, { pointerId: 9 });
  expect([], 'another pointer goes up');
  say('pointerdown', 140);
  say('pointercancel', 140);
  say('pointerup', 140);
  expect([], 'a press that is called off');
  say('pointerdown', 140);
  say('pointerup', 142);
  expect([1.02], 'a click');
  say('pointerdown', 100);
  say('pointermove', 10);
  expect(['holds 4', true, 0.05], 'no temperature is below 0.05');
  say('pointercancel', 10);
  expect([false]);
  say('pointerdown', 140);
  say('pointermove', 200, { buttons: 0 });
  expect([], 'the button went up elsewhere');
  say('pointermove', 300);
  say('pointerup', 300);
  expect([], 'and what is pressed elsewhere is no drag of this');
  say('pointerdown', 140);
  say('pointermove', 200);
  say('pointermove', 300, { buttons: 0 });
  expect(['holds 4', true, 1.6, false], 'a drag ends there, too');
});

// ---- the part about a gain ----

test('temperature: the slider of the gain doubles it every twenty steps, and the table has what it does', () => {
  const part = document.createElement('qkv-gain');
  document.body.replaceChildren(part);
  const asked = [];
  part.addEventListener('state-change', ({ detail }) => asked.push(detail));
  const show = (gain, gains) => part.update({ state: { gain }, frame: gains && { temperature: { gain: gains } }, look: 1 });
  show(2, null);
  const slider = part.querySelector('input');
  for (const value of [-40, -39, -20, 0, 13, 40]) {
    fire(Object.assign(slider, { value: String(value) }), 'input');
    const [{ gain }] = asked.splice(0);
    assert.ok(Math.abs(gain / 2 ** (value / 20) - 1) < 0.006, `${value}: ${gain}`);
  }
  const row = (gain, temperature, deviation) => ({ gain, temperature, deviation, entropy: 1.23456, largest: 0.012345 });
  const found = {
    ...{ plain: row(1, 0.5, 0.98765), scaled: row(2, 0.5, 3.9506), restored: row(2, 2, 3.9506) },
    difference: 1.5e-8,
  };
  const rows = () => [...part.querySelectorAll('tbody tr')].map((tr) => [...tr.cells].map(({ textContent }) => textContent));
  assert.equal(part.querySelector('.gain-table').hidden, true);
  show(2, found);
  const wanted = [
    ['gain γ, τ = 0.500', '0.9877', '1.235', '0.0123'],
    ['gain c·γ, τ = 0.500', '3.951', '1.235', '0.0123'],
    ['gain c·γ, c²·τ = 2.00', '3.951', '1.235', '0.0123'],
  ];
  assert.deepEqual(rows(), wanted);
  assert.equal(part.querySelector('.gain-note').textContent, web.t('gain.note', { ratio: '4.000', difference: '1.5×10⁻⁸' }));
  show(0.257, null);
  assert.deepEqual([part.querySelector('output').textContent, slider.value], ['c = 0.257', '-39']);
  assert.deepEqual(rows(), wanted, 'out of sight what was shown stays');
}); // prettier-ignore
