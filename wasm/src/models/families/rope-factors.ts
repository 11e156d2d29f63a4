// Scalings in GGUF files that are a factor for each pair: those of Phi-3, and what the converter made of that of Llama 3, from which
// its numbers are found again.

import type { LanguageModelConfig, LongRopeScaling, ModelRotary } from '../../api/model-config.js';
import { headWidth } from '../config.js';
import { refuse, refuseUnsupported } from '../errors.js';

export const ropeFactors = 'rope_freqs.weight';
export const [shortFactors, longFactors] = [
  'rope_factors_short.weight',
  'rope_factors_long.weight',
] as const;

/** What Llama 3.1 to 3.3 have. */
const usual = {
  type: 'llama3',
  lowFrequencyFactor: 1,
  highFrequencyFactor: 4,
  originalLength: 8192,
} as const;

/** What the frequency of a pair, radians per token, is divided by. */
function factorOf(frequency: number, factor: number): number {
  const { lowFrequencyFactor: low, highFrequencyFactor: high, originalLength } = usual;
  const turns = (originalLength * frequency) / (2 * Math.PI);
  if (turns > high) return 1;
  if (turns < low) return factor;
  const smooth = (turns - low) / (high - low);
  return 1 / ((1 - smooth) / factor + smooth);
}

/** A config with the scaling that these factors are of. */
export function withRopeFactors(
  config: LanguageModelConfig,
  factors: Float32Array,
): LanguageModelConfig {
  const rotary = config.rotary as ModelRotary | undefined;
  const { base = 10_000, rotaryDim = headWidth(config) } = rotary ?? {};
  if (factors.length !== rotaryDim / 2)
    refuse(`${ropeFactors} is [${factors.length}]`, `[${rotaryDim / 2}]`);
  const factor = factors.reduce((most, each) => Math.max(most, each), 1);
  if (factor === 1 && factors.every((each) => each === 1)) return config;
  if (rotary?.scaling)
    refuseUnsupported(`${ropeFactors} is there and so is another scaling`, 'one of the two');
  const isUsual = factors.every((each, i) => {
    const expected = factorOf(base ** ((-2 * i) / rotaryDim), factor);
    return Math.abs(each / expected - 1) < 1e-4;
  });
  if (!isUsual) refuseUnsupported(`${ropeFactors} has other factors`, 'those of Llama 3.1');
  return { ...config, rotary: { ...rotary, scaling: { ...usual, factor } } };
}

/** A config of which the factors were to be read. */
export function withLongFactors(
  config: LanguageModelConfig,
  short: Float32Array,
  long: Float32Array,
): LanguageModelConfig {
  const { rotaryDim = headWidth(config), ...rotary } = config.rotary as ModelRotary;
  for (const [name, factors] of [
    [shortFactors, short],
    [longFactors, long],
  ] as const) {
    if (factors.length !== rotaryDim / 2)
      refuse(`${name} is [${factors.length}]`, `[${rotaryDim / 2}]`);
  }
  const lists = { shortFactors: Array.from(short), longFactors: Array.from(long) };
  const scaling = { ...(rotary.scaling as LongRopeScaling), ...lists };
  return { ...config, rotary: { ...(config.rotary as ModelRotary), scaling } };
}
