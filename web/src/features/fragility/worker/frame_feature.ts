import type { Qkv } from 'qkv';
import { mean } from '../../../domain/averages';
import { largestAt } from '../../../domain/largest_at';
import { worse } from '../../../domain/nan_max';
import { softmaxOf } from '../../../domain/softmax';
import type { FrameFeature, Workbench } from '../../../engine/frame_feature';
import { stage } from '../../../engine/memo';
import { hashText, uniform } from '../../../engine/random';
import { CURVE, DRAWS, KEYS } from '../shared/constants';
import type { FragilityRequest } from '../state';

/** How far the weights of all shakes are from those of the scores: the sum of |p' - p|. */
export interface Changes {
  readonly mean: number;
  readonly largest: number;
}

export interface FragilityResult extends FragilityRequest {
  /** The share of the shakes after which another key has the largest score. */
  readonly flips: number;
  /** At each temperature of CURVE. */
  readonly curve: readonly Changes[];
  /** At the temperature of the request. */
  readonly here: Changes;
  /** Its shake with the largest change: scores and weights after it. */
  readonly worst: { readonly scores: Float32Array; readonly weights: Float32Array };
  /** The weights without a shake. */
  readonly weights: Float32Array;
  /** Largest |difference| of a weight from float64. */
  readonly error: number;
}

/** [1 + DRAWS, KEYS]: the scores, and the same after each shake. */
function shaken(scores: readonly number[], shake: number, seed: number): Float32Array {
  const moves = uniform(hashText('shakes', seed), DRAWS * KEYS, shake);
  const all = Float32Array.from({ length: (1 + DRAWS) * KEYS }, (_, i) => scores[i % KEYS] ?? 0);
  moves.forEach((move, i) => (all[KEYS + i]! += move));
  return all;
}

/** The keys are the unit vectors, so that the scores of a query are its own numbers. */
const units = Float32Array.from({ length: KEYS * KEYS }, (_, i) => (i % (KEYS + 1) === 0 ? 1 : 0));

/** [1 + DRAWS, KEYS]: the softmax of each row of scores, by the core. */
function weightsOf(qkv: Qkv, rows: Float32Array, temperature: number): Float32Array {
  const k = { data: units, shape: [1, 1, KEYS, KEYS] } as const;
  const q = { data: rows, shape: [1, 1, rows.length / KEYS, KEYS] } as const;
  return qkv.attention(q, k, k, { scale: 1 / temperature }).output.data;
}

/** sum |p' - p| of every shake. */
function changesOf(weights: Float32Array): number[] {
  return Array.from({ length: DRAWS }, (_, draw) => {
    let sum = 0;
    for (let j = 0; j < KEYS; j++) sum += Math.abs(weights[(draw + 1) * KEYS + j]! - weights[j]!);
    return sum;
  });
}

const summaryOf = (changes: readonly number[]): Changes => ({
  mean: mean(changes),
  largest: Math.max(...changes),
});

const rowAt = (rows: Float32Array, i: number) => rows.slice(i * KEYS, (i + 1) * KEYS);

function shareOfFlips(rows: Float32Array): number {
  const first = largestAt(rowAt(rows, 0));
  const others = Array.from({ length: DRAWS }, (_, draw) => largestAt(rowAt(rows, draw + 1)));
  return others.filter((key) => key !== first).length / DRAWS;
}

/** The largest |difference| of a weight from the softmax in float64 of the scores as they are, [1 + DRAWS, KEYS] both. */
export function errorOf(rows: Float32Array, weights: Float32Array, temperature: number): number {
  let error = 0;
  for (let i = 0; i <= DRAWS; i++) {
    const exact = softmaxOf(Array.from(rowAt(rows, i), (score) => score / temperature));
    exact.forEach((p, j) => (error = worse(error, Math.abs(p - weights[i * KEYS + j]!))));
  }
  return error;
}

export function fragilityFrames({
  qkv,
  log,
}: Workbench): FrameFeature<FragilityRequest, FragilityResult> {
  // By what it is made of, as a request that comes anew has arrays of its own.
  const rowsOf = stage('fragility', log, (scores: string, shake: number, seed: number) => {
    const rows = shaken(scores.split(',').map(Number), shake, seed);
    const curve = CURVE.map((tau) => summaryOf(changesOf(weightsOf(qkv, rows, tau))));
    return { rows, curve, flips: shareOfFlips(rows) };
  });
  return {
    compute(request) {
      const { scores, shake, temperature, seed } = request;
      const { rows, curve, flips } = rowsOf(scores.join(), shake, seed);
      const weights = weightsOf(qkv, rows, temperature);
      const changes = changesOf(weights);
      const here = summaryOf(changes);
      const at = 1 + changes.indexOf(here.largest);
      return {
        ...request,
        ...{ flips, curve, here, weights: rowAt(weights, 0) },
        worst: { scores: rowAt(rows, at), weights: rowAt(weights, at) },
        error: errorOf(rows, weights, temperature),
      };
    },
  };
}
