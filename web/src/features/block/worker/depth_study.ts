import type { TrainQkv } from 'qkv/train';
import { maskOptions } from '../../../domain/mask';
import { layerInput, modelOf } from '../../../engine/layer_weights';
import { D_MODEL } from '../../../domain/sources';
import {
  hasBlock,
  MAX_BLOCK_TOKENS,
  NORM_PLACES,
  STACKS,
  type NormPlace,
} from '../shared/constants';
import { stackCurves, type StackCurves } from './deep_stack';
import type { Band, DepthRequest, DepthResult } from '../shared/protocol';

function bandOf(all: readonly (readonly number[])[]): Band {
  const at = (fold: (values: number[]) => number) =>
    (all[0] ?? []).map((_, l) => fold(all.map((one) => one[l] ?? NaN)));
  return {
    middle: at((v) => Math.exp(v.reduce((sum, x) => sum + Math.log(x), 0) / v.length)),
    low: at((v) => Math.min(...v)),
    high: at((v) => Math.max(...v)),
  };
}

/** Yields how much of all work is done, from 0 to 1. */
export function* depthStudy(
  qkv: TrainQkv,
  request: DepthRequest,
): Generator<number, DepthResult | null> {
  const { layer, type, depth, seed, rule } = request;
  const { source, positions, mask, temperature } = layer;
  const tokens = layer.tokens.slice(0, MAX_BLOCK_TOKENS);
  if (!hasBlock(source) || tokens.length === 0) return null;
  const data = layerInput(qkv, modelOf(qkv, source, layer.seed), tokens, positions);
  const x = { data, shape: [tokens.length, D_MODEL] };
  const attention = { ...maskOptions(mask), temperature };
  let done = 0;
  const found: Record<NormPlace, StackCurves[]> = { pre: [], post: [] };
  for (let i = 0; i < STACKS; i++) {
    for (const place of NORM_PLACES) {
      const options = { place, type, depth, seed: seed + i, rule, attention };
      const study = stackCurves(qkv, x, options);
      let step = study.next();
      for (; !step.done; step = study.next()) yield done / (2 * STACKS);
      found[place].push(step.value);
      yield ++done / (2 * STACKS);
    }
  }
  const bands = (curves: readonly StackCurves[]) => ({
    stream: bandOf(curves.map(({ stream }) => stream)),
    gradient: bandOf(curves.map(({ gradient }) => gradient)),
  });
  return { request, curves: { pre: bands(found.pre), post: bands(found.post) } };
}
