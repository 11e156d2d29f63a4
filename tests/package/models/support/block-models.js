// Models of GGUF with random blocks, wide enough for blocks of 256, and the numbers that these are.
import { init } from 'qkv';
import { load } from 'qkv/models';
import { blockTypes, numberOf, randomBlocks } from '../../../support/js/blocks.js';
import { initAsTold } from '../../../support/js/files.js';
import { gguf, ggufFile } from './files.js';

const [d, f, heads, kv, vocabulary] = [256, 256, 2, 1, 7];
const { text, u32, f32 } = gguf;
const metadata = [
  ['general.architecture', text('llama')],
  ...Object.entries({
    ...{ block_count: 1, embedding_length: d, feed_forward_length: f, context_length: 9 },
    ...{ 'attention.head_count': heads, 'attention.head_count_kv': kv },
  }).map(([key, value]) => [`llama.${key}`, u32(value)]),
  ['llama.attention.layer_norm_rms_epsilon', f32(2 ** -16)],
];
/** Rows and columns of each matrix in the file. */
const matrices = {
  'token_embd.weight': ['embedding', vocabulary, d],
  'blk.0.attn_q.weight': ['layers.0.attention.wq', d, d],
  'blk.0.attn_k.weight': ['layers.0.attention.wk', (kv * d) / heads, d],
  'blk.0.attn_v.weight': ['layers.0.attention.wv', (kv * d) / heads, d],
  'blk.0.attn_output.weight': ['layers.0.attention.wo', d, d],
  'blk.0.ffn_up.weight': ['layers.0.feedForward.w1', f, d],
  'blk.0.ffn_gate.weight': ['layers.0.feedForward.wGate', f, d],
  'blk.0.ffn_down.weight': ['layers.0.feedForward.w2', d, f],
  'output.weight': ['head', vocabulary, d],
};
const gains = {
  'blk.0.attn_norm.weight': 'layers.0.norm1.gamma',
  'blk.0.ffn_norm.weight': 'layers.0.norm2.gamma',
  'output_norm.weight': 'norm.gamma',
};

/**
 * { weights, arrays }: a file whose matrices have these types in turn, and the same model for create(); and `stored`, by our names, the
 * type, bytes and width of each matrix in the file.
 */
export function blockFile(types) {
  const [tensors, arrays, stored] = [{}, {}, {}];
  Object.entries(matrices).forEach(([name, [own, rows, columns]], i) => {
    const type = types[i % types.length];
    const bytes = randomBlocks(type, rows * columns, i + 1);
    tensors[name] = { type, shape: [rows, columns], bytes };
    const rowBytes = bytes.length / rows;
    const at = (row, column) => numberOf(type, bytes.subarray(row * rowBytes), column);
    const isTable = own === 'embedding';
    const data = Float32Array.from({ length: rows * columns }, (_, at2) =>
      isTable
        ? at(Math.floor(at2 / columns), at2 % columns)
        : at(at2 % rows, Math.floor(at2 / rows)),
    );
    arrays[own] = { data, shape: isTable ? [rows, columns] : [columns, rows] };
    stored[own] = { type, bytes, columns };
  });
  for (const [name, own] of Object.entries(gains)) {
    const values = new Float32Array(d).fill(0.75);
    tensors[name] = { shape: [d], values };
    arrays[own] = { data: values, shape: [d] };
  }
  return { weights: ggufFile(metadata, tensors), arrays, stored };
}

/** A file of LanguageModel.save() with blocks of both kinds. */
export async function savedModel() {
  const engine = await initAsTold(init);
  const model = await load(engine, { weights: blockFile(Object.keys(blockTypes)).weights });
  const file = model.save();
  engine.dispose();
  return file;
}
