// Whether a token reads those after it.

import type { LanguageModelConfig } from '../../api/model-config.js';
import { refuseUnsupported } from '../errors.js';

/** A decoder that was trained on as an encoder says so; of windows to both sides nothing here knows. */
export function withDirection<T extends LanguageModelConfig>(
  config: T,
  isCausal: boolean,
  name: string,
): T {
  if (isCausal === (config.causal ?? true)) return config;
  if (config.window !== undefined)
    refuseUnsupported(`${name} is ${isCausal} and there are windows`, 'one of the two');
  return { ...config, causal: isCausal };
}
