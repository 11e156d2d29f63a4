// What a program may do with an engine, in an order nobody would choose: every operator in sizes that vary,
// things held for a while and given back, and one call in ten a mistake. For Node and for pages.
import { problem, random, randomArray } from './arrays.js';

const square = (width, seed) => randomArray([width, width], seed);
const vector = (length, seed) => randomArray([length], seed).data;
const layerWeights = (width) => ({
  ...{ wq: square(width, 1), wk: square(width, 2), wv: square(width, 3), wo: square(width, 4) },
});
const blockWeights = (width) => ({
  attention: layerWeights(width),
  norm1: { gamma: vector(width, 5) },
  norm2: { gamma: vector(width, 6), beta: vector(width, 7) },
  ...{ w1: randomArray([width, 2 * width], 8), w2: randomArray([2 * width, width], 9) },
});
const everything = {
  returnWeights: true,
  returnLogits: 'raw',
  returnLse: true,
  returnEntropy: true,
};

/** `up(n)` is a size from 1 to n, `keep` holds on to something for a while, `seed` differs by call. */
const right = {
  attention({ engine, up, seed }) {
    const { q, k, v } = problem({ tq: up(160), tk: up(200), dK: 4 * up(4), seed });
    engine.attention(q, k, v, seed % 2 ? everything : { causal: true, causalOffset: seed % 5 });
  },
  attentionInto({ engine, up, keep, seed }) {
    const { q, k, v } = problem({ tq: up(40), dK: 8, seed });
    engine.attention(q, k, v, { out: keep(engine.tensor(q.shape)), returnEntropy: true });
  },
  tensor({ engine, up, keep, seed }) {
    const x = keep(engine.tensor([up(30), up(30)]));
    x.set(randomArray(x.shape, seed).data);
    keep(engine.tensor(x.shape, x.toNdArray().data)).view();
  },
  kvCache({ engine, up, keep, seed }) {
    const cache = keep(engine.kvCache({ numKvHeads: 2, capacity: 8 + up(56), dK: 4 }));
    const tokens = up(8);
    cache.append(randomArray([tokens, 8], seed), randomArray([tokens, 8], seed + 1));
    const token = randomArray([1, 8], seed);
    if (cache.length < 8) engine.attention(token, token, token, { numHeads: 2, cache });
  },
  multiHeadAttention({ engine, up, keep, seed }) {
    const width = 8 * up(4);
    const rotary = seed % 2 ? { rotary: {} } : {};
    const config = { dModel: width, numHeads: 2, ...rotary };
    const layer = keep(engine.multiHeadAttention(config, layerWeights(width)));
    layer.forward(randomArray([up(24), width], seed), { causal: true, ...everything });
  },
  transformerBlock({ engine, up, keep, seed }) {
    const width = 8 * up(3);
    const config = { dModel: width, numHeads: 2, dFeedForward: 2 * width, activation: 'gelu' };
    const block = keep(engine.transformerBlock(config, blockWeights(width)));
    block.forward(randomArray([up(20), width], seed), { causal: true });
  },
  sinusoidalEncoding: ({ engine, up, seed }) =>
    engine.sinusoidalEncoding(up(64), 16, { offset: seed }),
  sinusoidalShift: ({ engine, up, seed }) =>
    engine.sinusoidalShift(seed, 2 * up(8), { form: seed % 2 ? 'dense' : 'blocks' }),
  rotaryEmbedding: ({ engine, up, seed }) =>
    engine.rotaryEmbedding(randomArray([1, up(3), up(40), 8], seed), { offset: seed }),
  alibiSlopes: ({ engine, up }) => engine.alibiSlopes(up(32)),
  t5RelativeBias: ({ engine, up, seed }) =>
    engine.t5RelativeBias(randomArray([32, up(4)], seed), up(30), up(30)),
  transformerXlBias({ engine, up, seed }) {
    const [tq, tk] = [up(20), up(20)];
    const [q, r, v] = [
      [1, 2, tq, 4],
      [tk + tq - 1, 8],
      [2, 4],
    ].map((s) => randomArray(s, seed));
    engine.transformerXlBias(q, r, v);
  },
  learnedEncoding: ({ engine, up, seed }) =>
    engine.learnedEncoding(randomArray([64, 8], seed), up(60), { outOfRange: 'clamp' }),
  layerNorm: ({ engine, up, seed }) => engine.layerNorm(randomArray([up(30), up(30)], seed)),
  rmsNorm: ({ engine, up, seed }) => engine.rmsNorm(randomArray([up(30), up(30)], seed)),
  gelu: ({ engine, up, seed }) => engine.gelu(randomArray([up(900)], seed)),
  softmax: ({ engine, up, seed }) =>
    engine.softmax(randomArray([up(30), up(30)], seed), { axis: seed % 2 }),
  linear: ({ engine, up, seed }) => {
    const [rows, from, to] = [up(30), up(40), up(60)];
    engine.linear(randomArray([rows, from], seed), randomArray([from, to], seed + 1));
  },
  linearLayer({ engine, up, keep, seed }) {
    const [from, to] = [up(40), up(60)];
    const layer = keep(engine.linearLayer(randomArray([from, to], seed)));
    layer.forward(randomArray([up(30), from], seed + 1));
  },
  embedding: ({ engine, up, seed }) =>
    engine.embedding(randomArray([16, 8], seed), new Int32Array(up(60)).fill(seed % 16)),
  statistics({ engine, up, seed }) {
    const { q, k, v } = problem({ tq: up(20), seed });
    const { weights } = engine.attention(q, k, v, { returnWeights: true });
    engine.entropy(weights);
    engine.headStatistics(weights);
    engine.attentionRollout(weights);
  },
};

