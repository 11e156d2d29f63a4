// A Llama or Qwen as a graph of onnxruntime's contributed operators, with a cache that grows, and the file of its weights.
//
// It takes no GGUF. Float32 are the same numbers. `int8` has a scale for each column and rounds the other side too
// (DynamicQuantizeMatMul), which is not Q8_0; `level4` and `level0` are MatMulNBits with blocks of 32 numbers of 4 bits, which are
// those of Q4_0 but for scales in float32, and its accuracy_level: 4 rounds the other side to int8, 0 does not. They have 8
// bits where the file has no 4.
import { model } from '../peers/onnx.js';
import { typeOf } from './mixes.js';
import { headWidth, tensorsOf, weightsOf } from './shapes.js';

const WEIGHTS = 'weights';
const BLOCK = 32;

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

/** The number of the largest magnitude, with its sign. */
function largestOf(data, from, count) {
  let largest = 0;
  for (let i = from; i < from + count; i += 1) {
    if (Math.abs(data[i]) > Math.abs(largest)) largest = data[i];
  }
  return largest;
}

/** Int8 with a scale for each row of the matrix, as columns: what tools that quantize for onnxruntime write. */
function byColumn(data, [rows, columns]) {
  const numbers = new Int8Array(data.length);
  const scales = new Float32Array(rows);
  for (let r = 0; r < rows; r += 1) {
    scales[r] = Math.abs(largestOf(data, r * columns, columns)) / 127;
    for (let c = 0; c < columns; c += 1) {
      numbers[c * rows + r] = Math.round(data[r * columns + c] / scales[r]);
    }
  }
  return { numbers, scales };
}

/** Blocks of 32 of a row, of which a number is scale (q - 2^(bits - 1)); of 4 bits two to a byte, the first in the low half. */
function inBlocks(data, bits) {
  const half = 2 ** (bits - 1);
  const scales = new Float32Array(data.length / BLOCK);
  const numbers = new Uint8Array((data.length * bits) / 8);
  for (let block = 0; block < scales.length; block += 1) {
    const from = block * BLOCK;
    const scale = largestOf(data, from, BLOCK) / -half;
    scales[block] = scale;
    for (let i = from; i < from + BLOCK; i += 1) {
      const q = scale === 0 ? half : Math.min(2 * half - 1, Math.round(data[i] / scale) + half);
      if (bits === 8) numbers[i] = q;
      else numbers[i >> 1] |= q << (4 * (i & 1));
    }
  }
  return { numbers, scales };
}

/** y = x W^T by MatMulNBits. */
function blockProduct(store, { name, shape: [rows, columns], data, bits, level }, [input, result]) {
  const { numbers, scales } = inBlocks(data, bits);
  const blocks = columns / BLOCK;
  store.add(name, numbers, { shape: [rows, blocks, (BLOCK * bits) / 8], type: 'uint8' });
  store.add(`${name} scales`, scales, { shape: [rows * blocks] });
  const about = { K: columns, N: rows, bits, block_size: BLOCK, accuracy_level: level };
  return ['com.microsoft:MatMulNBits', [input, name, `${name} scales`], [result], about];
}

/** y = x W^T for a matrix of the file: adds its numbers, and gives the node. */
function product(store, { name, extents, shape, format, way }, [input, result]) {
  const data = weightsOf(name, extents);
  const [rows, columns] = extents;
  if (way === 'float32') {
    store.add(name, turned(data, extents), { shape: [columns, rows] });
    return ['MatMul', [input, name], [result]];
  }
  if (way !== 'int8') {
    const bits = /^Q4/.test(typeOf(format, { name, shape: extents }, shape)) ? 4 : 8;
    const level = Number(way.at(-1));
    return blockProduct(store, { name, shape: extents, data, bits, level }, [input, result]);
  }
  const { numbers, scales } = byColumn(data, extents);
  store.add(name, numbers, { shape: [columns, rows], type: 'int8' });
  store.add(`${name} scales`, scales, { shape: [rows] });
  return ['com.microsoft:DynamicQuantizeMatMul', [input, name, `${name} scales`], [result]];
}

/** Cosines and sines of the angles of each position. */
function addRotary(store, { contextLength, ropeBase, ...shape }) {
  const width = headWidth(shape);
  const half = width / 2;
  const table = (f) =>
    Float32Array.from({ length: contextLength * half }, (_, i) =>
      f(Math.floor(i / half) * ropeBase ** ((-2 * (i % half)) / width)),
    );
  store.add('cos', table(Math.cos), { shape: [contextLength, half] });
  store.add('sin', table(Math.sin), { shape: [contextLength, half] });
}

const normNode = (input, gamma, result, { epsilon }) => [
  'SimplifiedLayerNormalization',
  [input, gamma],
  [result],
  { axis: -1, epsilon: { float: epsilon } },
];

