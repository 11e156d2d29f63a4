// @build each
// linear() and linearLayer() against the sum in float64.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init } from 'qkv';
import { randomArray, zeros } from '../../support/js/arrays.js';
import { expectClose, expectSame, expectThrows } from '../../support/js/check.js';
import { linear, transposed } from '../../support/js/oracle.js';

const engine = await init();

for (const [from, to, ...before] of [
  [1, 1, 1],
  [8, 5, 2, 3],
  [37, 70, 11],
  [64, 1],
  [3, 130, 2, 1, 2, 2, 3],
]) {
  test(`linear: [${[...before, from]}] times [${[from, to]}], plain and packed, both layouts`, () => {
    const x = randomArray([...before, from], from);
    const w = randomArray([from, to], to);
    const bias = randomArray([to], 3).data;
    for (const b of [undefined, bias]) {
      const { data, bound } = linear(x.data, null, w, b);
      const plain = engine.linear(x, w, { bias: b });
      assert.deepEqual(plain.shape, [...before, to]);
      expectClose(plain.data, data, bound, { quantity: 'linear' });
      const layers = [
        engine.linearLayer(w, { bias: b }),
        engine.linearLayer(transposed(w), { bias: b, layout: 'out_in' }),
      ];
      expectSame(engine.linear(x, transposed(w), { bias: b, layout: 'out_in' }).data, plain.data);
      for (const layer of layers) {
        const packed = layer.forward(x);
        assert.deepEqual(packed.shape, plain.shape);
        expectSame(packed.data, plain.data);
        layer.dispose();
      }
    }
  });
}

test('linear: no rows give no rows', () => {
  const [x, w] = [zeros([2, 0, 4]), randomArray([4, 3], 1)];
  assert.deepEqual(engine.linear(x, w).shape, [2, 0, 3]);
  const layer = engine.linearLayer(w);
  assert.deepEqual(layer.forward(x).shape, [2, 0, 3]);
  layer.dispose();
});

test('linear: reads tensors and writes to one, which may be no input', () => {
  const [x, w] = [randomArray([5, 5], 1), randomArray([5, 5], 2)];
  const expected = engine.linear(x, w).data;
  const [from, to] = [engine.tensor([5, 5], x.data), engine.tensor([5, 5])];
  const weights = engine.tensor([5, 5], w.data);
  assert.equal(engine.linear(from, weights, { out: to }), undefined);
  expectSame(to.view(), expected);
  const layer = engine.linearLayer(weights);
  weights.set(zeros([5, 5]).data); // the layer has a copy
  to.set(zeros([5, 5]).data);
  assert.equal(layer.forward(from, { out: to }), undefined);
  expectSame(to.view(), expected);
  const says = ['out overlaps', 'expected separate memory'];
  for (const input of [from, weights]) {
    expectThrows(
      () => engine.linear(from, weights, { out: input }),
      ...['linear', 'invalid_argument', ...says],
    );
  }
  expectThrows(() => layer.forward(from, { out: from }), 'forward', 'invalid_argument', ...says);
  expectSame(from.view(), x.data);
  for (const handle of [from, to, weights, layer]) handle.dispose();
});

test('linear: a layer counts as a handle, is freed once, and then refuses', () => {
  const before = engine.memory();
  const layer = engine.linearLayer(randomArray([200, 100], 1));
  assert.equal(engine.memory().handles, before.handles + 1);
  assert.ok(engine.memory().usedBytes >= before.usedBytes + 4 * 200 * 100);
  assert.equal(String(layer), '[object LinearLayer]');
  layer.dispose();
  layer.dispose();
  assert.equal(engine.memory().handles, before.handles);
  expectThrows(() => layer.forward(zeros([200])), 'forward', 'disposed', 'the layer is disposed');
  const late = engine.linearLayer(randomArray([2, 2], 1));
  const disposing = {
    get out() {
      late.dispose();
      return undefined;
    },
  };
  expectThrows(() => late.forward(zeros([2]), disposing), 'forward', 'disposed');
});

test('linear: a NaN stays in its row, and one of the weights in its column', () => {
  const [x, w] = [randomArray([3, 4], 1), randomArray([4, 6], 2)];
  x.data[1 * 4 + 2] = NaN;
  w.data[0 * 6 + 5] = NaN;
  const { data } = engine.linear(x, w);
  for (const [i, y] of data.entries()) {
    assert.equal(Number.isNaN(y), Math.floor(i / 6) === 1 || i % 6 === 5, `${i}`);
  }
});
