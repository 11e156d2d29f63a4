// The counts of the panel about cost: every formula against a count by loops.
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../../support/js/files.js';
import { modules } from '../support/engine.js';

const web = await modules(
  ...[
    'features/cost/page/operation_count',
    'features/cost/shared/shape',
    'features/cost/worker/benchmark',
    'features/cost/shared/bench_result',
    'ui/numbers',
  ],
);
const { init } = await import(pathToFileURL(join(root, 'dist/index.js')).href);
const { bytesOf, generationFlops, pairsOf, parametersOf, passFlops, tokenFlops } = web;

/** Multiplies and adds one pair at a time: what a product of [rows, inner] by [inner, cols] takes. */
function product(rows, inner, cols) {
  let operations = 0;
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < cols; j++) for (let c = 0; c < inner; c++) operations += 2;
  return operations;
}

/** A pass over the tokens [from, to), each of which reads itself and what the mask leaves it of all `to`. */
function counted(shape, from, to) {
  const { dModel, numHeads, numKvHeads, dK, dFeedForward, layers, vocabulary, gated } = shape;
  const rows = to - from;
  const found = { projections: 0, scores: 0, values: 0, feedForward: 0, logits: 0 };
  for (let layer = 0; layer < layers; layer++) {
    found.projections += product(rows, dModel, numHeads * dK); // q
    found.projections += 2 * product(rows, dModel, numKvHeads * dK); // k and v
    found.projections += product(rows, numHeads * dK, dModel); // W_O
    for (let head = 0; head < numHeads; head++) {
      for (let query = from; query < to; query++) {
        for (let key = 0; key < to; key++) {
          if (shape.causal && key > query) continue;
          found.scores += product(1, dK, 1);
          found.values += product(1, 1, dK);
        }
      }
    }
    for (let matrix = 0; matrix < (gated ? 2 : 1); matrix++) {
      found.feedForward += product(rows, dModel, dFeedForward);
    }
    found.feedForward += product(rows, dFeedForward, dModel);
  }
  found.logits = product(rows, dModel, vocabulary);
  return { ...found, total: Object.values(found).reduce((a, b) => a + b) };
}

const BASE = { tokens: 9, dModel: 6, numHeads: 4, numKvHeads: 2, dK: 3, dFeedForward: 10 };
const SHAPES = [
  { ...BASE, layers: 2, vocabulary: 13, tables: 2, bytes: 2, gated: true, causal: true },
  { ...BASE, layers: 3, vocabulary: 0, tables: 0, bytes: 4, gated: false, causal: false },
  { ...web.PRESETS.page },
];

for (const shape of SHAPES) {
  const name = web.writeShape(shape);
  const { tokens } = shape;

  test(`cost: FLOPs equal a count by loops: ${name}`, () => {
    assert.deepEqual(passFlops(shape), counted(shape, 0, tokens));
    assert.deepEqual(tokenFlops(shape), counted(shape, tokens - 1, tokens));
    let [cached, again] = [0, 0];
    for (let t = 1; t <= tokens; t++) {
      cached += counted(shape, t - 1, t).total;
      again += counted(shape, 0, t).total;
    }
    assert.deepEqual(generationFlops(shape), { cached, again });
    let pairs = 0;
    for (let i = 0; i < tokens; i++)
      for (let j = 0; j < tokens; j++) pairs += !shape.causal || j <= i ? 1 : 0;
    assert.equal(pairsOf(shape), pairs);
  });

  test(`cost: bytes equal the lengths of the arrays: ${name}`, () => {
    const { dModel, numHeads, numKvHeads, dK, dFeedForward, layers, vocabulary, tables } = shape;
    const size = (...extents) => extents.reduce((a, b) => a * b, 1);
    const arrays = { weights: [], cache: [], cacheOfAll: [], square: [], streaming: [] };
    for (let table = 0; table < tables; table++) arrays.weights.push(size(vocabulary, dModel));
    for (let layer = 0; layer < layers; layer++) {
      arrays.weights.push(size(dModel, numHeads * dK), size(numHeads * dK, dModel));
      arrays.weights.push(size(dModel, numKvHeads * dK), size(dModel, numKvHeads * dK));
      arrays.weights.push(size(dModel, dFeedForward), size(dFeedForward, dModel));
      if (shape.gated) arrays.weights.push(size(dModel, dFeedForward));
      arrays.cache.push(size(tokens, numKvHeads, dK), size(tokens, numKvHeads, dK));
      arrays.cacheOfAll.push(size(tokens, numHeads, dK), size(tokens, numHeads, dK));
    }
    arrays.square.push(size(numHeads, tokens, tokens));
    arrays.streaming.push(size(numHeads, tokens), size(numHeads, tokens));
    const sum = (sizes) => sizes.reduce((a, b) => a + b, 0);
    const wanted = Object.entries(arrays).map(([key, sizes]) => [key, sum(sizes) * shape.bytes]);
    assert.deepEqual(bytesOf(shape), Object.fromEntries(wanted));
    assert.equal(parametersOf(shape), sum(arrays.weights));
  });
}

