import { entropyOf, softmaxOf } from '../../../domain/softmax';
import { worse } from '../../../domain/nan_max';
import type { Qkv } from 'qkv';
import type { FrameFeature, Workbench } from '../../../engine/frame_feature';
import { BINS, KEYS, REACH, ROWS, WIDTHS } from '../shared/constants';
import { hashText, normals } from '../../../engine/random';

/** Scores of one width, either q.k or q.k / sqrt(d). */
export interface Spread {
  /** Over all scores, about their mean. */
  readonly variance: number;
  /** Mean over the rows of the entropy of their softmax, in nats, and the standard error of that mean. */
  readonly entropy: number;
  readonly entropyError: number;
  /** [BINS] over -REACH to REACH standard deviations sqrt(d), or 1; what is beyond is in no bin. */
  readonly counts: readonly number[];
}

export interface WidthResult {
  readonly width: number;
  readonly plain: Spread;
  readonly scaled: Spread;
}

export interface WidthStudy {
  readonly sample: number;
  /** The widths that are done, in their order. */
  readonly results: readonly WidthResult[];
  readonly complete: boolean;
  /** Largest |difference| from float64: of a score, as a share of sqrt(d), and of an entropy in nats. */
  readonly error: { readonly scores: number; readonly entropy: number };
}

/** Adds up rows of scores and their entropies. */
class Tally {
  readonly #counts = new Array<number>(BINS).fill(0);
  readonly #deviation: number;
  #sum = 0;
  #squares = 0;
  #entropies: number[] = [];

  /** `deviation`: the standard deviation that the bins are made for. */
  constructor(deviation: number) {
    this.#deviation = deviation;
  }

  add(scores: Float32Array, entropy: number): void {
    for (const score of scores) {
      this.#sum += score;
      this.#squares += score * score;
      const bin = Math.floor(((score / this.#deviation + REACH) * BINS) / (2 * REACH));
      if (bin >= 0 && bin < BINS) this.#counts[bin]! += 1;
    }
    this.#entropies.push(entropy);
  }

  spread(): Spread {
    const rows = this.#entropies.length;
    const mean = this.#sum / (rows * KEYS);
    const entropy = this.#entropies.reduce((a, b) => a + b, 0) / rows;
    const off = this.#entropies.reduce((sum, h) => sum + (h - entropy) ** 2, 0);
    return {
      variance: this.#squares / (rows * KEYS) - mean * mean,
      entropy,
      entropyError: Math.sqrt(off / (rows - 1) / rows),
      counts: this.#counts,
    };
  }
}

/** q.k of every key in float64. */
function exactProducts(q: Float32Array, k: Float32Array): Float64Array {
  const products = new Float64Array(KEYS);
  for (let j = 0, at = 0; j < KEYS; j++) {
    let dot = 0;
    for (let c = 0; c < q.length; c++, at++) dot += q[c]! * k[at]!;
    products[j] = dot;
  }
  return products;
}

/** One query and its keys: scores and entropy, by the core. */
function coreRow(qkv: Qkv, q: Float32Array, k: Float32Array, scale: number) {
  const width = q.length;
  const { logits, entropy } = qkv.attention(
    { data: q, shape: [1, 1, 1, width] },
    { data: k, shape: [1, 1, KEYS, width] },
    { data: new Float32Array(KEYS), shape: [1, 1, KEYS, 1] },
    { scale, returnLogits: 'raw', returnEntropy: true },
  );
  if (!logits || !entropy) throw new Error('attention left out logits or entropy');
  return { scores: logits.data, entropy: entropy.data[0]! };
}

/**
 * Random queries and keys of every width. Each query has keys of its own, so that rows are independent.
 * Yields after each row, and what is done after each width.
 */
export function* widthStudy(
  qkv: Qkv,
  sample: number,
): Generator<WidthStudy | undefined, undefined> {
  const results: WidthResult[] = [];
  const error = { scores: 0, entropy: 0 };
  for (const width of WIDTHS) {
    const fill = normals(hashText(`width ${width}`, sample));
    const [q, k] = [new Float32Array(width), new Float32Array(KEYS * width)];
    const deviation = Math.sqrt(width);
    const tallies = [
      { tally: new Tally(deviation), scale: 1 },
      { tally: new Tally(1), scale: Math.fround(1 / deviation) },
    ] as const;
    for (let row = 0; row < ROWS; row++) {
      fill(q);
      fill(k);
      const products = exactProducts(q, k);
      for (const { tally, scale } of tallies) {
        const { scores, entropy } = coreRow(qkv, q, k, scale);
        tally.add(scores, entropy);
        const exact = products.map((product) => product * scale);
        scores.forEach((score, j) => {
          const off = Math.abs(score - exact[j]!) / (scale * deviation);
          error.scores = worse(error.scores, off);
        });
        error.entropy = worse(error.entropy, Math.abs(entropy - entropyOf(softmaxOf(exact))));
      }
      yield;
    }
    const [plain, scaled] = tallies;
    results.push({ width, plain: plain.tally.spread(), scaled: scaled.tally.spread() });
    const complete = results.length === WIDTHS.length;
    yield { sample, results: [...results], complete, error: { ...error } };
  }
}

/** Nothing of it is in a frame: the study of a sample goes on beside them. */
export function scaleFrames({ qkv }: Workbench): FrameFeature<number, never, number, WidthStudy> {
  return {
    compute: () => null,
    study: { question: (sample) => sample, begin: (sample) => widthStudy(qkv, sample) },
  };
}
