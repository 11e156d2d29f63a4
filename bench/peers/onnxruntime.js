// onnxruntime: its WebAssembly build (onnxruntime-web) and its native one (onnxruntime-node), with one
// thread or two. It has several ways to say attention; every way is offered, and the fastest is timed.
import { swapHeads } from '../cases.js';
import { timeOf } from '../measure.js';
import { model } from './onnx.js';

const at = (path) => new URL(`../../build/peers/node_modules/${path}`, import.meta.url).href;

/** A way: the model, what to feed, and how the output becomes ours. */
const way = (name, graph, feeds, restore = (y) => y) => ({ name, graph, feeds, restore });

const flat = ({ data, shape: [, tokens, heads, width] }) => ({
  data,
  shape: [1, tokens, heads * width],
});

/** [1, H, T, d] -> [1, H, d, T] */
function transpose({ data, shape: [, heads, tokens, width] }) {
  const turned = new Float32Array(data.length);
  for (let h = 0; h < heads; h += 1) {
    for (let t = 0; t < tokens; t += 1) {
      for (let i = 0; i < width; i += 1) {
        turned[(h * width + i) * tokens + t] = data[(h * tokens + t) * width + i];
      }
    }
  }
  return { data: turned, shape: [1, heads, width, tokens] };
}

/** 0 where a query may look, -infinity where it may not. */
function causalMask(tokens) {
  const data = new Float32Array(tokens * tokens);
  for (let i = 0; i < tokens; i += 1) data.fill(-Infinity, i * tokens + i + 1, (i + 1) * tokens);
  return { data, shape: [tokens, tokens] };
}

const scalar = (number) => ({ data: Float32Array.of(number), shape: [] });

/** MatMul, Softmax, MatMul on q, k (transposed) and v; 1/sqrt(d) goes into q. */
function spelledOut(name, feeds, mask) {
  const { q, k } = feeds;
  const width = q.shape[3];
  const masked = mask ? [['Add', ['s', 'mask'], ['m']]] : [];
  return way(
    name,
    {
      inputs: Object.fromEntries(Object.entries(feeds).map(([key, { shape }]) => [key, shape])),
      outputs: { y: q.shape },
      constants: { scale: scalar(1 / Math.sqrt(width)), ...(mask ? { mask } : {}) },
      nodes: [
        ['Mul', ['q', 'scale'], ['qs']],
        ['MatMul', ['qs', 'k'], ['s']],
        ...masked,
        ['Softmax', [mask ? 'm' : 's'], ['p'], { axis: -1 }],
        ['MatMul', ['p', 'v'], ['y']],
      ],
    },
    { ...feeds, k },
  );
}

const shapes = (feeds) =>
  Object.fromEntries(Object.entries(feeds).map(([key, { shape }]) => [key, shape]));

