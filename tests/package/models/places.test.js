// @build any
// Where the arrays of a model come from: a constant, rows of a table from one on, rows of a map that several share, and numbers that
// are multiplied, whatever their type and wherever a piece of the file ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectSame } from '../../support/js/check.js';
import { models } from './support/bundle.js';
import { collect } from './support/collect.js';
import { encode, encodeQ8 } from './support/numbers.js';
import { newTruth, part, stacked, turned } from './support/truth.js';

const { locateBy, parametersOf, planOf, streamPlan } = models;
const [d, f, heads, kv, positions] = [32, 64, 4, 2, 3];
const width = d / heads;
const config = {
  ...{ vocabulary: 5, numLayers: 1, dModel: d, numHeads: heads, numKvHeads: kv, dFeedForward: f },
  ...{ maxLength: positions, activation: 'swiglu', tiedEmbeddings: true },
};
const names = {
  modules: {
    ...{ embedding: 'embed', positions: 'where', norm: 'last', norm1: 'first', norm2: 'second' },
    ...{ q: 'qkv', k: 'qkv', v: 'qkv', o: 'out', up: 'wide', gate: 'wide', down: 'down' },
  },
  ...{ layers: '', firstPosition: 2, constants: /^(norm1\..*|o\.bias)$/ },
  factors: { embedding: 0.5, down: 0.25, norm: -2, v: 2 },
};

/** A file in memory whose pieces end where they like. */
function sourceOf(bytes, piece) {
  return {
    ...{ name: 'file', size: bytes.length, rest() {}, close() {} },
    async *read(begin, end) {
      for (let at = begin; at < end; at += piece) yield bytes.slice(at, Math.min(at + piece, end));
    },
  };
}

/** The arrays that are read of these tensors. */
async function read(tensors, type, own, piece) {
  const stored = new Map();
  for (const [name, { shape, values }] of Object.entries(tensors)) {
    const of = type === 'Q8_0' && shape.length === 1 ? 'F32' : type;
    const bytes = of === 'Q8_0' ? encodeQ8(values) : encode(values, of);
    const place = { source: sourceOf(bytes, piece), begin: 0, end: bytes.length };
    stored.set(name, { name, type: of, shape, ...place });
  }
  const described = {
    ...{ config, locate: locateBy(own, config), rename: (name) => name, hasScales: false },
    ...{ isIgnored: () => false, isOtherHead: () => false },
  };
  const plan = planOf({ format: 'gguf', metadata: new Map(), tensors: stored }, described);
  const stream = (onRows) => streamPlan(plan, { onRows, onBytes() {} });
  return collect({ parameters: parametersOf(config), stream });
}

/** Tensors of a file and the arrays that they make, by what the names above say. */
function made() {
  const { array } = newTruth();
  const file = (name, shape) => array(name, shape);
  const tensors = {
    'embed.weight': file('e', [5, d]),
    'where.weight': file('p', [2 + positions + 1, d]),
    '0.qkv.weight': file('qkv', [(heads + 2 * kv) * width, d]),
    '0.qkv.bias': file('b', [(heads + 2 * kv) * width]),
    '0.out.weight': file('o', [d, d]),
    '0.second.weight': file('g', [d]),
    '0.second.bias': file('h', [d]),
    '0.wide.weight': file('w', [2 * f, d]),
    '0.wide.bias': file('wb', [2 * f]),
    '0.down.weight': file('dw', [d, f]),
    '0.down.bias': file('db', [d]),
    'last.weight': file('lw', [d]),
    'last.bias': file('lb', [d]),
  };
  const times = ({ values }, factor) => values.map((x) => x * factor);
  const rows = (name, begin, end) => part(tensors[name], begin, end);
  const map = (rowsOfIt, factor = 1) => times(turned(rowsOfIt), factor);
  const [q, k] = [heads * width, kv * width];
  const expected = {
    embedding: times(tensors['embed.weight'], 0.5),
    positions: rows('where.weight', 2, 2 + positions).values,
    'layers.0.norm1.gamma': new Float32Array(d).fill(1),
    'layers.0.norm1.beta': new Float32Array(d),
    'layers.0.attention.wq': map(rows('0.qkv.weight', 0, q)),
    'layers.0.attention.bq': rows('0.qkv.bias', 0, q).values,
    'layers.0.attention.wk': map(rows('0.qkv.weight', q, q + k)),
    'layers.0.attention.bk': rows('0.qkv.bias', q, q + k).values,
    'layers.0.attention.wv': map(rows('0.qkv.weight', q + k, q + 2 * k), 2),
    'layers.0.attention.bv': times(rows('0.qkv.bias', q + k, q + 2 * k), 2),
    'layers.0.attention.wo': map(tensors['0.out.weight']),
    'layers.0.attention.bo': new Float32Array(d),
    'layers.0.norm2.gamma': tensors['0.second.weight'].values,
    'layers.0.norm2.beta': tensors['0.second.bias'].values,
    'layers.0.feedForward.w1': map(rows('0.wide.weight', f, 2 * f)),
    'layers.0.feedForward.b1': rows('0.wide.bias', f, 2 * f).values,
    'layers.0.feedForward.wGate': map(rows('0.wide.weight', 0, f)),
    'layers.0.feedForward.bGate': rows('0.wide.bias', 0, f).values,
    'layers.0.feedForward.w2': map(tensors['0.down.weight'], 0.25),
    'layers.0.feedForward.b2': times(tensors['0.down.bias'], 0.25),
    'norm.gamma': times(tensors['last.weight'], -2),
    'norm.beta': times(tensors['last.bias'], -2),
  };
  return { tensors, expected };
}

/** What was read is this, bit for bit. */
function expectArrays(found, expected) {
  assert.deepEqual(Object.keys(found).sort(), Object.keys(expected).sort());
  for (const [name, data] of Object.entries(expected)) expectSame(found[name].data, data, name);
}

for (const type of ['F32', 'F16', 'BF16', 'Q8_0']) {
  for (const piece of [1, 37, 2 ** 20]) {
    test(`constants, factors, first rows and shared maps of ${type}, in pieces of ${piece}`, async () => {
      const { tensors, expected } = made();
      expectArrays(await read(tensors, type, names, piece), expected);
    });
  }
}

test('q, k and v of each head of keys in turn', async () => {
  const { tensors, expected } = made();
  const [q, k] = [heads * width, kv * width];
  const each = (tensor, group) => [
    part(tensor, (group * q) / kv, ((group + 1) * q) / kv),
    part(tensor, q + group * width, q + (group + 1) * width),
    part(tensor, q + k + group * width, q + k + (group + 1) * width),
  ];
  const grouped = (tensor) => stacked(...[0, 1].flatMap((group) => each(tensor, group)));
  const turnedOver = {
    ...tensors,
    '0.qkv.weight': grouped(tensors['0.qkv.weight']),
    '0.qkv.bias': grouped(tensors['0.qkv.bias']),
  };
  const found = await read(turnedOver, 'F32', { ...names, isByHead: true }, 100);
  expectArrays(found, expected);
});

test('a table that ends before the last position is refused', async () => {
  const { tensors } = made();
  const short = { ...tensors, 'where.weight': part(tensors['where.weight'], 0, positions + 1) };
  await assert.rejects(
    read(short, 'F32', names, 100),
    /"where.weight" is \[4,32\], expected \[5,32\]/,
  );
});

test('an array that is a constant is surplus in a file', async () => {
  const { tensors } = made();
  const more = { ...tensors, '0.out.bias': { shape: [d], values: new Float32Array(d) } };
  await assert.rejects(read(more, 'F32', names, 100), /weights have "0.out.bias"/);
});