/** The maps to q, k and v, with their biases. */
function headNodes(store, l, { shape, name, matrix }) {
  return ['q', 'k', 'v'].flatMap((which) => {
    if (!shape.qkvBiases) return [matrix(`attn_${which}`, [name('n'), name(which)])];
    const bias = `blk.${l}.attn_${which}.bias`;
    const extents = tensorsOf(shape)[bias];
    store.add(bias, weightsOf(bias, extents), { shape: extents });
    return [
      matrix(`attn_${which}`, [name('n'), name(`${which} less bias`)]),
      ['Add', [name(`${which} less bias`), bias], [name(which)]],
    ];
  });
}

/** The nodes of one block, from `x` to `y`. */
function blockNodes(store, l, { shape, format, way, names: [x, y] }) {
  const all = tensorsOf(shape);
  const own = (part) => `blk.${l}.${part}.weight`;
  const name = (part) => `${l} ${part}`;
  const matrix = (part, ends) =>
    product(store, { name: own(part), extents: all[own(part)], shape, format, way }, ends);
  const norm = (part, input, result) => {
    store.add(own(part), weightsOf(own(part), all[own(part)]), { shape: all[own(part)] });
    return normNode(input, own(part), result, shape);
  };
  const cache = [`past_key_${l}`, `past_value_${l}`, 'last', 'total', 'cos', 'sin'];
  const attention = [
    'com.microsoft:GroupQueryAttention',
    [...['q', 'k', 'v'].map(name), ...cache],
    [name('attended'), `key_${l}`, `value_${l}`],
    {
      ...{ num_heads: shape.heads, kv_num_heads: shape.kvHeads, do_rotary: 1 },
      rotary_interleaved: Number(shape.architecture === 'llama'),
    },
  ];
  return [
    norm('attn_norm', x, name('n')),
    ...headNodes(store, l, { shape, name, matrix }),
    attention,
    matrix('attn_output', [name('attended'), name('o')]),
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

/** The rows of the embedding, from int8 in blocks where the output is in blocks. */
function embeddingNode(store, table, { shape: { vocabulary, dModel }, way }) {
  const data = weightsOf(table, [vocabulary, dModel]);
  if (!way.startsWith('level')) {
    store.add('embedding', data, { shape: [vocabulary, dModel] });
    return ['Gather', ['embedding', 'ids'], ['x0']];
  }
  const { numbers, scales } = inBlocks(data, 8);
  store.add('embedding', numbers, { shape: [vocabulary, dModel], type: 'uint8' });
  store.add('embedding scales', scales, { shape: [vocabulary, dModel / BLOCK] });
  return [
    'com.microsoft:GatherBlockQuantized',
    ['embedding', 'ids', 'embedding scales'],
    ['x0'],
    { bits: 8, block_size: BLOCK, gather_axis: 0, quantize_axis: 1 },
  ];
}

/** Keys and values of all layers before or after a call: { name: extents }. */
export const cacheOf = ({ layers, kvHeads, ...shape }, prefix, extent) =>
  Object.fromEntries(
    Array.from({ length: 2 * layers }, (_, i) => [
      `${prefix}${i % 2 === 0 ? 'key' : 'value'}_${i >> 1}`,
      [1, kvHeads, extent, headWidth(shape)],
    ]),
  );

/** The graph and the file of its weights, { graph, weights, location }: logits of the last row. */
export function build(shape, { format, way }) {
  const { dModel, layers, vocabulary } = shape;
  const store = collector();
  const table = 'token_embd.weight';
  const first = embeddingNode(store, table, { shape, way });
  addRotary(store, shape);
  const blocks = Array.from({ length: layers }, (_, l) =>
    blockNodes(store, l, { shape, format, way, names: [`x${l}`, `x${l + 1}`] }),
  );
  store.add('gamma', weightsOf('output_norm.weight', [dModel]), { shape: [dModel] });
  const head = { name: table, extents: [vocabulary, dModel], shape, format, way };
  const constants = { end: { data: [-1], shape: [1], type: 'int64' } };
  const nodes = [
    first,
    ...blocks.flat(),
    ['Gather', [`x${layers}`, 'end'], ['z'], { axis: 1 }],
    normNode('z', 'gamma', 'n', shape),
    product(store, head, ['n', 'logits']),
  ];
  const graph = model({
    inputs: {
      ids: { shape: [1, 'rows'], type: 'int64' },
      last: { shape: [1], type: 'int32' },
      total: { shape: [1], type: 'int32' },
      ...cacheOf(shape, 'past_', 'past'),
    },
    outputs: { logits: [1, 1, vocabulary], ...cacheOf(shape, '', 'length') },
    constants: { ...constants, ...store.constants },
    nodes,
  });
  return { graph, weights: store.file(), location: WEIGHTS };
}

/** A graph that takes keys and values and gives them back: what the cache costs at the border of the engine, and no more. */
export function copying(shape) {
  const names = Object.keys(cacheOf(shape, '', 'past'));
  return model({
    inputs: cacheOf(shape, 'past_', 'past'),
    outputs: cacheOf(shape, '', 'past'),
    nodes: names.map((name) => ['Identity', [`past_${name}`], [name]]),
  });
}
