// @build any
// What can be reached at runtime is what the types say: no handle, address or module is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init } from 'qkv';
import { filled, randomArray } from '../../support/js/arrays.js';
import { methodsOf, schema } from '../../../tools/abi.js';

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
const engine = await init();
const w = randomArray([4, 4], 1);
const layer = engine.multiHeadAttention({ dModel: 4, numHeads: 1 }, { wq: w, wk: w, wv: w, wo: w });
const ones = filled([4], () => 1).data;
const block = engine.transformerBlock(
  { dModel: 4, numHeads: 1, dFeedForward: 4 },
  {
    attention: { wq: w, wk: w, wv: w, wo: w },
    ...{ norm1: { gamma: ones }, norm2: { gamma: ones }, w1: w, w2: w },
  },
);
const cache = engine.kvCache({ numKvHeads: 1, capacity: 4, dK: 4 });

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
