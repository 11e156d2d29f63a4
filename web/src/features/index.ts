// The panels of the page, in its order; chapters/index.ts says in which chapter each stands. A panel is
// a folder here, its name below, and a test: its section is made of the texts
// `<id>.title` and `<id>.intro` and the element `qkv-panel-<id>`, which load.ts fetches when it comes near.
import { block } from './block/feature';
import { bounds } from './bounds/feature';
import { checks } from './checks/feature';
import { cost } from './cost/feature';
import { extrapolation } from './extrapolation/feature';
import { fragility } from './fragility/feature';
import type { Feature } from './feature';
import { flow } from './flow/feature';
import { learn } from './learn/feature';
import { lookup } from './lookup/feature';
import { linear } from './linear/feature';
import { map } from './map/feature';
import { masks } from './masks/feature';
import { microscope } from './microscope/feature';
import { model } from './model/feature';
import { pair } from './pair/feature';
import { positions } from './positions/feature';
import { recurrence } from './recurrence/feature';
import { row } from './row/feature';
import { scale } from './scale/feature';
import { simplex } from './simplex/feature';
import { temperature } from './temperature/feature';
import { use } from './use/feature';
import { words } from './words/feature';

export const FEATURES = {
  lookup,
  map,
  flow,
  pair,
  row,
  temperature,
  scale,
  masks,
  positions,
  extrapolation,
  block,
  recurrence,
  words,
  learn,
  model,
  microscope,
  cost,
  linear,
  simplex,
  fragility,
  bounds,
  checks,
  use,
} satisfies Readonly<Record<string, Feature>>;

export type PanelId = keyof typeof FEATURES;
export const PANEL_IDS = Object.keys(FEATURES) as readonly PanelId[];

/** The state in which a panel asks the reader to guess first; empty: it never does. */
export function asksOf(id: PanelId): Readonly<Record<string, boolean>> {
  const feature: Feature = FEATURES[id];
  return feature.asks ?? {};
}
