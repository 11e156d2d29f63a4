// How the panel about cost measures a device: with which calls, for how long, in what order, and what its worker says. The clock
// is the test's, and the engine computes nothing.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { mock, test } from 'node:test';
import { root } from '../../support/js/files.js';
import { bundled, modules } from '../support/engine.js';

const { benchmark, timeOf, normals, hashText } = await modules(
  ...['features/cost/worker/benchmark', 'engine/random'],
);

// ---- the clock ----

/** Calls before the samples: one to warm up, and 1, 2, 4 ... until there are enough. */
const found = (calls) => 1 + 2 * calls - 1;
/** The search for a number of calls is disturbed, which makes the second call of all too long. */
const late = (then) => (n) => (n === 2 ? 8 : then(n));

for (const [what, took, ms, calls] of [
  ['a sample has as many calls as take 6 ms, and 31 samples are the most', () => 1, 1, found(8) + 31 * 8],
  ['exactly 6 ms are enough', () => 6, 6, found(1) + 31],
  ['samples are taken for 250 ms', () => 5.5, 5.5, found(2) + 23 * 2],
  ['or until they took as long', () => 62.5, 62.5, found(1) + 4],
  ['but three at least', () => 1000, 1000, found(1) + 3],
  ['a clock that stands still does not hold the measurement up', () => 0, 0, found(32768) + 31 * 65536],
  ['half of what is wanted will do', late(() => 3), 3, found(1) + 31],
  ['less has twice the calls, and all begins anew', late(() => 2.5), 2.5, found(1) + 1 + 31 * 2],
  ['a sample that is too short is no result', late((n) => (n === 3 ? 0.25 : 4)), 4, found(1) + 1 + 31 * 2],
  ['250 ms count from there on', (n) => (n === 13 ? 1 : n > 13 ? 10 : 20), 10, found(1) + 11 + 13 * 2],
  ['the fastest sample counts', late((n) => (n === 20 ? 3.5 : 6)), 3.5, found(1) + 31],
]) {
  test(`cost: ${what}`, () => {
    let [now, made] = [0, 0];
    const measured = timeOf(
      () => (now += took(++made)),
      () => now,
    );
    assert.deepEqual([measured, made], [ms, calls]);
  });
} // prettier-ignore

// ---- what is measured ----

/** An engine that notes what is computed in it. A call takes 100 ms and gives `out` its number. */
function engines({ breaks = () => false } = {}) {
  const log = [];
  let [now, ids] = [0, 0];
  const start = async () => {
    const id = ++ids;
    const engine = { id, calls: [], tensors: [], appended: [], isOver: false };
    let used = 1000;
    log.push(engine);
    const work = (what, inputs, { out, ...options }, value) => {
      engine.calls.push({ what, inputs, options });
      if (breaks(id, what)) throw new Error(`${what} broke`);
      now += 100;
      out.value = value;
    };
    return {
      info: { variant: 'simd', threads: 2 },
      memory: () => ({ usedBytes: used }),
      tensor(shape, data) {
        const size = shape.reduce((a, b) => a * b);
        used += 4 * size;
        const toNdArray = () => ({ data: own.data ?? new Float32Array(size).fill(own.value) });
        const own = { shape, data, value: 0, toNdArray, set: (values) => (own.data = values) };
        engine.tensors.push(own);
        return own;
      },
      attention(q, k, v, { cache, ...options }) {
        const what = cache ? `a token after ${cache.length}` : 'attention';
        work(what, [q, k, v], options, id);
        if (cache) cache.length++;
      },
      linear: (a, b, options) => work('linear', [a, b], options, 3.5),
      softmax: (a, options) => work('softmax', [a], options, 0),
      kvCache: () => ({
        length: 0,
        append(k, v) {
          this.length += k.shape[0];
          engine.appended.push(k.data, v.data);
        },
        truncate(length) {
          this.length = length;
        },
      }),
      dispose() {
        assert.equal(log.filter(({ isOver }) => !isOver).length, 1, 'one engine at a time');
        engine.isOver = true;
      },
    };
  };
  return { start, now: () => now, log };
}

async function run(of, lengths) {
  mock.method(performance, 'now', of.now);
  const news = [];
  try {
    for await (const one of benchmark(of.start, 6, lengths)) news.push(structuredClone(one));
  } finally {
    mock.restoreAll();
  }
  return news;
}

/** Numbers that the benchmark draws, as the page's generator does: so many after each other. */
const drawnOf = (name, seed, counts) => {
  const fill = normals(hashText(name, seed));
  return counts.map((count) => {
    const data = new Float32Array(count);
    fill(data);
    return data;
  });
};
const namesOf = ({ calls }) => [...new Set(calls.map(({ what }) => what))];

