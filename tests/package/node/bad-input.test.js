// @build any
// Bad input: every argument and option field of every function and method, wrong in every way its kind can
// be, is refused with a code and a sentence, and nothing changes. And nothing is left out: what there is
// to refuse is read off the declarations.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attention, attentionTogether } from './bad-input/attention.js';
import { declared } from './bad-input/declarations.js';
import { makeWorld, testTable } from './bad-input/harness.js';
import { initOptions } from './bad-input/init.js';
import {
  forwardBlock,
  forwardLayer,
  multiHeadAttention,
  multiHeadAttentionConfig,
  transformerBlock,
} from './bad-input/layers.js';
import { forwardLinear, linear, linearLayer } from './bad-input/linear.js';
import { operators } from './bad-input/operators.js';
import { init } from 'qkv';
import { expectThrows } from '../../support/js/check.js';
import { wasmFile } from '../../support/js/files.js';

const tables = [
  ...[attention, attentionTogether, multiHeadAttention, multiHeadAttentionConfig],
  ...[transformerBlock, forwardLayer, forwardBlock, ...operators],
  ...[linear, linearLayer, forwardLinear, initOptions],
];

const world = await makeWorld();
for (const table of tables) testTable(table, world);

test('bad input: every argument and every option field that is declared stands in a table', () => {
  const methods = declared();
  assert.ok(methods.size > 25, `${methods.size} methods`);
  const missing = [];
  for (const [method, paths] of methods) {
    const kinds = tables.filter((table) => table.method === method).map((table) => table.kinds);
    for (const path of paths) {
      if (!kinds.some((of) => path in of)) missing.push(`${method}: ${path}`);
    }
  }
  assert.deepEqual(missing, []);
});

test('bad input: and no table speaks of what is not declared', () => {
  const methods = declared();
  const unknown = tables.flatMap(({ method, kinds }) =>
    Object.keys(kinds)
      .filter((path) => !methods.get(method)?.has(path))
      .map((path) => `${method}: ${path}`),
  );
  assert.deepEqual(unknown, []);
});

/** One right call of every method, on an engine of its own and on what that engine made. */
async function callsOf() {
  const engine = await init({ wasm: wasmFile('simd') });
  const on = { Qkv: engine };
  on.Tensor = engine.tensor([2]);
  on.KvCache = engine.kvCache({ numKvHeads: 1, capacity: 4, dK: 2 });
  const layer = multiHeadAttention.base();
  on.MultiHeadAttention = engine.multiHeadAttention(layer.config, layer.weights);
  const block = transformerBlock.base();
  on.TransformerBlock = engine.transformerBlock(block.config, block.weights);
  const map = linearLayer.base();
  on.LinearLayer = engine.linearLayer(map.w, map.options);
  const calls = [...declared().keys()]
    .filter((name) => name !== 'init')
    .map((name) => {
      const [owner, method] = name.split('.');
      const table = tables.find((of) => of.method === name);
      const args = Object.values(table?.base(world) ?? {});
      const says = table?.says ?? (owner === 'Qkv' ? method : name);
      return { owner, method, says, call: () => on[owner][method](...args) };
    });
  return { engine, on, calls };
}

test('bad input: every method of what is disposed is refused by name', async () => {
  const { engine, on, calls } = await callsOf();
  for (const owner of Object.keys(on).filter((name) => name !== 'Qkv')) {
    on[owner].dispose();
    const memory = engine.memory();
    const own = calls.filter((of) => of.owner === owner);
    assert.ok(own.length > 0);
    for (const { says, call } of own) expectThrows(call, says, 'disposed', 'is', 'disposed');
    assert.deepEqual(engine.memory(), memory);
  }
  engine.dispose();
});

test('bad input: every method of a disposed engine and of all it made is refused by name', async () => {
  const { engine, calls } = await callsOf();
  engine.dispose();
  for (const { says, call } of calls) expectThrows(call, says, 'disposed', 'disposed');
  assert.equal(engine.info.variant, 'simd');
});
