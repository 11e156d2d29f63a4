/** The sizes that the cost of a model follows from. */
export interface Shape {
  readonly tokens: number;
  readonly dModel: number;
  readonly numHeads: number;
  readonly numKvHeads: number;
  readonly dK: number;
  readonly dFeedForward: number;
  readonly layers: number;
  readonly vocabulary: number;
  /** Tables of vocabulary x dModel: one where logits are products with the embedding, else two. */
  readonly tables: number;
  /** Of one number in memory. */
  readonly bytes: number;
  /** Whether the feed-forward layer has a third matrix, for its gate. */
  readonly gated: boolean;
  /** Whether a token reads only itself and those before it. */
  readonly causal: boolean;
}

type Sizes = Omit<Shape, 'gated' | 'causal'>;
const SIZES = [
  ...['tokens', 'dModel', 'numHeads', 'numKvHeads', 'dK', 'dFeedForward'],
  ...['layers', 'vocabulary', 'tables', 'bytes'],
] as readonly (keyof Sizes)[];

export const SHAPE_LIMITS: Readonly<Record<keyof Sizes, readonly [low: number, high: number]>> = {
  tokens: [1, 1048576],
  dModel: [1, 65536],
  numHeads: [1, 256],
  numKvHeads: [1, 256],
  dK: [1, 1024],
  dFeedForward: [0, 262144],
  layers: [1, 256],
  vocabulary: [0, 1048576],
  tables: [0, 2],
  bytes: [0.5, 8],
};

/** Of one number: float32, bfloat16 or float16, int8, int4. */
export const NUMBER_BYTES = [4, 2, 1, 0.5] as const;

export const PRESET_IDS = ['page', 'gpt2', 'gpt2xl', 'llama8', 'llama70'] as const;
export type PresetId = (typeof PRESET_IDS)[number];

const GPT = { bytes: 2, gated: false, causal: true, vocabulary: 50257, tables: 1 };
const LLAMA = { ...GPT, numKvHeads: 8, dK: 128, gated: true, vocabulary: 128256, tables: 2 };

/**
 * The page's own layer of heads built by hand, and models as their papers describe them: GPT-2 (Radford et al. 2019, table 2)
 * and Llama 3 (Grattafiori et al. 2024, table 3; 8B and 70B; the vocabulary is that of the published files). T is the context
 * that most of their training had.
 */
export const PRESETS: Readonly<Record<PresetId, Shape>> = {
  page: {
    ...{ tokens: 11, dModel: 64, numHeads: 6, numKvHeads: 6, dK: 16, dFeedForward: 0 },
    ...{ layers: 1, vocabulary: 0, tables: 0, bytes: 4, gated: false, causal: true },
  },
  gpt2: {
    ...{ ...GPT, tokens: 1024, dModel: 768, numHeads: 12, numKvHeads: 12, dK: 64 },
    ...{ dFeedForward: 3072, layers: 12 },
  },
  gpt2xl: {
    ...{ ...GPT, tokens: 1024, dModel: 1600, numHeads: 25, numKvHeads: 25, dK: 64 },
    ...{ dFeedForward: 6400, layers: 48 },
  },
  llama8: {
    ...{ ...LLAMA, tokens: 8192, dModel: 4096, numHeads: 32, dFeedForward: 14336, layers: 32 },
  },
  llama70: {
    ...{ ...LLAMA, tokens: 8192, dModel: 8192, numHeads: 64, dFeedForward: 28672, layers: 80 },
  },
};

/** The largest divisor of `heads` that is at most `wanted`, since query heads share key heads evenly. */
function divisorBelow(heads: number, wanted: number): number {
  let kv = Math.min(heads, wanted);
  while (heads % kv !== 0) kv--;
  return kv;
}

/** The nearest shape that can be counted: whole numbers within SHAPE_LIMITS (`bytes` may be a fraction), key heads that divide the heads. */
export function cleanShape(shape: Shape): Shape {
  const cleaned = Object.fromEntries(
    SIZES.map((name) => {
      const [low, high] = SHAPE_LIMITS[name];
      const value = name === 'bytes' ? shape[name] : Math.round(shape[name]);
      return [name, Math.min(high, Math.max(low, value))];
    }),
  ) as unknown as Sizes;
  const numKvHeads = divisorBelow(cleaned.numHeads, cleaned.numKvHeads);
  return { ...cleaned, numKvHeads, gated: shape.gated, causal: shape.causal };
}

export function sameShape(a: Shape, b: Shape): boolean {
  return writeShape(a) === writeShape(b);
}

/** Sizes with hyphens between them, then a letter each for the gate and the mask. */
export function writeShape(shape: Shape): string {
  const flags = `${shape.gated ? 'g' : ''}${shape.causal ? 'c' : ''}`;
  return [...SIZES.map((name) => shape[name]), flags].join('-');
}

export function readShape(raw: string): Shape | undefined {
  const parts = raw.split('-');
  const flags = parts[SIZES.length];
  const numbers = parts.slice(0, SIZES.length).map((part) => (part === '' ? NaN : Number(part)));
  if (parts.length !== SIZES.length + 1 || numbers.some((value) => !Number.isFinite(value))) return;
  const sizes = Object.fromEntries(SIZES.map((name, i) => [name, numbers[i]])) as unknown as Sizes;
  const [gated, causal] = ['g', 'c'].map((flag) => flags?.includes(flag) ?? false);
  return cleanShape({ ...sizes, gated: gated ?? false, causal: causal ?? false });
}
