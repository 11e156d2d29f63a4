// The types of qkv/worker, checked by the compiler alone: they are those of qkv with promises for results,
// and a method or option that one of them gets without the other is an error here.
import type * as main from 'qkv';
import type * as models from 'qkv/models';
import type * as train from 'qkv/train';
import { init, serve, QkvError } from 'qkv/worker';
import type * as worker from 'qkv/worker';
import { same, type Same } from './same.js';

/** The same members, so that reading and spreading them gives the same. */
type Flat<T> = { [K in keyof T]: T[K] };

type CallNames = 'signal' | 'transfer';
type HandlesOf<T> = T extends main.Tensor
  ? worker.AsyncTensor
  : T extends main.KvCache
    ? worker.AsyncKvCache
    : T;
type InWorker<T> = { [K in keyof T]: HandlesOf<T[K]> };

// Every method is there, and no other; what handles can do, too, but for looking into memory.
type Names<T> = Exclude<keyof T, symbol>;
same<Same<Names<worker.AsyncQkv>, Names<main.Qkv> | 'loadModel' | 'languageModel' | 'seq2seq'>>(
  'same',
);
same<Same<Names<worker.AsyncTensor>, Exclude<Names<main.Tensor>, 'view'> | 'worker'>>('same');
same<Same<Names<worker.AsyncKvCache>, Names<main.KvCache> | 'worker'>>('same');
same<Same<Names<worker.AsyncMultiHeadAttention>, Names<main.MultiHeadAttention> | 'worker'>>(
  'same',
);
same<
  Same<
    Names<worker.AsyncLanguageModel>,
    Exclude<Names<models.LanguageModel>, 'tokenizer'> | 'worker'
  >
>('same');
// With adapters a model without a head has none.
type Adapted<Head extends boolean> = ReturnType<worker.AsyncLanguageModel<Head>['withAdapters']>;
same<Same<Adapted<true>, Promise<worker.AsyncLanguageModel>>>('same');
same<Same<Adapted<false>, Promise<worker.AsyncLanguageModel<false>>>>('same');
same<Same<Names<worker.AsyncSession>, Names<models.Session> | 'worker'>>('same');
same<
  Same<
    Names<worker.AsyncTrainer<worker.AsyncTrainedModel>>,
    Names<train.Trainer<train.TrainedModel>> | 'run' | 'pause' | 'resume' | 'worker'
  >
>('same');
same<Same<Names<worker.AsyncTrainedModel>, Names<train.TrainedModel>>>('same');
same<Same<Names<worker.AsyncSeq2Seq>, Names<train.Seq2Seq>>>('same');
same<Same<Names<worker.AsyncParameters>, Names<train.Parameters>>>('same');
same<Same<Names<worker.AsyncTransformerBlock>, Names<main.TransformerBlock> | 'worker'>>('same');

// The same options, with handles of a worker, and those of every call.
type Own<T> = Flat<Omit<T, CallNames>>;
same<Same<Own<worker.AsyncAttentionOptions>, Flat<InWorker<main.AttentionOptions>>>>('same');
same<Same<Own<worker.AsyncLayerOptions>, Flat<InWorker<main.LayerOptions>>>>('same');
same<Same<Own<worker.AsyncBlockOptions>, Flat<InWorker<main.BlockOptions>>>>('same');
same<Same<keyof worker.CallOptions, CallNames>>('same');
type StartNames = 'workers' | 'worker' | 'models' | 'train' | 'timeout' | 'signal';
same<Same<Flat<Omit<worker.AsyncInitOptions, StartNames>>, Flat<main.InitOptions>>>('same');
same<Same<Flat<Omit<worker.AsyncEngineInfo, 'workers'>>, Flat<main.EngineInfo>>>('same');

// No handle of the main thread is left anywhere in them.
type MainHandle = main.Tensor | main.KvCache;
type Leaks<T> = { [K in keyof T]-?: Extract<T[K], MainHandle> }[keyof T];
same<Same<Leaks<worker.AsyncAttentionOptions>, never>>('same');
same<Same<Leaks<worker.AsyncBlockOptions>, never>>('same');

/** An argument of an operator: tensors are those of a worker, and options take those of every call. */
type Argument<T> = T extends main.Tensor
  ? worker.AsyncTensor
  : T extends number | main.NdArray | ArrayBufferView | readonly number[]
    ? T
    : T & worker.CallOptions;
