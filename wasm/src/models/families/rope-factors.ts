// The scaling of Llama 3 in GGUF files: what the converter made of it, one factor for each pair, from which its numbers are
// found again.

import type { LanguageModelConfig } from '../../api/model-config.js';
import { headWidth } from '../config.js';
import { refuse, refuseUnsupported } from '../errors.js';

export const ropeFactors = 'rope_freqs.weight';

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
  const { base = 10_000, rotaryDim = headWidth(config) } = config.rotary ?? {};
  if (factors.length !== rotaryDim / 2)
    refuse(`${ropeFactors} is [${factors.length}]`, `[${rotaryDim / 2}]`);
  const factor = factors.reduce((most, each) => Math.max(most, each), 1);
  if (factor === 1 && factors.every((each) => each === 1)) return config;
  if (config.rotary?.scaling)
    refuseUnsupported(`${ropeFactors} is there and so is another scaling`, 'one of the two');
  const isUsual = factors.every((each, i) => {
    const expected = factorOf(base ** ((-2 * i) / rotaryDim), factor);
    return Math.abs(each / expected - 1) < 1e-4;
  });
  if (!isUsual) refuseUnsupported(`${ropeFactors} has other factors`, 'those of Llama 3.1');
  return { ...config, rotary: { ...config.rotary, scaling: { ...usual, factor } } };
}
