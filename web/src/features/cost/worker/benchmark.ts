import type { Qkv, Tensor } from 'qkv';
import { hashText, normals } from '../../../engine/random';
import { worse } from '../../../domain/nan_max';
import { DECODE_HEADS, LENGTHS, WIDTH, type BenchRow } from '../shared/bench_result';
import type { BenchNews } from '../shared/protocol';

/** How long the calls of one sample take together, at least: clocks of browsers may have steps of 0.1 ms. */
const SAMPLE_MS = 6;
/** Samples are taken for this long, but at least LEAST of them and no more than MOST. */
const BUDGET_MS = 250;
const LEAST = 3;
const MOST = 31;
/** Calls of a sample, at most. */
const MANY = 65536;

/**
 * Milliseconds that a call takes, each sample the mean of enough calls for the clock: the fastest sample, since
 * whatever else the device does only makes a call longer.
 */
export function timeOf(call: () => void, now: () => number): number {
  const sample = (calls: number) => {
    const start = now();
    for (let i = 0; i < calls; i++) call();
    return now() - start;
  };
  let calls = 1;
  sample(1); // memory grows, and the browser compiles the code for speed
  while (calls < MANY && sample(calls) < SAMPLE_MS) calls *= 2;
  let start = now();
  let fastest = Infinity;
  for (let taken = 0; taken < LEAST || (now() - start < BUDGET_MS && taken < MOST); taken++) {
    const took = sample(calls);
    fastest = Math.min(fastest, took / calls);
    if (took >= SAMPLE_MS / 2 || calls >= MANY) continue;
    // Something else had made the calls seem long enough: such a sample is too short for the clock.
    calls *= 2;
    [taken, fastest, start] = [-1, Infinity, now()];
  }
  return fastest;
}

/** T rows of q, k and v from N(0, 1), the same in every run. */
function drawn(qkv: Qkv, name: string, tokens: number): Tensor {
  const data = new Float32Array(tokens * WIDTH);
  normals(hashText(`bench ${name}`, tokens))(data);
  return qkv.tensor([tokens, WIDTH], data);
}

interface Way {
  readonly ms: number;
  readonly bytes: number;
  readonly output: Float32Array;
}

/** One way of attention over T tokens, in an engine of its own: its memory is nobody else's. */
async function measure(
  start: () => Promise<Qkv>,
  tokens: number,
  prepare: (qkv: Qkv, q: Tensor, k: Tensor, v: Tensor) => (out: Tensor) => void,
): Promise<Way> {
  const qkv = await start();
  try {
    const [q, k, v] = [drawn(qkv, 'q', tokens), drawn(qkv, 'k', tokens), drawn(qkv, 'v', tokens)];
    const out = qkv.tensor([tokens, WIDTH]);
    const before = qkv.memory().usedBytes;
    const call = prepare(qkv, q, k, v);
    call(out);
    const bytes = qkv.memory().usedBytes - before;
    const ms = timeOf(
      () => call(out),
      () => performance.now(),
    );
    return { ms, bytes, output: out.toNdArray().data };
  } finally {
    qkv.dispose();
  }
}

const streaming = (start: () => Promise<Qkv>, tokens: number) =>
  measure(start, tokens, (qkv, q, k, v) => (out) => {
    qkv.attention(q, k, v, { numHeads: 1, out });
  });

/** By the formula, a step at a time. 1 / sqrt(d) is in q, which rounds nothing as it is 1/8. */
const stored = (start: () => Promise<Qkv>, tokens: number) =>
  measure(start, tokens, (qkv, q, k, v) => {
    q.set(q.toNdArray().data.map((value) => value / Math.sqrt(WIDTH)));
    const weights = qkv.tensor([tokens, tokens]);
    return (out) => {
      qkv.linear(q, k, { layout: 'out_in', out: weights });
      qkv.softmax(weights, { out: weights });
      qkv.linear(weights, v, { out });
    };
  });

/** One token after T - 1 that a cache holds, for every length: the cache grows from one to the next. */
function* decode(
  qkv: Qkv,
  lengths: readonly number[],
): Generator<readonly [tokens: number, ms: number]> {
  const width = DECODE_HEADS * WIDTH;
  const fill = normals(hashText('bench decode', 0));
  const rows = (tokens: number) => {
    const data = new Float32Array(tokens * width);
    fill(data);
    return { data, shape: [tokens, width] };
  };
  const [q, k, v] = [rows(1), rows(1), rows(1)].map(({ data, shape }) => qkv.tensor(shape, data));
  const out = qkv.tensor([1, width]);
  const cache = qkv.kvCache({ numKvHeads: DECODE_HEADS, capacity: lengths.at(-1)!, dK: WIDTH });
  for (const tokens of lengths) {
    const missing = tokens - 1 - cache.length;
    cache.append(rows(missing), rows(missing));
    const call = () => {
      qkv.attention(q!, k!, v!, { numHeads: DECODE_HEADS, cache, out });
      cache.truncate(tokens - 1);
    };
    yield [tokens, timeOf(call, () => performance.now())];
  }
}

const EMPTY = { storedMs: NaN, streamingMs: NaN, storedBytes: NaN, streamingBytes: NaN };

/** Measures this device. `start` makes a new engine in every call. */
export async function* benchmark(
  start: () => Promise<Qkv>,
  cores: number,
  lengths: readonly number[] = LENGTHS,
): AsyncGenerator<BenchNews, undefined> {
  const rows = new Map<number, BenchRow>();
  let [difference, done, most] = [NaN, 0, 0];
  const engine = await start();
  const { variant, threads } = engine.info;
  const put = (tokens: number, more: Partial<BenchRow>): BenchNews => {
    rows.set(tokens, { tokens, ...EMPTY, decodeMs: NaN, ...rows.get(tokens), ...more });
    const result = { variant, threads, cores, rows: [...rows.values()] };
    return { result, difference, done: ++done, all: 3 * lengths.length };
  };
  try {
    for (const [tokens, decodeMs] of decode(engine, lengths)) yield put(tokens, { decodeMs });
  } finally {
    engine.dispose();
  }
  for (const tokens of lengths) {
    const a = await streaming(start, tokens);
    yield put(tokens, { streamingMs: a.ms, streamingBytes: a.bytes });
    const b = await stored(start, tokens);
    a.output.forEach((value, i) => (most = worse(most, Math.abs(value - b.output[i]!))));
    difference = most;
    yield put(tokens, { storedMs: b.ms, storedBytes: b.bytes });
  }
}