test('cost: published models have as many parameters as they say', () => {
  // Of the published files, less what the panel leaves out: gains, biases and learned positions.
  const gpt2 = (d, layers) => layers * (9 * d + 4 * d) + 2 * d + 1024 * d;
  const published = {
    gpt2: 124_439_808 - gpt2(768, 12),
    gpt2xl: 1_557_611_200 - gpt2(1600, 48),
    llama8: 8_030_261_248 - (2 * 32 + 1) * 4096,
    llama70: 70_553_706_496 - (2 * 80 + 1) * 8192,
  };
  for (const [name, parameters] of Object.entries(published)) {
    assert.equal(parametersOf(web.PRESETS[name]), parameters, name);
  }
});

test('cost: a shape in a link comes back within its limits, and what means nothing does not', () => {
  for (const shape of [...SHAPES, ...Object.values(web.PRESETS)]) {
    assert.deepEqual(web.readShape(web.writeShape(shape)), shape);
  }
  for (const text of [
    ...['', 'x', '1-2-3', '1-1-1-1-1-1-1-1-1--', 'NaN-1-1-1-1-1-1-1-1-1-c'],
    ...['1-1-1-1-1-1-1-1-1-1', '1-1-1-1-1-1-1-1-1-1--', '-1-1-1-1-1-1-1-1-1-c'],
    '1-1-1-1-1-1-1-1-1-1e999-c',
  ]) {
    assert.equal(web.readShape(text), undefined, text);
  }
  const { gpt2 } = web.PRESETS;
  for (const [name, [low, high]] of Object.entries(web.SHAPE_LIMITS)) {
    const read = (value) => web.readShape(web.writeShape({ ...gpt2, [name]: value }))[name];
    assert.equal(read(0), low, name);
    assert.equal(read(1e12), Math.min(high, name === 'numKvHeads' ? 12 : high), name);
    if (name !== 'bytes') assert.equal(read(1.6), 2, 'the nearest whole number');
  }
  for (const [flags, gated, causal] of [
    ['', false, false],
    ['g', true, false],
    ['c', false, true],
    ['cg', true, true],
  ]) {
    const read = web.readShape(`1-1-1-1-1-1-1-1-1-1-${flags}`);
    assert.deepEqual([read.gated, read.causal], [gated, causal]);
  }
  for (let wanted = 1; wanted <= 13; ++wanted) {
    const divisors = [1, 2, 3, 4, 6, 12].filter((n) => n <= wanted);
    const { numKvHeads } = web.cleanShape({ ...gpt2, numHeads: 12, numKvHeads: wanted });
    assert.equal(numKvHeads, divisors.at(-1), 'heads share evenly');
  }
  assert.ok(web.sameShape(gpt2, { ...gpt2 }) && !web.sameShape(gpt2, { ...gpt2, tables: 2 }));
});

test('cost: numbers have three digits and a prefix, and whole ones commas', () => {
  for (const [value, written] of [
    [NaN, ''],
    [0.4, '0 B'],
    [12.5, '13 B'],
    [999.4, '999 B'],
    [999.5, '1.00 kB'],
    [99949, '99.9 kB'],
    [99950, '100 kB'],
    [999499, '999 kB'],
    [999500, '1.00 MB'],
    [1.005e9, '1.00 GB'],
    [9.995e11, '1.00 TB'],
    [1e15, '1.00 PB'],
    [1e18, '1.00 EB'],
  ]) {
    assert.equal(web.withUnit(value, 'B'), written);
  }
  assert.deepEqual([0, 123, 1234, 1234567].map(web.whole), ['0', '123', '1,234', '1,234,567']);
  assert.equal(web.gigaflops(64, 2), (4 * 64 * 64 * 64) / 2e-3 / 1e9);
  assert.equal(web.gigabytes(64, 2), (2 * 64 * 8 * 64 * 4) / 2e-3 / 1e9);
});

