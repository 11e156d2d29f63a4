// The panel flow, in Node: a token from x to the output of a head against the formula in float64, what one changed number does, and
// what the panel says of it.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { engine, shownPanel, viewOf } from '../support/scene.js';
import { modules } from '../support/engine.js';

const { modelOf } = await modules('engine/layer_weights');

const shown = (patch) => shownPanel('qkv-panel-flow', patch);
const [WIDTH, D_K] = [64, 16];

/** softmax(q·K / √d_k / τ)·V·W_O of the last row that a causal mask lets see all, by the definition. */
function byFormula({ x, wq, wk, wv, wo, bq }, head, { row, part, shift, temperature }) {
  const columns = wq.length / WIDTH;
  const input = Array.from({ length: x.length / WIDTH }, (_, t) =>
    Array.from(
      { length: WIDTH },
      (_, i) => x[t * WIDTH + i] + (t === row && i === part ? shift : 0),
    ),
  );
  const times = (vector, w, bias) =>
    Array.from({ length: D_K }, (_, c) =>
      vector.reduce(
        (sum, value, i) => sum + value * w[i * columns + head * D_K + c],
        bias ? bias[head * D_K + c] : 0,
      ),
    );
  const dot = (a, b) => a.reduce((sum, value, c) => sum + value * b[c], 0);
  const q = times(input[row], wq, bq);
  const seen = input.slice(0, row + 1);
  const scores = seen.map((vector) => dot(q, times(vector, wk)) / Math.sqrt(D_K));
  const powers = scores.map((score) => Math.exp((score - Math.max(...scores)) / temperature));
  const sum = powers.reduce((a, b) => a + b);
  const weights = powers.map((power) => power / sum);
  const values = seen.map((vector) => times(vector, wv));
  const mixed = Array.from({ length: D_K }, (_, c) =>
    dot(
      weights,
      values.map((v) => v[c]),
    ),
  );
  const output = Array.from({ length: WIDTH }, (_, i) => {
    return mixed.reduce((total, value, c) => total + value * wo[(head * D_K + c) * WIDTH + i], 0);
  });
  return { q, scores, weights, mixed, output };
}

const near = (got, wanted, name) => {
  assert.equal(got.length, wanted.length, name);
  got.forEach((value, i) => {
    assert.ok(
      Math.abs(value - wanted[i]) <= 1e-9 * (1 + Math.abs(wanted[i])),
      `${name} ${i}: ${value}, not ${wanted[i]}`,
    );
  });
};

describe('flow: numbers', () => {
  for (const [source, head, part, shift, temperature] of [
    ['constructed', 0, 32, -1, 1],
    ['constructed', 1, 3, 0.5, 2],
    ['random', 2, 63, 4, 0.7],
    ['random', 0, 0, 0, 1],
  ]) {
    test(`${source} head ${head}: number ${part} changed by ${shift}`, () => {
      const patch = { source, head, temperature, flowPart: part, flowShift: shift || null };
      const { flow, query } = engine.ask({ ...patch, text: 'The cat sat because it was tired' });
      const { row } = query;
      const model = { ...modelOf(engine.qkv, source, 7), x: engine.tensors().x };
      const wanted = byFormula(model, head, { row, part, shift, temperature });
      near(flow.q, wanted.q, 'q');
      near(
        flow.keys.map(({ score }) => score),
        wanted.scores,
        'score',
      );
      near(
        flow.keys.map(({ weight }) => weight),
        wanted.weights,
        'weight',
      );
      near(flow.mixed, wanted.mixed, 'mixed');
      near(flow.output, wanted.output, 'output');
      const before = flow.keys.map(({ key, before: was }) => Math.abs(was - query.weights[key]));
      assert.ok(Math.max(...before) < 1e-5, 'before the change it is the row of the map');
    });
  }

  test('none without matrices or words; of many keys the heaviest', () => {
    assert.equal(engine.ask({ source: 'yours' }).flow, null);
    assert.equal(engine.ask({ text: '' }).flow, null);
    const { flow, query } = engine.ask({ source: 'random', length: 64 });
    assert.deepEqual([flow.keys.length, flow.keys.length + flow.others], [10, query.row + 1]);
    const least = Math.min(...flow.keys.map(({ weight }) => weight));
    const listed = new Set(flow.keys.map(({ key }) => key));
    query.weights.forEach((weight, key) => listed.has(key) || assert.ok(weight <= least + 1e-6));
  });
});

test('flow: says what the change did, and gives away the keys', async () => {
  const { panel, text, changes, view } = await shown({ query: 7, flowShift: -1 });
  assert.match(
    text('.flow-effect'),
    /^Number 32 of “it” went from 1\.0000 to 0\.0000\. With it, the weight of “cat” went from 0\.99\d+ to 0\.\d+\.$/,
  );
  assert.equal(panel.querySelectorAll('tbody tr').length, 8);
  panel.querySelector('.flow-reset').click();
  assert.deepEqual(changes, [{ flowShift: null }]);
  const { table } = await panel.figure(view);
  assert.deepEqual(table[0], ['position', 'key', 'score', 'weight', 'weight before']);
  assert.equal(table.length, 9);
  const unread = await shown({ query: 7, flowPart: 50, flowShift: 2 });
  assert.match(unread.text('.flow-effect'), /no weight of this row moved/);
  const none = await shown({ source: 'yours' });
  assert.match(none.text('.flow-missing'), /already computed/);
  assert.equal(none.panel.querySelector('.flow-stages'), null);
});

test('flow: paints the matrices of another source when they arrive, some time after it was chosen', async () => {
  const { panel, view } = await shown({ source: 'constructed' });
  const painted = () => panel.querySelector('[data-cells=wq]').getContext('2d').drawn.length;
  const state = { ...view.state, source: 'random' };
  panel.update({ ...view, state }); // the worker is still computing
  const before = painted();
  panel.update(await viewOf('qkv-panel-flow', { source: 'random' }, state, 1));
  assert.ok(painted() > before, 'W_Q is that of the source before');
});
