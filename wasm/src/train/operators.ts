// Every operator of `qkv/train` besides those of `qkv`, as a function of an instance and the arguments of the method of
// this name.

import { attentionBackward } from './attention-backward.js';
import * as elementwise from './elementwise.js';
import { gru, gruBackward } from './gru.js';
import { languageModel } from './language-model.js';
import * as linear from './linear-backward.js';
import { crossEntropy } from './loss.js';
import { seq2seq } from './seq2seq.js';

export const operators = {
  ...{ attentionBackward, crossEntropy, gru, gruBackward, languageModel, seq2seq },
  ...elementwise,
  ...linear,
};
