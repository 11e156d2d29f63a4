import type { FrameRequest } from './engine/protocol';
import { headCount } from './engine/sources';
import type { Size } from './engine/surface';
import type { PanelId } from './panels/table';
import type { State } from './state';

/** What of the page is on the screen, and where hands are. */
export interface Seen {
  /** The selected query; -1 without tokens. */
  readonly query: number;
  /** The row under the crosshair of the map; null: the query. */
  readonly told: number | null;
  /** Whether a hand is on the temperature. */
  readonly dragging: boolean;
  readonly sees: (id: PanelId) => boolean;
  readonly surfaces: Readonly<Record<string, Size>>;
  readonly ratio: number;
}

/** What the worker is asked for: the page, the build and the tests ask with this one function. */
export function requestOf(state: State, tokens: readonly string[], seen: Seen): FrameRequest {
  const { source, seed, positions, mask, temperature, numbers, head, other } = state;
  const { maskKind, maskSize, maskPaint, maskShuffle } = state;
  const { layout, position, scheme, rotaryQ, rotaryK } = state;
  const { query, surfaces } = seen;
  const heads = headCount(source);
  const arcs = state.look === 'arcs';
  return {
    layer: { tokens, source, seed, positions, mask, temperature, numbers },
    view: {
      head: Math.min(head, heads - 1),
      other: other === null || other >= heads || other === head || arcs ? null : other,
      show: arcs ? 'weights' : state.show,
      query,
      told: Math.min(seen.told ?? query, tokens.length - 1),
      matrix: arcs,
      dragging: seen.dragging,
    },
    shift: state.shift,
    row: seen.sees('row') ? rowOf(state) : null,
    studies: {
      temperature: seen.sees('temperature') ? state.scores : null,
      widths: seen.sees('scale') ? state.sample : null,
    },
    // Their pictures are asked for while they are on the screen, and so are their numbers.
    masks: surfaces['masks'] ? { maskKind, maskSize, maskPaint, maskShuffle } : null,
    positions: surfaces['scheme'] ? { position, scheme, rotaryQ, rotaryK, seed } : null,
    layout,
    surfaces,
    ratio: seen.ratio,
  };
}

function rowOf({ numbers, rowQuery, rowMasked, rowScale, rowMax }: State): FrameRequest['row'] {
  return { numbers, query: rowQuery, masked: rowMasked, scale: rowScale, subtractMax: rowMax };
}
