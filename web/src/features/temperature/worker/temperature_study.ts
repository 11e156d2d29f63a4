import { largestAt } from '../../../domain/largest_at';
import { entropyOf, softmaxOf } from '../../../domain/softmax';
import { mean } from '../../../domain/averages';
import type { Mask } from '../../../domain/choices';
import { worse } from '../../../domain/nan_max';
import type { Qkv } from 'qkv';
import type { Head } from '../../../engine/heads';
import { TEMPERATURES } from '../../../domain/temperatures';
import { JACOBIAN_KEYS, LAB, type LabScores } from '../shared/constants';
import { allowedKeys } from '../../../domain/mask';
import { hashText, normals } from '../../../engine/random';

/** The scores of the query's row, of the keys it may see, or random ones, and what is known of them before any temperature. */
export interface RowScores {
  /** Another number for other scores: what has the same one belongs together. */
  readonly id: number;
  readonly source: LabScores;
  /** Of the query's row its number, of random scores their seed. */
  readonly row: number;
  /** [n], by the core. */
  readonly scores: Float32Array;
  readonly mean: number;
  /** The cumulants by their order, from 2, the variance, to 6; in float64. */
  readonly cumulants: readonly number[];
  /** sigma / sqrt(2 ln n); null for a single key. */
  readonly critical: number | null;
  /** Distance of the two largest scores; null for a single key. */
  readonly gap: number | null;
}

/** What a temperature makes of a row. */
export interface Measured {
  /** In nats. */
  readonly entropy: number;
  readonly largest: number;
  /** Frobenius norm of the Jacobian (diag(p) - p p^T) / tau of the softmax. */
  readonly gradient: number;
}

/** When ln n - v / (2 tau^2) can be relied on, and what is in its way when it cannot. */
export type Verdict = 'single' | 'equal' | 'collapse' | 'close' | 'shape' | 'holds';

/** The part of the Jacobian of the softmax that is drawn. */
export interface Jacobian {
  /** The keys with the largest scores, from the largest on. */
  readonly keys: readonly number[];
  /** [keys, keys], row by row: by how much the weight of one grows with the score of another. */
  readonly values: readonly number[];
}

export interface TemperaturePoint extends Measured {
  readonly of: RowScores;
  readonly temperature: number;
  readonly theory: number;
  /** Size of the terms that the theory leaves out, in nats. */
  readonly correction: number;
  readonly verdict: Verdict;
  readonly jacobian: Jacobian;
  /** Largest |difference| of the three from float64. */
  readonly error: number;
}

export interface TemperatureStudy {
  /** The id of its scores. */
  readonly id: number;
  readonly temperatures: Float64Array;
  readonly entropy: Float64Array;
  readonly largest: Float64Array;
  readonly gradient: Float64Array;
  readonly theory: Float64Array;
  readonly histogram: { readonly from: number; readonly width: number; readonly counts: number[] };
  /** Largest |difference| from float64 over all temperatures. */
  readonly error: Measured;
}

const POINTS = 121;
/**
 * The verdict is 'holds' where the terms that the theory leaves out come to no more than this, in nats. Over 900 000 such rows of
 * 2 to 1024 scores, from eight distributions at 3 to 10 times tau_c, the difference stayed below 1.1 times those terms, and below
 * 0.032: within PROMISE.
 */
const LEFT_OUT = 0.03;

let rows = 0;

/** Central moments mu_2 to mu_6, by their order. */
function momentsOf(scores: Float32Array, centre: number): number[] {
  const moments = [1, 0, 0, 0, 0, 0, 0];
  for (const score of scores) {
    const off = score - centre;
    for (let order = 2, power = off * off; order <= 6; order++, power *= off) {
      moments[order]! += power / scores.length;
    }
  }
  return moments;
}

export function rowScores(head: Head, row: number, mask: Mask): RowScores {
  const layer = { mask, temperature: 1 };
  const { logits } = head.row(row, layer, { returnLogits: 'biased' });
  if (!logits) throw new Error('the head left out its scores');
  const [first, end] = allowedKeys(mask, row, logits.data.length);
  return describeScores('row', row, logits.data.slice(first, end));
}

