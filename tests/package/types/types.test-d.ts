// The types of the package, checked by the compiler alone: every option is there and no other, results have the types that
// they are given here, and every misuse marked here is refused. `npx tsc -p tests/package` says nothing when all is well.
import { array, init, QkvError, type QkvErrorCode, toNested } from 'qkv';
import type * as qkv from 'qkv';

import { every, same, type Same } from './same.js';

type Code =
  | ('invalid_argument' | 'shape_mismatch' | 'out_of_range' | 'out_of_memory' | 'busy')
  | ('disposed' | 'unsupported' | 'thread_lost' | 'load_failed');

same<Same<typeof init, (options?: qkv.InitOptions) => Promise<qkv.Qkv>>>('same');
same<Same<QkvErrorCode, Code>>('same');
same<Same<QkvError['code'], Code>>('same');
same<Same<qkv.Variant, 'relaxed' | 'simd' | 'relaxed-threads' | 'simd-threads'>>('same');
same<Same<qkv.ArrayInput, qkv.NdArray | qkv.Tensor>>('same');
same<Same<qkv.Integers, Int32Array | readonly number[]>>('same');
same<Same<qkv.OwnedArray['data'], ReturnType<Float32Array['slice']>>>('same');
// @ts-expect-error: Same can tell other arrays,
same<Same<qkv.NdArray, qkv.NdMask>>('same');
// @ts-expect-error: an option more,
same<Same<qkv.InitOptions, qkv.InitOptions & { workers?: number }>>('same');
// @ts-expect-error: and what is optional
same<Same<{ output: qkv.NdArray }, { output?: qkv.NdArray }>>('same');

declare const engine: qkv.Qkv;
declare const q: qkv.NdArray;
declare const tensor: qkv.Tensor;
declare const mask: qkv.NdMask;
declare const numbers: Float32Array;
declare const nested: qkv.Nested;

// Rows are as deep as a shape is long, where the type tells.
const matrix = array([[1, 2], [3, 4]]); // prettier-ignore
same<Same<typeof matrix, qkv.OwnedArray<readonly [number, number]>>>('same');
const rows = toNested(matrix);
same<Same<typeof rows, number[][]>>('same');
const weights = toNested(engine.attention(q, q, q, { returnWeights: true }).weights);
same<Same<typeof weights, number[][][][]>>('same');
const unknown = [toNested(q), toNested(mask), nested] as const;
same<Same<typeof unknown, readonly [qkv.Nested, qkv.Nested, qkv.Nested]>>('same');
const single = [array(7), array(nested), array([])] as const;
same<
  Same<
    typeof single,
    readonly [
      qkv.OwnedArray<readonly []>,
      qkv.OwnedArray,
      qkv.OwnedArray<readonly [number, ...number[]]>,
    ]
  >
>('same');
// @ts-expect-error: no rows of texts
array([['1']]);

const rotary = every<qkv.RotaryOptions>()({
  ...{ offset: 1, positions: [1], base: 1, rotaryDim: 2, interleaved: true, numHeads: 1 },
  ...{ cos: q, sin: q },
  scaling: { type: 'yarn', factor: 2, originalLength: 4, betaFast: 1, betaSlow: 1 },
});
const pairs = { window: [1, 1], rows: [0, 1] } as const;
const extras = { returnWeights: true, returnLogits: 'raw', returnLse: true, returnEntropy: true } as const; // prettier-ignore
const attentionOptions = {
  ...{ scale: 1, softcap: 1, temperature: 1, causal: true, causalOffset: [0], mask, out: tensor },
  ...{ bias: { kind: 'alibi' as const, slopes: numbers }, keyLengths: Int32Array.of(1) },
  ...{ ...pairs, ...extras, sinks: numbers, dropout: { rate: 0.1, seed: 1 } },
};

// @ts-expect-error: an option is missing,
every<qkv.LinearOptions>()({ layout: 'out_in' });
// @ts-expect-error: or one is there that is none
every<qkv.LinearOptions>()({ layout: 'out_in', bias: numbers, more: 1 });

