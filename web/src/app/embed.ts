import { PANEL_IDS, type PanelId } from '../features/index';
import { find } from '../ui/dom';

/** The panel that is embedded, if this page is one alone. */
export function embedded(): PanelId | null {
  const wanted = new URLSearchParams(location.search).get('embed');
  return PANEL_IDS.find((id) => id === wanted) ?? null;
}

/** Leaves nothing on the page but one panel, and what it cannot do without. */
export function showAlone(alone: PanelId): void {
  document.documentElement.dataset['embed'] = alone;
  for (const id of PANEL_IDS) if (id !== alone) find(document, `#${id}`, HTMLElement).remove();
}
