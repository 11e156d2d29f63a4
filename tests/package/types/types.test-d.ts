// The types of the package, checked by the compiler alone: what is exported has these types and no
// others, and every misuse marked here is refused. `npx tsc -p tests/package` says nothing when all is well.
import { init, QkvError, type QkvErrorCode } from 'qkv';
import type * as qkv from 'qkv';

// The contract, written out a second time: a change of the package that is not one of the contract is an
// error here, in one direction or the other.
interface NdArray<Shape extends readonly number[] = readonly number[]> {
  readonly data: Float32Array;
  readonly shape: Shape;
}
type OwnedNumbers = ReturnType<Float32Array['slice']>;
interface OwnedArray<Shape extends readonly number[] = readonly number[]> extends NdArray<Shape> {
  readonly data: OwnedNumbers;
}
type Integers = Int32Array | readonly number[];
interface NdMask {
  readonly data: Uint8Array;
  readonly shape: readonly number[];
}
interface Tensor {
  readonly shape: readonly number[];
  view(): Float32Array;
  toNdArray(): OwnedArray;
  set(data: ArrayLike<number>): void;
  dispose(): void;
  [Symbol.dispose](): void;
}
type ArrayInput = NdArray | Tensor;
type Variant = 'relaxed' | 'simd' | 'relaxed-threads' | 'simd-threads';
interface InitOptions {
  variant?: 'auto' | Variant | undefined;
  threads?: number | 'auto' | undefined;
  deterministic?: boolean | undefined;
  shared?: boolean | undefined;
  wasm?:
    string | URL | BufferSource | WebAssembly.Module | Response | Promise<Response> | undefined;
}
interface EngineInfo {
  readonly version: string;
  readonly variant: Variant;
  readonly threads: number;
  readonly isa: string;
}
interface AttentionOptions {
  numHeads?: number | undefined;
  numKvHeads?: number | undefined;
  scale?: number | undefined;
  softcap?: number | undefined;
  temperature?: number | undefined;
  causal?: boolean | undefined;
  causalOffset?: number | Integers | undefined;
  window?: readonly [left: number, right: number] | undefined;
  mask?: NdMask | ArrayInput | undefined;
  bias?: ArrayInput | Alibi | undefined;
  keyLengths?: Integers | undefined;
  sinks?: Float32Array | undefined;
  dropout?: { readonly rate: number; readonly seed: number } | undefined;
  cache?: KvCache | undefined;
  returnWeights?: boolean | undefined;
  returnLogits?: 'raw' | 'capped' | 'biased' | undefined;
  returnLse?: boolean | undefined;
  returnEntropy?: boolean | undefined;
  rows?: readonly [start: number, end: number] | undefined;
  out?: Tensor | undefined;
}
interface Destination {
  out: Tensor;
}
interface NewArray {
  out?: undefined;
}
interface LayerNormOptions {
  gamma?: Float32Array | undefined;
  beta?: Float32Array | undefined;
  axis?: number | undefined;
  epsilon?: number | undefined;
}
interface Alibi {
  readonly kind: 'alibi';
  readonly slopes?: Float32Array | undefined;
}
interface KvCache {
  readonly length: number;
  readonly capacity: number;
  append(keys: ArrayInput, values: ArrayInput): void;
  keys(): OwnedArray<Extents4>;
  values(): OwnedArray<Extents4>;
  truncate(length: number): void;
  dispose(): void;
  [Symbol.dispose](): void;
}
interface RotaryOptions {
  offset?: number | undefined;
  positions?: Integers | undefined;
  base?: number | undefined;
  rotaryDim?: number | undefined;
  interleaved?: boolean | undefined;
  scaling?:
    | { type: 'linear' | 'ntk'; factor: number }
    | {
        type: 'yarn';
        factor: number;
        originalLength: number;
        betaFast?: number | undefined;
        betaSlow?: number | undefined;
        attentionFactor?: number | undefined;
      }
    | undefined;
  cos?: NdArray | undefined;
  sin?: NdArray | undefined;
  numHeads?: number | undefined;
}
type Extents3 = readonly [number, number, number];
type Extents4 = readonly [number, number, number, number];
interface AttentionExtras {
  readonly weights?: OwnedArray<Extents4>;
  readonly logits?: OwnedArray<Extents4>;
  readonly lse?: OwnedArray<Extents3>;
  readonly entropy?: OwnedArray<Extents3>;
}
interface AttentionResult extends AttentionExtras {
  readonly output: OwnedArray;
}
interface MultiHeadAttentionConfig {
  dModel: number;
  numHeads: number;
  numKvHeads?: number | undefined;
  dK?: number | undefined;
  dV?: number | undefined;
  dContext?: number | undefined;
  rotary?: RotaryOptions | undefined;
  qkNorm?: 'layer' | 'rms' | undefined;
  qkEpsilon?: number | undefined;
  weightLayout?: 'in_out' | 'out_in' | undefined;
}
interface MultiHeadAttentionWeights {
  wq?: NdArray | undefined;
  wk?: NdArray | undefined;
  wv?: NdArray | undefined;
  wqkv?: NdArray | undefined;
  wo: NdArray;
  bq?: Float32Array | undefined;
  bk?: Float32Array | undefined;
  bv?: Float32Array | undefined;
  bqkv?: Float32Array | undefined;
  bo?: Float32Array | undefined;
  qGamma?: Float32Array | undefined;
  kGamma?: Float32Array | undefined;
  qBeta?: Float32Array | undefined;
  kBeta?: Float32Array | undefined;
}
type LayerOptions = Omit<AttentionOptions, 'numHeads' | 'numKvHeads'> & {
  context?: ArrayInput | undefined;
};
interface MultiHeadAttention {
  forward<O extends qkv.Exactly<O, LayerOptions> = qkv.Unsaid<LayerOptions>>(
    x: ArrayInput,
    options?: O,
  ): qkv.ResultOf<O>;
  dispose(): void;
  [Symbol.dispose](): void;
}
interface TransformerBlockConfig extends MultiHeadAttentionConfig {
  dFeedForward: number;
  norm?: 'pre' | 'post' | undefined;
  normType?: 'layer' | 'rms' | undefined;
  activation?: 'relu' | 'gelu' | 'gelu_tanh' | 'silu' | 'swiglu' | undefined;
  crossAttention?: boolean | undefined;
  epsilon?: number | undefined;
}
interface NormWeights {
  gamma: Float32Array;
  beta?: Float32Array | undefined;
}
interface TransformerBlockWeights {
  attention: MultiHeadAttentionWeights;
  cross?: MultiHeadAttentionWeights | undefined;
  norm1: NormWeights;
  normCross?: NormWeights | undefined;
  norm2: NormWeights;
  w1: NdArray;
  b1?: Float32Array | undefined;
  w2: NdArray;
  b2?: Float32Array | undefined;
  wGate?: NdArray | undefined;
  bGate?: Float32Array | undefined;
}
type BlockOptions = LayerOptions & { contextKeyLengths?: Integers | undefined };
interface TransformerBlock {
  forward<O extends qkv.Exactly<O, BlockOptions> = qkv.Unsaid<BlockOptions>>(
    x: ArrayInput,
    options?: O,
  ): qkv.ResultOf<O>;
  dispose(): void;
  [Symbol.dispose](): void;
}
type Layout = 'interleaved' | 'concatenated';
interface SinusoidalOptions {
  offset?: number | undefined;
  base?: number | undefined;
  layout?: Layout | undefined;
}
interface GeluOptions {
  approximate?: 'none' | 'tanh' | undefined;
}
interface LinearOptions {
  bias?: Float32Array | undefined;
  layout?: 'in_out' | 'out_in' | undefined;
}
interface LinearLayer {
  forward(x: ArrayInput, options: Destination): void;
  forward(x: ArrayInput, options?: NewArray): OwnedArray;
  dispose(): void;
  [Symbol.dispose](): void;
}
interface SoftmaxOptions {
  axis?: number | undefined;
  temperature?: number | undefined;
}
interface Qkv {
  readonly info: EngineInfo;
  tensor(shape: readonly number[], data?: ArrayLike<number>): Tensor;
  attention<O extends qkv.Exactly<O, AttentionOptions> = qkv.Unsaid<AttentionOptions>>(
    ...args: [q: ArrayInput, k: ArrayInput, v: ArrayInput, options?: O]
  ): qkv.ResultOf<O>;
  kvCache(options: {
    batch?: number | undefined;
    numKvHeads: number;
    capacity: number;
    dK: number;
    dV?: number | undefined;
    format?: 'f32' | 'bf16' | undefined;
  }): KvCache;
  multiHeadAttention(
    config: MultiHeadAttentionConfig,
    weights: MultiHeadAttentionWeights,
  ): MultiHeadAttention;
  transformerBlock(
    config: TransformerBlockConfig,
    weights: TransformerBlockWeights,
  ): TransformerBlock;
  sinusoidalEncoding(
    length: number,
    dModel: number,
    options: SinusoidalOptions & Destination,
  ): void;
  sinusoidalEncoding(
    length: number,
    dModel: number,
    options?: SinusoidalOptions & NewArray,
  ): OwnedArray;
  sinusoidalShift(
    k: number,
    dModel: number,
    options?: {
      base?: number | undefined;
      form?: 'blocks' | 'dense' | undefined;
      layout?: Layout | undefined;
    },
  ): OwnedArray;
  rotaryEmbedding(x: ArrayInput, options: RotaryOptions & Destination): void;
  rotaryEmbedding(x: ArrayInput, options?: RotaryOptions & NewArray): OwnedArray;
  alibiSlopes(numHeads: number): OwnedNumbers;
  t5RelativeBias(
    ...args: [
      table: ArrayInput,
      queryLength: number,
      keyLength: number,
      options?: {
        bidirectional?: boolean | undefined;
        maxDistance?: number | undefined;
        offset?: number | undefined;
      },
    ]
  ): OwnedArray;
  transformerXlBias(q: ArrayInput, r: ArrayInput, v: ArrayInput): OwnedArray;
  learnedEncoding(
    table: ArrayInput,
    length: number,
    options?: { offset?: number | undefined; outOfRange?: 'error' | 'clamp' | undefined },
  ): OwnedArray;
  layerNorm(x: ArrayInput, options: LayerNormOptions & Destination): void;
  layerNorm(x: ArrayInput, options?: LayerNormOptions & NewArray): OwnedArray;
  rmsNorm(x: ArrayInput, options: Omit<LayerNormOptions, 'beta'> & Destination): void;
  rmsNorm(x: ArrayInput, options?: Omit<LayerNormOptions, 'beta'> & NewArray): OwnedArray;
  gelu(x: ArrayInput, options: GeluOptions & Destination): void;
  gelu(x: ArrayInput, options?: GeluOptions & NewArray): OwnedArray;
  softmax(x: ArrayInput, options: SoftmaxOptions & Destination): void;
  softmax(x: ArrayInput, options?: SoftmaxOptions & NewArray): OwnedArray;
  linear(x: ArrayInput, w: ArrayInput, options: LinearOptions & Destination): void;
  linear(x: ArrayInput, w: ArrayInput, options?: LinearOptions & NewArray): OwnedArray;
  linearLayer(w: ArrayInput, options?: LinearOptions): LinearLayer;
  embedding(table: ArrayInput, ids: Integers): OwnedArray;
  entropy(weights: ArrayInput): OwnedArray;
  headStatistics(weights: ArrayInput): {
    entropy: OwnedArray;
    distance: OwnedArray;
    maxWeight: OwnedArray;
    firstKey: OwnedArray;
  };
  attentionRollout(weights: ArrayInput): OwnedArray;
  effectiveRank(
    left: ArrayInput,
    right: ArrayInput,
    options?: { transposed?: boolean },
  ): OwnedArray;
  memory(): { heapBytes: number; usedBytes: number; handles: number };
  dispose(): void;
  [Symbol.dispose](): void;
}
type Code =
  | 'invalid_argument'
  | 'shape_mismatch'
  | 'out_of_range'
  | 'out_of_memory'
  | 'busy'
  | 'disposed'
  | 'unsupported'
  | 'thread_lost'
  | 'load_failed';

