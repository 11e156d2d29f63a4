// The types of qkv/models, checked by the compiler alone: the contract, written out a second time, and misuse that it refuses.
import type { NdArray, Qkv, RotaryOptions } from 'qkv';
import * as models from 'qkv/models';
import type { LanguageModel, Session, Token } from 'qkv/models';
import type { TrainQkv } from 'qkv/train';

interface Config {
  family?: string;
  vocabulary: number;
  numLayers: number;
  dModel: number;
  numHeads: number;
  numKvHeads?: number;
  dK?: number;
  dFeedForward: number;
  maxLength: number;
  causal?: boolean;
  norm?: 'pre' | 'post';
  normType?: 'layer' | 'rms';
  epsilon?: number;
  activation?: 'relu' | 'gelu' | 'gelu_tanh' | 'silu' | 'swiglu' | 'geglu';
  positions?: 'none' | 'learned' | 'sinusoidal' | 'rotary' | 'alibi';
  rotary?: Pick<RotaryOptions, 'base' | 'rotaryDim' | 'interleaved' | 'scaling'>;
  qkNorm?: boolean;
  parallelResidual?: boolean;
  tiedEmbeddings?: boolean;
  embeddingScale?: number;
  window?: number | readonly (number | null)[];
  attentionSoftcap?: number;
  logitSoftcap?: number;
  tokenTypes?: number;
}
type Format = 'f32' | 'bf16' | 'int8';
interface ContractTokenizer {
  encode(text: string): ArrayLike<number>;
  encodePlain?(text: string): ArrayLike<number>;
  decode(ids: ArrayLike<number>): string;
  readonly begin?: number | undefined;
}
type ContractFile = string | URL | Blob | ArrayBuffer | Uint8Array;
interface ContractSource {
  config?: string | URL | object;
  weights: ContractFile | readonly ContractFile[];
  tokenizer?: ContractTokenizer;
  generation?: string | URL | object;
  pooling?: string | URL | object;
}
interface ContractLoadOptions {
  format?: Format;
  maxLength?: number;
  signal?: AbortSignal;
  onProgress?(progress: { loaded: number; total: number }): void;
}
interface ContractInspect {
  layers?: readonly number[];
  weights?: boolean;
  entropy?: boolean;
  rows?: readonly [begin: number, end: number];
  residuals?: boolean;
  logitLens?: boolean;
  projections?: boolean;
  ablate?: readonly (readonly [layer: number, head: number])[];
}
interface Readings {
  weights?: NdArray;
  entropy?: NdArray;
  residual?: NdArray;
  logits?: NdArray;
  q?: NdArray;
  k?: NdArray;
  v?: NdArray;
}
interface Output {
  logits?: NdArray;
  hidden?: NdArray;
  layers?: ReadonlyMap<number, Readings>;
}
interface ContractGenerate {
  maxTokens?: number;
  temperature?: number;
  topK?: number;
  topP?: number;
  minP?: number;
  repetitionPenalty?: number;
  seed?: number;
  stop?: readonly string[];
  session?: Session;
  inspect?: Omit<ContractInspect, 'rows'>;
  signal?: AbortSignal;
  plain?: boolean;
}
interface ContractToken {
  id: number;
  text: string;
  logProbability: number;
  layers?: ReadonlyMap<number, Readings>;
}
interface ContractSession extends Disposable {
  readonly length: number;
  readonly bytes: number;
  dispose(): void;
  truncate(length: number): void;
}
interface ContractModel extends Disposable {
  readonly config: { readonly vocabulary: number; readonly dK: number; readonly family: string };
  readonly parameterCount: number;
  readonly bytes: number;
  readonly tokenizer?: ContractTokenizer | undefined;
  readonly pooling?: 'mean' | 'cls' | 'last' | undefined;
  readonly ignored: readonly string[];
  readonly tokenizerProblem?: string | undefined;
  dispose(): void;
  forward(
    ids: string | ArrayLike<number>,
    options?: {
      batch?: number;
      rows?: 'all' | 'last';
      hidden?: boolean;
      session?: Session;
      keyLengths?: ArrayLike<number>;
      inspect?: ContractInspect;
      plain?: boolean;
    },
  ): Output;
  session(options?: { capacity?: number; format?: 'f32' | 'bf16' }): ContractSession;
  generate(
    prompt: string | ArrayLike<number>,
    options?: ContractGenerate,
  ): AsyncIterable<ContractToken>;
  loss(ids: string | ArrayLike<number>, options?: { batch?: number; plain?: boolean }): number;
  embed(
    texts: readonly (string | ArrayLike<number>)[],
    options?: {
      pooling?: 'mean' | 'cls' | 'last';
      normalize?: boolean;
      truncate?: boolean;
      plain?: boolean;
    },
  ): NdArray;
}
interface Contract {
  load(engine: Qkv, source: ContractSource, options?: ContractLoadOptions): Promise<ContractModel>;
  create(
    engine: Qkv,
    config: Config,
    weights: Readonly<Record<string, NdArray>>,
    options?: { format?: Format; maxLength?: number },
  ): ContractModel;
}
export const contract: Contract = models;