test('cost: each way is measured with the same numbers, in an engine of its own', async () => {
  const of = engines();
  await run(of, [64, 128]);
  const [decoding, streaming, stored, ...longer] = of.log;
  assert.equal(longer.length, 2);
  assert.ok(of.log.every(({ isOver }) => isOver));
  const drawn = ['q', 'k', 'v'].map((name) => drawnOf(`bench ${name}`, 64, [64 * 64])[0]);
  assert.deepEqual(namesOf(streaming), ['attention']);
  assert.deepEqual(streaming.calls[0].inputs.map(({ data }) => data), drawn);
  assert.deepEqual(streaming.calls[0].options, { numHeads: 1 });
  const [q, k, v, out, weights] = stored.tensors;
  assert.deepEqual([q.data, k.data, v.data], [drawn[0].map((value) => value / 8), drawn[1], drawn[2]]);
  assert.deepEqual(weights.shape, [64, 64]);
  const [scores, softmax, values] = stored.calls;
  assert.ok(stored.calls.length === 18 && out.value === 3.5, 'six times: once, to warm up, to find, three samples');
  assert.deepEqual([scores.inputs, scores.options], [[q, k], { layout: 'out_in' }]);
  assert.deepEqual([softmax.what, softmax.inputs, values.inputs], ['softmax', [weights], [weights, v]]);
  const row = 8 * 64;
  const [one, other, third, ...before] = drawnOf('bench decode', 0, [1, 1, 1, 63, 63, 64, 64].map((n) => n * row));
  assert.deepEqual(decoding.calls[0].inputs.map(({ data }) => data), [one, other, third]);
  assert.deepEqual(decoding.appended, before);
  assert.deepEqual(namesOf(decoding), ['a token after 63', 'a token after 127']);
}); // prettier-ignore

test('cost: what is said after each measurement', async () => {
  const news = await run(engines(), [64, 128]);
  const nothing = { storedMs: NaN, streamingMs: NaN, storedBytes: NaN, streamingBytes: NaN };
  const decoded = (tokens) => ({ tokens, ...nothing, decodeMs: 100 });
  const streamed = { streamingMs: 100, streamingBytes: 0 };
  const stored = (tokens) => ({ storedMs: 300, storedBytes: 4 * tokens ** 2 });
  const first = { ...decoded(64), ...streamed, ...stored(64) };
  const second = { ...decoded(128), ...streamed };
  // The first pair of engines says 2 and 3.5, the second 4 and 3.5.
  const wanted = [
    [NaN, decoded(64)],
    [NaN, decoded(64), decoded(128)],
    [NaN, { ...decoded(64), ...streamed }, decoded(128)],
    [1.5, first, decoded(128)],
    [1.5, first, second],
    [1.5, first, { ...second, ...stored(128) }],
  ];
  assert.deepEqual(
    news,
    wanted.map(([difference, ...rows], i) => ({
      result: { variant: 'simd', threads: 2, cores: 6, rows },
      ...{ difference, done: i + 1, all: 6 },
    })),
  );
});

test('cost: what breaks ends its engine, and none begins after it', async () => {
  for (const [at, what] of [
    [1, 'a token after 63'],
    [2, 'attention'],
    [3, 'softmax'],
  ]) {
    const of = engines({ breaks: (id, asked) => id === at && asked === what });
    await assert.rejects(run(of, [64]), { message: `${what} broke` });
    assert.equal(of.log.length, at);
    assert.ok(of.log.every(({ isOver }) => isOver));
  }
});

// ---- the worker ----

/** The script of the worker, with an engine that says what it is given. */
async function worker(init) {
  globalThis.benchInit = init;
  const fake = {
    name: 'engine of the test',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^qkv$/ }, () => ({ path: 'qkv', namespace: 'test' }));
      onLoad({ filter: /./, namespace: 'test' }, () => ({
        contents: 'export const init = (options) => globalThis.benchInit(options);',
      }));
    },
  };
  const file = join(root, 'web/src/features/cost/worker/serve.ts');
  const { serve } = await import(
    await bundled('cost-worker', { entryPoints: [file], plugins: [fake] })
  );
  const said = [];
  let end;
  const ended = new Promise((resolve) => (end = resolve));
  globalThis.self = {
    postMessage(message) {
      said.push(structuredClone(message));
      if (message.type !== 'news') end();
    },
  };
  serve()({ type: 'run', cores: 5 });
  await ended;
  delete globalThis.self;
  return said;
}

test('cost: the worker tells every measurement and then that it is done, or what went wrong', async () => {
  const of = engines({ breaks: () => broken });
  let broken = false;
  const options = [];
  const init = (given) => {
    options.push(given);
    return of.start();
  };
  mock.method(performance, 'now', of.now);
  const said = await worker(init);
  assert.deepEqual(
    said.map(({ type, news }) => [type, news?.done, news?.all, news?.result.cores]),
    [
      ...Array.from({ length: 21 }, (_, i) => ['news', i + 1, 21, 5]),
      ['done', undefined, undefined, undefined],
    ],
  );
  assert.deepEqual(
    said[20].news.result.rows.map(({ tokens }) => tokens),
    [64, 128, 256, 512, 1024, 2048, 4096],
  );
  assert.deepEqual(options, new Array(15).fill({ shared: false }));
  broken = true;
  const failed = await worker(init);
  mock.restoreAll();
  assert.equal(failed.length, 1);
  const { type, failure } = failed[0];
  assert.deepEqual([type, failure.code], ['failed', 'unexpected']);
  assert.match(failure.message, /^a token after 63 broke$/);
});
