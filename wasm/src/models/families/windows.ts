// Which keys a token reads besides its own: windows of the layers, as files say them.

import type { LanguageModelConfig } from '../../api/model-config.js';
import { describe } from '../../arguments/values.js';
import { refuse, refuseUnsupported } from '../errors.js';
import type { Fields } from '../fields.js';
import type { Sizes } from './sizes.js';

type Window = Pick<LanguageModelConfig, 'window'>;

/** Which layers have a window where `layer_types` does not say it; undefined for none in this file. */
export type Slides = (fields: Fields) => ((layer: number) => boolean) | undefined;

/** A list for all layers, or what it says of each where that is the same. */
export function windowOf(window: number, slides: readonly boolean[]): Window {
  if (!slides.includes(true)) return {};
  // The width of a window has the query's own key in it.
  return {
    window: slides.includes(false) ? slides.map((does) => (does ? window - 1 : null)) : window - 1,
  };
}

/** The kinds of the layers, where the file tells them. */
function layerTypes(fields: Fields, layers: number): readonly unknown[] | undefined {
  const path = fields.pathOf('layer_types');
  const types = fields.list('layer_types');
  if (types && types.length !== layers) refuse(`${path} has ${types.length} layers`, `${layers}`);
  const known = ['sliding_attention', 'full_attention'];
  const other = types?.find((type) => !known.includes(type as string));
  if (other !== undefined) refuseUnsupported(`${path} has ${describe(other)}`, known.join(', '));
  return types;
}

/** Of config.json: windows of the layers that it names, or else that the family has. */
export function hubWindow(
  fields: Fields,
  layers: number,
  family?: Slides,
  // The default of transformers, whose files leave defaults out.
  [width, fallback]: readonly [string, number] = ['sliding_window', 4096],
): Window {
  const types = layerTypes(fields, layers);
  const slides = family?.(fields);
  const isUsed = family !== undefined || fields.flag('use_sliding_window', true);
  if (!slides || fields.isNull(width)) {
    // Of layers that slide nobody has said how far.
    if (types?.includes('sliding_attention'))
      refuseUnsupported(`${fields.pathOf('layer_types')} has "sliding_attention"`, 'a window');
    if (!family && isUsed) fields.only(width);
    return {};
  }
  const all = Array.from({ length: layers }, (_, i) =>
    types ? types[i] === 'sliding_attention' : slides(i),
  );
  return windowOf(fields.count(width, fallback), all);
}

/** Of GGUF: `slides` are the layers of the family that have a window where no pattern says it. */
export function ggufWindow(
  fields: Fields,
  { numLayers, maxLength }: Sizes,
  slides: ((layer: number, period?: number) => boolean) | undefined,
  isNeeded = false,
): Window {
  const [width, pattern] = ['attention.sliding_window', 'attention.sliding_window_pattern'];
  const window = isNeeded ? fields.count(width) : fields.count(width, 0, 0);
  // A list for all layers, or how often one has none.
  const period =
    slides && typeof fields.get(pattern) === 'number' ? fields.count(pattern) : undefined;
  const said =
    period === undefined ? fields.list(pattern)?.map((does) => Boolean(does)) : undefined;
  if (said && said.length !== numLayers)
    refuse(`${fields.pathOf(pattern)} has ${said.length} layers`, `${numLayers}`);
  // A row has no key that is further away than the window.
  if (window === 0 || (window >= maxLength && !isNeeded)) return {};
  if (!said && !slides) fields.only(width, 0);
  return windowOf(
    window,
    said ?? Array.from({ length: numLayers }, (_, i) => !!slides?.(i, period)),
  );
}
