// Files of every format, byte by byte.
import { encode, encodeQ8 } from './numbers.js';

const utf8 = (text) => new TextEncoder().encode(text);

export const concat = (...parts) => joined(parts);

/** Of a list, which may be as long as a vocabulary: more than a call takes as arguments. */
function joined(parts) {
  const bytes = new Uint8Array(parts.reduce((n, { length }) => n + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

const u32 = (value) => new Uint8Array(Uint32Array.of(value).buffer);
const u64 = (value) => new Uint8Array(BigUint64Array.of(BigInt.asUintN(64, BigInt(value))).buffer);

/** A safetensors file of a header, as JSON unless it is a text, and elements. */
export function safetensorsOf(header, data) {
  const text = utf8(typeof header === 'string' ? header : JSON.stringify(header));
  return concat(u64(text.length), text, data);
}

/** { header, data } of tensors by name, each { type, shape, values }. */
export function safetensorsParts(tensors, metadata) {
  // Without a prototype, so that any name can be one.
  const header = Object.assign(Object.create(null), metadata && { __metadata__: metadata });
  const parts = [];
  let at = 0;
  for (const [name, { type = 'F32', shape, values }] of Object.entries(tensors)) {
    const bytes = encode(values, type);
    header[name] = { dtype: type, shape, data_offsets: [at, at + bytes.length] };
    at += bytes.length;
    parts.push(bytes);
  }
  return { header, data: concat(...parts) };
}

export function safetensors(tensors, metadata) {
  const { header, data } = safetensorsParts(tensors, metadata);
  return safetensorsOf(header, data);
}

// ---------------------------------------------------------------------------------------------- GGUF

const string = (text) => concat(u64(utf8(text).length), utf8(text));
const scalar = (kind, value) => new Uint8Array(kind.of(value).buffer);

/** Values of GGUF with their types: `gguf.u32(7)`. A list has elements of one type. */
export const gguf = {
  u8: (x) => ({ type: 0, bytes: scalar(Uint8Array, x) }),
  i8: (x) => ({ type: 1, bytes: scalar(Int8Array, x) }),
  u16: (x) => ({ type: 2, bytes: scalar(Uint16Array, x) }),
  i16: (x) => ({ type: 3, bytes: scalar(Int16Array, x) }),
  u32: (x) => ({ type: 4, bytes: u32(x) }),
  i32: (x) => ({ type: 5, bytes: scalar(Int32Array, x) }),
  f32: (x) => ({ type: 6, bytes: scalar(Float32Array, x) }),
  bool: (x) => ({ type: 7, bytes: Uint8Array.of(x ? 1 : 0) }),
  text: (x) => ({ type: 8, bytes: string(x) }),
  u64: (x) => ({ type: 10, bytes: u64(x) }),
  i64: (x) => ({ type: 11, bytes: u64(x) }),
  f64: (x) => ({ type: 12, bytes: scalar(Float64Array, x) }),
  list: (values, type = values[0].type) => ({
    type: 9,
    bytes: joined([u32(type), u64(values.length), ...values.map(({ bytes }) => bytes)]),
  }),
};
const ggmlTypes = {
  ...{ F32: 0, F16: 1, Q4_0: 2, Q4_1: 3, Q5_0: 6, Q5_1: 7, Q8_0: 8, Q2_K: 10, Q3_K: 11, Q4_K: 12 },
  ...{ Q5_K: 13, Q6_K: 14, IQ4_NL: 20, IQ4_XS: 23, I8: 24, BF16: 30 },
};

/** Bytes of a tensor of GGUF, which may have them. */
const ggufBytes = ({ type = 'F32', values, bytes }) =>
  bytes ?? (type === 'Q8_0' ? encodeQ8(values) : encode(values, type));

/** What a tensor says of itself: shapes are written with the innermost axis first. */
export const ggufInfo = (name, { type = 'F32', shape }, offset) =>
  concat(
    ...[string(name), u32(shape.length), ...[...shape].reverse().map(u64)],
    ...[u32(ggmlTypes[type] ?? type), u64(offset)],
  );

/** What a GGUF file has before its tensors, which say `infos` of themselves. */
export function ggufHead(
  metadata,
  infos,
  { version = 3, alignment = 32, counts = [], magic = 'GGUF' } = {},
) {
  const pairs = metadata.map(([key, { type, bytes }]) => concat(string(key), u32(type), bytes));
  const [tensorCount = infos.length, pairCount = pairs.length] = counts;
  const sizes = [u32(version), u64(tensorCount), u64(pairCount)];
  const head = concat(utf8(magic), ...sizes, ...pairs, ...infos);
  return concat(head, new Uint8Array((alignment - (head.length % alignment)) % alignment));
}

const honest = (name, tensor, offset) => [name, tensor, offset];

/** A GGUF file; each part can be given as other than it should be, also what a tensor says of itself. */
export function ggufFile(metadata, tensors, { alignment = 32, says = honest, ...options } = {}) {
  const entries = Object.entries(tensors);
  let at = 0;
  const infos = [];
  const data = [];
  for (const [name, tensor] of entries) {
    const bytes = ggufBytes(tensor);
    infos.push(ggufInfo(...says(name, tensor, at)));
    const padding = (alignment - (bytes.length % alignment)) % alignment;
    data.push(bytes, new Uint8Array(padding));
    at += bytes.length + padding;
  }
  return concat(ggufHead(metadata, infos, { alignment, ...options }), ...data);
}

// ------------------------------------------------------------------------------------------ llama2.c

/** A checkpoint: seven numbers, and arrays in their order. */
export const llama2cFile = (numbers, arrays) =>
  concat(
    new Uint8Array(Int32Array.from(numbers).buffer),
    ...arrays.map((values) => encode(values, 'F32')),
  );

/** A tokenizer.bin of [text or bytes, score]. */
export function llama2cTokens(tokens, longest = 32) {
  const parts = tokens.map(([text, score]) => {
    const bytes = typeof text === 'string' ? utf8(text) : text;
    return concat(scalar(Float32Array, score), u32(bytes.length), bytes);
  });
  return concat(u32(longest), ...parts);
}
