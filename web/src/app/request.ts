import type { Mask } from '../domain/choices';
import type { LayerRequest } from '../domain/layer';
import { headCount, shownHead, type ModelHeads } from '../domain/sources';
import type { ViewRequest } from '../domain/view';
import type { Size } from '../domain/pixels';
import { COMPUTED_IDS, type PanelRequests } from '../features/computed';
import { FEATURES, type PanelId } from '../features/index';
import type { State } from '../state/state';
import type { FrameRequest } from '../worker/protocol';

/** What of the page is on the screen, and where hands are. */
export interface Visible {
  /** The selected query; -1 without tokens. */
  readonly query: number;
  /** The row under the crosshair of the map; null: the query. */
  readonly described: number | null;
  /** Whether a hand is on the temperature. */
  readonly dragging: boolean;
  /** Whether a panel is on the screen, and its code there. */
  readonly sees: (id: PanelId) => boolean;
  readonly surfaces: Readonly<Record<string, Size>>;
  readonly ratio: number;
  /** What the trained model reads, its heads and its own mask; null: none is loaded. */
  readonly trained?: {
    readonly text: LayerRequest['trained'];
    readonly heads: ModelHeads | null;
    readonly mask: Mask;
  };
}

/** What is requested of the worker: the page, the build and the tests make it with this one function. */
export function requestOf(state: State, tokens: readonly string[], visible: Visible): FrameRequest {
  return {
    layer: layerOf(state, tokens, visible),
    view: viewOf(state, tokens.length, visible),
    ...panelsOf(state, visible),
    surfaces: visible.surfaces,
    ratio: visible.ratio,
  };
}

function layerOf(state: State, tokens: readonly string[], visible: Visible): LayerRequest {
  const { source, seed, positions, temperature, numbers } = state;
  const learned = source === 'trained' ? visible.trained : undefined;
  return {
    ...{ tokens, source, seed, positions, temperature, numbers },
    mask: learned?.mask ?? state.mask,
    trained: learned?.text ?? null,
    trainedHeads: learned?.heads ?? null,
  };
}

function viewOf(
  { source, head, other, look, show, order }: State,
  count: number,
  visible: Visible,
): ViewRequest {
  const { query, described, dragging } = visible;
  const all = { source, trainedHeads: visible.trained?.heads ?? null };
  const heads = headCount(all);
  const arcs = look === 'arcs';
  return {
    head: shownHead(head, all),
    other: other === null || other >= heads || other === head || arcs ? null : other,
    show: arcs ? 'weights' : show,
    query,
    described: Math.min(described ?? query, count - 1),
    matrix: arcs,
    ranks: order === 'rank',
    dragging,
  };
}

/** Of panels that are on the screen what they ask, of the others null. */
function panelsOf(state: State, { sees }: Visible): PanelRequests {
  const requests = COMPUTED_IDS.map((id) => [id, sees(id) ? FEATURES[id].request(state) : null]);
  return Object.fromEntries(requests) as PanelRequests;
}
