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
import { bytesOf, encode, layout } from '../../tests/support/js/gguf.js';
import { root } from '../../tools/environment.js';
import { typeOf } from './mixes.js';
import { FIRST_CHARACTER, characterOf, headWidth, shapes, tensorsOf, weightsOf } from './shapes.js';

const folder = join(root, 'build/bench/models');
export const pathOf = (shape, format) => join(folder, `random-${shape}-${format}.gguf`);

/** Numbers that are encoded at a time: whole rows, as many as fit, and at least one. */
const AT_ONCE = 2 ** 22;

const kind = { normal: 1, unknown: 2, control: 3, byte: 6 };

/**
 * SentencePiece with three special tokens, the 256 bytes and single characters: no two of them merge, so a text of such
 * characters has one token for each, whoever tokenizes it.
 */
function tokenizer(vocabulary) {
  const special = ['<unk>', '<s>', '</s>'];
  const hex = (byte) => byte.toString(16).toUpperCase().padStart(2, '0');
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${hex(byte)}>`);
  const first = FIRST_CHARACTER;
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

function metadataOf(name, shape) {
  const { architecture, contextLength, vocabulary } = shape;
  const own = {
    context_length: contextLength,
    embedding_length: shape.dModel,
    block_count: shape.layers,
    feed_forward_length: shape.dFeedForward,
    'attention.head_count': shape.heads,
    'attention.head_count_kv': shape.kvHeads,
    'attention.layer_norm_rms_epsilon': { float: shape.epsilon },
    'rope.dimension_count': headWidth(shape),
    'rope.freq_base': { float: shape.ropeBase },
    vocab_size: vocabulary,
  };
  return {
    'general.architecture': architecture,
    'general.name': `random ${name}`,
    ...Object.fromEntries(
      Object.entries(own).map(([key, value]) => [`${architecture}.${key}`, value]),
    ),
    ...tokenizer(vocabulary),
  };
}

/** The tensors of a file: { name, shape, type }. */
const tensorsIn = (shape, format) =>
  Object.entries(tensorsOf(shape)).map(([name, extents]) => ({
    ...{ name, shape: extents },
    type: typeOf(format, { name, shape: extents }, shape),
  }));

/** Writes a tensor in parts of whole rows. */
function writeTensor(file, { name, shape, type }, place) {
  const data = weightsOf(name, shape);
  const width = shape.at(-1);
  const part = width * Math.max(1, Math.floor(AT_ONCE / width));
  for (let from = 0; from < data.length; from += part) {
    const bytes = encode(type, data.subarray(from, from + part));
    writeSync(file, bytes, { position: place + bytesOf(type, from) });
  }
}

/** Writes one tensor after the other, so that no more than the largest is in memory. */
export function writeModel(name, format) {
  const path = pathOf(name, format);
  const shape = shapes[name];
  const tensors = tensorsIn(shape, format);
  const { header, places, size } = layout({ metadata: metadataOf(name, shape), tensors });
  if (existsSync(path) && statSync(path).size === size) return path;
  mkdirSync(folder, { recursive: true });
  const file = openSync(`${path}.part`, 'w');
  writeSync(file, header);
  tensors.forEach((tensor, i) => writeTensor(file, tensor, places[i]));
  // The last tensor may end before its padding does.
  if (statSync(`${path}.part`).size < size)
    writeSync(file, Uint8Array.of(0), { position: size - 1 });
  closeSync(file);
  renameSync(`${path}.part`, path);
  return path;
}

/** The array of qkv::LanguageModel that a tensor of a GGUF file is. */
function arrayOf(tensor) {
  const [, layer, part, kind] = /^blk\.(\d+)\.(.*)\.(weight|bias)$/.exec(tensor) ?? [];
  if (!part)
    return { 'token_embd.weight': 'embedding', 'output_norm.weight': 'norm.gamma' }[tensor];
  const maps = { attn_q: 'q', attn_k: 'k', attn_v: 'v', attn_output: 'o' };
  const names = {
    ...{ attn_norm: 'norm1.gamma', ffn_norm: 'norm2.gamma' },
    ...{ ffn_gate: 'feedForward.wGate', ffn_up: 'feedForward.w1', ffn_down: 'feedForward.w2' },
  };
  const map = maps[part] && `attention.${kind === 'bias' ? 'b' : 'w'}${maps[part]}`;
  return `layers.${layer}.${map ?? names[part]}`;
}

/** What a matrix of a type is kept in, as the package keeps it (wasm/src/models/kept.ts). */
const kept = { F32: 'f32', F16: 'f16', Q4_0: 'int4', Q4_K: 'q4_k' };
const formatOf = (type) => kept[type] ?? 'int8';

const configOf = (shape) => ({
  ...{ vocabulary: shape.vocabulary, numLayers: shape.layers, dModel: shape.dModel },
  ...{ numHeads: shape.heads, numKvHeads: shape.kvHeads, dFeedForward: shape.dFeedForward },
  ...{ maxLength: shape.contextLength, normType: 'rms', epsilon: shape.epsilon },
  ...{ activation: 'swiglu', positions: 'rotary', tiedEmbeddings: true },
  // Llama's files have the pairs of a rotation side by side, Qwen's half a head apart.
  rotary: { interleaved: shape.architecture === 'llama', base: shape.ropeBase },
  ...(shape.qkvBiases ? { qkvBiases: true } : {}),
});

/** What bench/model_program.cpp reads of a file. */
export function planOf(name, format, threads) {
  const shape = shapes[name];
  const tensors = tensorsIn(shape, format);
  const { places } = layout({ metadata: metadataOf(name, shape), tensors });
  return {
    ...{ file: pathOf(name, format), threads, config: configOf(shape) },
    arrays: tensors.map(({ name: tensor, shape: extents, type }, i) => ({
      ...{ name: arrayOf(tensor), type, format: formatOf(type), layout: 'out_in' },
      ...{ rows: extents.length === 1 ? 1 : extents[0], offset: places[i] },
      rowBytes: bytesOf(type, extents.at(-1)),
    })),
  };
}
