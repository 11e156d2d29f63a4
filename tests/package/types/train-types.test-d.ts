// The types of qkv/train, checked by the compiler alone: the contract, written out a second time, and misuse that it refuses.
import type * as qkv from 'qkv';
import type { ArrayInput, AttentionOptions, InitOptions, NdArray, OwnedArray, Qkv } from 'qkv';
import { init, QkvError } from 'qkv/train';
import type { GruWeights, TrainQkv } from 'qkv/train';

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
