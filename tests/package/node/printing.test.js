// @build any
// What consoles and JSON show of the things that stand for WebAssembly memory, and what can be reached through them: what their
// types say, and nothing of the engine behind them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { init } from 'qkv';
import { randomArray } from '../../support/js/arrays.js';
import { expectThrows } from '../../support/js/check.js';
import { config, weights, x } from '../../support/js/small-layer.js';
import { methodsOf, schema } from '../../../tools/abi.js';

const engine = await init();
const layer = engine.multiHeadAttention(config, weights);
const d = config.dModel;
const norm = { gamma: new Float32Array(d).fill(1) };
const block = engine.transformerBlock(
  { dModel: d, numHeads: 2, dFeedForward: 4 },
  {
    ...{ norm1: norm, norm2: norm, w1: randomArray([d, 4], 8), w2: randomArray([4, d], 9) },
    attention: { wqkv: randomArray([d, 3 * d], 10), wo: weights.wo },
  },
);
const cache = engine.kvCache({ numKvHeads: 1, capacity: 4, dK: 2 });
const tensor = engine.tensor([2, 3], [1, 2, 3, 4, 5, NaN]);

test('printing: a console shows what they are, in one line', () => {
  for (const [value, said] of [
    [tensor, '[Tensor] { shape: [ 2, 3 ] }'],
    [cache, '[KvCache] { capacity: 4 }'],
    [layer, '[MultiHeadAttention] {}'],
    [block, '[TransformerBlock] {}'],
  ]) {
    assert.ok(inspect(value, { depth: 9 }).endsWith(said), inspect(value, { depth: 9 }));
  }
});

test('printing: a console shows what an engine says of itself, number of threads and all', () => {
  const { version, variant, isa } = engine.info;
  assert.equal(
    inspect(engine.info, { breakLength: Infinity }),
    `{ version: '${version}', variant: '${variant}', isa: '${isa}', threads: 1 }`,
  );
});

test('printing: JSON has the elements of a tensor, and says when there are none any more', () => {
  const [before, gone] = [engine.memory(), engine.tensor([2], [1, 2])];
  assert.equal(JSON.stringify({ tensor }), '{"tensor":{"data":[1,2,3,4,5,null],"shape":[2,3]}}');
  gone.dispose();
  assert.equal(JSON.stringify(gone), '{"shape":[2],"disposed":true}');
  assert.equal(JSON.stringify([cache, layer]), '[{"capacity":4},{}]');
  assert.deepEqual(engine.memory(), before);
});

test('printing: nothing of the engine can be reached or changed through them', () => {
  for (const value of [tensor, cache, layer]) {
    const reached = Object.values(value).filter((of) => of === engine || of === engine.info);
    assert.deepEqual(reached, []);
  }
  assert.deepEqual(Object.keys(tensor), ['shape']);
});

test('printing: messages call them by their names', () => {
  for (const [value, was] of [
    [tensor, 'Tensor'],
    [cache, 'KvCache'],
    [layer, 'MultiHeadAttention'],
    [block, 'TransformerBlock'],
  ]) {
    const says = `scale is ${was}`;
    const call = () => engine.attention(x, x, x, { numHeads: 2, scale: value });
    expectThrows(call, 'attention', 'invalid_argument', says);
  }
});

/** Every name on a value and on what it inherits from, less those of all objects. */
function namesOf(value) {
  const names = new Set();
  for (let at = value; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Reflect.ownKeys(at)) names.add(String(name));
  }
  return [...names].filter((name) => name !== 'constructor').sort();
}

const dispose = [String(Symbol.dispose ?? Symbol.for('Symbol.dispose')), 'dispose'];
const tag = 'Symbol(Symbol.toStringTag)';
const expected = [
  ['an engine', engine, ['info', 'memory', ...dispose, ...Object.keys(methodsOf(schema))]],
  [
    'a tensor',
    engine.tensor([2]),
    ['shape', 'view', 'toNdArray', 'toJSON', 'set', tag, ...dispose],
  ],
  [
    'a cache',
    cache,
    ['length', 'capacity', 'append', 'keys', 'values', 'truncate', tag, ...dispose],
  ],
  ['a layer', layer, ['forward', tag, ...dispose]],
  ['a block', block, ['forward', tag, ...dispose]],
];

for (const [name, value, names] of expected) {
  test(`privacy: ${name} has what its type has and nothing else`, () => {
    assert.deepEqual(namesOf(value), names.sort());
  });
}

test('privacy: the length and capacity of a cache and the shape of a tensor cannot be set', () => {
  for (const [object, name] of [
    [cache, 'length'],
    [cache, 'capacity'],
    [engine.tensor([2]), 'shape'],
  ]) {
    assert.throws(() => (object[name] = 5), TypeError);
  }
});