test('cost: the benchmark measures both ways and the cache, and their memory', async () => {
  const lengths = [64, 128, 256];
  let now = 0;
  mock.method(performance, 'now', () => (now += 100)); // so that few samples are taken
  const engines = [];
  const start = async () => {
    engines.push(await init({ shared: false }));
    return engines.at(-1);
  };
  let last;
  let told = 0;
  for await (const news of web.benchmark(start, 3, lengths)) {
    assert.equal(news.done, ++told);
    const compared = news.result.rows.some(({ storedMs }) => storedMs > 0);
    assert.equal(news.difference >= 0, compared, 'nothing is the same before it is compared');
    last = news;
  }
  mock.restoreAll();
  assert.equal(last.done, last.all);
  assert.ok(last.difference > 0 && last.difference < 1e-5, `${last.difference}`);
  const { variant, threads, cores, rows } = last.result;
  assert.equal(variant, engines[0].info.variant);
  assert.deepEqual([threads, cores], [1, 3]);
  assert.deepEqual(
    rows.map(({ tokens }) => tokens),
    lengths,
  );
  for (const row of rows) {
    for (const ms of [row.storedMs, row.streamingMs, row.decodeMs]) assert.ok(ms > 0 && ms < 1e4);
    const square = 4 * row.tokens ** 2;
    // What a product packs is O(T): some 256 bytes for each token.
    const more = row.storedBytes - square;
    assert.ok(more > 0 && more < 600 * row.tokens, `${row.storedBytes} for T = ${row.tokens}`);
    assert.ok(row.streamingBytes < 30_000 + 600 * row.tokens, `${row.streamingBytes}`);
  }
  const growth = (what) => rows[2][what] - rows[1][what];
  assert.ok(growth('streamingBytes') <= 600 * 128);
  for (const engine of engines)
    assert.throws(() => engine.memory(), /disposed/, 'all are disposed');
});

test('cost: a result in a link comes back to four digits, and what no benchmark wrote does not', () => {
  const row = {
    ...{ tokens: 64, storedMs: 0.0701234, streamingMs: 0.119, decodeMs: 0.01234567 },
    ...{ storedBytes: 69888, streamingBytes: 53440 },
  };
  const result = {
    ...{ variant: 'relaxed', threads: 4, cores: 8 },
    rows: [row, { ...row, tokens: 4096, storedMs: 177592.123, storedBytes: 67108864 }],
  };
  const read = web.readResult(web.writeResult(result));
  assert.deepEqual(
    { ...read, rows: read.rows.map(({ tokens, storedBytes }) => [tokens, storedBytes]) },
    {
      ...result,
      rows: [
        [64, 69888],
        [4096, 67108864],
      ],
    },
  );
  read.rows.forEach((got, i) => {
    for (const key of ['storedMs', 'streamingMs', 'decodeMs']) {
      assert.ok(Math.abs(got[key] / result.rows[i][key] - 1) <= 6e-4, `${key} ${got[key]}`);
    }
  });
  const written = web.writeResult(read);
  assert.equal(web.writeResult(web.readResult(written)), written, 'the same again');
  assert.equal(web.writeResult(null), '');
  const quick = { ...result, rows: [{ ...row, storedMs: 0, streamingMs: 1e-6, decodeMs: 2e-5 }] };
  const [again] = web.readResult(web.writeResult(quick)).rows;
  const { storedMs, streamingMs, decodeMs } = again;
  assert.deepEqual([storedMs, streamingMs, decodeMs], [1e-5, 1e-5, 2e-5], 'never none');
  for (const raw of [
    ...['', 'x', '1.1.2', '9.1.2_64.1.1.1.1.1', '1.1.2_63.1.1.1.1.1', '1.1.2_64.1.1.1.1'],
    ...['1.1.2_64.0.1.1.1.1', '1.1.2_64.1.1.1.1.-1', '1.1.2_64.1.1.1.1.1_64.1.1.1.1.1'],
    ...['1.1.2_128.1.1.1.1.1_64.1.1.1.1.1', '1.1.2_64.1.1.1.1.1e99', '1.1.2_64.1.1.1..'],
    ...['-1.1.2_64.1.1.1.1.1', '4.1.2_64.1.1.1.1.1', '1.1.2_64.1.1.1.1.1_', '1.1.2_8192.1.1.1.1.1'],
    ...['1.1.2_64.1.0.1.1.1', '1.1.2_64.1.1.1.1.0', '1.1.2_64.1.1.1.1.1.1', '1.1.2_64.1.x.1.1.1'],
    ...['1.1.2_64.1000000000001.1.1.1.1'],
  ]) {
    assert.equal(web.readResult(raw), undefined, raw);
  }
});
