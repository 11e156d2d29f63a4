// A program of a stranger that uses every name the package exports, under every strict option there is.
// It is compiled and never run; tests/release/types.test.js sees to it that no name is missing.
import { array, init, QkvError, random, toNested, zeros } from 'qkv';
import type {
  Alibi,
  ArrayInput,
  AttentionExtras,
  AttentionOptions,
  AttentionResult,
  BlockOptions,
  Destination,
  DidYouMean,
  Dropout,
  EngineInfo,
  Exactly,
  EffectiveRankOptions,
  GeluOptions,
  InitOptions,
  Integers,
  KvCache,
  LayerNormOptions,
  LayerOptions,
  LinearLayer,
  LinearOptions,
  MultiHeadAttention,
  MultiHeadAttentionConfig,
  MultiHeadAttentionWeights,
  NdArray,
  NdMask,
  Nested,
  NewArray,
  NormWeights,
  OwnedArray,
  OwnedNumbers,
  Qkv,
  QkvErrorCode,
  ResultOf,
  RmsNormOptions,
  RotaryOptions,
  Shape3,
  Shape4,
  SinusoidalOptions,
  SoftmaxOptions,
  Tensor,
  TransformerBlock,
  TransformerBlockConfig,
  TransformerBlockWeights,
  Unsaid,
  Variant,
} from 'qkv';
import { init as initInline } from 'qkv/inline';
import {
  charactersTokenizer,
  create,
  huggingFaceTokenizer,
  llama2cTokenizer,
  load,
} from 'qkv/models';
import type {
  CreateOptions,
  EmbedOptions,
  ForwardOptions as PassOptions,
  GenerateOptions,
  HuggingFaceTokenizer,
  Inspect as Looked,
  LanguageModel as Model,
  LanguageModelConfig as ModelConfig,
  LayerReadings as Read,
  Llama3Scaling,
  LoadOptions,
  LossOptions,
  ModelOutput as Answer,
  ModelRotary,
  OutputOf,
  Passing,
  Progress,
  Session,
  SessionOptions,
  Source,
  Token,
  Tokenizer,
  TokenOf,
  WeightFormat,
} from 'qkv/models';
import { init as initToTrain } from 'qkv/train';
import type {
  ActivationKind,
  AttentionGradients,
  AttentionNeeds,
  Batch,
  CrossEntropy,
  CrossEntropyOptions,
  EvaluationResult,
  Filled,
  ForwardOptions,
  GateGradients,
  GateKind,
  GruBackwardOptions,
  GruGradients,
  GruOptions,
  GruWeights,
  Inspect,
  LanguageBatch,
  LanguageModel,
  LanguageModelConfig,
  LayerNormGradients,
  LayerReadings,
  LearningRateSchedule,
  LinearBackwardOptions,
  LinearGradients,
  ModelOutput,
  Parameters as TrainedArrays,
  RmsNormGradients,
  SaveOptions,
  SavedAttention,
  Seq2Seq,
  Seq2SeqBatch,
  Seq2SeqConfig,
  StepResult,
  Trainer,
  TrainerOptions,
  TrainQkv,
  TranslateOptions,
  Translation,
} from 'qkv/train';
import { init as initInWorker, serve } from 'qkv/worker';
import type {
  AsyncArrayInput,
  AsyncAttentionOptions,
  AsyncBlockOptions,
  AsyncDestination,
  AsyncEngineInfo,
  AsyncInitOptions,
  AsyncKvCache,
  AsyncLanguageModel,
  AsyncLayerOptions,
  AsyncLinearLayer,
  AsyncMultiHeadAttention,
  AsyncOptions,
  AsyncQkv,
  AsyncSession,
  AsyncTensor,
  AsyncTransformerBlock,
  CallOptions,
  InWorker,
  InWorkerHandle,
  InWorkerOptions,
  LoadModelOptions,
  ModelSource,
  OptionsInWorker,
  PlaceOptions,
  WorkerModels,
  WorkerPort,
} from 'qkv/worker';
import 'qkv/worker-host';

const options: InitOptions = { variant: 'simd', deterministic: true, wasm: new Uint8Array(8) };
const engine: Qkv = await init(options);
const { variant }: EngineInfo = engine.info;
export const isExact = (name: Variant): boolean => name === 'simd' && variant === name;

const square = (width: number): NdArray => ({
  data: new Float32Array(width * width),
  shape: [width, width],
});
const mask: NdMask = { data: Uint8Array.of(1), shape: [1, 1] };
const slopes: Alibi = { kind: 'alibi', slopes: engine.alibiSlopes(2) };
const dropout: Dropout = { rate: 0.1, seed: 1 };
const plain: AttentionOptions = { numHeads: 2, mask, bias: slopes, rows: [0, 1], dropout };