export async function use(engine: Qkv, train: TrainQkv, model: LanguageModel): Promise<void> {
  // An engine that trains is one that runs models, and what a trainer is made of a model is made of too.
  const config = train.languageModel({ ...model.config, head: true }).model.config;
  using made = models.create(train, config, {});
  const session: Session = made.session();
  for await (const token of made.generate([1], { session })) {
    const { id, text }: Token = token;
    console.log(id.toFixed(), text.trim());
    // @ts-expect-error without `inspect` nobody knows that there are layers
    token.layers.get(0);
  }
  // What a pass or a draw has given is a list of tokens as it is, and a tokenizer of arrays alone will do.
  console.log(made.tokenizer?.decode(new Int32Array(2)).trim());
  const ofArrays = { encode: () => [1], decode: (ids: readonly number[]) => ids.join() };
  models.create(train, config, {}, { tokenizer: ofArrays });
  // @ts-expect-error a model has no vocabulary of its own
  console.log(model.vocabulary);
  // @ts-expect-error an activation that there is not
  models.create(engine, { ...config, activation: 'tanh' }, {});
  // @ts-expect-error a format that there is not
  await models.load(engine, { weights: 'x' }, { format: 'f16' });
  // Bytes, of one file or of several, and a Buffer of Node is a Uint8Array.
  await models.load(engine, { weights: new Uint8Array(9), generation: {}, pooling: 'x' });
  await models.load(engine, { weights: [new Uint8Array(9), new ArrayBuffer(9)] });
  // @ts-expect-error numbers are no bytes
  await models.load(engine, { weights: new Float32Array(9) });
  // @ts-expect-error nothing to load
  await models.load(engine, {});
  // @ts-expect-error rows have no meaning for single tokens
  made.generate([1], { inspect: { rows: [0, 1] } });
  // @ts-expect-error configs are not changed
  made.config.dModel = 3;
  // @ts-expect-error a misspelt option
  made.forward([1], { row: 'last' });
}

/** What a pass returns follows from what was asked, and from whether the model has a head. */
export function follows(engine: Qkv, model: LanguageModel): unknown[] {
  const read = { weights: true, projections: true } as const;
  const { logits, layers } = model.forward([1], { inspect: read });
  const of = layers.get(0);
  const width: number | undefined = of && of.weights.shape[3] + of.q.shape[3] + of.v.shape[3];
  const shape: readonly [batch: number, tokens: number, vocabulary: number] = logits.shape;
  const stream: NdArray = model.forward([1], { hidden: true }).hidden;
  const config = { vocabulary: 2, numLayers: 1, dModel: 2, numHeads: 1, dFeedForward: 2 } as const;
  const encoder = models.create(engine, { ...config, maxLength: 2, head: false }, {});
  const only: NdArray = encoder.forward([1]).hidden;
  // @ts-expect-error an encoder without a head has no logits
  encoder.forward([1]).logits.data;
  // @ts-expect-error entropy that nobody asked for
  of?.entropy.data;
  // @ts-expect-error without `inspect` there are no layers
  model.forward([1]).layers.get(0);
  // @ts-expect-error the stream is there if asked for
  model.forward([1], { hidden: Math.random() > 0.5 }).hidden.data;
  // @ts-expect-error a misspelt reading
  model.forward([1], { inspect: { wieghts: true } });
  return [width, shape, stream, only];
}

/** Tokens have what was read of their pass; bytes may come as they are, whole or in shards. */
export async function told(engine: Qkv, bytes: Uint8Array): Promise<unknown> {
  const model = await models.load(engine, { weights: [bytes, bytes.slice().buffer] });
  const tokens = model.generate([1], { inspect: { logitLens: true } });
  const { value, done } = await tokens.next();
  await tokens.return(undefined);
  const encoder = await models.load<false>(engine, { weights: bytes });
  return [done || value.layers.get(0)?.logits.shape[2], encoder.forward([1]).hidden.data];
}