/** True for one and the same type, down to `readonly`, `?` and the types of parameters. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <T extends true>(_: T extends true ? 'same' : never): void => undefined;

same<Same<typeof init, (options?: InitOptions) => Promise<Qkv>>>('same');
same<Same<qkv.Qkv, Qkv>>('same');
same<Same<qkv.InitOptions, InitOptions>>('same');
same<Same<qkv.EngineInfo, EngineInfo>>('same');
same<Same<qkv.Tensor, Tensor>>('same');
same<Same<qkv.NdArray, NdArray>>('same');
same<Same<qkv.NdMask, NdMask>>('same');
same<Same<qkv.OwnedArray, OwnedArray>>('same');
same<Same<qkv.OwnedNumbers, OwnedNumbers>>('same');
same<Same<qkv.Integers, Integers>>('same');
same<Same<qkv.NewArray, NewArray>>('same');
same<Same<qkv.ArrayInput, ArrayInput>>('same');
same<Same<qkv.Variant, Variant>>('same');
same<Same<qkv.AttentionOptions, AttentionOptions>>('same');
same<Same<qkv.AttentionExtras, AttentionExtras>>('same');
same<Same<qkv.AttentionResult, AttentionResult>>('same');
same<Same<qkv.MultiHeadAttentionConfig, MultiHeadAttentionConfig>>('same');
same<Same<qkv.MultiHeadAttentionWeights, MultiHeadAttentionWeights>>('same');
same<Same<qkv.LayerOptions, LayerOptions>>('same');
same<Same<qkv.MultiHeadAttention, MultiHeadAttention>>('same');
same<Same<qkv.Alibi, Alibi>>('same');
same<Same<qkv.KvCache, KvCache>>('same');
same<Same<qkv.RotaryOptions, RotaryOptions>>('same');
same<Same<qkv.TransformerBlockConfig, TransformerBlockConfig>>('same');
same<Same<qkv.TransformerBlockWeights, TransformerBlockWeights>>('same');
same<Same<qkv.BlockOptions, BlockOptions>>('same');
same<Same<qkv.TransformerBlock, TransformerBlock>>('same');
same<Same<qkv.LinearOptions, LinearOptions>>('same');
same<Same<qkv.LinearLayer, LinearLayer>>('same');
same<Same<QkvErrorCode, Code>>('same');
same<Same<QkvError['code'], Code>>('same');
// @ts-expect-error: Same can tell other arrays,
same<Same<NdArray, NdMask>>('same');
// @ts-expect-error: an option more,
same<Same<qkv.InitOptions, InitOptions & { workers?: number }>>('same');
// @ts-expect-error: and what is optional
same<Same<{ output: NdArray }, { output?: NdArray }>>('same');

declare const engine: qkv.Qkv;
declare const q: NdArray;
declare const tensor: qkv.Tensor;
declare const mask: NdMask;

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
