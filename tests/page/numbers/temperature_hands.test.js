// @about web/src/features/temperature/
// What hands and keys do with the dot of the temperature, and the part of the panel about a gain. tests/page/operated/temperature-*.txt
// has it; QKV_REFRESH=1 writes it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences, fire, linesOf, requireWritten } from '../support/operate.js';
import { openWindow } from '../support/window.js';

openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  'features/temperature/page/drag_dial',
  'features/temperature/page/gain_part',
);

// ---- hands and keys ----

test('temperature: keys take the steps of a slider, and stop at its ends', () => {
  const lines = [];
  const handle = document.createElement('div');
  let now = 1;
  const set = [];
  web.pressing(handle, { temperature: () => now, set: (to) => set.push(to), at: () => NaN });
  const keys = [
    'ArrowLeft',
    'ArrowDown',
    'ArrowRight',
    'ArrowUp',
    'PageDown',
    'PageUp',
    'Home',
    'End',
    'a',
    'Enter',
  ];
  for (now of [1, 0.05, 0.06, 19.5, 20, null]) {
    for (const key of keys) {
      const event = new KeyboardEvent('keydown', { key, cancelable: true });
      handle.dispatchEvent(event);
      lines.push(`${key} at ${now}: ${set.splice(0)}${event.defaultPrevented ? ', taken' : ''}`);
    }
  }
  requireWritten('temperature-keys', lines);
});

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

test('temperature: the slider of the gain, and what a gain does', () => {
  const lines = [];
  const part = document.createElement('qkv-gain');
  document.body.replaceChildren(part);
  part.addEventListener('state-change', ({ detail }) =>
    lines.push(`asks for ${JSON.stringify(detail)}`),
  );
  const slider = part.querySelector('input');
  for (const value of [-40, -39, -20, -1, 0, 1, 13, 20, 39, 40]) {
    slider.value = String(value);
    fire(slider, 'input');
  }
  let before = [];
  const show = (title, gain, found, look = 1) => {
    part.update({ state: { gain }, frame: found && { temperature: { gain: found } }, look });
    const now = linesOf(part);
    lines.push('', `=== ${title}`, ...differences(before, now));
    before = now;
  };
  const row = (gain, temperature, deviation) => ({
    gain,
    temperature,
    deviation,
    entropy: 1.23456,
    largest: 0.012345,
  });
  const found = {
    plain: row(1, 0.5, 0.98765),
    scaled: row(2, 0.5, 3.9506),
    restored: row(2, 2, 3.9506),
    difference: 1.5e-8,
  };
  show('before a frame', 2, null);
  show('a gain', 2, found);
  const cell = part.querySelector('td').firstChild;
  show('the same again', 2, found);
  assert.ok(part.querySelector('td').firstChild === cell, 'it is not written twice');
  show('another, before a frame has it', 0.257, found);
  show('out of sight', 0.25, { ...found, plain: row(1, 0.7, 1) });
  show('no frame', 3.9, null);
  document.body.replaceChildren();
  requireWritten('temperature-gain', lines);
});
