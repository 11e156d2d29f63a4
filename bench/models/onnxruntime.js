// onnxruntime-web: the Llama as a graph of its contributed operators, with a cache that grows. It takes no GGUF. Float32 are
// the same numbers; int8 has a scale for each column and rounds the other side too (DynamicQuantizeMatMul), which is not
// Q8_0. Its operator for blocks of 32, MatMulNBits, decoded 6 tokens/s of the 15M where float32 had 94.
import { model } from '../peers/onnx.js';
import {
  contextIds,
  decodedIds,
  headWidth,
  promptIds,
  shapes,
  tensorsOf,
  weightsOf,
} from './shapes.js';

const at = (path) =>
  new URL(`../../build/peers/node_modules/onnxruntime-web/dist/${path}`, import.meta.url).href;
const WEIGHTS = 'weights';

/** Arrays one after the other in one file, which `constants` refer to: { name: array } by { shape, type, external }. */
function collector() {
  const parts = [];
  const constants = {};
  let end = 0;
  return {
    constants,
    add(name, data, { shape, type = 'float' }) {
      const external = { location: WEIGHTS, offset: end, length: data.byteLength };
      constants[name] = { shape, type, external };
      parts.push(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
      end += data.byteLength;
    },
    file() {
      const whole = new Uint8Array(end);
      let place = 0;
      for (const part of parts.splice(0)) {
        whole.set(part, place);
        place += part.length;
      }
      return whole;
    },
  };
}

/** Rows and columns change places. */
function turned(data, [rows, columns]) {
  const other = new Float32Array(data.length);
  for (let r = 0; r < rows; r += 1) {
    for (let c = 0; c < columns; c += 1) other[c * rows + r] = data[r * columns + c];
  }
  return other;
}

/** Int8 with a scale for each row of the matrix, as columns: what tools that quantize for onnxruntime write. */
function quantized(data, [rows, columns]) {
  const numbers = new Int8Array(data.length);
  const scales = new Float32Array(rows);
  for (let r = 0; r < rows; r += 1) {
    let largest = 0;
    for (let c = 0; c < columns; c += 1)
      largest = Math.max(largest, Math.abs(data[r * columns + c]));
    scales[r] = largest / 127;
    for (let c = 0; c < columns; c += 1) {
      numbers[c * rows + r] = Math.round(data[r * columns + c] / scales[r]);
    }
  }
  return { numbers, scales };
}

/** y = x W^T for a matrix of the file: adds its numbers, and gives the node. */
function product(store, { name, shape, format }, [input, result]) {
  const data = weightsOf(name, shape);
  const [rows, columns] = shape;
  if (format === 'F32') {
    store.add(name, turned(data, shape), { shape: [columns, rows] });
    return ['MatMul', [input, name], [result]];
  }
  const { numbers, scales } = quantized(data, shape);
  store.add(name, numbers, { shape: [columns, rows], type: 'int8' });
  store.add(`${name} scales`, scales, { shape: [rows] });
  return ['com.microsoft:DynamicQuantizeMatMul', [input, name, `${name} scales`], [result]];
}

/** Cosines and sines of the angles of each position. */
function addRotary(store, width) {
  const half = width / 2;
  const table = (f) =>
    Float32Array.from({ length: CONTEXT * half }, (_, i) =>
      f(Math.floor(i / half) * ropeBase ** ((-2 * (i % half)) / width)),
    );
  store.add('cos', table(Math.cos), { shape: [CONTEXT, half] });
  store.add('sin', table(Math.sin), { shape: [CONTEXT, half] });
}

/** The nodes of one block, from `x` to `y`. */
function blockNodes(store, l, { shape, format, names: [x, y] }) {
  const { heads, kvHeads } = shape;
  const all = tensorsOf(shape);
  const own = (part) => `blk.${l}.${part}.weight`;
  const name = (part) => `${l} ${part}`;
  const matrix = (part, ends) =>
    product(store, { name: own(part), shape: all[own(part)], format }, ends);
  const norm = (part, input, result) => {
    store.add(own(part), weightsOf(own(part), all[own(part)]), { shape: all[own(part)] });
    return [
      'SimplifiedLayerNormalization',
      [input, own(part)],
      [result],
      { axis: -1, epsilon: { float: epsilon } },
    ];
  };
  const attention = [
    'com.microsoft:GroupQueryAttention',
    [
      ...['q', 'k', 'v'].map(name),
      ...[`past_key_${l}`, `past_value_${l}`, 'last', 'total', 'cos', 'sin'],
    ],
    [name('heard'), `key_${l}`, `value_${l}`],
    {
      num_heads: heads,
      kv_num_heads: kvHeads,
      do_rotary: 1,
      rotary_interleaved: Number(shape.architecture === 'llama'),
    },
  ];
  return [
    norm('attn_norm', x, name('n')),
    ...['q', 'k', 'v'].map((which) => matrix(`attn_${which}`, [name('n'), name(which)])),
    attention,
    matrix('attn_output', [name('heard'), name('o')]),
    ['Add', [x, name('o')], [name('h')]],
    norm('ffn_norm', name('h'), name('m')),
    matrix('ffn_gate', [name('m'), name('gate')]),
    matrix('ffn_up', [name('m'), name('up')]),
    ['Sigmoid', [name('gate')], [name('sigmoid')]],
    ['Mul', [name('gate'), name('sigmoid')], [name('silu')]],
    ['Mul', [name('silu'), name('up')], [name('hidden')]],
    matrix('ffn_down', [name('hidden'), name('down')]),
    ['Add', [name('h'), name('down')], [y]],
  ];
}

/** The graph and the file of its weights: logits of the last row. */
function build(shape, format) {
  const { dModel, layers, heads, vocabulary } = shape;
  const store = collector();
  const table = 'token_embd.weight';
  store.add('embedding', weightsOf(table, [vocabulary, dModel]), { shape: [vocabulary, dModel] });
  addRotary(store, dModel / heads);
  const blocks = Array.from({ length: layers }, (_, l) =>
    blockNodes(store, l, { shape, format, names: [`x${l}`, `x${l + 1}`] }),
  );
  store.add('gamma', weightsOf('output_norm.weight', [dModel]), { shape: [dModel] });
  const head = { name: table, shape: [vocabulary, dModel], format };
  const constants = { end: { data: [-1], shape: [1], type: 'int64' } };
  const nodes = [
    ['Gather', ['embedding', 'ids'], ['x0']],
    ...blocks.flat(),
    ['Gather', [`x${layers}`, 'end'], ['z'], { axis: 1 }],
    [
      'SimplifiedLayerNormalization',
      ['z', 'gamma'],
      ['n'],
      { axis: -1, epsilon: { float: epsilon } },
    ],
    product(store, head, ['n', 'logits']),
  ];
  const cache = (prefix, extent) =>
    Object.fromEntries(
      Array.from({ length: 2 * layers }, (_, i) => [
        `${prefix}${i % 2 === 0 ? 'key' : 'value'}_${i >> 1}`,
        [1, heads, extent, dModel / heads],
      ]),
    );
  const graph = model({
    inputs: {
      ids: { shape: [1, 'rows'], type: 'int64' },
      last: { shape: [1], type: 'int32' },
      total: { shape: [1], type: 'int32' },
      ...cache('past_', 'past'),
    },
    outputs: { logits: [1, 1, vocabulary], ...cache('', 'length') },
    constants: { ...constants, ...store.constants },
    nodes,
  });
  return { graph, weights: store.file() };
}

export async function onnxruntime({ shape: name, format, threads }) {
  const ort = await import(at('ort.wasm.bundle.min.mjs'));
  ort.env.wasm.numThreads = threads;
  ort.env.wasm.wasmPaths = at('');
  const shape = shapes[name];
  const { graph, weights } = build(shape, format);
  const session = await ort.InferenceSession.create(graph, {
    ...{ executionProviders: ['wasm'], graphOptimizationLevel: 'all', logSeverityLevel: 3 },
    ...{ intraOpNumThreads: threads, interOpNumThreads: 1 },
    externalData: [{ path: WEIGHTS, data: weights }],
  });
  const tensor = (type, data, extents) => new ort.Tensor(type, data, extents);
  const empty = [1, shape.heads, 0, shape.dModel / shape.heads];
  const start = () =>
    Object.fromEntries(
      session.inputNames
        .filter((input) => input.startsWith('past_'))
        .map((input) => [input, tensor('float32', new Float32Array(0), empty)]),
    );

  /** Reads tokens after those of a cache; the cache is then that of all. */
  async function read(tokens, { past, length }) {
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
  const empty = () => ({ past: start(), length: 0 });
  let filled;
  return {
    async prompt() {
      const begin = performance.now();
      await read(promptIds, empty());
      return performance.now() - begin;
    },
    async fill(context) {
      filled = await read(contextIds(context), empty());
    },
    async decode() {
      let state = filled;
      const begin = performance.now();
      for (const id of decodedIds) state = await read([id], state);
      return performance.now() - begin;
    },
    async next() {
      const { logits } = await read(promptIds, empty());
      return logits.indexOf(Math.max(...logits));
    },
  };
}
