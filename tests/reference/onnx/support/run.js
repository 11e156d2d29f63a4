// ONNX operators on the public API. What ONNX says by the presence of an input, this package is told: the
// offset of a causal call or a window, the number of heads, and the keys that a mask leaves out at its end.

/** JSON has no infinities, so they are words there. */
const words = { '-inf': -Infinity, inf: Infinity, nan: NaN };
export const toNumber = (value) => (typeof value === 'string' ? words[value] : Number(value));

/** Arrays of the file as this package takes them. */
function toArray({ dtype, shape, data }) {
  const numbers = data.map(toNumber);
  if (dtype === 'bool') return { data: Uint8Array.from(numbers), shape };
  if (dtype === 'i64') return { data: Int32Array.from(numbers), shape };
  return { data: Float32Array.from(numbers), shape };
}

/** ONNX lets a mask end before the keys do; what is missing is excluded. */
function padMask(mask, tk) {
  const last = mask.shape.at(-1);
  if (last >= tk || last === 1) return mask;
  const rows = mask.data.length / last;
  const isBoolean = mask.data instanceof Uint8Array;
  const data = new mask.data.constructor(rows * tk).fill(isBoolean ? 0 : -Infinity);
  for (let r = 0; r < rows; ++r) data.set(mask.data.subarray(r * last, (r + 1) * last), r * tk);
  return { data, shape: [...mask.shape.slice(0, -1), tk] };
}

/** A cache that holds the past and has room for the new tokens. */
function cacheOf(qkv, { past_key: past, past_value: values }, tk) {
  const [batch, numKvHeads, length, dK] = past.shape;
  const dV = values.shape[3];
  const cache = qkv.kvCache({ batch, numKvHeads, capacity: length + tk, dK, dV });
  cache.append(past, values);
  return cache;
}

const stages = ['raw', 'capped', 'biased'];

/** causal and window, and the position of query 0: after the past, or at the end of the keys in use. */
function positionOptions(attributes, { past_key: past, nonpad_kv_seqlen: lengths }, tq) {
  const { is_causal: causal, left_window_size: left, right_window_size: right } = attributes;
  const window = [left ?? -1, right ?? -1];
  const options = {
    ...(causal === 1 && { causal: true }),
    ...((left ?? right) !== undefined && { window }),
  };
  if (causal !== 1 && window.every((size) => size === -1)) return options;
  if (lengths) options.causalOffset = lengths.data.map((n) => n - tq);
  else if (!past) options.causalOffset = 0;
  return options;
}

function runAttention(qkv, { attributes, inputs, outputs }) {
  const arrays = Object.fromEntries(Object.entries(inputs).map(([n, a]) => [n, toArray(a)]));
  const { Q, K, V, attn_mask: mask, past_key: past, nonpad_kv_seqlen: lengths } = arrays;
  const { q_num_heads: numHeads, kv_num_heads: numKvHeads = numHeads } = attributes;
  const split = Q.shape.length === 3;
  const tokens = (array) => array.shape[split ? 1 : 2];
  const mode = outputs?.qk_matmul_output ? (attributes.qk_matmul_output_mode ?? 0) : undefined;
  const cache = past && cacheOf(qkv, arrays, tokens(K));
  const tk = tokens(K) + (cache?.length ?? 0);
  const options = {
    ...(split ? { numHeads, numKvHeads } : {}),
    ...(attributes.scale === undefined ? {} : { scale: attributes.scale }),
    ...(attributes.softcap === undefined ? {} : { softcap: attributes.softcap }),
    ...(mode === 3 ? { returnWeights: true } : {}),
    ...(mode < 3 ? { returnLogits: stages[mode] } : {}),
    ...(mask && { mask: padMask(mask, tk) }),
    ...(lengths && { keyLengths: lengths.data }),
    ...positionOptions(attributes, arrays, tokens(Q)),
    ...(cache && { cache }),
  };
  const result = qkv.attention(Q, K, V, options);
  const got = {
    Y: result.output,
    qk_matmul_output: mode === 3 ? result.weights : result.logits,
    present_key: cache?.keys(),
    present_value: cache?.values(),
  };
  cache?.dispose();
  return got;
}

/** A factor or term of a norm on all normalised elements, where ONNX lets it broadcast. */
function spread({ shape, data }, extents) {
  const n = extents.reduce((product, extent) => product * extent, 1);
  if (data.length === n) return data;
  const own = [...extents.map(() => 1), ...shape].slice(-extents.length);
  return Float32Array.from({ length: n }, (_, i) => {
    let [index, stride, rest] = [0, 1, i];
    for (let axis = extents.length - 1; axis >= 0; --axis) {
      index += (own[axis] === 1 ? 0 : rest % extents[axis]) * stride;
      stride *= own[axis];
      rest = Math.floor(rest / extents[axis]);
    }
    return data[index];
  });
}

function runNorm(qkv, { op, attributes, inputs }) {
  const x = toArray(inputs.X);
  const { axis = -1 } = attributes;
  const term = (array) => spread(toArray(array), x.shape.slice(axis));
  const options = { ...attributes, gamma: term(inputs.W) };
  if (op === 'RMSNormalization') return { Y: qkv.rmsNorm(x, options) };
  return { Y: qkv.layerNorm(x, { ...options, ...(inputs.B && { beta: term(inputs.B) }) }) };
}

function runRotary(qkv, { attributes, inputs }) {
  const x = toArray(inputs.input);
  const [cos, sin] = [toArray(inputs.cos_cache), toArray(inputs.sin_cache)];
  const { interleaved = 0, rotary_embedding_dim: dim, num_heads: numHeads } = attributes;
  const output = qkv.rotaryEmbedding(x, {
    ...{ cos, sin, interleaved: interleaved === 1 },
    ...(dim ? { rotaryDim: dim } : {}),
    ...(x.shape.length === 3 ? { numHeads } : {}),
    ...(inputs.position_ids ? { positions: toArray(inputs.position_ids).data } : {}),
  });
  return { output };
}

const runners = {
  Attention: runAttention,
  LayerNormalization: runNorm,
  RMSNormalization: runNorm,
  RotaryEmbedding: runRotary,
  Gelu: (qkv, { attributes, inputs }) => ({ y: qkv.gelu(toArray(inputs.x), attributes) }),
  Softmax: (qkv, { attributes, inputs }) => ({ y: qkv.softmax(toArray(inputs.x), attributes) }),
};

/** The outputs of an example by their names, as this package computes them. */
export function run(qkv, example) {
  const runner = runners[example.op];
  if (!runner) throw new Error(`no operator ${example.op}`);
  return runner(qkv, example);
}
