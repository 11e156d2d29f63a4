// The types of qkv/train, checked by the compiler alone: every option, what functions return, and misuse that is refused.
import type { AttentionOptions, InitOptions, NdArray, OwnedArray, Qkv } from 'qkv';
import { init, QkvError } from 'qkv/train';
import type { LanguageModel, Tokenizer } from 'qkv/models';
import type { AdapterFiles, GruWeights, LoraOptions, Seq2Seq, Seq2SeqConfig, TrainedModel, Trainer, TrainerOptions, TrainQkv } from 'qkv/train'; // prettier-ignore
import { every } from './same.js';

declare const engine: TrainQkv;
declare const x: NdArray;
declare const numbers: Float32Array;
declare const weights: GruWeights;

/** Every option of every function, and what the function returns. */
export function returns(attention: AttentionOptions): unknown[] {
  const saved = { output: x, lse: x };
  const ofNorm = { gamma: numbers, axis: 0, epsilon: 1 };
  const given = { ...attention, needs: { bias: true, sinks: true } } as const;
  const { dq, dk, dv, dBias } = engine.attentionBackward(x, x, x, x, saved, given);
  const linear = engine.linearBackward(x, x, x, { layout: 'out_in', bias: true });
  const norm = engine.layerNormBackward(x, x, { ...ofNorm, beta: numbers });
  const rms = engine.rmsNormBackward(x, x, ofNorm);
  const gate = engine.gateBackward(x, x, x, 'geglu');
  const { dx, dh0, dWeights } = engine.gruBackward(x, x, weights, { h0: x, output: x });
  const options = { ignoreIndex: 0, labelSmoothing: 0.1 };
  const { loss, correct, counted, dLogits } = engine.crossEntropy(x, [1], options);
  const arrays: OwnedArray[] = [
    ...[dq, dk, dv, linear.dx, linear.dw, norm.dx, rms.dx, gate.dx, gate.dy, dx, dh0, dLogits],
    engine.softmaxBackward(x, x, { axis: 0, temperature: 1 }),
    engine.activationBackward(x, x, 'gelu_tanh'),
    engine.rotaryEmbeddingBackward(x, { offset: 1, numHeads: 1 }),
    engine.embeddingBackward(x, Uint8Array.of(1), 2),
    engine.gru(x, weights, { h0: x }),
  ];
  const vectors: Float32Array[] = [norm.dGamma, norm.dBeta, rms.dGamma, dWeights.bx, dWeights.bh];
  const rates = { peak: 1, warmup: 1, steps: 1, final: 1 };
  const trainerOptions = every<TrainerOptions>()({
    ...{ seed: 1, learningRate: rates, betas: [0, 0] as const, epsilon: 1, weightDecay: 1 },
    ...{ clipNorm: 1, dropout: 0.1, deviation: 1 },
  });
  const pair = every<Seq2SeqConfig>()({
    ...{ kind: 'gru_attention', vocabulary: 2, dModel: 4, numHeads: 1, numLayers: 1 },
    ...{ dFeedForward: 1, maxLength: 3, score: 'dot' },
  });
  const trainer = engine.seq2seq(pair, trainerOptions);
  const rows = { ids: [0], targets: [1], batch: 1, source: [1], sourceLengths: [1] };
  const steps: number[] = Object.values(trainer.step(rows));
  const { loss: judged, accuracy } = trainer.evaluate(rows);
  trainer.differentiate(rows);
  const { names, value, gradient, set } = trainer.parameters();
  names.forEach((name) => set(name, value(name) satisfies NdArray));
  const file: Uint8Array = trainer.save({ optimizer: true, format: 'int8' });
  trainer.load(file);
  trainer[Symbol.dispose]();
  const how = { batch: 1, sourceLengths: [1], start: 0, end: 1, maxLength: 3 };
  const { ids, weights: read } = trainer.model.translate([1], how);
  const said: readonly [readonly Int32Array[], readonly NdArray[]] = [ids, read];
  const counts: number[] = [
    ...[trainer.steps, trainer.parameterCount, loss, correct, counted, judged, accuracy, ...steps],
  ];
  const reach: Float32Array = trainer.model.reach([1]);
  return [arrays, vectors, dBias, gradient('x'), said, counts, reach];
}

export const started: (options?: InitOptions) => Promise<TrainQkv> = init;
export const error: typeof QkvError = QkvError;

// A trainer of each kind takes batches of its own.
declare const model: Trainer<TrainedModel>;
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

// Gradients by activations have the places that were asked for.
const answers = { answer: 1, instead: 2, row: 0 };
const read = [
  { site: 'z', layers: [0] },
  { site: 'residual', rows: [0, 1] },
] as const;
const logits = model.model.gradients([1], { ...answers, read });
export const four: readonly [number, number, number, number] = logits.gradients.get('z', 0).shape;
export const three: readonly [number, number, number] = logits.activations.get('residual', 0).shape;
// @ts-expect-error not asked for
logits.gradients.get('q', 0);
// @ts-expect-error the trainer does not keep it
model.model.gradients([1], { ...answers, read: [{ site: 'weights' }] });
const prompts = { clean: [1], corrupt: [2], answer: 1, instead: 2 };
export const grid: NdArray = model.model.attributionPatching({ ...prompts, site: 'z' }).grid;
// @ts-expect-error no such grid
model.model.attributionPatching({ ...prompts, site: 'neurons' });

// A model learns on.
declare const loaded: LanguageModel;
const lora = every<LoraOptions>()({
  rank: 1,
  alpha: 1,
  maps: ['wq', 'wGate'] as const,
  dropout: 0,
  adapters: { 'adapter_config.json': {}, 'adapter_model.safetensors': new Uint8Array() },
});
const tuned: Trainer<TrainedModel> = engine.languageModel.from(loaded, { lora, seed: 1 });
export const whole: Uint8Array = tuned.save({ merged: true });
declare const tokenizer: Tokenizer;
tuned.save({ tokenizer, chatTemplate: '' });
tuned.save({ tokenizer: { type: 'characters', tokens: ['a'] } });
tuned.save({ tokenizer: { model: {} } });
// @ts-expect-error no such kind
tuned.save({ tokenizer: { type: 'words', tokens: [] } });
const adapters: AdapterFiles = tuned.saveAdapters({ base: 'a/b' });
engine.languageModel.from(loaded, { lora: { adapters } });
export const merged: LanguageModel = loaded.withAdapters(adapters);
// @ts-expect-error one of the two files
loaded.withAdapters({ 'adapter_config.json': {} });
export const fromFile: Trainer<TrainedModel> = engine.languageModel.fromFile(whole, { seed: 1 });
// @ts-expect-error no such map
engine.languageModel.from(loaded, { lora: { maps: ['wx'] } });
// @ts-expect-error a config is no model
engine.languageModel.from({ vocabulary: 2 });

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
