// The heads of a trained model, in a window without a browser: what is listed and said of them in every order, what their
// buttons ask for, and what stays in focus.
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { float, partsOf } from '../support/model_parts.js';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  'features/model/panel',
  'features/model/shared/model_view',
  'state/state',
);
afterEach(() => {
  leave();
  web.setLanguage('en');
});

const { put } = partsOf(web);

const INFO = { numLayers: 2, numHeads: 2, speaks: true, notDrawn: null, name: null };
const scores = (more = {}) => ({
  ...{ numHeads: 2, previous: float(0.1, 0.5, 0.5, 0.2), first: float(0.49, 0, 0.25, 0.49) },
  ...{ induction: float(0, 0, 0.015, 0.9), repeated: 50, difference: 2.5e-7, ...more },
});
const reading = { id: 3, ids: [1] };
const changes = (...values) => ({ reading: 3, changes: float(...values), running: false });
const view = ({ info = {}, answers = {}, model = {}, state = {} } = {}) => ({
  state,
  model: { info: { ...INFO, ...info }, ...model },
  answers: {
    reading,
    scores: scores(),
    losses: { whole: 2, ablated: null, heads: [] },
    ...answers,
  },
});
const changed = { changes: changes(0.04, -0.01, NaN, 0.0025) };
const of = (count, heads) => {
  const values = Float32Array.from({ length: count }, (_, i) => i / count);
  return view({
    info: { numLayers: count / heads, numHeads: heads },
    answers: {
      scores: { ...scores(), numHeads: heads, previous: values, first: values, induction: values },
    },
  });
};

/** The heads as they are listed, under this view. */
function listed(more) {
  const found = put('heads');
  found.show(view(more));
  return { ...found, order: found.all('li').map(({ dataset }) => Number(dataset.head)) };
}

test('model: each head has its name and three scores, as numbers and as bars', () => {
  const { all } = listed();
  const found = scores();
  all('li').forEach((item, at) => {
    assert.equal(item.querySelector('b').textContent, ['0.0', '0.1', '1.0', '1.1'][at]);
    const values = ['previous', 'first', 'induction'].map((name) => found[name][at]);
    const [told, bars] = ['.model-score .value', '.bar i'].map((of) => [...item.querySelectorAll(of)]);
    assert.deepEqual(told.map(({ textContent }) => textContent), values.map((value) => value.toFixed(2)));
    assert.deepEqual(bars.map(({ style }) => style.width), values.map((value) => `${100 * value}%`));
  });
}); // prettier-ignore

test('model: heads are listed by layer, or with the largest of what they are sorted by first', () => {
  for (const [modelOrder, order, model = changed] of [
    ['layer', [0, 1, 2, 3]],
    ['previous', [1, 2, 3, 0]],
    ['first', [0, 3, 2, 1]],
    ['induction', [3, 2, 0, 1]],
    ['change', [0, 3, 2, 1]], // what is not known counts as no change
    ['change', [0, 1, 2, 3], {}],
  ]) {
    assert.deepEqual(listed({ model, state: { modelOrder } }).order, order, modelOrder);
  }
});

test('model: what the loss changes without each head is told of this text, darker for more', () => {
  const { all, texts } = listed({ model: changed });
  assert.deepEqual(texts('.model-change'), ['+0.0400', '−0.0100', '', '+0.00250']);
  assert.deepEqual(all('li').map(({ dataset }) => dataset.change), ['more', 'less', undefined, 'more']);
  const shares = all('li').map(({ style }) => style.getPropertyValue('--share'));
  assert.deepEqual(shares, ['100%', '50%', '', '25%'], 'the square root of its part of the largest');
  const other = listed({ model: { changes: { ...changed.changes, reading: 2 } } });
  assert.deepEqual(other.texts('.model-change'), ['', '', '', ''], 'of another text');
  for (const running of [true, false]) {
    const { one } = listed({ model: { changes: { ...changed.changes, running } } });
    assert.equal(one('.all').disabled, running);
  }
}); // prettier-ignore

test('model: the loss with and without heads, and the strongest head of each kind, are told', () => {
  const lossOf = (ablated, ...heads) => {
    const found = listed({ answers: { losses: { whole: 2, ablated, heads } }, state: { modelOut: heads } });
    return [found.text('.model-loss'), found.one('.back').disabled];
  };
  const without = 'Loss of the shown text: 2.000 nats per token; without';
  assert.deepEqual(lossOf(null), ['Loss of the shown text with all heads: 2.000 nats per token.', true]);
  assert.deepEqual(lossOf(2.5, [0, 1], [1, 0]), [`${without} 0.1, 1.0: 2.500 (+0.500).`, false]);
  assert.deepEqual(lossOf(1.876543, [0, 1]), [`${without} 0.1: 1.877 (−0.123).`, false]);
  const cut = { heads: [[0, 1]], label: 'Mary', whole: 0.75, cut: 0.25 };
  const next = { label: 'to', bars: [{ label: 'John' }], cut };
  assert.match(listed({ answers: { next } }).text('.model-loss'), /nats per token\. Without 0\.1, Mary follows to with probability 25\.0%, .* John\.$/);
  const { text } = listed();
  assert.match(text('.model-story'), /^Head 0\.1 mostly reads the token before \(0\.50\)\. No head puts half of its weight on the first token; the highest is 0\.49, in head 0\.0\. Head 1\.1 attends like an induction head/);
  for (const [difference, words] of [[2.5e-7, /at most 2\.5×10⁻⁷\.$/], [0, /to the last bit\.$/], [NaN, /50 random tokens read twice\.$/]]) {
    assert.match(listed({ answers: { scores: scores({ difference }) } }).text('.model-check'), words);
  }
}); // prettier-ignore

test('model: heads can be ablated where the model predicts, and shown where the map can', () => {
  const buttons = (info) => new Set(listed({ info }).all('li button').map(({ dataset }) => dataset.do));
  assert.deepEqual([...buttons({})], ['out', 'map']);
  assert.deepEqual([...buttons({ speaks: false })], ['map']);
  assert.deepEqual([...buttons({ notDrawn: 'alibi' })], ['out']);
  const { one, text } = listed({ info: { speaks: false }, answers: { losses: null } });
  assert.deepEqual([one('.all').disabled, text('.model-loss')], [true, '']);
  const none = listed({ answers: { scores: null, losses: null } });
  assert.deepEqual([none.order, none.text('.model-story')], [[], '']);
}); // prettier-ignore

describe('model: heads', () => {
  test('stand in lines that are a layer, or parts of one of the same length', () => {
    const { one, show } = put('heads');
    const columns = () => one('.model-heads').style.getPropertyValue('--columns');
    const lines = { 1: 4, 2: 2, 3: 3, 4: 4, 5: 4, 6: 3, 7: 4, 8: 4, 9: 3, 10: 2, 12: 4, 16: 4 };
    for (const [heads, wanted] of Object.entries(lines)) {
      show(of(+heads, +heads));
      assert.equal(columns(), `${wanted}`, `${heads} heads`);
    }
    show({ ...of(6, 3), state: { modelOrder: 'first' } });
    assert.equal(columns(), '4', 'in another order');
  });

  test('keep the focus when they stand in another order', () => {
    const { one, show } = put('heads');
    show(view());
    one('[data-head="3"] [data-do=map]').focus();
    show(view({ state: { modelOrder: 'induction' } }));
    assert.equal(document.activeElement, one('li:first-child [data-do=map]'));
    assert.equal(one('li:first-child').dataset.head, '3');
  });
});