const makers = {
  attention({ heads, tokens, width, causal }, { q, k, v }) {
    const side = (x) => flat(swapHeads(x));
    const wide = { q: side(q), k: side(k), v: side(v) };
    const straight = { q, k, v };
    // A mask of all pairs beyond this is not the fastest way to anything.
    const mask = causal && tokens <= 4096 ? causalMask(tokens) : undefined;
    return [
      way(
        'MultiHeadAttention',
        {
          inputs: shapes(wide),
          outputs: { y: wide.q.shape },
          nodes: [
            [
              'com.microsoft:MultiHeadAttention',
              ['q', 'k', 'v'],
              ['y'],
              { num_heads: heads, ...(causal ? { unidirectional: 1 } : {}) },
            ],
          ],
        },
        wide,
        (data) => swapHeads({ data, shape: [1, tokens, heads, width] }).data,
      ),
      way(
        'Attention-23',
        {
          inputs: shapes(straight),
          outputs: { y: q.shape },
          nodes: [['Attention', ['q', 'k', 'v'], ['y'], { is_causal: causal ? 1 : 0 }]],
        },
        straight,
      ),
      ...(causal && !mask
        ? []
        : [spelledOut('MatMul Softmax MatMul', { q, k: transpose(k), v }, mask)]),
    ];
  },

  decode({ heads, past, width }, { q, k, v, pastK, pastV }) {
    const all = (old, fresh) => {
      const data = new Float32Array(old.data.length + fresh.data.length);
      for (let h = 0; h < heads; h += 1) {
        data.set(
          old.data.subarray(h * past * width, (h + 1) * past * width),
          h * (past + 1) * width,
        );
        data.set(fresh.data.subarray(h * width, (h + 1) * width), (h * (past + 1) + past) * width);
      }
      return { data, shape: [1, heads, past + 1, width] };
    };
    const row = ({ data }) => ({ data, shape: [1, 1, heads * width] });
    const cached = { q: row(q), k: row(k), v: row(v), pastK, pastV };
    const held = { q, k, v, pastK, pastV };
    const grown = [1, heads, past + 1, width];
    const whole = { q, k: all(pastK, k), v: all(pastV, v) };
    return [
      way(
        'MultiHeadAttention with past and present',
        {
          inputs: shapes(cached),
          outputs: { y: cached.q.shape, presentK: grown, presentV: grown },
          nodes: [
            [
              'com.microsoft:MultiHeadAttention',
              ['q', 'k', 'v', '', '', '', 'pastK', 'pastV'],
              ['y', 'presentK', 'presentV'],
              { num_heads: heads },
            ],
          ],
        },
        cached,
      ),
      way(
        'Attention-23 with past and present',
        {
          inputs: shapes(held),
          outputs: { y: q.shape, presentK: grown, presentV: grown },
          nodes: [
            ['Attention', ['q', 'k', 'v', '', 'pastK', 'pastV'], ['y', 'presentK', 'presentV']],
          ],
        },
        held,
      ),
      way(
        'Attention-23, keys and values fed whole',
        {
          inputs: shapes(whole),
          outputs: { y: q.shape },
          nodes: [['Attention', ['q', 'k', 'v'], ['y']]],
        },
        whole,
      ),
      spelledOut('MatMul Softmax MatMul, keys and values fed whole', {
        ...whole,
        k: transpose(whole.k),
      }),
    ];
  },

  gemm(_, { a, b }) {
    return [
      way(
        'MatMul, b constant',
        {
          inputs: { a: a.shape },
          outputs: { y: [a.shape[0], b.shape[1]] },
          constants: { b },
          nodes: [['MatMul', ['a', 'b'], ['y']]],
        },
        { a },
      ),
    ];
  },

  layer({ tokens, model: width, heads }, { x, wq, wk, wv, wo }) {
    const wide = { data: new Float32Array(3 * width * width), shape: [width, 3 * width] };
    for (let row = 0; row < width; row += 1) {
      [wq, wk, wv].forEach(({ data }, i) =>
        wide.data.set(data.subarray(row * width, (row + 1) * width), (3 * row + i) * width),
      );
    }
    const bias = { data: new Float32Array(3 * width), shape: [3 * width] };
    const graph = (constants, nodes) => ({
      inputs: { x: x.shape },
      outputs: { y: [1, tokens, width] },
      constants: { ...constants, wo },
      nodes: [...nodes, ['MatMul', ['o', 'wo'], ['y']]],
    });
    const causal = { num_heads: heads, unidirectional: 1 };
    const attend = ['com.microsoft:MultiHeadAttention', ['q', 'k', 'v'], ['o'], causal];
    const opset23 = { is_causal: 1, q_num_heads: heads, kv_num_heads: heads };
    const project = ['q', 'k', 'v'].map((name) => ['MatMul', ['x', `w${name}`], [name]]);
    return [
      way(
        'Attention (contrib), MatMul',
        graph({ wide, bias }, [['com.microsoft:Attention', ['x', 'wide', 'bias'], ['o'], causal]]),
        { x },
      ),
      way('MatMul x 3, MultiHeadAttention, MatMul', graph({ wq, wk, wv }, [...project, attend]), {
        x,
      }),
      way(
        'MatMul x 3, Attention-23, MatMul',
        graph({ wq, wk, wv }, [...project, ['Attention', ['q', 'k', 'v'], ['o'], opset23]]),
        { x },
      ),
    ];
  },

  softmax: (_, { x }) => [
    way(
      'Softmax',
      {
        inputs: { x: x.shape },
        outputs: { y: x.shape },
        nodes: [['Softmax', ['x'], ['y'], { axis: -1 }]],
      },
      { x },
    ),
  ],

  gelu: (_, { x }) =>
    ['Gelu', 'com.microsoft:Gelu'].map((op) =>
      way(
        op.replace('com.microsoft:Gelu', 'Gelu (contrib)'),
        { inputs: { x: x.shape }, outputs: { y: x.shape }, nodes: [[op, ['x'], ['y']]] },
        { x },
      ),
    ),

  layernorm: (_, { x, gamma, beta }) => [
    way(
      'LayerNormalization',
      {
        inputs: { x: x.shape },
        outputs: { y: x.shape },
        constants: { gamma, beta },
        nodes: [
          ['LayerNormalization', ['x', 'gamma', 'beta'], ['y'], { epsilon: { float: 1e-5 } }],
        ],
      },
      { x },
    ),
  ],

  rmsnorm: (_, { x, gamma }) =>
    ['RMSNormalization', 'SimplifiedLayerNormalization'].map((op) =>
      way(
        op,
        {
          inputs: { x: x.shape },
          outputs: { y: x.shape },
          constants: { gamma },
          nodes: [[op, ['x', 'gamma'], ['y'], { axis: -1, epsilon: { float: 1e-5 } }]],
        },
        { x },
      ),
    ),
};

