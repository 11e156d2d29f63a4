// What the controls of a trained model's panel ask for, in a window without a browser: tokens and examples, settings of the next token,
// writing and timing; and what an update leaves alone while a reader is at it.
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { enter, fire } from '../support/operate.js';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  'features/model/panel',
  'features/model/shared/{model_view,shipped_models}',
  'features/model/page/model_part',
  'state/state',
);
afterEach(leave);

let look = 1;
/** A part on the page, what it asks of the page and of the worker, and a way to show it this. */
function put(name) {
  const part = document.createElement(`qkv-model-${name}`);
  const [changes, messages] = [[], []];
  document.body.append(part);
  document.body.addEventListener('state-change', ({ detail }) => changes.push(detail));
  document.body.addEventListener('model-tell', ({ detail }) => messages.push(detail));
  return {
    ...{ part, changes, messages, one: (selector) => part.querySelector(selector) },
    all: (selector) => [...part.querySelectorAll(selector)],
    show({ state = {}, model = {}, answers = {} } = {}) {
      const whole = { ...web.initialState('en'), ...state };
      part.update({ state: whole, model: { ...web.NO_MODEL, answers, ...model }, look: look++ });
    },
  };
}

test('model: the next token is chosen by what is set', () => {
  const { one, changes, show } = put('next');
  show();
  const box = (name) => one(`#model-${name}`);
  for (const [name, value] of [
    ['temperature', '1.25'],
    ['topP', '0.5'],
  ]) {
    box(name).value = value;
    fire(box(name), 'input');
  }
  box('topK').value = '12';
  fire(box('topK'), 'input'); // not before it is entered
  fire(box('topK'), 'change');
  assert.deepEqual(changes, [{ modelTemperature: 1.25 }, { modelTopP: 0.5 }, { modelTopK: 12 }]);
  const values = () => ['temperature', 'topK', 'topP'].map((name) => box(name).value);
  const states = { modelTemperature: 0.5, modelTopK: 3, modelTopP: 0.25 };
  for (const name of ['temperature', 'topK', 'topP']) {
    show();
    box(name).focus();
    show({ state: states });
    // A slider follows; what is typed stays.
    assert.deepEqual(values(), ['0.5', name === 'topK' ? '0' : '3', '0.25'], name);
    box(name).blur();
  }
  const outputs = ['temperature', 'topP'].map(
    (name) => one(`output[for=model-${name}]`).textContent,
  );
  assert.deepEqual(outputs, ['0.50', '0.25']);
  assert.equal(one('label[for=model-topK]').textContent, web.textOf('model.next.topK'));
});

describe('model: writing', () => {
  const written = (more = {}) => ({
    ...{ before: 'a', text: 'b', tokens: 1, cached: 2, capacity: 9, bytesPerToken: 4 },
    ...{ median: 1, running: true, seed: 1, ...more },
  });

  test('begins with what is set, and ends with the same button', () => {
    const { one, messages, show } = put('write');
    show({ state: { modelSeed: 7 } });
    one('.write').click();
    show({ state: { modelSeed: 8, modelSlow: false } });
    one('.write').click();
    show({ model: { generated: written() } });
    one('.write').click();
    show({ model: { generated: written({ running: false }) } });
    one('.write').click();
    const generate = (seed, pace) => ({ kind: 'generate', seed, tokens: 400, pace });
    assert.deepEqual(messages, [
      ...[generate(7, 24), generate(8, null), { kind: 'stop' }, generate(1, 24)],
    ]);
  });

  test('has a seed and a pace that are set', () => {
    const { one, changes, show } = put('write');
    show();
    enter(one('#model-seed'), '12');
    for (const checked of [true, false]) {
      one('#model-slow').checked = checked;
      fire(one('#model-slow'), 'change');
    }
    assert.deepEqual(changes, [{ modelSeed: 12 }, { modelSlow: true }, { modelSlow: false }]);
    show({ state: { modelSeed: 3, modelSlow: false } });
    assert.deepEqual([one('#model-seed').value, one('#model-slow').checked], ['3', false]);
    one('#model-seed').focus();
    show({ state: { modelSeed: 4, modelSlow: true } });
    assert.deepEqual([one('#model-seed').value, one('#model-slow').checked], ['3', true]);
  });

  test('is said aloud when it is over, once', () => {
    const { one, show } = put('write');
    const said = () => one('[data-said]').textContent;
    show({ model: { generated: written({ running: false }) } });
    assert.equal(said(), '', 'nobody has seen it run');
    show({ model: { generated: written() } });
    assert.equal(said(), '');
    show({ model: { generated: written({ running: false, tokens: 2, text: 'bc' }) } });
    assert.equal(said(), web.textOf('model.write.said', { tokens: 2, text: 'bc' }));
    one('[data-said]').textContent = '';
    show({ model: { generated: written({ running: false, tokens: 2, text: 'bc' }) } });
    assert.equal(said(), '');
    show({ model: { generated: written() } });
    show();
    assert.equal(said(), '');
  });
});
