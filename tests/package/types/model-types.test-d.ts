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
  decode(ids: readonly number[]): string;
}
interface ContractSource {
  config?: string | URL | object;
  weights: string | URL | Blob | ArrayBuffer | readonly (string | URL | Blob)[];
  tokenizer?: ContractTokenizer;
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
  dispose(): void;
  forward(
    ids: ArrayLike<number>,
    options?: {
      batch?: number;
      rows?: 'all' | 'last';
      hidden?: boolean;
      session?: Session;
      keyLengths?: ArrayLike<number>;
      inspect?: ContractInspect;
    },
  ): Output;
  session(options?: { capacity?: number; format?: 'f32' | 'bf16' }): ContractSession;
  generate(
    prompt: string | ArrayLike<number>,
    options?: ContractGenerate,
  ): AsyncIterable<ContractToken>;
  loss(ids: ArrayLike<number>, options?: { batch?: number }): number;
  embed(
    texts: readonly (string | ArrayLike<number>)[],
    options?: { pooling?: 'mean' | 'cls'; normalize?: boolean },
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
  // @ts-expect-error a model has no vocabulary of its own
  console.log(model.vocabulary);
  // @ts-expect-error an activation that there is not
  models.create(engine, { ...config, activation: 'tanh' }, {});
  // @ts-expect-error a format that there is not
  await models.load(engine, { weights: 'x' }, { format: 'f16' });
  // @ts-expect-error nothing to load
  await models.load(engine, {});
  // @ts-expect-error rows have no meaning for single tokens
  made.generate([1], { inspect: { rows: [0, 1] } });
  // @ts-expect-error configs are not changed
  made.config.dModel = 3;
  // @ts-expect-error a misspelt option
  made.forward([1], { row: 'last' });
}
