// The run whose hash tests/core/train/language_model_test.cpp has, for Node and for pages: three models, two hundred steps each,
// with dropout.

const mask = (1n << 64n) - 1n;

/** SplitMix64 (Steele, Lea & Flood 2014), as tests/support/cpp/random.hpp has it. */
class Random {
  #state;
  constructor(seed) {
    this.#state = BigInt(seed);
  }
  next() {
    this.#state = (this.#state + 0x9e3779b97f4a7c15n) & mask;
    let z = this.#state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask;
    return z ^ (z >> 31n);
  }
  below = (n) => Number(this.next() % BigInt(n));
  chance = (probability) => Number(this.next() >> 11n) * 2 ** -53 < probability;
}

/** Rows of random tokens with random targets, some of which do not count. */
function tokens({ vocabulary }, batch, length, seed) {
  const random = new Random(seed);
  const [ids, targets] = [[], []];
  for (let i = 0; i < batch * length; ++i) {
    ids.push(random.below(vocabulary));
    targets.push(random.chance(0.2) ? -1 : random.below(vocabulary));
  }
  targets[0] = 0;
  return { ids, targets, batch };
}

const base = {
  vocabulary: 11,
  numLayers: 2,
  dModel: 12,
  numHeads: 3,
  dFeedForward: 20,
  maxLength: 16,
};
export const configs = [
  {
    ...{ ...base, numHeads: 4, numKvHeads: 2, dK: 6, normType: 'rms', activation: 'swiglu' },
    ...{ positions: 'rotary', qkNorm: true, tiedEmbeddings: true, epsilon: 1e-6 },
  },
  {
    ...{ ...base, parallelResidual: true, dK: 8, activation: 'geglu', positions: 'rotary' },
    ...{ rotary: { rotaryDim: 4, interleaved: true }, embeddingScale: 3 },
  },
  {
    ...{ ...base, dFeedForward: 0, numHeads: 4, positions: 'alibi', window: 3 },
    ...{ attentionSoftcap: 2, biases: false, qkNorm: true },
  },
];

export const options = {
  ...{ seed: 5, dropout: 0.1, deviation: 0.1 },
  learningRate: { peak: 1e-2, warmup: 10, steps: 200, final: 1e-3 },
};

/** Trains until so many steps are made. */
export function trainUntil(trainer, steps) {
  while (trainer.steps < steps)
    trainer.step(tokens(trainer.model.config, 4, 16, trainer.steps % 7));
}

/** FNV-1a over bytes, 64 bits as two numbers of 32, as tests/support/cpp/hash.hpp has it. */
export class Hash {
  #low = 0x84222325;
  #high = 0xcbf29ce4;
  add(bytes) {
    for (const byte of bytes) {
      const low = (this.#low ^ byte) >>> 0;
      // Times 2^40 + 0x1b3, modulo 2^64.
      const product = low * 0x1b3;
      const carried = Math.floor(product / 2 ** 32);
      this.#high = (Math.imul(this.#high, 0x1b3) + carried + low * 2 ** 8) >>> 0;
      this.#low = product >>> 0;
    }
  }
  get hex() {
    return [this.#high, this.#low].map((half) => half.toString(16).padStart(8, '0')).join('');
  }
}

/** The hash of weights, moments and steps of all three after so many steps. A file has each array, and then its moments. */
export function hashAfter(engine, steps) {
  const hash = new Hash();
  for (const config of configs) {
    const trainer = engine.languageModel(config, options);
    trainUntil(trainer, steps);
    const file = trainer.save({ optimizer: true });
    const header = Number(new DataView(file.buffer).getBigUint64(0, true));
    hash.add(file.subarray(8 + header));
    hash.add(new Uint8Array(Float32Array.of(trainer.steps).buffer));
    trainer.dispose();
  }
  return hash.hex;
}

/** What the native test has a number for. */
export const run200 = (engine) => hashAfter(engine, 200);