/** Operators whose last argument is no options get one that is. */
type Arguments<A extends readonly unknown[]> = A['length'] extends Required<A>['length']
  ? [...{ [I in keyof A]: Argument<A[I]> }, options?: worker.CallOptions]
  : { [I in keyof A]: Argument<A[I]> };
type Async<F> = F extends (...args: infer A) => infer R
  ? (...args: Arguments<A>) => Promise<R>
  : never;
/** The same function, with the members of its options in one object. */
type FlatArguments<F> = F extends (...args: infer A) => infer R
  ? (...args: { [I in keyof A]: Flat<A[I]> }) => R
  : never;
/** The last of a function's overloads, which returns the result. */
type Returning<F> = F extends (...args: infer A) => infer R ? (...args: A) => R : never;
/** The options of the first, which takes `out`. */
type Writing<F> = F extends { (...args: infer A): unknown; (...args: never): unknown }
  ? A extends [...unknown[], infer O]
    ? O
    : never
  : never;

// Every operator has the parameters of the main thread's, and promises what that returns.
type Operators = Exclude<
  Names<main.Qkv>,
  | ('info' | 'attention' | 'memory' | 'dispose')
  | ('tensor' | 'kvCache' | 'multiHeadAttention' | 'transformerBlock' | 'linearLayer')
>;
type Differ = {
  [K in Operators]: Same<
    FlatArguments<Returning<worker.AsyncQkv[K]>>,
    FlatArguments<Async<main.Qkv[K]>>
  > extends true
    ? never
    : K;
}[Operators];
same<Same<Differ, never>>('same');
type Written =
  | 'sinusoidalEncoding'
  | 'rotaryEmbedding'
  | 'layerNorm'
  | 'rmsNorm'
  | 'gelu'
  | 'softmax'
  | 'linear';
type WriteOtherwise = {
  [K in Written]: Same<
    Own<Writing<worker.AsyncQkv[K]>>,
    Flat<InWorker<Writing<main.Qkv[K]>>>
  > extends true
    ? never
    : K;
}[Written];
same<Same<WriteOtherwise, never>>('same');
same<Same<ReturnType<worker.AsyncQkv['memory']>, Promise<ReturnType<main.Qkv['memory']>>>>('same');

// What makes handles takes the same, and where to make it.
type Place = worker.PlaceOptions;
type CacheOptions = Parameters<main.Qkv['kvCache']>[0] & Place;
same<Same<Parameters<worker.AsyncQkv['kvCache']>, [options: CacheOptions]>>('same');
type TensorArguments = Parameters<main.Qkv['tensor']>;
same<
  Same<
    Parameters<worker.AsyncQkv['tensor']>,
    [shape: TensorArguments[0], data?: TensorArguments[1], options?: Place]
  >
>('same');
type LayerArguments = [...Parameters<main.Qkv['multiHeadAttention']>, options?: Place];
same<Same<Parameters<worker.AsyncQkv['multiHeadAttention']>, LayerArguments>>('same');
type BlockArguments = [...Parameters<main.Qkv['transformerBlock']>, options?: Place];
same<Same<Parameters<worker.AsyncQkv['transformerBlock']>, BlockArguments>>('same');
type LinearArguments = Parameters<main.Qkv['linearLayer']>;
same<
  Same<
    Parameters<worker.AsyncQkv['linearLayer']>,
    [w: worker.AsyncArrayInput, options?: NonNullable<LinearArguments[1]> & Place]
  >
>('same');
// @ts-expect-error: and Same sees what a method has too many
same<Same<FlatArguments<worker.AsyncQkv['gelu']>, FlatArguments<Async<main.Qkv['layerNorm']>>>>(
  'same',
);

declare const x: main.NdArray;
declare const tensor: worker.AsyncTensor;
declare const cache: worker.AsyncKvCache;
declare const engine: worker.AsyncQkv;
declare const signal: AbortSignal;
declare const mainTensor: main.Tensor;
declare const mainInit: typeof main.init;

declare const batch: train.LanguageBatch;
declare const pairs: train.Seq2SeqBatch;