/** The log-sum-exp is there because it was asked for, and the compiler knows. */
export function attend(x: ArrayInput): number | undefined {
  const options = { numHeads: 2, causal: true, returnLse: true } as const;
  const result: ResultOf<typeof options> = engine.attention(x, x, x, options);
  const lse: OwnedArray = result.lse;
  const general: AttentionResult = result;
  return (lse.data[0] ?? 0) + (engine.softmax(general.output, { axis: -2 }).data[0] ?? 0);
}

/** Options that are not known yet, and so whether there is an output. */
export function attendAs<O extends Exactly<O, AttentionOptions> = Unsaid<AttentionOptions>>(
  x: ArrayInput,
  options?: O,
): ResultOf<O> {
  return engine.attention(x, x, x, options);
}

/** Options of a pass that are not known yet, and what stands where one is misspelt. */
export const passes = <O extends Passing<O, PassOptions> = PassOptions>(
  model: Model,
  options?: O,
): OutputOf<O> => model.forward([1], options);
export type Misspelt = DidYouMean<'numHeads'>;

/** Plain arrays, made and read without an engine. */
export function plainArrays(rows: Nested, lengths: Integers): Nested {
  const sum: OwnedArray = engine.embedding(random([4, 2], 1), lengths);
  const numbers: OwnedNumbers = zeros([2]).data;
  const toNew: NewArray = {};
  engine.gelu(sum, { ...toNew, approximate: 'tanh' }).data.set(numbers);
  return toNested(array(rows));
}

/** `using` gives everything back, and with `out` there is no output. */
export function inPlace(x: NdArray): AttentionExtras {
  using held: Tensor = engine.tensor(x.shape, x.data);
  using cache: KvCache = engine.kvCache({ numKvHeads: 2, capacity: 8, dK: 4 });
  return engine.attention(held, held, held, { ...plain, cache, out: held, returnEntropy: true });
}

/** Operators one after the other in two tensors; who writes returns nothing. */
export function alternate(a: Tensor, b: Tensor): void {
  const to: Destination = { out: b };
  const rms: RmsNormOptions = { gamma: new Float32Array(8) };
  const norm: LayerNormOptions = { ...rms, beta: new Float32Array(8) };
  const gelu: GeluOptions = { approximate: 'tanh' };
  const rank: EffectiveRankOptions = { transposed: true };
  engine.effectiveRank(a, b, rank);
  const softmax: SoftmaxOptions = { axis: 0 };
  const sinusoidal: SinusoidalOptions = { offset: 1 };
  engine.layerNorm(a, { ...norm, ...to });
  engine.rmsNorm(b, { ...rms, out: a });
  engine.gelu(a, { ...gelu, ...to });
  engine.softmax(b, { ...softmax, out: b });
  engine.rotaryEmbedding(b, { ...rotary, out: a });
  const nothing: void = engine.sinusoidalEncoding(8, 8, { ...sinusoidal, ...to });
  return nothing;
}

const rotary: RotaryOptions = { base: 1e4, scaling: { type: 'ntk', factor: 2 } };
const config: MultiHeadAttentionConfig = { dModel: 8, numHeads: 2, rotary };
const [wq, wk, wv, wo] = [square(8), square(8), square(8), square(8)];
const weights: MultiHeadAttentionWeights = { wq, wk, wv, wo };
const layer: MultiHeadAttention = engine.multiHeadAttention(config, weights);
const forwardOptions = { causal: true, context: square(8) } satisfies LayerOptions;
export const forwarded: NdArray = layer.forward(square(8), forwardOptions).output;

const linear: LinearOptions = { bias: new Float32Array(8), layout: 'out_in' };
const packed: LinearLayer = engine.linearLayer(square(8), linear);
export const logits: OwnedArray = packed.forward(engine.linear(square(8), square(8), linear));

const norm: NormWeights = { gamma: new Float32Array(8) };
const blockConfig: TransformerBlockConfig = { ...config, dFeedForward: 8, normType: 'rms' };
const blockWeights: TransformerBlockWeights = {
  ...{ attention: weights, norm1: norm, norm2: norm },
  ...{ w1: square(8), w2: square(8) },
};
const block: TransformerBlock = engine.transformerBlock(blockConfig, blockWeights);
const blockOptions = { contextKeyLengths: [8] } satisfies BlockOptions;
export const blocked: Float32Array = block.forward(square(8), blockOptions).output.data;

/** Codes are a closed list: a switch over them needs no default. */
export function advice(error: unknown): string | undefined {
  if (!(error instanceof QkvError)) return undefined;
  const code: QkvErrorCode = error.code;
  switch (code) {
    case 'invalid_argument':
    case 'shape_mismatch':
    case 'out_of_range':
    case 'busy':
    case 'disposed':
      return `a mistake in the program: ${error.message}`;
    case 'out_of_memory':
      return 'try something smaller';
    case 'thread_lost':
      return 'try again';
    case 'unsupported':
    case 'load_failed':
      return 'try another engine, or another address';
  }
}