/** One random query against random keys, all components from N(0, LAB.variance): q.k/sqrt(d) by the core. */
export function randomScores(qkv: Qkv, seed: number): RowScores {
  const fill = normals(hashText('temperature', seed));
  const draw = (rows: number) => {
    const data = new Float32Array(rows * LAB.width);
    fill(data);
    const factor = Math.sqrt(LAB.variance);
    return { data: data.map((value) => value * factor), shape: [rows, LAB.width] };
  };
  const [q, k] = [draw(1), draw(LAB.keys)];
  const { logits } = qkv.attention(q, k, k, { numHeads: 1, returnLogits: 'raw' });
  if (!logits) throw new Error('attention left out the scores');
  return describeScores('random', seed, logits.data);
}

function describeScores(source: LabScores, row: number, scores: Float32Array): RowScores {
  const count = scores.length;
  const centre = mean(scores);
  const mu = momentsOf(scores, centre);
  const [, , v = 0, third = 0, fourth = 0, fifth = 0, sixth = 0] = mu;
  const [most = NaN, second = NaN] = [...scores].sort((a, b) => b - a);
  return {
    id: ++rows,
    source,
    row,
    scores,
    mean: centre,
    cumulants: [
      ...[NaN, NaN, v, third, fourth - 3 * v * v, fifth - 10 * third * v],
      sixth - 15 * fourth * v - 10 * third * third + 30 * v ** 3,
    ],
    critical: count > 1 ? Math.sqrt(v / (2 * Math.log(count))) : null,
    gap: count > 1 ? most - second : null,
  };
}

/**
 * |J|_F^2 = (1/tau^2) sum_i p_i^2 ((1 - p_i)^2 + sum_{j != i} p_j^2). For the largest weight both sums go
 * over the others: 1 - p would lose all its digits where the row has nearly collapsed.
 */
function gradientOf(weights: ArrayLike<number>, temperature: number): number {
  const largest = largestAt(weights);
  let [others, squares] = [0, 0];
  for (let i = 0; i < weights.length; i++) {
    if (i === largest) continue;
    others += weights[i]!;
    squares += weights[i]! ** 2;
  }
  const top = weights[largest]! ** 2;
  let sum = top * (others * others + squares);
  for (let i = 0; i < weights.length; i++) {
    if (i === largest) continue;
    const square = weights[i]! ** 2;
    sum += square * ((1 - weights[i]!) ** 2 + squares - square + top);
  }
  return Math.sqrt(sum) / temperature;
}

type Weights = ReturnType<Qkv['softmax']>;

const weightsOf = (qkv: Qkv, scores: Float32Array, temperature: number): Weights =>
  qkv.softmax({ data: scores, shape: [scores.length] }, { temperature });

/** Entropy of the weights by the core; the norm from them in float64. */
function measure(qkv: Qkv, weights: Weights, temperature: number): Measured {
  return {
    entropy: qkv.entropy(weights).data[0]!,
    largest: weights.data.reduce((a, b) => Math.max(a, b), 0),
    gradient: gradientOf(weights.data, temperature),
  };
}

/** (diag(p) - p p^T) / tau, of the core's weights in float64. On the diagonal the other weights stand for 1 - p, which would lose its digits. */
function jacobianOf(scores: Float32Array, p: ArrayLike<number>, temperature: number): Jacobian {
  const order = Array.from(scores.keys()).sort((a, b) => scores[b]! - scores[a]! || a - b);
  const keys = order.slice(0, JACOBIAN_KEYS);
  const others = (key: number) => order.reduce((sum, k) => (k === key ? sum : sum + p[k]!), 0);
  const values = keys.flatMap((i) =>
    keys.map((j) => (p[i]! * (i === j ? others(i) : -p[j]!)) / temperature),
  );
  return { keys, values };
}

/** The same in float64, with loops that share no code with the core. */
function exact(scores: Float32Array, temperature: number): Measured {
  const most = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  const weights = softmaxOf(Float64Array.from(scores, (score) => (score - most) / temperature));
  const largest = weights.reduce((a, b) => Math.max(a, b), 0);
  return { entropy: entropyOf(weights), largest, gradient: gradientOf(weights, temperature) };
}

