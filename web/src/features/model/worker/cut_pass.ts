import type { Edit } from 'qkv/models';
import type { Qkv } from 'qkv';
import type { CutPass, NextGuess } from '../../../engine/head_list';
import type { Opened } from './open_model';
import { select } from './selection';

/** Tokens that are shown as those that may follow. */
const GUESSES = 3;

/** The mask without keys that the model never reads. */
function readable(mask: Uint8Array, count: number, causal: boolean): Uint8Array {
  return mask.map((allowed, at) => (causal && at % count > Math.floor(at / count) ? 0 : allowed));
}

/** Minus infinity onto the scores of what is left out, in every head of every layer. */
function editsOf({ info }: Opened, mask: Uint8Array, count: number): Edit[] {
  const { numLayers, numHeads } = info;
  const scores = new Float32Array(numHeads * count * count);
  scores.forEach((_, at) => (scores[at] = mask[at % mask.length] ? 0 : -Infinity));
  const add = { data: scores, shape: [numHeads, count, count] };
  return Array.from({ length: numLayers }, (_, layer) => ({ site: 'scores' as const, layer, add }));
}

function guesses(qkv: Qkv, { label }: Opened, logits: Float32Array): NextGuess[] {
  const { order, p } = select(qkv, logits, { temperature: 1, topK: 0, topP: 1 });
  return Array.from(order.subarray(0, GUESSES), (id) => ({ label: label(id), p: p[id] ?? NaN }));
}

/** A pass of the model with keys cut from all its heads, beside one as it is. `head` counts through all layers. */
export function cutPass(
  qkv: Qkv,
  of: Opened,
  ids: readonly number[],
  { mask: wanted, head }: { mask: Uint8Array; head: number },
): CutPass {
  const { model, info } = of;
  const count = ids.length;
  const layer = Math.floor(head / info.numHeads);
  const own = new Uint8Array(count * count).fill(1);
  const mask = readable(wanted, count, info.causal);
  const isOwn = mask.join() === readable(own, count, info.causal).join();
  const edit = isOwn ? [] : editsOf(of, mask, count);
  const read = [{ site: 'weights' as const, layers: [layer] }];
  const cut = model.forward(ids, { rows: 'last', edit, read });
  const all = cut.activations.get('weights', layer).data;
  const at = (head % info.numHeads) * count * count;
  const weights = all.slice(at, at + count * count);
  const next = () => {
    const whole = isOwn ? cut : model.forward(ids, { rows: 'last' });
    return {
      whole: guesses(qkv, of, whole.logits.data),
      cut: isOwn ? null : guesses(qkv, of, cut.logits.data),
    };
  };
  return {
    ...{ mask, weights, next: info.speaks ? next() : null },
    entropy: qkv.entropy({ data: weights, shape: [count, count] }).data,
  };
}
