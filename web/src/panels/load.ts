import type { PanelId } from './table';

/** Fetches the code of a panel; that of the map, which is in the first view, is in the main script. */
export const LOAD: Readonly<Record<PanelId, () => Promise<unknown>>> = {
  map: () => Promise.resolve(),
  row: () => import('./row/panel'),
  temperature: () => import('./temperature/panel'),
  scale: () => import('./scale/panel'),
  masks: () => import('./masks/panel'),
  positions: () => import('./positions/panel'),
  checks: () => import('./readings'),
  use: () => import('./usage'),
};
