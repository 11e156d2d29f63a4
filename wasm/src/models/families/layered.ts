// What differs from layer to layer by the kind of the layer: rotations, and how far a window reaches.

import type { LanguageModelConfig, ModelRotary } from '../../api/model-config.js';
import { refuseUnsupported } from '../errors.js';

/** What turns q and k of a layer: nothing, the rotation of the model, or that of layers with a window. */
export type Turn = 'none' | 'full' | 'local';

/** A config of which one rotation is known so far. */
export type Unturned = Omit<LanguageModelConfig, 'rotary'> & {
  readonly rotary?: ModelRotary | undefined;
};

/** Layers with a window have the rotation of those. */
export const turnsByWindow = ({ window, numLayers }: Unturned): Turn[] =>
  Array.from({ length: numLayers }, (_, i) => {
    const keys = Array.isArray(window) ? (window as (number | null)[])[i] : window;
    return (keys ?? null) === null ? 'full' : 'local';
  });

/** A config with a rotation for each layer, unless all are turned by that of the model. */
export function withTurns<T extends Unturned>(
  config: T,
  turns: readonly Turn[] | undefined,
  local?: ModelRotary,
): Omit<T, 'rotary'> & Pick<LanguageModelConfig, 'rotary'> {
  if (!turns || !config.rotary || turns.every((turn) => turn === 'full')) return config;
  const kinds = { none: null, full: config.rotary, local: local ?? config.rotary };
  return { ...config, rotary: turns.map((turn) => kinds[turn]) };
}

/** Of windows to both sides files say the width of both together. */
export function withBothSides<T extends Unturned>(config: T): T {
  if (!config.symmetricWindow) return config;
  const half = (keys: number | null): number | null =>
    keys === null ? null : Math.floor((keys + 1) / 2);
  const { window } = config;
  if (window === undefined || window === null) return config;
  return { ...config, window: typeof window === 'number' ? half(window) : window.map(half) };
}

/** A decoder that was trained on as an encoder says so; whether windows reach to both sides then is not known. */
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
