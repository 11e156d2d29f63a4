import type { NdArray, TrainQkv } from 'qkv/train';
import { Adam } from '../../../engine/adam';
import { normals, uniform } from '../../../engine/random';
import { dice } from '../../../domain/random_ints';
import { LEVELS, OBSERVATIONS } from '../shared/noise_levels';
import type { NoiseNews } from '../shared/protocol';

const BATCH = 128;
const WIDTH = 4;
export const STEPS = 600;
const RATE = 0.05;
const JUDGED = 2048;
const REACH = 3;

/** Sets of observations x = mu + sigma e, e from N(0, 1). */
interface Sets {
  readonly count: number;
  readonly truth: Float32Array;
  readonly levels: Int32Array;
  readonly values: Float32Array;
}

function draw(count: number, seed: number): Sets {
  const random = dice(seed);
  const values = new Float32Array(count * OBSERVATIONS);
  normals(seed)(values);
  const truth = uniform(seed, count, REACH);
  const levels = Int32Array.from(values, () => random.below(LEVELS.length));
  values.forEach((noise, i) => {
    values[i] = truth[Math.floor(i / OBSERVATIONS)]! + LEVELS[levels[i]!]! * noise;
  });
  return { count, truth, levels, values };
}

/** The mean squared error of weighted means; weights of each level are divided by their sum in each set. */
function errorOf({ count, truth, levels, values }: Sets, weights: readonly number[]): number {
  let total = 0;
  for (let set = 0; set < count; set++) {
    let [sum, weighted] = [0, 0];
    for (let i = set * OBSERVATIONS; i < (set + 1) * OBSERVATIONS; i++) {
      sum += weights[levels[i]!]!;
      weighted += weights[levels[i]!]! * values[i]!;
    }
    total += (weighted / sum - truth[set]!) ** 2;
  }
  return total / count;
}

/**
 * One row of attention that learns to estimate: a learned query, the key of an observation a linear map of which level of noise it
 * has, the values the observations, and as the loss the squared distance from the number that was observed. Nobody tells it that
 * the best weights are 1 / sigma^2.
 */
export class NoiseStudy {
  readonly #qkv: TrainQkv;
  readonly #seed: number;
  readonly #query: Float32Array;
  readonly #keys: NdArray;
  readonly #adams = [new Adam(WIDTH), new Adam(LEVELS.length * WIDTH)] as const;
  readonly #judged: Sets;
  #step = 0;

  constructor(qkv: TrainQkv, seed: number) {
    this.#qkv = qkv;
    this.#seed = seed;
    this.#query = uniform(2 * seed, WIDTH, 0.5);
    this.#keys = {
      data: uniform(2 * seed + 1, LEVELS.length * WIDTH, 0.5),
      shape: [LEVELS.length, WIDTH],
    };
    this.#judged = draw(JUDGED, 1_000_003);
  }

  get done(): boolean {
    return this.#step >= STEPS;
  }

  step(): void {
    const qkv = this.#qkv;
    const sets = draw(BATCH, (this.#seed + 1) * 10_007 + this.#step);
    const features = new Float32Array(BATCH * OBSERVATIONS * LEVELS.length);
    sets.levels.forEach((level, i) => (features[i * LEVELS.length + level] = 1));
    const x = { data: features, shape: [BATCH, 1, OBSERVATIONS, LEVELS.length] };
    const k = qkv.linear(x, this.#keys);
    const q = Float32Array.from({ length: BATCH * WIDTH }, (_, i) => this.#query[i % WIDTH]!);
    const queries = { data: q, shape: [BATCH, 1, 1, WIDTH] };
    const v = { data: sets.values, shape: [BATCH, 1, OBSERVATIONS, 1] };
    const saved = qkv.attention(queries, k, v, { returnLse: true });
    const d = saved.output.data.map((estimate, i) => (2 * (estimate - sets.truth[i]!)) / BATCH);
    const dOutput = { data: d, shape: [BATCH, 1, 1, 1] };
    const { dq, dk } = qkv.attentionBackward(dOutput, queries, k, v, saved);
    const dQuery = new Float32Array(WIDTH);
    dq.data.forEach((g, i) => (dQuery[i % WIDTH]! += g));
    const { dw } = qkv.linearBackward(dk, x, this.#keys);
    this.#step++;
    // Falls to nothing, so that the noise of batches does, too.
    const rate = RATE * 0.5 * (1 + Math.cos((Math.PI * this.#step) / STEPS));
    this.#adams[0].move(this.#query, dQuery, rate);
    this.#adams[1].move(this.#keys.data, dw.data, rate);
  }

  /** The weights of one observation of each level: what attention makes of the rows of the identity. */
  #weights(): number[] {
    const n = LEVELS.length;
    const one = Float32Array.from({ length: n * n }, (_, i) => Number(i % (n + 1) === 0));
    const each = { data: one, shape: [1, 1, n, n] };
    const k = this.#qkv.linear(each, this.#keys);
    const q = { data: this.#query, shape: [1, 1, 1, WIDTH] };
    const { output } = this.#qkv.attention(q, k, each, { returnLse: true });
    return [...output.data];
  }

  news(): NoiseNews {
    const learned = this.#weights();
    const precision = LEVELS.map((sigma) => 1 / sigma ** 2);
    const total = precision.reduce((a, b) => a + b);
    const optimal = precision.map((each) => each / total);
    const errors = {
      learned: errorOf(this.#judged, learned),
      optimal: errorOf(this.#judged, optimal),
      mean: errorOf(
        this.#judged,
        LEVELS.map(() => 1),
      ),
    };
    return { step: this.#step, done: this.done, learned, optimal, errors };
  }
}
