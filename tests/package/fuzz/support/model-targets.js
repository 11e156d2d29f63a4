// Methods of models and trainers with arguments that are right, as targets.js has those of engines.
import { randomArray } from '../../../support/js/arrays.js';
import { kinds } from '../../../support/js/model-kinds.js';
import { randomWeights } from '../../../support/js/model-oracle.js';
import { llama2cFile } from '../../models/support/files.js';
import { made } from './targets.js';

const readings = {
  ...{ layers: [1, 0], weights: true, entropy: true, residuals: true, logitLens: true },
  projections: true,
};
const inspect = { ...readings, ablate: [[0, 1], [1, 3]] }; // prettier-ignore
const forward = ['batch', 'rows', 'hidden', 'session', 'tokenTypes', 'keyLengths', 'inspect'];
const generate = [
  ...['maxTokens', 'temperature', 'topK', 'topP', 'minP', 'repetitionPenalty', 'seed', 'stop'],
  ...['stopTokens', 'session', 'inspect', 'signal'],
];
const sampling = {
  temperature: 0.8,
  topK: 5,
  topP: 0.9,
  minP: 0.01,
  repetitionPenalty: 1.2,
  seed: 7,
};
const edit = [{ site: 'z', layer: 0, head: 1, scale: 0.5 }, { site: 'attention', layer: 1, rows: [1, 2], add: 1 }]; // prettier-ignore
const config = kinds['attention alone'];
const weights = randomWeights(config, 1);
const llama = made('model');
/** Whether it is the model that is usually meant. */
export const isModel = (of) => of === llama;
const bert = made('model', 'bert');
const pair = made('model', 'flan-t5');
const scorer = made('model', 'scorer');
const masked = made('model', 'masked');
const session = made('session', { capacity: 9 });
/** One layer of eight numbers: vocabulary 5, three tokens in a row. */
const checkpoint = llama2cFile([8, 4, 1, 2, 1, 5, 3], [randomArray([5 * 8 + 8 + 192 + 8 + 96 + 8 + 12], 3).data]); // prettier-ignore

const named = (targets) =>
  targets.map((target, i) => ({ options: [], ...target, name: `${target.says} (${i})` }));

