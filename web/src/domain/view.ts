import type { Show } from './choices';

/** What of the layer is on the screen. */
export interface ViewRequest {
  readonly head: number;
  readonly other: number | null;
  readonly show: Show;
  /** The selected query, and the row and column under the crosshair; -1 without tokens. */
  readonly query: number;
  readonly told: number;
  /** Whether the page wants all weights of the shown head, as far as they are few. */
  readonly matrix: boolean;
  /** Whether the page shows effective ranks. */
  readonly ranks: boolean;
  /** Whether a hand is on the temperature: of many tokens, some rows then stand for all, until it rests. */
  readonly dragging: boolean;
}
