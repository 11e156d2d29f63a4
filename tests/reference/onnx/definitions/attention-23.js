// The rules of ONNX Attention-23, in the order of its text. Rules about types other than float32, as that
// outputs have the type of Q, have no case but that of float16 inputs: this library computes in float32 alone.
// That past_key and past_value come together is no rule of results: a cache takes both or neither.
import { heads, layout } from './attention-23/heads.js';
import { causality, masks } from './attention-23/masks.js';
import { matmulOutputs, pasts } from './attention-23/outputs.js';
import { normalising, scaling, softcaps } from './attention-23/scores.js';

export default {
  op: 'Attention',
  opset: 23,
  rules: [
    ...[...layout, ...heads, ...scaling, ...masks, ...causality],
    ...[...softcaps, ...normalising, ...pasts, ...matmulOutputs],
  ],
};
