import type { Model } from '../domain/model';
import type { Qkv } from 'qkv';
import { asksForAnimal, isAnimal } from '../domain/animals';
import { hashText, uniform } from './random';
import { CONSTRUCTED, D_K, D_MODEL, type Construction } from '../domain/sources';

// A token is D_MODEL numbers in three fields that do not overlap: its position (the sinusoidal
// encoding of width 16), its name (16 signs, by chance other signs for other words) and two features.
const POSITION = 0;
const POSITION_WIDTH = 16;
const NAME = 16;
const ASKS_FOR_ANIMAL = 32;
const IS_ANIMAL = 33;

function embed(token: string): Float32Array {
  const word = token.toLowerCase();
  const x = new Float32Array(D_MODEL);
  uniform(hashText(`name ${word}`, 0), D_K, 1).forEach((draw, c) => {
    x[NAME + c] = draw < 0 ? -1 / 4 : 1 / 4; // of length 1 in all
  });
  if (asksForAnimal(token)) x[ASKS_FOR_ANIMAL] = 1;
  if (isAnimal(token)) x[IS_ANIMAL] = 1;
  return x;
}

/** The weights of all heads, empty, with a way to write single entries of one head. */
class Weights {
  readonly numHeads = CONSTRUCTED.length;
  readonly #width = this.numHeads * D_K;
  readonly wq = new Float32Array(D_MODEL * this.#width);
  readonly wk = new Float32Array(D_MODEL * this.#width);
  readonly wv = new Float32Array(D_MODEL * this.#width);
  readonly bq = new Float32Array(this.#width);
  readonly wo = new Float32Array(this.#width * D_MODEL);

  /** Input dimension `from` into dimension `to` of a head's query, key or value. */
  connect(matrix: 'wq' | 'wk' | 'wv', head: number, [from, to]: [number, number], gain: number) {
    this[matrix][from * this.#width + head * D_K + to] = gain;
  }

  /** The same for a run of dimensions. */
  copy(matrix: 'wq' | 'wk' | 'wv', head: number, from: number, gain: number) {
    for (let c = 0; c < D_K; c++) this.connect(matrix, head, [from + c, c], gain);
  }
}

type Builder = (weights: Weights, head: number, qkv: Qkv) => void;

// Scores are divided by sqrt(16), so a gain of 4 is worth one unit of the softmax. PE(a).PE(b) is the
// sum of cos((a - b) w) over 8 frequencies: 8 at distance 0, 7.5 at distance 1, 6.4 at distance 2.
const BUILDERS: Readonly<Record<Construction, Builder>> = {
  /** Words that ask for an animal find it by a feature; the others mostly attend to themselves and their neighbours. */
  reference(weights, head) {
    weights.connect('wq', head, [ASKS_FOR_ANIMAL, 0], 36);
    weights.connect('wk', head, [IS_ANIMAL, 0], 1);
    for (let c = 2; c < D_K; c++) {
      weights.connect('wq', head, [POSITION + c - 2, c], 6);
      weights.connect('wk', head, [POSITION + c - 2, c], 1);
    }
  },

  /** q = g M_{-1} PE(i) = g PE(i - 1), k = PE(j). */
  previous(weights, head, qkv) {
    const blocks = qkv.sinusoidalShift(-1, POSITION_WIDTH).data;
    for (let c = 0; c < D_K; c++) {
      const pair = c - (c % 2);
      for (let from = 0; from < 2; from++) {
        const turn = blocks[(c >> 1) * 4 + (c % 2) * 2 + from]!;
        weights.connect('wq', head, [POSITION + pair + from, c], 32 * turn);
      }
    }
    weights.copy('wk', head, POSITION, 1);
  },

  same(weights, head) {
    weights.copy('wq', head, NAME, 40);
    weights.copy('wk', head, NAME, 1);
  },

  /** q = g PE(0) for everyone, by a bias alone. */
  first(weights, head, qkv) {
    const start = qkv.sinusoidalEncoding(1, POSITION_WIDTH).data;
    weights.bq.set(
      start.map((value) => 32 * value),
      head * D_K,
    );
    weights.copy('wk', head, POSITION, 1);
  },

  /** The slower the wave, the more it weighs: together they favour near keys. */
  local(weights, head) {
    [0, 2.5, 6, 10, 20, 20, 20, 20].forEach((gain, pair) => {
      weights.connect('wq', head, [POSITION + 2 * pair, 2 * pair], 4 * gain);
      weights.connect('wq', head, [POSITION + 2 * pair + 1, 2 * pair + 1], 4 * gain);
    });
    weights.copy('wk', head, POSITION, 1);
  },

  /** Every score is 0, so every key weighs the same. */
  mean() {},
};

/** Heads whose weights were not learned but written down, so that what they do can be said. */
export function constructedModel(qkv: Qkv): Model {
  const weights = new Weights();
  CONSTRUCTED.forEach((name, head) => {
    BUILDERS[name](weights, head, qkv);
    weights.copy('wv', head, NAME, 1); // the value is the token's name,
    for (let c = 0; c < D_K; c++) {
      weights.wo[(head * D_K + c) * D_MODEL + NAME + c] = 1 / weights.numHeads; // averaged over heads
    }
  });
  const { numHeads, wq, wk, wv, bq, wo } = weights;
  return { numHeads, wq, wk, wv, bq, wo, positionWidth: POSITION_WIDTH, embed };
}
