import type { LensGrid } from '../shared/protocol';
import type { Opened } from './open_model';

/** Tokens that go through the model at once: a frame does not wait longer than for these. */
const AT_ONCE = 16;

/** The likeliest token after each layer at every token, by the package's lens; the text goes through a session in pieces. */
export function* lensGrid(
  { model, info, label }: Opened,
  ids: readonly number[],
): Generator<undefined, LensGrid | null> {
  if (!info.speaks || ids.length === 0) return null;
  const layers: LensGrid['layers'][number][] = Array.from({ length: info.numLayers }, () => []);
  const session = model.session({ capacity: ids.length });
  try {
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const guesses = model.lens(ids.slice(from, from + AT_ONCE), { top: 1, session });
      guesses.forEach((tokens, layer) => {
        const guesses = tokens.flatMap(([guess]) => (guess ? [guess] : []));
        const cells = guesses.map(({ id, probability }) => ({
          id,
          label: label(id),
          p: probability,
        }));
        layers[layer] = [...(layers[layer] ?? []), ...cells];
      });
      yield;
    }
  } finally {
    session.dispose();
  }
  return { layers };
}
