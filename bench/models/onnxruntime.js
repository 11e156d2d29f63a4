// onnxruntime-web on the processor, with the graph of onnx_graph.js. Of several ways to compute a format the fastest is taken.
import { build, cacheOf, copying } from './onnx_graph.js';
import { contextIds, decodedIds, promptIds, shapes } from './shapes.js';

const at = (path) =>
  new URL(`../../build/peers/node_modules/onnxruntime-web/dist/${path}`, import.meta.url).href;

/** Ways to compute a format: float16 is not among them. */
const waysOf = {
  F32: ['float32'],
  Q8_0: ['int8', 'level4'],
  Q4_0: ['level4', 'level0'],
  Q4_K_M: ['level4', 'level0'],
};

/** Tokens of the trial that chooses a way: as many in a row as decide between a prompt and decoding. */
const TRIAL = 16;

/** A session with a cache: read() gives what the next one starts from. */
async function open(ort, { shape, format, way, threads }) {
  const { graph, weights, location } = build(shape, { format, way });
  const session = await ort.InferenceSession.create(graph, {
    ...{ executionProviders: ['wasm'], graphOptimizationLevel: 'all', logSeverityLevel: 3 },
    ...{ intraOpNumThreads: threads, interOpNumThreads: 1 },
    externalData: [{ path: location, data: weights }],
  });
  const tensor = (type, data, extents) => new ort.Tensor(type, data, extents);
  const empty = {
    length: 0,
    past: Object.fromEntries(
      Object.entries(cacheOf(shape, 'past_', 0)).map(([name, extents]) => [
        name,
        tensor('float32', new Float32Array(0), extents),
      ]),
    ),
  };

  /** Reads tokens after those of a cache; the cache is then that of all. */
  async function read(tokens, { past, length } = empty) {
    const total = length + tokens.length;
    const outputs = await session.run({
      ids: tensor('int64', BigInt64Array.from(tokens, BigInt), [1, tokens.length]),
      last: tensor('int32', Int32Array.of(total - 1), [1]),
      total: tensor('int32', Int32Array.of(total), [1]),
      ...past,
    });
    const grown = Object.keys(past).map((input) => [input, outputs[input.slice('past_'.length)]]);
    return { past: Object.fromEntries(grown), length: total, logits: outputs.logits.data };
  }
  const release = () => session.release();
  return { read, release };
}

/** Milliseconds of some tokens one after the other, the better of two times. */
async function trial({ read }) {
  let best = Infinity;
  for (let times = 0; times < 2; times += 1) {
    let state = await read(promptIds.slice(0, TRIAL));
    const begin = performance.now();
    for (const id of decodedIds.slice(0, TRIAL)) state = await read([id], state);
    best = Math.min(best, performance.now() - begin);
  }
  return best;
}

/** The session of the fastest way, which is the only one that stays. */
async function fastest(ort, options) {
  const times = {};
  const ways = waysOf[options.format];
  for (const way of ways.length > 1 ? ways : []) {
    const one = await open(ort, { ...options, way });
    times[way] = await trial(one);
    await one.release();
  }
  const way = ways.toSorted((a, b) => times[a] - times[b])[0];
  return { ...(await open(ort, { ...options, way })), way, times };
}

export async function onnxruntime({ shape: name, format, threads }) {
  const ort = await import(at('ort.wasm.bundle.min.mjs'));
  ort.env.wasm.numThreads = threads;
  ort.env.wasm.wasmPaths = at('');
  const shape = shapes[name];
  const { read, way, times } = await fastest(ort, { shape, format, threads });
  const shares = [];
  let filled;

  /** Milliseconds of handing keys and values over and back as often as decode() does, without computing. */
  async function copies() {
    const session = await ort.InferenceSession.create(copying(shape), {
      executionProviders: ['wasm'],
    });
    const begin = performance.now();
    for (let i = 0; i < decodedIds.length; i += 1) await session.run(filled.past);
    const ms = performance.now() - begin;
    await session.release();
    return ms;
  }

  async function decode() {
    let state = filled;
    const begin = performance.now();
    for (const id of decodedIds) state = await read([id], state);
    return performance.now() - begin;
  }

  return {
    about() {
      const tried = Object.entries(times).map(([each, ms]) => `${each} ${ms.toFixed(0)} ms`);
      const how = tried.length > 0 ? `${way} (of ${tried.join(', ')} for ${TRIAL} tokens)` : way;
      return `${how}; copies of the cache are ${shares.join(', ')}`;
    },
    async prompt() {
      const begin = performance.now();
      await read(promptIds);
      return performance.now() - begin;
    },
    async fill(context) {
      filled = await read(contextIds(context));
      shares.push(`${((100 * (await copies())) / (await decode())).toFixed(0)} % after ${context}`);
    },
    decode,
    async next() {
      const { logits } = await read(promptIds);
      return logits.indexOf(logits.reduce((a, b) => Math.max(a, b)));
    },
  };
}