/** What onnxruntime throws may be a string, a number or an Error. */
export const reason = (error) =>
  String(error?.message ?? error)
    .split('\n')[0]
    .slice(0, 300);

/** A graph with the same inputs and outputs that computes nothing: what it takes is copied in, what it gives is copied out. */
function copying({ inputs, outputs }) {
  const zeros = Object.entries(outputs).map(([name, shape]) => {
    const data = new Float32Array(shape.reduce((n, extent) => n * extent, 1));
    return [`${name} zeros`, { data, shape }];
  });
  return {
    ...{ inputs, outputs, constants: Object.fromEntries(zeros) },
    nodes: Object.keys(outputs).map((name) => ['Identity', [`${name} zeros`], [name]]),
  };
}

export function onnxruntime(kind, threads) {
  let ort;
  const load = async () => {
    if (kind === 'node') {
      const module = await import(at('onnxruntime-node/dist/index.js'));
      ort = module.default ?? module;
      return;
    }
    // The number of threads is fixed once for each copy of the module.
    ort = await import(`${at('onnxruntime-web/dist/ort.wasm.bundle.min.mjs')}?threads=${threads}`);
    ort.env.wasm.numThreads = threads;
    ort.env.wasm.wasmPaths = at('onnxruntime-web/dist/');
  };

  const sessionOf = (graph) =>
    ort.InferenceSession.create(model(graph), {
      executionProviders: [kind === 'node' ? 'cpu' : 'wasm'],
      graphOptimizationLevel: 'all',
      logSeverityLevel: 4,
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
    });

  async function open({ name, graph, feeds, restore }) {
    const session = await sessionOf(graph);
    const inputs = Object.fromEntries(
      Object.entries(feeds).map(([key, { data, shape }]) => [
        key,
        new ort.Tensor('float32', data, shape),
      ]),
    );
    let last;
    return {
      way: name,
      run: async () => (last = await session.run(inputs)),
      output: () => restore(last.y.data),
      close: () => session.release(),
      /** Milliseconds of the fastest of some calls that only copy. */
      async copies() {
        const other = await sessionOf(copying(graph));
        let best = Infinity;
        for (let call = 0; call < 9; call += 1) {
          best = Math.min(best, await timeOf(() => other.run(inputs)));
        }
        await other.release();
        return best;
      },
    };
  }

  return {
    load,
    async prepare(entry, inputs) {
      const opened = [];
      for (const candidate of makers[entry.op]?.(entry, inputs) ?? []) {
        try {
          opened.push(await open(candidate));
        } catch (error) {
          opened.push({ way: candidate.name, error });
        }
      }
      return opened;
    },
    async first({ q, k, v }) {
      await load();
      const [, tokens] = [q.shape[1], q.shape[2]];
      const [candidate] = makers.attention(
        { heads: q.shape[1], tokens, width: q.shape[3], causal: true },
        { q, k, v },
      );
      const session = await open(candidate);
      await session.run();
      return session.output();
    },
  };
}