export async function trains(): Promise<unknown[]> {
  const trainer = await engine.languageModel(
    { vocabulary: 9, numLayers: 1, dModel: 8, numHeads: 1, dFeedForward: 0, maxLength: 9 },
    { learningRate: 1e-2, worker: 0, signal },
  );
  const { steps, last } = await trainer.run({
    batches: async (step) => (step > 3 ? undefined : batch),
    steps: 9,
    every: 3,
    onStep: ({ step, meanLoss }) => step + meanLoss,
    signal,
  });
  await trainer.run({ batches: [batch] });
  await trainer.run({ batches: new Set([batch]).values() });
  const { layers } = await trainer.model.forward([1], { inspect: { weights: true }, signal });
  const weights = layers.get(1)?.weights.data;
  const both = await trainer.model.gradients([1], {
    answer: 1,
    read: [{ site: 'residual' }],
  });
  const named: readonly string[] = trainer.parameters().names;
  const bytes: Uint8Array = await trainer.save({ optimizer: true, signal });
  const other = await engine.seq2seq({ kind: 'gru', vocabulary: 9, dModel: 8, maxLength: 9 });
  await other.step(pairs);
  const { ids } = await other.model.translate([1], { start: 0, end: 1, maxLength: 3 });
  // @ts-expect-error: there need not have been a step
  last.loss;
  // @ts-expect-error: a batch without sources
  await other.step(batch);
  // @ts-expect-error: of what kind the model is decides what it can
  other.model.forward;
  // @ts-expect-error: a misspelt option
  void trainer.run({ batches: [batch], onSteps: () => 1 });
  // @ts-expect-error: batches are not optional
  void trainer.run({ steps: 3 });
  // @ts-expect-error: what was not asked for
  void (await trainer.model.forward([1])).layers.get(1);
  return [steps, weights, both.gradients.get('residual'), named, bytes, ids];
}

export async function uses(): Promise<unknown[]> {
  const { output, weights } = await engine.attention(x, tensor, x, { cache, signal, causal: true });
  const extras = await engine.attention(x, x, x, { out: tensor, transfer: true });
  const model = await engine.loadModel({ weights: new Uint8Array(9) }, { transfer: true, signal });
  model.ignored.map((name) => name.trim());
  const layer = await engine.multiHeadAttention(
    { dModel: 8, numHeads: 2 },
    { wo: x },
    { worker: 1 },
  );
  const { lse } = await layer.forward(x, { context: tensor, signal });
  const written = await layer.forward(x, { out: tensor });
  const nothing: void = await engine.softmax(x, { axis: 0, out: tensor, signal });
  await using held = await engine.tensor([2], [1, 2], { worker: 0, signal });
  const slopes: Float32Array = await engine.alibiSlopes(8, { signal });
  const { entropy } = await engine.headStatistics(tensor, { signal });
  const port = new MessageChannel().port1;
  await init({ worker: [port, new Worker('x')], timeout: 1, signal, wasm: new URL('x:y') });
  serve(self, mainInit);
  serve(port, async (options) => mainInit({ ...options, variant: 'simd' }));
  const error: main.QkvError = new QkvError('disposed', 'why');
  // @ts-expect-error: weights are there only if asked for
  weights.data;
  // @ts-expect-error: with out there is no output
  extras.output;
  // @ts-expect-error: nor from a layer
  written.output;
  // @ts-expect-error: the memory is elsewhere
  held.view();
  // @ts-expect-error: the length is not to be written to
  cache.length = 1;
  return [output.data, lse, slopes, entropy.data, error, nothing];
}

export function misuses(): void {
  // @ts-expect-error: the result is promised
  engine.gelu(x).data;
  // @ts-expect-error: a tensor of the main thread
  void engine.gelu(mainTensor);
  // @ts-expect-error: nor to write to
  void engine.gelu(x, { out: mainTensor });
  // @ts-expect-error: nor as out
  void engine.attention(x, x, x, { out: mainTensor });
  // @ts-expect-error: a misspelt option
  void engine.attention(x, x, x, { casual: true });
  // @ts-expect-error: a misspelt option of every call
  void engine.entropy(x, { singal: signal });
  // @ts-expect-error: a controller is no signal
  void engine.gelu(x, { signal: new AbortController() });
  // @ts-expect-error: an unknown option
  void init({ worker: 3 });
  // @ts-expect-error: the engine to serve is missing
  serve(self);
}
