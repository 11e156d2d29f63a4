// The types of qkv/train, checked by the compiler alone: the contract, written out a second time, and misuse that it refuses.
import type * as qkv from 'qkv';
import type { ArrayInput, AttentionOptions, InitOptions, NdArray, OwnedArray, Qkv } from 'qkv';
import { init, QkvError } from 'qkv/train';
import type { GruWeights, LanguageModel, Seq2Seq, Trainer, TrainQkv } from 'qkv/train';

type OwnedNumbers = ReturnType<Float32Array['slice']>;
interface Weights {
  readonly wx: NdArray;
  readonly wh: NdArray;
  readonly bx: Float32Array;
  readonly bh: Float32Array;
}
interface Contract extends Qkv {
  attentionBackward(
    dOutput: ArrayInput,
    q: ArrayInput,
    k: ArrayInput,
    v: ArrayInput,
    saved: { output: ArrayInput; lse: ArrayInput },
    options?: AttentionOptions & { needs?: { bias?: boolean; sinks?: boolean } },
  ): {
    dq: OwnedArray;
    dk: OwnedArray;
    dv: OwnedArray;
    dBias?: OwnedArray;
    dSinks?: OwnedNumbers;
  };
  linearBackward(
    dOutput: ArrayInput,
    x: ArrayInput,
    w: ArrayInput,
    options?: { layout?: 'in_out' | 'out_in'; bias?: boolean },
  ): { dx: OwnedArray; dw: OwnedArray; dBias?: OwnedNumbers };
  softmaxBackward(
    dOutput: ArrayInput,
    output: ArrayInput,
    options?: { axis?: number; temperature?: number },
  ): OwnedArray;
  layerNormBackward(
    dOutput: ArrayInput,
    x: ArrayInput,
    options?: { gamma?: Float32Array; beta?: Float32Array; axis?: number; epsilon?: number },
  ): { dx: OwnedArray; dGamma: OwnedNumbers; dBeta: OwnedNumbers };
  rmsNormBackward(
    dOutput: ArrayInput,
    x: ArrayInput,
    options?: { gamma?: Float32Array; axis?: number; epsilon?: number },
  ): { dx: OwnedArray; dGamma: OwnedNumbers };
  activationBackward(
    dOutput: ArrayInput,
    x: ArrayInput,
    kind: 'relu' | 'gelu' | 'gelu_tanh' | 'silu',
  ): OwnedArray;
  gateBackward(
    dOutput: ArrayInput,
    x: ArrayInput,
    y: ArrayInput,
    kind: 'swiglu' | 'geglu',
  ): { dx: OwnedArray; dy: OwnedArray };
  rotaryEmbeddingBackward(dOutput: ArrayInput, options?: qkv.RotaryOptions): OwnedArray;
  embeddingBackward(dOutput: ArrayInput, ids: ArrayLike<number>, vocabulary: number): OwnedArray;
  crossEntropy(
    logits: ArrayInput,
    targets: ArrayLike<number>,
    options?: { ignoreIndex?: number; labelSmoothing?: number },
  ): { loss: number; correct: number; counted: number; dLogits: OwnedArray };
  gru(x: ArrayInput, weights: Weights, options?: { h0?: ArrayInput }): OwnedArray;
  gruBackward(
    dOutput: ArrayInput,
    x: ArrayInput,
    weights: Weights,
    options?: { h0?: ArrayInput; output?: ArrayInput },
  ): { dx: OwnedArray; dh0: OwnedArray; dWeights: Weights };

  languageModel(config: ModelConfig, options?: TrainerOptions): ContractTrainer<ContractModel>;
  seq2seq(
    config: Seq2SeqSizes,
    options?: TrainerOptions,
  ): ContractTrainer<ContractSeq2Seq, ContractPairs>;
}