export const inline: Promise<Qkv> = initInline({ ...options, threads: 'auto' });

/** With gradients: an engine of its own, which does all that the other does. */
export async function differentiate(x: NdArray, ids: Integers): Promise<number> {
  const train: TrainQkv = await initToTrain(options);
  const same: Qkv = train;
  const saved: SavedAttention = same.attention(x, x, x, { numHeads: 2, returnLse: true });
  const needs: AttentionNeeds = { sinks: true };
  const of: AttentionGradients = train.attentionBackward(x, x, x, x, saved, {
    ...{ numHeads: 2, sinks: new Float32Array(2), needs },
  });
  const wanted: LinearBackwardOptions = { layout: 'out_in', bias: true };
  const linear: LinearGradients = train.linearBackward(of.dq, x, square(8), wanted);
  const scaled: RmsNormGradients = train.rmsNormBackward(linear.dx, x);
  const shifted: LayerNormGradients = train.layerNormBackward(scaled.dx, x, { epsilon: 1e-3 });
  const kind: ActivationKind = 'gelu_tanh';
  const active: OwnedArray = train.activationBackward(shifted.dx, x, kind);
  const gate: GateKind = 'swiglu';
  const gated: GateGradients = train.gateBackward(active, x, x, gate);
  const smooth: CrossEntropyOptions = { labelSmoothing: 0.1, ignoreIndex: -1 };
  const found: CrossEntropy = train.crossEntropy(gated.dy, ids, smooth);
  train.embeddingBackward(found.dLogits, new Uint16Array(8), 8);
  train.softmaxBackward(train.rotaryEmbeddingBackward(x, { numHeads: 2 }), x, { axis: -1 });
  return found.loss + (of.dSinks?.[0] ?? 0) + (of.dBias?.data[0] ?? 0);
}

/** A model that somebody trained, and one of weights in memory. */
export async function say(
  engine: Qkv,
  at: string,
  weights: Record<string, NdArray>,
): Promise<string> {
  const format: WeightFormat = 'int8';
  let part = 0;
  const onProgress = ({ loaded, total }: Progress): void => void (part = loaded / total);
  const how: LoadOptions = { format, onProgress };
  const source: Source = { weights: at, tokenizer: llama2cTokenizer(new Uint8Array(4)) };
  const model: Model = await load(engine, source, how);
  const room: SessionOptions = { capacity: 64, format: 'bf16' };
  using session: Session = model.session(room);
  const inspect: Looked = { layers: [0], weights: true };
  const drawn: GenerateOptions = { maxTokens: 8, temperature: 0.8, seed: 1, session };
  let text = '';
  for await (const token of model.generate('a', drawn)) {
    const { logProbability }: Token = token;
    text += logProbability > -9 ? token.text : '';
  }
  const asked: PassOptions = { rows: 'last', inspect };
  const { logits, layers }: Answer = model.forward([1], asked);
  const read: Read | undefined = layers?.get(0);
  const more: OutputOf<{ inspect: { weights: true } }> = model.forward([1], {
    inspect: { weights: true },
  });
  const extents: Shape4 | undefined = more.layers.get(0)?.weights.shape;
  const answers: Shape3 = more.logits.shape;
  const looked = { layers: [0], weights: true } as const;
  const tokens: AsyncGenerator<TokenOf<{ inspect: typeof looked }>> = model.generate([1], {
    inspect: looked,
  });
  const next = await tokens.next();
  const at0: Uint8Array = new Uint8Array(answers[1] + (extents?.[0] ?? 0));
  if (!next.done && next.value.layers.size > 9) await load(engine, { weights: [at0] });
  const scaling: Llama3Scaling = { type: 'llama3', factor: 8, originalLength: 8192 };
  const rotary: ModelRotary = { scaling };
  const config: ModelConfig = { ...model.config, positions: 'rotary', rotary };
  const tokenizer: Tokenizer = charactersTokenizer(['a', 'b']);
  const options: CreateOptions = { maxLength: 8, tokenizer };
  using made: Model = create(engine, config, weights, options);
  const lossy: LossOptions = { inspect: { ablate: [[0, 0]] } };
  const pooled: EmbedOptions = { pooling: 'cls' };
  const size = made.loss([1, 2], lossy) + made.embed([[1]], pooled).shape.length;
  const other = (of: HuggingFaceTokenizer): Tokenizer => huggingFaceTokenizer(of);
  return `${text} ${size} ${part} ${logits?.shape.join()} ${read?.weights?.shape.join()} ${other.length}`;
}

