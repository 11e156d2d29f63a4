// @build any
// What is dropped without dispose() is caught by the garbage collector's net, sooner or later. Each
// script runs in a Node of its own that lets it ask for a collection.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resultOf } from '../../support/js/node.js';

const prelude = `
  import { init } from 'qkv';
  import { pause, until as whenever } from './tests/support/js/patience.js';
  const engine = await init({ deterministic: true });
  const until = (done) =>
    whenever(() => {
      // At the start of a job: what a WeakRef was asked for stays until the end of it.
      globalThis.gc();
      return pause(0).then(done);
    });
  const square = { data: new Float32Array(64).fill(0.1), shape: [8, 8] };
  const config = { dModel: 8, numHeads: 2 };
  const weights = { wq: square, wk: square, wv: square, wo: square };
`;
const collecting = (script) => resultOf(['--expose-gc'], prelude + script);

test('garbage collection: dropped tensors and layers are given back', async () => {
  const { start, held, end } = await collecting(`
    engine.multiHeadAttention(config, weights).dispose();
    const start = engine.memory();
    (() => {
      for (let i = 0; i < 20; ++i) engine.tensor([1000]);
      for (let i = 0; i < 5; ++i) engine.multiHeadAttention(config, weights);
    })();
    const held = engine.memory();
    await until(() => engine.memory().handles === 0);
    console.log(JSON.stringify({ start, held, end: engine.memory() }));
  `);
  assert.equal(held.handles, 25);
  assert.ok(held.usedBytes >= start.usedBytes + 20 * 4000);
  assert.deepEqual([end.handles, end.usedBytes], [0, start.usedBytes]);
});

test('garbage collection: what is still held stays, and what was disposed is not given back twice', async () => {
  const result = await collecting(`
    const kept = engine.tensor([3], [1, 2, 3]);
    (() => {
      for (let i = 0; i < 50; ++i) engine.tensor([100]).dispose();
      for (let i = 0; i < 50; ++i) engine.tensor([100]);
    })();
    await until(() => engine.memory().handles === 1);
    console.log(JSON.stringify([engine.memory().handles, [...kept.view()]]));
  `);
  assert.deepEqual(result, [1, [1, 2, 3]]);
});

test('garbage collection: tensors dropped after their engine was disposed do no harm', async () => {
  const result = await collecting(`
    (() => {
      for (let i = 0; i < 50; ++i) engine.tensor([100]);
    })();
    engine.dispose();
    for (let i = 0; i < 3; ++i) await pause(10), globalThis.gc();
    const next = await init({ deterministic: true });
    console.log(JSON.stringify(next.memory().handles));
  `);
  assert.equal(result, 0);
});

for (const [what, make] of [
  ['nothing of it is held', '() => undefined'],
  ['a tensor of it is held', '() => engine.tensor([2])'],
  [
    'a disposed tensor of it is held',
    '() => { const t = engine.tensor([2]); t.dispose(); return t; }',
  ],
  ['a layer of it is held', '() => engine.multiHeadAttention(config, weights)'],
]) {
  test(`garbage collection: dispose() of an engine lets its memory go, also while ${what}`, async () => {
    const result = await collecting(`
      globalThis.held = (${make})();
      const buffer = (() => {
        const tensor = engine.tensor([1]);
        const ref = new WeakRef(tensor.view().buffer);
        tensor.dispose();
        return ref;
      })();
      engine.dispose();
      await until(() => buffer.deref() === undefined);
      console.log(JSON.stringify(buffer.deref() === undefined));
    `);
    assert.equal(result, true);
  });
}