interface TrainerOptions {
  seed?: number;
  learningRate?: number | { peak: number; warmup: number; steps: number; final?: number };
  betas?: readonly [number, number];
  epsilon?: number;
  weightDecay?: number;
  clipNorm?: number;
  dropout?: number;
}
interface ModelConfig {
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
  rotary?: { base?: number; rotaryDim?: number; interleaved?: boolean };
  qkNorm?: boolean;
  parallelResidual?: boolean;
  tiedEmbeddings?: boolean;
  embeddingScale?: number;
  window?: number;
  attentionSoftcap?: number;
}
interface Seq2SeqSizes {
  kind: 'gru' | 'gru_attention' | 'transformer';
  vocabulary: number;
  dModel: number;
  numHeads?: number;
  numLayers?: number;
  dFeedForward?: number;
  maxLength: number;
  score?: 'additive' | 'dot';
}
interface ContractBatch {
  ids: ArrayLike<number>;
  targets: ArrayLike<number>;
  batch: number;
  keyLengths?: ArrayLike<number>;
  source?: ArrayLike<number>;
  sourceLengths?: ArrayLike<number>;
}
/** What the contract leaves open, a model that translates cannot do without. */
interface ContractPairs extends ContractBatch {
  source: ArrayLike<number>;
}
interface ContractTrainer<Model, Given = ContractBatch> {
  readonly steps: number;
  readonly parameterCount: number;
  readonly model: Model;
  step(batch: Given): {
    loss: number;
    accuracy: number;
    gradientNorm: number;
    learningRate: number;
    step: number;
  };
  evaluate(batch: Given): { loss: number; accuracy: number };
  parameters(): {
    readonly names: readonly string[];
    value(name: string): NdArray;
    gradient(name: string): NdArray;
    set(name: string, value: NdArray): void;
  };
  save(options?: { optimizer?: boolean; format?: 'f32' | 'bf16' | 'int8' }): Uint8Array;
  load(bytes: Uint8Array): void;
  dispose(): void;
  [Symbol.dispose](): void;
}
interface ContractModel {
  readonly config: Readonly<Required<ModelConfig>> | object;
  readonly parameterCount: number;
  forward(
    ids: ArrayLike<number>,
    options?: {
      batch?: number;
      keyLengths?: ArrayLike<number>;
      inspect?: {
        layers?: readonly number[];
        weights?: boolean;
        entropy?: boolean;
        residuals?: boolean;
        projections?: boolean;
      };
    },
  ): {
    logits?: NdArray;
    layers?: ReadonlyMap<
      number,
      Partial<Record<'weights' | 'entropy' | 'residual' | 'q' | 'k' | 'v', NdArray>>
    >;
  };
  loss(ids: ArrayLike<number>, options?: { batch?: number }): number;
}
interface ContractSeq2Seq {
  readonly config: Seq2SeqSizes;
  translate(
    source: ArrayLike<number>,
    options: {
      batch?: number;
      sourceLengths?: ArrayLike<number>;
      start: number;
      end: number;
      maxLength: number;
    },
  ): { ids: Int32Array[]; weights: NdArray[] };
  reach(source: ArrayLike<number>): Float32Array;
}

declare const engine: TrainQkv;
declare const contract: Contract;
declare const x: NdArray;
declare const weights: GruWeights;

// What is there fulfils the contract, and there is nothing that the contract has not.
export const kept: Contract = engine;
export const none: Exclude<keyof TrainQkv, keyof Contract> extends never ? true : false = true;
export const returned: ReturnType<TrainQkv['gruBackward']> = contract.gruBackward(x, x, weights);
export const started: (options?: InitOptions) => Promise<TrainQkv> = init;
export const error: typeof QkvError = QkvError;

// A trainer of each kind takes batches of its own.
declare const model: Trainer<LanguageModel>;
declare const translator: Trainer<Seq2Seq>;
const pairs = { ids: [0], targets: [1], source: [1], batch: 1 };
model.step({ ids: [0], targets: [1], batch: 1 });
translator.step(pairs);
// @ts-expect-error a language model has no source
model.step({ ids: [0], targets: [1], source: [1], batch: 1 });
// @ts-expect-error no source
translator.step({ ids: [0], targets: [1], batch: 1 });
export const filled: number = model.model.config.numKvHeads;
// @ts-expect-error the width of the feed-forward layers is missing
engine.languageModel({ vocabulary: 2, numLayers: 1, dModel: 4, numHeads: 1, maxLength: 3 });
// @ts-expect-error no such kind
engine.seq2seq({ kind: 'lstm', vocabulary: 2, dModel: 4, maxLength: 3 });

// An engine of qkv is not enough.
declare const plain: Qkv;
// @ts-expect-error it has no gradients
export const missing: TrainQkv = plain;

// The result of the forward call may be given as it is; without its log-sum-exp it may not.
const saved = engine.attention(x, x, x, { numHeads: 1, returnLse: true });
engine.attentionBackward(x, x, x, x, saved, { numHeads: 1, needs: { bias: true } });
// @ts-expect-error lse is missing
engine.attentionBackward(x, x, x, x, engine.attention(x, x, x), { numHeads: 1 });
// @ts-expect-error no such gradient
engine.attentionBackward(x, x, x, x, saved, { needs: { mask: true } });
// @ts-expect-error it may be missing
export const bias: OwnedArray = engine.attentionBackward(x, x, x, x, saved).dBias;
// @ts-expect-error no such activation
engine.activationBackward(x, x, 'swiglu');
// @ts-expect-error a gate has two inputs
engine.gateBackward(x, x, 'swiglu');
// @ts-expect-error no vocabulary
engine.embeddingBackward(x, [1, 2]);
// @ts-expect-error a misspelt option
engine.crossEntropy(x, [1], { smoothing: 0.1 });
// @ts-expect-error the loss is a number
engine.crossEntropy(x, [1]).loss.toNested();
// @ts-expect-error one of the weights is missing
engine.gru(x, { wx: x, wh: x, bx: new Float32Array(3) });
// @ts-expect-error a bias here is asked for, not given
engine.linearBackward(x, x, x, { bias: new Float32Array(3) });