export function recur(train: TrainQkv, x: NdArray, from: GruWeights): GruWeights {
  const start: GruOptions = { h0: square(8) };
  const output = train.gru(x, from, start);
  const again: GruBackwardOptions = { ...start, output };
  const { dWeights }: GruGradients = train.gruBackward(output, x, from, again);
  return dWeights;
}

export function learn(train: TrainQkv, ids: Int32Array): Uint8Array {
  const config: LanguageModelConfig = {
    ...{ vocabulary: 8, numLayers: 1, dModel: 8, numHeads: 2, dFeedForward: 0, maxLength: 4 },
  };
  const learningRate: LearningRateSchedule = { peak: 1e-3, warmup: 2, steps: 10 };
  const how: TrainerOptions = { seed: 1, learningRate };
  const trainer: Trainer<LanguageModel> = train.languageModel(config, how);
  const batch: LanguageBatch = { ids, targets: ids, batch: 1 };
  const made: StepResult = trainer.step(batch);
  const judged: EvaluationResult = trainer.evaluate(batch);
  const inspect: Inspect = { weights: true };
  const asked: ForwardOptions = { inspect };
  const { layers }: ModelOutput = trainer.model.forward(ids, asked);
  const readings: LayerReadings | undefined = layers?.get(0);
  const filled: Filled<LanguageModelConfig> = trainer.model.config;
  const arrays: TrainedArrays = trainer.parameters();
  const options: SaveOptions = { optimizer: made.loss < judged.loss + filled.dK, format: 'f32' };
  if (readings?.weights) arrays.gradient('head');
  return trainer.save(options);
}

export function translate(train: TrainQkv, source: Int32Array): Translation {
  const config: Seq2SeqConfig = { kind: 'gru', vocabulary: 8, dModel: 8, maxLength: 4 };
  const trainer: Trainer<Seq2Seq> = train.seq2seq(config);
  const pairs: Seq2SeqBatch = { source, ids: source, targets: source, batch: 1 };
  const either: Batch = pairs;
  trainer.step(pairs);
  const asked: TranslateOptions = { start: 0, end: 1, maxLength: either.batch };
  return trainer.model.translate(source, asked);
}

/** The same off the main thread: everything is a promise, and handles live in a worker. */
export async function attendInWorker(x: NdArray): Promise<number> {
  const wanted: AsyncInitOptions = { ...options, workers: 2, threads: 2 };
  const away: AsyncQkv = await initInWorker(wanted);
  const { workers }: AsyncEngineInfo = away.info;
  const call: CallOptions = { transfer: true };
  const place: PlaceOptions = { worker: workers - 1 };
  await using held: AsyncTensor = await away.tensor(x.shape, x.data, place);
  await using cache: AsyncKvCache = await away.kvCache({
    ...{ numKvHeads: 2, capacity: 8, dK: 4 },
    ...place,
  });
  const input: AsyncArrayInput = held;
  const same: InWorker<Tensor> = held;
  const shared: OptionsInWorker<AttentionOptions> = { cache };
  const asked: AsyncAttentionOptions = { numHeads: 2, causal: true, ...shared, ...call };
  const { output } = await away.attention(input, same, held, { ...asked, out: undefined });
  const sharp: AsyncOptions<'softmax', 1> = { axis: -1, temperature: 0.5 };
  const to: AsyncDestination = { out: held };
  await away.gelu(held, to);
  return (await away.softmax(output, sharp)).data.length;
}

export async function layersInWorker(away: AsyncQkv): Promise<Float32Array> {
  const far: AsyncMultiHeadAttention = await away.multiHeadAttention(config, weights);
  const forward = { causal: true } satisfies AsyncLayerOptions;
  const { output } = await far.forward(square(8), forward);
  const further: AsyncTransformerBlock = await away.transformerBlock(blockConfig, blockWeights);
  const last = { causal: true } satisfies AsyncBlockOptions;
  const mapped: AsyncLinearLayer = await away.linearLayer(square(8), { layout: 'out_in' });
  const { data } = await mapped.forward((await further.forward(output, last)).output);
  const handles: InWorkerHandle[] = [far, further, mapped];
  for (const handle of handles) await handle.dispose();
  return data;
}

export async function sayInWorker(wanted: AsyncInitOptions, weights: string): Promise<number> {
  const away: AsyncQkv = await initInWorker({ ...wanted, models: true });
  const source: ModelSource = { weights };
  const how: LoadModelOptions = { worker: 0 };
  const model: AsyncLanguageModel = await away.loadModel(source, how);
  const session: AsyncSession = await model.session();
  const drawn: InWorkerOptions<GenerateOptions> = { session, maxTokens: 3 };
  for await (const { id } of model.generate([1], drawn)) if (id === 2) break;
  return session.length;
}

export const host = (port: WorkerPort): void => serve(port, init);
export const hostOfModels = (port: WorkerPort): void => {
  const models: WorkerModels = { load };
  serve(port, init, models);
};
