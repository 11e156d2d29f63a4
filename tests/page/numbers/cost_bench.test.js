// @about web/src/features/cost/
// How the panel about cost measures a device: with which calls, for how long, in what order, and what its worker says. The clock
// is the test's and the engine only notes what it is asked for.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { mock, test } from 'node:test';
import { root } from '../../support/js/files.js';
import { bundled, modules } from '../support/engine.js';
import { hashed } from '../support/window.js';

const { benchmark, timeOf, normals, hashText } = await modules(
  ...['features/cost/worker/benchmark', 'engine/random'],
);

// ---- the clock ----

/** What is found when call number n, from 1 on, takes took(n) ms: the time of a call, and how many were made. */
function timed(took) {
  let [now, calls] = [0, 0];
  const ms = timeOf(
    () => (now += took(++calls)),
    () => now,
  );
  return { ms, calls };
}
/** Calls before the samples: one to warm up, and 1, 2, 4 ... until there are enough. */
const found = (calls) => 1 + 2 * calls - 1;

test('cost: a sample has as many calls as take 6 ms, and 31 samples are the most', () => {
  assert.deepEqual(
    timed(() => 1),
    { ms: 1, calls: found(8) + 31 * 8 },
  );
  assert.deepEqual(
    timed(() => 6),
    { ms: 6, calls: found(1) + 31 },
    'exactly 6 ms are enough',
  );
  assert.deepEqual(
    timed(() => 5.5),
    { ms: 5.5, calls: found(2) + 23 * 2 },
  );
});

test('cost: samples are taken for 250 ms, and three at least', () => {
  const samples = (ms) => timed(() => ms).calls - found(1);
  assert.deepEqual([1000, 125, 50, 49.875, 62.5, 62.25].map(samples), [3, 3, 5, 6, 4, 5]);
});

test('cost: a clock that stands still does not hold the measurement up', () => {
  const { ms, calls } = timed(() => 0);
  assert.equal(ms, 0);
  assert.equal(calls, found(32768) + 31 * 65536, 'so many calls are not tried out before');
});

test('cost: a sample that turns out too short has twice the calls, and all begins anew', () => {
  const late = (then) => (n) => (n === 2 ? 8 : then(n)); // the search is disturbed
  assert.deepEqual(
    timed(late(() => 3)),
    { ms: 3, calls: found(1) + 31 },
    '3 ms are half of what is wanted, which will do',
  );
  assert.deepEqual(timed(late(() => 2.5)), { ms: 2.5, calls: found(1) + 1 + 31 * 2 });
  assert.deepEqual(
    timed(late((n) => (n === 3 ? 0.25 : 4))),
    { ms: 4, calls: found(1) + 1 + 31 * 2 },
    'the short one is no result',
  );
  // Ten samples of 20 ms and a short one: then 250 ms from there on.
  assert.deepEqual(
    timed((n) => (n === 13 ? 1 : n > 13 ? 10 : 20)),
    { ms: 10, calls: found(1) + 11 + 13 * 2 },
  );
  assert.equal(timed(late((n) => (n === 20 ? 3.5 : 5))).ms, 3.5, 'the fastest sample counts');
});

// ---- what is measured ----

/** An engine that notes what it is asked for. A call that computes takes 100 ms and gives `out` its number. */
function engines({ info = { variant: 'simd', threads: 2 }, breaks = () => false } = {}) {
  const log = [];
  let [now, ids] = [0, 0];
  const note = (line) => {
    const last = log.at(-1);
    if (last?.line === line) last.count++;
    else log.push({ line, count: 1 });
  };
  const start = async () => {
    const id = ++ids;
    let [used, names] = [1000, 0];
    const say = (line) => note(`engine ${id}: ${line}`);
    const work = (what, { out, ...more }, value) => {
      say(`${what} ${JSON.stringify(more)} -> ${out.name}`);
      if (breaks(id, what)) throw new Error(`${what} broke`);
      now += 100;
      out.value = value;
    };
    say('begins');
    return {
      info,
      memory: () => ({ usedBytes: used }),
      tensor(shape, data) {
        const size = shape.reduce((a, b) => a * b);
        const own = { name: `t${++names}`, value: 0 };
        used += 4 * size;
        say(`${own.name} = [${shape}] ${data ? hashed(data) : 'empty'}`);
        const set = (values) => say(`${own.name} is set to ${hashed(values)}`);
        const toNdArray = () => ({ data: data ?? new Float32Array(size).fill(own.value) });
        return Object.assign(own, { toNdArray, set });
      },
      attention(q, k, v, { cache, ...options }) {
        work(`attention ${q.name} ${k.name} ${v.name}${cache ? ' cached' : ''}`, options, id);
      },
      linear: (a, b, options) => work(`linear ${a.name} ${b.name}`, options, 3.5),
      softmax: (a, options) => work(`softmax ${a.name}`, options, 0),
      kvCache(options) {
        say(`cache ${JSON.stringify(options)}`);
        return {
          length: 0,
          append(k, v) {
            this.length += k.shape[0];
            assert.deepEqual(v.shape, k.shape);
            say(`append [${k.shape}] ${hashed(k.data)} ${hashed(v.data)}`);
          },
          truncate(length) {
            say(`truncate ${length}`);
            this.length = length;
          },
        };
      },
      dispose: () => say('ends'),
    };
  };
  return {
    start,
    now: () => now,
    lines: () => log.map(({ line, count }) => (count > 1 ? `${line}, ${count} times` : line)),
  };
}

