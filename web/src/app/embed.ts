import { PANEL_IDS, type PanelId } from '../features/index';
import { find } from '../ui/dom';

/** Whether the page stands in a frame of another one, with a panel or a lesson. */
export const isEmbedded = (): boolean => new URLSearchParams(location.search).has('embed');

/** A lesson in a frame needs nothing of the page around it. */
export function showLesson(): void {
  document.documentElement.dataset['embed'] = 'lesson';
}

/** The panel that is embedded, if this page is one alone. */
export function embedded(): PanelId | null {
  const wanted = new URLSearchParams(location.search).get('embed');
  return PANEL_IDS.find((id) => id === wanted) ?? null;
}

/** What stands around the panels. */
const AROUND = '.chapter, .laboratory-opener, .contents';

/** Leaves nothing on the page but one panel, and what it cannot do without. */
export function showAlone(alone: PanelId): void {
  document.documentElement.dataset['embed'] = alone;
  for (const id of PANEL_IDS) if (id !== alone) find(document, `#${id}`, HTMLElement).remove();
  for (const part of document.querySelectorAll(AROUND)) part.remove();
}
