/**
 * The panels, in the order of the page. Each is a section with this id, made of the texts `<id>.title`
 * and `<id>.intro` and the element `qkv-panel-<id>`; load.ts says where its code is. What is not here is
 * not on the page.
 */
export const PANEL_IDS = [
  'map',
  'row',
  'temperature',
  'scale',
  'masks',
  'positions',
  'checks',
  'use',
] as const;
export type PanelId = (typeof PANEL_IDS)[number];