/** Each throws a QkvError; some when things were already allocated. */
const wrong = {
  option: ({ engine, up, seed }) => {
    const { q, k, v } = problem({ tq: up(20), seed });
    engine.attention(q, k, v, { causal: 3 });
  },
  shape: ({ engine, up, seed }) => {
    const { q, k } = problem({ tq: up(20), seed });
    engine.attention(q, k, randomArray([2, 4, 21, 9], seed));
  },
  layer: ({ engine, up }) => {
    const width = 8 * up(4);
    const weights = { ...layerWeights(width), wo: square(width + 1, 1) };
    engine.multiHeadAttention({ dModel: width, numHeads: 2 }, weights);
  },
  block: ({ engine, up }) => {
    const width = 8 * up(3);
    const config = { dModel: width, numHeads: 2, dFeedForward: width };
    engine.transformerBlock(config, blockWeights(width));
  },
  forward: ({ engine, keep, up, seed }) => {
    const layer = keep(engine.multiHeadAttention({ dModel: 8, numHeads: 2 }, layerWeights(8)));
    layer.forward(randomArray([up(20), 8], seed), { temperature: 0 });
  },
  full: ({ engine, keep, up, seed }) => {
    const cache = keep(engine.kvCache({ numKvHeads: 1, capacity: up(8), dK: 4 }));
    cache.append(randomArray([9, 4], seed), randomArray([9, 4], seed));
  },
  disposed: ({ engine, up, seed }) => {
    const tensor = engine.tensor([up(30)]);
    tensor.dispose();
    engine.gelu(seed % 2 ? tensor : { data: tensor.view(), shape: [1] });
  },
  elements: ({ engine, up }) => engine.tensor([up(30)], []),
  ids: ({ engine, up, seed }) =>
    engine.embedding(randomArray([16, 8], seed), new Int32Array(up(60)).fill(16)),
  position: ({ engine, up }) => engine.sinusoidalShift(2 ** 21, 2 * up(8)),
};

/**
 * Calls on an engine: `call(i)` makes the i-th, `release()` gives back everything still held, `held()` says
 * how much that is, `used` are the names of the functions of the engine that were called. The first calls
 * are the largest of every kind, so that all memory that is ever needed is needed at the start.
 */
export function mixedCalls(engine, { mostHeld = 8 } = {}) {
  const next = random(2025);
  const below = (n) => Math.floor(((next() + 1) / 2) * n);
  const [rights, wrongs] = [Object.values(right), Object.values(wrong)];
  const held = [];
  const used = new Set();
  const watched = new Proxy(engine, {
    get(target, name) {
      const value = target[name];
      if (typeof value !== 'function') return value;
      used.add(name);
      return value.bind(target);
    },
  });

  const give = (at) => held.splice(at, 1)[0].dispose();
  const keep = (handle) => {
    held.push(handle);
    if (held.length > mostHeld) give(below(mostHeld));
    return handle;
  };

  function mustFail(work, tools) {
    try {
      work(tools);
    } catch (error) {
      if (error.name === 'QkvError') return;
      throw error;
    }
    throw new Error(`a mistake went unnoticed: ${work}`);
  }

  return {
    used,
    first: rights.length + wrongs.length,
    held: () => held.length,
    call(i) {
      const seed = i + 1;
      const largest = i < rights.length + wrongs.length;
      const up = largest ? (n) => n : (n) => 1 + below(n);
      const tools = { engine: watched, up, keep, seed };
      if (largest) {
        if (i < rights.length) rights[i](tools);
        else mustFail(wrongs[i - rights.length], tools);
      } else if (i % 10 === 9) {
        mustFail(wrongs[below(wrongs.length)], tools);
      } else {
        rights[below(rights.length)](tools);
      }
    },
    release() {
      while (held.length > 0) give(held.length - 1);
    },
  };
}
