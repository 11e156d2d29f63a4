// The node tests of ONNX (opsets 23 and 24) for the operators that this package has, when they are at
// hand: a folder of JSON files, one test each, named by QKV_CONFORMANCE or ../shared/conformance/onnx
// beside the project. float32 within 2e-6, float16 within 1e-3, relative to values above 1.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { init } from '../../../dist/index.js';
import { initAsTold } from '../../support/js/files.js';

const beside = fileURLToPath(new URL('../../../../shared/conformance/onnx', import.meta.url));
const folder = process.env.QKV_CONFORMANCE ?? beside;
const qkv = await initAsTold(init);

/** JSON has no infinities, so they are words there. */
const words = { '-inf': -Infinity, inf: Infinity, nan: NaN };
const toNumber = (value) => (typeof value === 'string' ? words[value] : Number(value));

/** Arrays of the file as this package takes them. */
function toArray({ dtype, shape, data }) {
  const numbers = data.map(toNumber);
  if (dtype === 'bool') return { data: Uint8Array.from(numbers), shape };
  if (dtype === 'i64') return { data: Int32Array.from(numbers), shape };
  return { data: Float32Array.from(numbers), shape };
}

function expectClose(name, actual, expected) {
  const bound = expected.dtype === 'f16' ? 1e-3 : 2e-6;
  const exact = expected.data.map(toNumber);
  assert.deepEqual([...actual.shape], expected.shape, `${name}: shape`);
  exact.forEach((value, i) => {
    const got = actual.data[i];
    if (Object.is(got, value) || got === value) return;
    const size = Math.max(1, Math.abs(value));
    assert.ok(Math.abs(got - value) <= bound * size, `${name}[${i}] is ${got}, expected ${value}`);
  });
}

/** ONNX lets a mask end before the keys do; what is missing is excluded. */
function padMask(mask, tk) {
  const last = mask.shape.at(-1);
  if (last === tk || last === 1) return mask;
  const rows = mask.data.length / last;
  const isBoolean = mask.data instanceof Uint8Array;
  const data = new mask.data.constructor(rows * tk).fill(isBoolean ? 0 : -Infinity);
  for (let r = 0; r < rows; ++r) data.set(mask.data.subarray(r * last, (r + 1) * last), r * tk);
  return { data, shape: [...mask.shape.slice(0, -1), tk] };
}

const stages = ['raw', 'capped', 'biased'];

function runAttention({ attributes, inputs, outputs }) {
  const arrays = Object.fromEntries(Object.entries(inputs).map(([n, a]) => [n, toArray(a)]));
  const { Q, K, V, attn_mask: mask, past_key: past, nonpad_kv_seqlen: lengths } = arrays;
  const { q_num_heads: numHeads, kv_num_heads: numKvHeads = numHeads } = attributes;
  const split = Q.shape.length === 3;
  const tokens = (array) => array.shape[split ? 1 : 2];
  const mode = outputs.qk_matmul_output ? (attributes.qk_matmul_output_mode ?? 0) : undefined;
  const options = {
    ...(split ? { numHeads, numKvHeads } : {}),
    ...(attributes.scale === undefined ? {} : { scale: attributes.scale }),
    ...(attributes.softcap === undefined ? {} : { softcap: attributes.softcap }),
    ...(mode === 3 ? { returnWeights: true } : {}),
    ...(mode < 3 ? { returnLogits: stages[mode] } : {}),
  };
  let tk = tokens(K);
  if (past) {
    const [batch, heads, length, dK] = past.shape;
    const dV = arrays.past_value.shape[3];
    const capacity = length + tk;
    options.cache = qkv.kvCache({ batch, numKvHeads: heads, capacity, dK, dV });
    options.cache.append(past, arrays.past_value);
    tk = capacity;
  }
  if (mask) options.mask = padMask(mask, tk);
  if (lengths) options.keyLengths = lengths.data;
  if (attributes.is_causal) {
    options.causal = true;
    if (lengths) options.causalOffset = lengths.data.map((n) => n - tokens(Q));
    else if (!past) options.causalOffset = 0;
  }
  const result = qkv.attention(Q, K, V, options);
  const got = {
    Y: result.output,
    qk_matmul_output: mode === 3 ? result.weights : result.logits,
    present_key: options.cache?.keys(),
    present_value: options.cache?.values(),
  };
  options.cache?.dispose();
  return got;
}

function runNorm({ op, attributes, inputs }) {
  const { axis = -1, epsilon = 1e-5 } = attributes;
  const x = toArray(inputs.X);
  const gamma = toArray(inputs.W).data;
  if (op === 'RMSNormalization') return { Y: qkv.rmsNorm(x, { gamma, axis, epsilon }) };
  return { Y: qkv.layerNorm(x, { gamma, beta: toArray(inputs.B).data, axis, epsilon }) };
}

function runRotary({ attributes, inputs }) {
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
  Gelu: ({ attributes, inputs }) => ({
    y: qkv.gelu(toArray(inputs.x), { approximate: attributes.approximate ?? 'none' }),
  }),
};

if (!existsSync(folder)) {
  const message = `SKIPPED: no ONNX node tests at ${folder}; name their folder in QKV_CONFORMANCE`;
  console.error(message);
  test('ONNX node tests', { skip: message }, () => {});
} else {
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.json')) continue;
    const example = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    test(`ONNX ${example.name}`, () => {
      const runner = runners[example.op];
      assert.ok(runner, `no operator ${example.op}`);
      const got = runner(example);
      // Mean and InvStdDev of a layer norm are there for its gradient, which this package has not.
      const names = Object.keys(example.outputs).filter((n) => n !== 'Mean' && n !== 'InvStdDev');
      for (const name of names) expectClose(name, got[name], example.outputs[name]);
    });
  }
}