export const modelTargets = named([
  { says: 'create', method: 'create', of: made('package'), dictionaries: ['2'], args: [made('self'), config, weights, { format: 'int8', maxLength: 20 }], optionsAt: 3, options: ['format', 'maxLength', 'tokenizer'] },
  { says: 'create', method: 'create', of: made('package'), dictionaries: ['2'], args: [made('self'), { ...config, window: [2, null], attentionScale: 0.3, rotary: {} }, weights], optionsAt: 1, options: Object.keys(kinds.gemma2) },
  { says: 'load', method: 'load', of: made('package'), args: [made('self'), { weights: checkpoint }, { format: 'f32' }], optionsAt: 2, options: ['format', 'maxLength', 'signal', 'onProgress'] },
  { says: 'load', method: 'load', of: made('package'), args: [made('self'), { weights: [checkpoint] }], optionsAt: 1, options: ['config', 'tokenizer', 'generation', 'pooling'] },
  { says: 'LanguageModel.forward', method: 'forward', of: llama, args: [[1, 2, 3, 4], { inspect, rows: 'last', hidden: true }], optionsAt: 1, options: forward },
  { says: 'LanguageModel.forward', method: 'forward', of: llama, args: [Int32Array.of(1, 2, 3, 4), { batch: 2, inspect: { weights: true, rows: [0, 1] } }], optionsAt: 1, options: forward },
  { says: 'LanguageModel.forward', method: 'forward', of: llama, args: [[1, 2], { session, inspect: { entropy: true } }], optionsAt: 1, options: forward },
  { says: 'LanguageModel.forward', method: 'forward', of: bert, args: [[1, 2, 3, 4], { batch: 2, tokenTypes: [0, 1, 1, 0], keyLengths: Int32Array.of(2, 1) }], optionsAt: 1, options: forward },
  { says: 'LanguageModel.loss', method: 'loss', of: llama, args: [[1, 2, 3, 4], { batch: 2, inspect: { ablate: [[1, 1]] } }], optionsAt: 1, options: ['batch', 'inspect'] },
  { says: 'LanguageModel.embed', method: 'embed', of: bert, args: [[[1, 2, 3], Int32Array.of(4)], { pooling: 'cls', normalize: false }], optionsAt: 1, options: ['pooling', 'normalize', 'truncate'] },
  { says: 'LanguageModel.embed', method: 'embed', of: llama, args: [['abc', 'd'], { truncate: true }], optionsAt: 1, options: ['pooling', 'normalize', 'truncate'] },
  { says: 'LanguageModel.score', method: 'score', of: scorer, args: [[[1, 2, 3], Int32Array.of(4)], { truncate: true }], optionsAt: 1, options: ['truncate', 'plain', 'signal', 'onProgress'] },
  { says: 'LanguageModel.fillMask', method: 'fillMask', of: masked, args: [[1, 2, 3], { mask: 2, top: 3 }], optionsAt: 1, options: ['top', 'mask'] },
  { says: 'LanguageModel.save', method: 'save', of: llama, args: [] },
  { says: 'LanguageModel.generate', method: 'generate', of: llama, args: [[1, 2, 3], { ...sampling, maxTokens: 4, inspect }], optionsAt: 1, options: generate },
  { says: 'LanguageModel.generate', method: 'generate', of: llama, args: ['abc', { maxTokens: 3, stop: ['ab', 'c'], stopTokens: [4, 5], session }], optionsAt: 1, options: generate },
  { says: 'sample', method: 'sample', of: made('package'), args: [made('self'), randomArray([40], 5).data, { ...sampling, frequencyPenalty: 0.5, seen: [1, 2], logitBias: { 3: 1 }, allowed: Uint32Array.of(12, 255), topLogprobs: 3 }], optionsAt: 2, options: [...Object.keys(sampling), 'frequencyPenalty', 'presencePenalty', 'step', 'seen', 'logitBias', 'allowed', 'topLogprobs'] },
  { says: 'LanguageModel.session', method: 'session', of: llama, args: [{ batch: 2, capacity: 5, format: 'bf16' }], optionsAt: 0, options: ['batch', 'capacity', 'format'] },
  { says: 'LanguageModel.session', method: 'session', of: pair, args: [{ source: [1, 2, 3, 4], batch: 2, format: 'bf16' }], optionsAt: 0, options: ['batch', 'capacity', 'format', 'source', 'plain'] },
  { says: 'LanguageModel.generate', method: 'generate', of: pair, args: [Int32Array.of(1, 2, 3), { ...sampling, maxTokens: 4, inspect }], optionsAt: 1, options: generate },
  { says: 'LanguageModel.generateAll', method: 'generateAll', of: llama, args: [['ab', [1, 2, 3]], { ...sampling, maxTokens: 2, stop: ['q'], topLogprobs: 1 }], optionsAt: 1, options: ['stopTokens', 'logitBias', 'banned', 'forced', 'plain', 'signal'] },
  { says: 'LanguageModel.beams', method: 'beams', of: llama, args: ['abc', { beams: 2, maxTokens: 3, banned: [3, 4], stopTokens: [5] }], optionsAt: 1, options: ['logitBias', 'forced', 'lengthPenalty', 'plain', 'signal', 'mask'] },
  { says: 'LanguageModel.attribute', method: 'attribute', of: llama, args: [[1, 2, 3], { answer: 1, instead: 2, row: 2, edit }], optionsAt: 1, options: ['session'] },
  { says: 'LanguageModel.forward', method: 'forward', of: llama, args: ['abcd', { read: [{ site: 'z', layers: [1] }, { site: 'residual', layers: [0], rows: [1, 2] }], edit }], optionsAt: 1, options: forward },
  { says: 'LanguageModel.sweep', method: 'sweep', of: llama, args: [{ clean: [1, 2, 3], corrupt: [1, 4, 3], answer: 1, instead: 2, site: 'neurons', layer: 0, block: 8 }], optionsAt: 0, options: ['with', 'edit', 'signal', 'onProgress'] },
  { says: 'LanguageModel.headScores', method: 'headScores', of: llama, args: [{ tokens: 4, seed: 1 }], optionsAt: 0, options: ['text'] },
  { says: 'LanguageModel.headScores', method: 'headScores', of: llama, args: [{ text: [1, 2, 3, 1, 2, 3] }], optionsAt: 0, options: ['tokens', 'seed'] },
  { says: 'LanguageModel.normWeights', method: 'normWeights', of: llama, args: [[1, 2, 3], { layer: 1, rows: [0, 2] }], optionsAt: 1, options: ['session'] },
  { says: 'LanguageModel.lens', method: 'lens', of: llama, args: [[1, 2, 3], { top: 2, layers: [0, 1], edit }], optionsAt: 1, options: ['session'] },
  { says: 'LanguageModel.encode', method: 'encode', of: llama, args: ['abc'], optionsAt: 1, options: ['plain', 'bare', 'escape'] },
  { says: 'LanguageModel.decode', method: 'decode', of: llama, args: [[1, 2, 3]] },
  { says: 'Session.truncate', method: 'truncate', of: session, args: [2] },
  { says: 'Session.remove', method: 'remove', of: session, args: [0, 1] },
]); // prettier-ignore