function difference(a: Measured, b: Measured): Measured {
  return {
    entropy: Math.abs(a.entropy - b.entropy),
    largest: Math.abs(a.largest - b.largest),
    gradient: Math.abs(a.gradient - b.gradient),
  };
}

const worst = (a: Measured, b: Measured): Measured => ({
  entropy: worse(a.entropy, b.entropy),
  largest: worse(a.largest, b.largest),
  gradient: worse(a.gradient, b.gradient),
});

function theoryOf({ scores, cumulants }: RowScores, temperature: number): number {
  return Math.log(scores.length) - cumulants[2]! / (2 * temperature ** 2);
}

/** H = ln n - sum_r (r - 1) / r! kappa_r / tau^r: the terms from the third to the sixth, without their signs. */
function correctionOf({ cumulants }: RowScores, temperature: number): number {
  const factors = [0, 0, 0, 1 / 3, 1 / 8, 1 / 30, 1 / 144];
  return factors.reduce(
    (sum, factor, r) => (r < 3 ? sum : sum + factor * Math.abs(cumulants[r]! / temperature ** r)),
    0,
  );
}

function verdictOf(of: RowScores, temperature: number, correction: number): Verdict {
  if (of.critical === null) return 'single';
  if (of.cumulants[2] === 0) return 'equal';
  if (temperature < of.critical) return 'collapse';
  if (temperature < 3 * of.critical) return 'close';
  return correction <= LEFT_OUT ? 'holds' : 'shape';
}

/** What the page's own temperature makes of the row. */
export function temperaturePoint(qkv: Qkv, of: RowScores, temperature: number): TemperaturePoint {
  const weights = weightsOf(qkv, of.scores, temperature);
  const measured = measure(qkv, weights, temperature);
  const { entropy, largest, gradient } = difference(measured, exact(of.scores, temperature));
  const correction = correctionOf(of, temperature);
  return {
    ...measured,
    of,
    temperature,
    theory: theoryOf(of, temperature),
    correction,
    verdict: verdictOf(of, temperature, correction),
    jacobian: jacobianOf(of.scores, weights.data, temperature),
    error: worse(worse(entropy, largest), gradient),
  };
}

/** As many bins as Rice's rule gives, 2 n^(1/3), from the smallest score to the largest. */
function histogramOf(scores: Float32Array): TemperatureStudy['histogram'] {
  const least = scores.reduce((a, b) => Math.min(a, b), Infinity);
  const span = scores.reduce((a, b) => Math.max(a, b), -Infinity) - least;
  const bins = span > 0 ? Math.max(5, Math.ceil(2 * Math.cbrt(scores.length))) : 1;
  const width = span > 0 ? span / bins : 1;
  const from = span > 0 ? least : least - width / 2;
  const counts = new Array<number>(bins).fill(0);
  for (const score of scores) counts[Math.min(bins - 1, Math.floor((score - from) / width))]! += 1;
  return { from, width, counts };
}

/** The curves of a row over all temperatures of the page; yields often, and at the end what it found. */
export function* temperatureStudy(
  qkv: Qkv,
  of: RowScores,
): Generator<TemperatureStudy | undefined, undefined> {
  const [least, most] = TEMPERATURES;
  const at = (i: number) => least * (most / least) ** (i / (POINTS - 1));
  const temperatures = Float64Array.from({ length: POINTS }, (_, i) => at(i));
  const curve = () => new Float64Array(POINTS);
  const [entropy, largest, gradient] = [curve(), curve(), curve()];
  let error: Measured = { entropy: 0, largest: 0, gradient: 0 };
  for (const [i, temperature] of temperatures.entries()) {
    const measured = measure(qkv, weightsOf(qkv, of.scores, temperature), temperature);
    entropy[i] = measured.entropy;
    largest[i] = measured.largest;
    gradient[i] = measured.gradient;
    error = worst(error, difference(measured, exact(of.scores, temperature)));
    if (i % 8 === 7) yield;
  }
  yield {
    id: of.id,
    temperatures,
    entropy,
    largest,
    gradient,
    theory: temperatures.map((temperature) => theoryOf(of, temperature)),
    histogram: histogramOf(of.scores),
    error,
  };
}