/** Every option of every function, and what the function returns. */
export function returns(cache: qkv.KvCache): unknown[] {
  const all = { ...attentionOptions, cache };
  every<qkv.InitOptions>()({
    ...{
      variant: 'auto',
      threads: 'auto',
      deterministic: true,
      shared: true,
      wasm: new URL('x:y'),
    },
  });
  every<qkv.AttentionOptions>()({ ...all, numHeads: 1, numKvHeads: 1 });
  const layerOptions = every<qkv.LayerOptions>()({ ...all, context: tensor });
  const blockOptions = every<qkv.BlockOptions>()({ ...all, context: q, contextKeyLengths: [1] });
  const config = every<qkv.MultiHeadAttentionConfig>()({
    ...{ dModel: 1, numHeads: 1, numKvHeads: 1, dK: 1, dV: 1, dContext: 1, rotary },
    ...{ qkNorm: 'rms', qkEpsilon: 1, weightLayout: 'out_in' },
  });
  const weights = every<qkv.MultiHeadAttentionWeights>()({
    ...{ wq: q, wk: q, wv: q, wqkv: q, wo: q, qGamma: numbers, kGamma: numbers },
    ...{ bq: numbers, bk: numbers, bv: numbers, bqkv: numbers, bo: numbers },
    ...{ qBeta: numbers, kBeta: numbers },
  });
  const block = every<qkv.TransformerBlockConfig>()({
    ...{ ...config, dFeedForward: 1, norm: 'post', normType: 'rms', activation: 'swiglu' },
    ...{ crossAttention: true, epsilon: 1 },
  });
  const norm = { gamma: numbers, beta: numbers };
  const blockWeights = every<qkv.TransformerBlockWeights>()({
    ...{ attention: weights, cross: weights, norm1: norm, normCross: norm, norm2: norm },
    ...{ w1: q, b1: numbers, w2: q, b2: numbers, wGate: q, bGate: numbers },
  });
  const linear = every<qkv.LinearOptions>()({ bias: numbers, layout: 'out_in' });
  const ofNorm = { gamma: numbers, axis: 0, epsilon: 1 };
  const bias = { bidirectional: true, maxDistance: 1, offset: 1 };
  const sinusoidal = { offset: 1, base: 1, layout: 'concatenated' } as const;
  const arrays: qkv.OwnedArray[] = [
    engine.sinusoidalEncoding(1, 2, sinusoidal),
    engine.sinusoidalShift(1, 2, { base: 1, form: 'dense', layout: 'interleaved' }),
    engine.rotaryEmbedding(tensor, rotary),
    engine.t5RelativeBias(q, 1, 1, bias),
    engine.transformerXlBias(q, tensor, q),
    engine.learnedEncoding(q, 1, { offset: 1, outOfRange: 'clamp' }),
    engine.layerNorm(q, { ...ofNorm, beta: numbers }),
    engine.rmsNorm(q, ofNorm),
    engine.gelu(q, { approximate: 'tanh' }),
    engine.softmax(q, { axis: 0, temperature: 1 }),
    engine.linear(q, tensor, linear),
    engine.linearLayer(tensor, linear).forward(q),
    engine.embedding(q, [1]),
    engine.entropy(q),
    ...Object.values(engine.headStatistics(q)),
    engine.attentionRollout(q),
    ...[cache.keys(), cache.values(), tensor.toNdArray()],
  ];
  const written: void[] = [
    engine.sinusoidalEncoding(1, 2, { ...sinusoidal, out: tensor }),
    engine.rotaryEmbedding(tensor, { ...rotary, out: tensor }),
    engine.layerNorm(q, { ...ofNorm, beta: numbers, out: tensor }),
    engine.rmsNorm(q, { ...ofNorm, out: tensor }),
    engine.gelu(q, { approximate: 'none', out: tensor }),
    engine.softmax(q, { axis: 0, out: tensor }),
    engine.linear(q, q, { ...linear, out: tensor }),
    engine.linearLayer(q).forward(q, { out: tensor }),
    ...[cache.append(q, tensor), cache.truncate(1), tensor.set([1]), engine.dispose()],
  ];
  const { weights: of, lse } = engine.multiHeadAttention(config, weights).forward(q, layerOptions);
  const { logits, entropy } = engine.transformerBlock(block, blockWeights).forward(q, blockOptions);
  same<Same<typeof of.shape, readonly [number, number, number, number]>>('same');
  same<Same<typeof entropy.shape, readonly [number, number, number]>>('same');
  const made: qkv.KvCache = engine.kvCache({
    ...{ batch: 1, numKvHeads: 1, capacity: 1, dK: 1, dV: 1, format: 'bf16' },
  });
  const counts: number[] = [...Object.values(engine.memory()), made.length, made.capacity];
  const slopes: qkv.OwnedNumbers = engine.alibiSlopes(1);
  const { version, variant, threads, isa }: qkv.EngineInfo = engine.info;
  return [arrays, written, lse, logits, counts, slopes, version, variant, threads, isa];
}

