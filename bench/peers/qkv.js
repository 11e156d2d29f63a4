// This library, one contestant for each variant and number of threads. Inputs and output are tensors, which stay in
// WebAssembly memory, where a call takes them; what only returns arrays is timed with the copy.
import { loadKernels } from '../kernels.js';
import { ownSteps } from './train.js';

const at = (path) => new URL(`../../${path}`, import.meta.url);
const inNode = typeof process === 'object';

/** The bytes of a file of the project. */
async function bytesOf(path) {
  if (!inNode) return (await fetch(at(path))).arrayBuffer();
  const { readFile } = await import('node:fs/promises');
  return readFile(at(path));
}

/** `dist` is the folder of a built package; that of another version is for `npm run bench -- --against`. */
export function qkv(variant, { threads = 1, dist = 'dist' } = {}) {
  let library;
  let kernels;
  const load = async () => {
    const { init } = await import(at(`${dist}/index.js`).href);
    library = await init({ variant: threads > 1 ? `${variant}-threads` : variant, threads });
    if (library.info.threads !== threads) throw new Error(`${library.info.threads} threads`);
  };
  const loadTrain = async () => {
    const { init } = await import(at(`${dist}/train.js`).href);
    return init({ variant: library.info.variant, threads });
  };
  const loadCore = async () => {
    kernels ??= await loadKernels(await bytesOf(`build/wasm/bench/bench_${variant}.wasm`));
    return kernels;
  };
  const tensor = ({ data, shape }) => library.tensor(shape, data);

  /** A result that stays where the next call reads it, and one that is copied to a new array. */
  const written = (shape, given, call) => {
    const out = library.tensor(shape);
    let last;
    const way = (to) => [given, to].filter(Boolean).join(', ');
    return [
      { way: way('tensor out'), run: () => call({ out }), output: () => out.view().slice() },
      { way: way('array out'), run: () => (last = call({})), output: () => last.data },
    ];
  };

  const makers = {
    train: async (entry, inputs) => ownSteps(await loadTrain(), entry, inputs),

    // Backward takes what forward returned, and gives arrays.
    async backward({ causal, flops }, { q, k, v }) {
      const trained = await loadTrain();
      const [tq, tk, tv] = [q, k, v].map(({ shape, data }) => trained.tensor(shape, data));
      const saved = { output: trained.tensor(q.shape) };
      const forward = () => {
        const options = { causal, returnLse: true, out: saved.output };
        saved.lse = trained.attention(tq, tk, tv, options).lse;
      };
      forward();
      const before = trained.memory().heapBytes;
      return [
        { way: 'forward with lse', run: forward },
        {
          way: 'backward',
          flops: 2.5 * flops, // five products instead of two
          run: () => trained.attentionBackward(tv, tq, tk, tv, saved, { causal }),
          note: () => `heap +${((trained.memory().heapBytes - before) / 2 ** 20).toFixed(1)} MiB`,
        },
      ];
    },
    attention({ causal }, { q, k, v }) {
      const out = library.tensor(q.shape);
      const [tq, tk, tv] = [q, k, v].map(tensor);
      const before = library.memory().heapBytes;
      const tensors = {
        way: 'tensors',
        run: () => library.attention(tq, tk, tv, { causal, out }),
        output: () => out.view().slice(),
        note: () => `heap +${((library.memory().heapBytes - before) / 2 ** 20).toFixed(1)} MiB`,
      };
      let last;
      const arrays = {
        way: 'plain arrays',
        run: () => (last = library.attention(q, k, v, { causal })),
        output: () => last.output.data,
      };
      return q.data.length > 1e4 ? [tensors] : [tensors, arrays];
    },

    gemm({ m, n }, { a, b }) {
      const layer = library.linearLayer(tensor(b));
      const [from, out] = [tensor(a), library.tensor([m, n])];
      return [
        {
          way: 'linearLayer, tensors',
          run: () => layer.forward(from, { out }),
          output: () => out.view().slice(),
        },
      ];
    },

    // Of the kernel alone: formats other than float32 are those of models.
    async product(entry, { x, w }) {
      if (threads > 1) return [];
      const { run, output } = (await loadCore()).product(entry, x.data, w.data);
      return [{ way: 'kernel, w packed once', run, output }];
    },

    async read(entry) {
      return [{ way: 'a loop', ...(await loadCore()).read(entry) }];
    },

    layer({ model, heads }, { x, ...weights }) {
      const layer = library.multiHeadAttention({ dModel: model, numHeads: heads }, weights);
      const [from, out] = [tensor(x), library.tensor(x.shape)];
      return [
        {
          way: 'tensors',
          run: () => layer.forward(from, { causal: true, out }),
          output: () => out.view().slice(),
        },
      ];
    },

    decode({ heads, kvHeads = heads, past, width }, { q, k, v, pastK, pastV }) {
      const cache = library.kvCache({ numKvHeads: kvHeads, capacity: past + 1, dK: width });
      cache.append(pastK, pastV);
      const [tq, tk, tv] = [q, k, v].map(tensor);
      const out = library.tensor(q.shape);
      return [
        {
          way: 'kvCache',
          run() {
            library.attention(tq, tk, tv, { cache, causal: true, out });
            cache.truncate(past);
          },
          output: () => out.view().slice(),
        },
      ];
    },

    ...Object.fromEntries(
      Object.entries({
        softmax: ['softmax'],
        gelu: ['gelu'],
        layernorm: ['layerNorm', ({ gamma, beta }) => ({ gamma: gamma.data, beta: beta.data })],
        rmsnorm: ['rmsNorm', ({ gamma }) => ({ gamma: gamma.data })],
        rotary: ['rotaryEmbedding'],
      }).map(([op, [name, optionsOf = () => ({})]]) => [
        op,
        (_, inputs) => {
          const x = tensor(inputs.x);
          const options = optionsOf(inputs);
          return written(inputs.x.shape, 'tensor in', (to) =>
            library[name](x, { ...options, ...to }),
          );
        },
      ]),
    ),

    sinusoidal: ({ rows, width }) =>
      written([rows, width], '', (to) => library.sinusoidalEncoding(rows, width, to)),

    // What asking for more costs. Outputs of all of these are the same.
    extras(_, { q, k, v }) {
      const [tq, tk, tv] = [q, k, v].map(tensor);
      const out = library.tensor(q.shape);
      const ways = {
        nothing: {},
        lse: { returnLse: true },
        entropy: { returnEntropy: true },
        weights: { returnWeights: true },
        'weights of the last row': { returnWeights: true, rows: [q.shape[2] - 1, q.shape[2]] },
      };
      return Object.entries(ways).map(([way, options]) => ({
        way,
        run: () => library.attention(tq, tk, tv, { causal: true, out, ...options }),
        output: () => out.view().slice(),
      }));
    },

    // The first component of every query is 1, and that of one key so many nats times 8, the root of the width.
    far({ heads, tokens, width }, { q, k, v }) {
      const out = library.tensor(q.shape);
      const [tq, tv] = [q.data.map((x, i) => (i % width === 0 ? 1 : x)), v.data].map((data) =>
        library.tensor(q.shape, data),
      );
      return [0, 80, 84, 87].map((nats) => {
        const data = k.data.map((x, i) => (i % width === 0 ? 0 : x));
        for (let h = 0; h < heads; h += 1) data[h * tokens * width] = nats * Math.sqrt(width);
        const tk = library.tensor(k.shape, data);
        return { way: `${nats} nats`, run: () => library.attention(tq, tk, tv, { out }) };
      });
    },

    mask({ tokens }, { q, k, v }) {
      const [tq, tk, tv] = [q, k, v].map(tensor);
      const out = library.tensor(q.shape);
      const block = (i) => Math.floor((8 * i) / tokens);
      const data = Uint8Array.from({ length: tokens * tokens }, (_, i) =>
        Number(block(Math.floor(i / tokens)) === block(i % tokens)),
      );
      const mask = { data, shape: [tokens, tokens] };
      return [
        { way: 'none', run: () => library.attention(tq, tk, tv, { out }) },
        { way: '7 of 8 blocks out', run: () => library.attention(tq, tk, tv, { out, mask }) },
      ];
    },

    // The weights of one row, alone or with the call that has to be made anyway.
    row({ tokens, width }, { q, k, v }) {
      const [tq, tk, tv] = [q, k, v].map(tensor);
      const out = library.tensor(q.shape);
      const row = tokens - 1;
      const last = library.tensor([1, 1, 1, width], q.data.subarray(row * width));
      const lastOut = library.tensor([1, 1, 1, width]);
      const options = { causal: true, returnWeights: true };
      const end = () => out.view().slice(row * width);
      return [
        {
          way: 'full call',
          run: () => library.attention(tq, tk, tv, { causal: true, out }),
          output: end,
        },
        {
          way: 'full call and weights of one row',
          run: () => library.attention(tq, tk, tv, { ...options, out, rows: [row, tokens] }),
          output: end,
        },
        {
          way: 'one query and its weights',
          flops: 4 * width * tokens,
          run: () =>
            library.attention(last, tk, tv, { ...options, out: lastOut, causalOffset: row }),
          output: () => lastOut.view().slice(),
        },
      ];
    },
  };

  return {
    load,
    prepare: (entry, inputs) => makers[entry.op]?.(entry, inputs) ?? [],
    /** Multiplications and additions in registers and nothing else: the roof. */
    peak: async () => (await loadCore()).peak(),
    async first({ q, k, v }) {
      await load();
      return library.attention(q, k, v, { causal: true }).output.data;
    },
  };
}