async function run(of, lengths) {
  mock.method(performance, 'now', of.now);
  const news = [];
  try {
    for await (const one of benchmark(of.start, 6, lengths)) {
      news.push(structuredClone(one));
      assert.equal(one.all, 3 * (lengths?.length ?? 7));
    }
  } finally {
    mock.restoreAll();
  }
  return news;
}

/** Numbers that the benchmark draws, as the page's generator does. */
const drawnOf = (name, seed, counts) => {
  const fill = normals(hashText(name, seed));
  return counts.map((count) => {
    const data = new Float32Array(count);
    fill(data);
    return hashed(data);
  });
};

test('cost: each way is asked for with the same numbers, in an engine of its own', async () => {
  const of = engines();
  await run(of, [64, 128]);
  const [q, k, v] = ['q', 'k', 'v'].map((name) => drawnOf(`bench ${name}`, 64, [64 * 64])[0]);
  const eighth = Float32Array.from({ length: 64 * 64 });
  normals(hashText('bench q', 64))(eighth);
  const row = 8 * 64;
  const decoded = drawnOf('bench decode', 0, [
    row,
    row,
    row,
    63 * row,
    63 * row,
    64 * row,
    64 * row,
  ]);
  const [one, other, third, first, firstV, next, nextV] = decoded;
  const lines = of.lines();
  const decode = 'attention t1 t2 t3 cached {"numHeads":8} -> t4';
  assert.deepEqual(
    lines.filter((line) => line.startsWith('engine 1:')).map((line) => line.slice(10)),
    [
      'begins',
      `t1 = [1,512] ${one}`,
      `t2 = [1,512] ${other}`,
      `t3 = [1,512] ${third}`,
      't4 = [1,512] empty',
      'cache {"numKvHeads":8,"capacity":128,"dK":64}',
      `append [63,512] ${first} ${firstV}`,
      ...Array.from({ length: 5 }, () => [decode, 'truncate 63']).flat(),
      `append [64,512] ${next} ${nextV}`,
      ...Array.from({ length: 5 }, () => [decode, 'truncate 127']).flat(),
      'ends',
    ],
  );
  assert.deepEqual(
    lines.filter((line) => line.startsWith('engine 2:')).map((line) => line.slice(10)),
    [
      ...['begins', `t1 = [64,64] ${q}`, `t2 = [64,64] ${k}`, `t3 = [64,64] ${v}`],
      't4 = [64,64] empty',
      'attention t1 t2 t3 {"numHeads":1} -> t4, 6 times',
      'ends',
    ],
  );
  const steps = [
    'linear t1 t2 {"layout":"out_in"} -> t5',
    'softmax t5 {} -> t5',
    'linear t5 t3 {} -> t4',
  ];
  assert.deepEqual(
    lines.filter((line) => line.startsWith('engine 3:')).map((line) => line.slice(10)),
    [
      ...['begins', `t1 = [64,64] ${q}`, `t2 = [64,64] ${k}`, `t3 = [64,64] ${v}`],
      't4 = [64,64] empty',
      `t1 is set to ${hashed(eighth.map((value) => value / 8))}`,
      't5 = [64,64] empty',
      ...Array.from({ length: 6 }, () => steps).flat(),
      'ends',
    ],
  );
  const begun = lines.filter((line) => /begins|ends/.test(line));
  const each = (id) => [`engine ${id}: begins`, `engine ${id}: ends`];
  assert.deepEqual(begun, [1, 2, 3, 4, 5].flatMap(each), 'one after the other');
});

test('cost: what is told after each measurement', async () => {
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
    [1, 'attention t1 t2 t3 cached'],
    [2, 'attention t1 t2 t3'],
    [3, 'softmax t5'],
  ]) {
    const of = engines({ breaks: (id, asked) => id === at && asked === what });
    await assert.rejects(run(of, [64]), { message: `${what} broke` });
    const lines = of.lines();
    assert.equal(lines.at(-1), `engine ${at}: ends`);
    assert.equal(lines.filter((line) => line.endsWith('ends')).length, at);
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
  const of = engines({ breaks: (id) => broken && id > 1 });
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
  assert.match(failure.message, /^attention t1 t2 t3 cached broke$/);
});
