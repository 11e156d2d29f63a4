// Writes the GGUF files of shapes.js into build/bench/models, unless they are there.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { encode, layout } from '../../tests/support/js/gguf.js';
import { root } from '../../tools/environment.js';
import { CONTEXT, characterOf, epsilon, ropeBase, shapes, tensorsOf, weightsOf } from './shapes.js';

const folder = join(root, 'build/bench/models');
export const pathOf = (shape, format) => join(folder, `llama-${shape}-${format}.gguf`);

const kind = { normal: 1, unknown: 2, control: 3, byte: 6 };

/**
 * SentencePiece with three special tokens, the 256 bytes and single characters: no two of them merge, so a text of such
 * characters has one token for each, whoever tokenizes it.
 */
function tokenizer(vocabulary) {
  const special = ['<unk>', '<s>', '</s>'];
  const hex = (byte) => byte.toString(16).toUpperCase().padStart(2, '0');
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${hex(byte)}>`);
  const first = special.length + bytes.length;
  const rest = Array.from({ length: vocabulary - first }, (_, i) => characterOf(first + i));
  const tokens = [...special, ...bytes, ...rest];
  const kindOf = (id) => {
    if (id >= first) return kind.normal;
    if (id >= special.length) return kind.byte;
    return id === 0 ? kind.unknown : kind.control;
  };
  return {
    'tokenizer.ggml.model': 'llama',
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.scores': Float32Array.from(tokens, (_, id) => -id),
    'tokenizer.ggml.token_type': Int32Array.from(tokens, (_, id) => kindOf(id)),
    'tokenizer.ggml.unknown_token_id': 0,
    'tokenizer.ggml.bos_token_id': 1,
    'tokenizer.ggml.eos_token_id': 2,
    'tokenizer.ggml.add_bos_token': false,
    'tokenizer.ggml.add_eos_token': false,
    'tokenizer.ggml.add_space_prefix': false,
  };
}

const metadataOf = (name, { dModel, layers, heads, dFeedForward, vocabulary }) => ({
  'general.architecture': 'llama',
  'general.name': `random ${name}`,
  'llama.context_length': CONTEXT,
  'llama.embedding_length': dModel,
  'llama.block_count': layers,
  'llama.feed_forward_length': dFeedForward,
  'llama.attention.head_count': heads,
  'llama.attention.head_count_kv': heads,
  'llama.attention.layer_norm_rms_epsilon': { float: epsilon },
  'llama.rope.dimension_count': dModel / heads,
  'llama.rope.freq_base': { float: ropeBase },
  'llama.vocab_size': vocabulary,
  ...tokenizer(vocabulary),
});

/** Writes one tensor after the other, so that no more than the largest is in memory. */
export function writeModel(name, format) {
  const path = pathOf(name, format);
  const shape = shapes[name];
  const tensors = Object.entries(tensorsOf(shape)).map(([tensor, extents]) => ({
    name: tensor,
    shape: extents,
    type: extents.length === 1 ? 'F32' : format,
  }));
  const { header, places, size } = layout({ metadata: metadataOf(name, shape), tensors });
  if (existsSync(path) && statSync(path).size === size) return path;
  mkdirSync(folder, { recursive: true });
  const file = openSync(`${path}.part`, 'w');
  writeSync(file, header);
  tensors.forEach(({ name: tensor, shape: extents, type }, i) => {
    writeSync(file, encode(type, weightsOf(tensor, extents)), { position: places[i] });
  });
  // The last tensor may end before its padding does.
  if (statSync(`${path}.part`).size < size)
    writeSync(file, Uint8Array.of(0), { position: size - 1 });
  closeSync(file);
  renameSync(`${path}.part`, path);
  return path;
}

/** The array of qkv::LanguageModel that a tensor of a GGUF file is. */
function arrayOf(tensor) {
  const [, layer, part] = /^blk\.(\d+)\.(.*)\.weight$/.exec(tensor) ?? [];
  if (!part)
    return { 'token_embd.weight': 'embedding', 'output_norm.weight': 'norm.gamma' }[tensor];
  const names = {
    ...{ attn_norm: 'norm1.gamma', ffn_norm: 'norm2.gamma', attn_output: 'attention.wo' },
    ...{ attn_q: 'attention.wq', attn_k: 'attention.wk', attn_v: 'attention.wv' },
    ...{ ffn_gate: 'feedForward.wGate', ffn_up: 'feedForward.w1', ffn_down: 'feedForward.w2' },
  };
  return `layers.${layer}.${names[part]}`;
}

/** What bench/model_program.cpp is told of a file. */
export function planOf(name, format, threads) {
  const shape = shapes[name];
  const tensors = Object.entries(tensorsOf(shape)).map(([tensor, extents]) => ({
    name: tensor,
    shape: extents,
    type: extents.length === 1 ? 'F32' : format,
  }));
  const { places } = layout({ metadata: metadataOf(name, shape), tensors });
  const bytesOf = { F32: (n) => 4 * n, F16: (n) => 2 * n, Q8_0: (n) => (n / 32) * 34 };
  return {
    ...{ file: pathOf(name, format), threads, format: format === 'Q8_0' ? 'int8' : 'f32' },
    config: {
      ...{ vocabulary: shape.vocabulary, numLayers: shape.layers, dModel: shape.dModel },
      ...{ numHeads: shape.heads, dFeedForward: shape.dFeedForward, maxLength: CONTEXT },
      ...{ normType: 'rms', epsilon, activation: 'swiglu', positions: 'rotary' },
      ...{ rotary: { interleaved: true, base: ropeBase }, tiedEmbeddings: true },
    },
    arrays: tensors.map(({ name: tensor, shape: extents, type }, i) => ({
      ...{ name: arrayOf(tensor), type, layout: 'out_in', offset: places[i] },
      ...{ rows: extents.length === 1 ? 1 : extents[0], rowBytes: bytesOf[type](extents.at(-1)) },
    })),
  };
}