const trainerOptions = [
  'seed',
  'learningRate',
  'betas',
  'epsilon',
  'weightDecay',
  'clipNorm',
  'dropout',
  'deviation',
];
const sizes = { vocabulary: 6, dModel: 8, numHeads: 2, maxLength: 5 };
const batch = { ids: [1, 2, 3, 4], targets: Int32Array.of(2, 3, 4, -1), batch: 2 };
const pairs = { ...batch, source: [1, 2, 3, 4], sourceLengths: [1, 2] };
const steps = ['step', 'accumulate', 'evaluate', 'differentiate'].flatMap((method) => [
  { says: `Trainer.${method}`, method, of: made('trainer', 'languageModel'), args: [{ ...batch, keyLengths: [1, 2] }] },
  { says: `Trainer.${method}`, method, of: made('trainer', 'seq2seq'), args: [pairs] },
]); // prettier-ignore

export const trainTargets = named([
  { says: 'languageModel', method: 'languageModel', args: [{ ...sizes, numLayers: 1, dFeedForward: 4, positions: 'rotary', rotary: { base: 100 } }, { learningRate: { peak: 0.1, warmup: 1, steps: 9 }, betas: [0.9, 0.99], seed: 1 }], optionsAt: 1, options: trainerOptions },
  { says: 'seq2seq', method: 'seq2seq', args: [{ ...sizes, kind: 'transformer', dFeedForward: 8 }, { dropout: 0.1 }], optionsAt: 1, options: trainerOptions },
  ...steps,
  { says: 'Trainer.save', method: 'save', of: made('trainer', 'languageModel'), args: [{ optimizer: true, format: 'int8' }], optionsAt: 0, options: ['optimizer', 'format'] },
  { says: 'parameters.set', method: 'set', of: made('parameters', 'languageModel'), args: ['head', randomArray([8, 6], 4)] },
  { says: 'parameters.value', method: 'value', of: made('parameters', 'seq2seq'), args: ['embedding'] },
  { says: 'TrainedModel.forward', method: 'forward', of: made('trained', 'languageModel'), args: [[1, 2, 3, 4], { batch: 2, keyLengths: [1, 2], inspect: { layers: [0], weights: true, residuals: true, projections: true } }], optionsAt: 1, options: ['batch', 'rows', 'keyLengths', 'inspect'] },
  { says: 'TrainedModel.gradients', method: 'gradients', of: made('trained', 'languageModel'), args: [[1, 2, 3, 4], { answer: 1, instead: 2, row: 0, read: [{ site: 'z', layers: [0], rows: [0, 1] }] }], optionsAt: 1, options: ['instead', 'row'] },
  { says: 'TrainedModel.attributionPatching', method: 'attributionPatching', of: made('trained', 'languageModel'), args: [{ clean: [1, 2], corrupt: [3, 2], answer: 1, instead: 2, site: 'z' }], optionsAt: 0, options: [] },
  { says: 'TrainedModel.loss', method: 'loss', of: made('trained', 'languageModel'), args: [Int32Array.of(1, 2, 3, 4), { batch: 2 }], optionsAt: 1, options: ['batch'] },
  { says: 'Seq2Seq.translate', method: 'translate', of: made('trained', 'seq2seq'), args: [[1, 2, 3, 4], { batch: 2, sourceLengths: [2, 1], start: 0, end: 1, maxLength: 3 }], optionsAt: 1, options: ['batch', 'sourceLengths'] },
  { says: 'Seq2Seq.reach', method: 'reach', of: made('trained', 'seq2seq'), args: [[1, 2, 3]] },
]); // prettier-ignore
