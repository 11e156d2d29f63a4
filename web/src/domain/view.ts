import type { Show } from './choices';

/** What of the layer is on the screen. */
export interface ViewRequest {
  readonly head: number;
  readonly other: number | null;
  readonly show: Show;
  /** The selected query; -1 without tokens. */
  readonly query: number;
  /** The row under the crosshair of the map, or the selected query; -1 without tokens. */
  readonly described: number;
  /** Whether the page wants all weights of the shown head, as far as they are few. */
  readonly matrix: boolean;
  /** Whether the page shows effective ranks. */
  readonly ranks: boolean;
  /** Whether a hand is on the temperature: of many tokens, some rows then stand for all, until it rests. */
  readonly dragging: boolean;
}