export function uses(): unknown[] {
  const { output, weights } = engine.attention(q, tensor, q, { mask, returnWeights: true });
  const extras = engine.attention(q, q, q, { out: tensor });
  const layer = engine.multiHeadAttention({ dModel: 8, numHeads: 2 }, { wqkv: q, wo: q });
  const forwarded = layer.forward(q, { context: tensor, causal: true, causalOffset: 1 });
  const written = layer.forward(q, { out: tensor });
  const nothing: void = engine.softmax(q, { axis: 0, out: tensor });
  using held = engine.tensor([2, 3] as const, [1, 2, 3]);
  const error: Error = new QkvError('disposed', 'why', { cause: 1 });
  // An array of another library's making, read only all the way down.
  const frozen = Object.freeze({ data: new Float32Array(1), shape: Object.freeze([1]) });
  engine.attention(frozen, frozen, frozen, Object.freeze({ numHeads: 1 } as const));

  const sure: Float32Array = output.data;
  // @ts-expect-error: with out there is no output
  extras.output;
  // @ts-expect-error: nor from a layer
  written.output;
  // @ts-expect-error: nor from an operator
  engine.rmsNorm(q, { out: tensor }).data;
  // @ts-expect-error: results are not to be written to
  forwarded.output.data = sure;
  // @ts-expect-error: nor is a shape
  held.shape[0] = 1;
  // @ts-expect-error: nor what the engine is
  engine.info.variant = 'simd';
  return [weights.data, error, forwarded.lse, forwarded.entropy, nothing];
}

export function misuses(): void {
  // @ts-expect-error: float64
  engine.attention({ data: new Float64Array(1), shape: [1] }, q, q);
  // @ts-expect-error: no shape
  engine.attention({ data: new Float32Array(1) }, q, q);
  // @ts-expect-error: bare numbers
  engine.attention([1, 2], q, q);
  // @ts-expect-error: a mask is no array
  engine.attention(mask, q, q);
  // @ts-expect-error: v is missing
  engine.attention(q, q);
  // @ts-expect-error: a misspelt option
  engine.attention(q, q, q, { casual: true });
  // @ts-expect-error: an option of another type
  engine.attention(q, q, q, { causal: 1 });
  // @ts-expect-error: one row is no range
  engine.attention(q, q, q, { rows: [1] });
  // @ts-expect-error: out is a tensor
  engine.attention(q, q, q, { out: q });
  // @ts-expect-error: a mask of float64
  engine.attention(q, q, q, { mask: { data: new Float64Array(1), shape: [1] } });
  // @ts-expect-error: heads are the layer's own
  engine.multiHeadAttention({ dModel: 8, numHeads: 2 }, { wo: q }).forward(q, { numHeads: 2 });
  // @ts-expect-error: dModel is missing
  engine.multiHeadAttention({ numHeads: 2 }, { wo: q });
  // @ts-expect-error: wo is missing
  engine.multiHeadAttention({ dModel: 8, numHeads: 2 }, { wqkv: q });
  // @ts-expect-error: a bias has no shape
  engine.multiHeadAttention({ dModel: 8, numHeads: 2 }, { wo: q, bo: q });
  // @ts-expect-error: an unknown layout
  engine.multiHeadAttention({ dModel: 8, numHeads: 2, weightLayout: 'inout' }, { wo: q });
  // @ts-expect-error: an unknown layout
  engine.sinusoidalEncoding(1, 2, { layout: 'split' });
  // @ts-expect-error: dModel is missing
  engine.sinusoidalEncoding(1);
  // @ts-expect-error: an unknown form
  engine.sinusoidalShift(1, 2, { form: 'matrix' });
  // @ts-expect-error: a tensor needs a shape
  engine.tensor();
  // @ts-expect-error: numbers, not text
  engine.tensor([1], 'x');
  // @ts-expect-error: an unknown variant
  void init({ variant: 'fast' });
  // @ts-expect-error: an unknown option
  void init({ workers: 2 });
  // @ts-expect-error: a number, or all of them
  void init({ threads: 'all' });
  // @ts-expect-error: wasm is there or not
  void init({ wasm: null });
  // @ts-expect-error: the engine is promised
  init().attention(q, q, q);
  // @ts-expect-error: an unknown code
  new QkvError('oops', 'why');
}
