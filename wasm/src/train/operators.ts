// Every operator of `qkv/train` besides those of `qkv`, as a function of an instance and the arguments of the method of
// this name.

import { attentionBackward } from './attention-backward.js';
import * as elementwise from './elementwise.js';
import { from } from './fine-tune.js';
import { fromFile } from './from-file.js';
import { gru, gruBackward } from './gru.js';
import { languageModel as created } from './language-model.js';
import * as linear from './linear-backward.js';
import { crossEntropy } from './loss.js';
import { seq2seq } from './seq2seq.js';

/** A trainer of a new model; `from` and `fromFile` begin with one. */
const languageModel: typeof created & { from: typeof from; fromFile: typeof fromFile } =
  Object.assign(created.bind(undefined), { from, fromFile });

export const operators = {
  ...{ attentionBackward, crossEntropy, gru, gruBackward, languageModel, seq2seq },
  ...elementwise,
  ...linear,
};
