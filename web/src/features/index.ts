// The panels of the page, in its order. A panel is a folder here, a line of FEATURES, and a test: its section is made of
// the texts `<id>.title` and `<id>.intro` and the element `qkv-panel-<id>`, which load.ts fetches when it comes near.
import type { Field } from '../state/field';
import { blockRequest } from './block/request';
import { blockFields } from './block/state';
import { costFields } from './cost/state';
import { learnFields } from './learn/state';
import { mapFields } from './map/state';
import { masksRequest } from './masks/request';
import { masksFields } from './masks/state';
import { modelFields } from './model/state';
import { pairRequest } from './pair/request';
import { pairFields } from './pair/state';
import { positionsRequest } from './positions/request';
import { positionsFields } from './positions/state';
import { recurrenceFields } from './recurrence/state';
import { rowRequest } from './row/request';
import { rowFields } from './row/state';
import { scaleRequest } from './scale/request';
import { scaleFields } from './scale/state';
import { temperatureRequest } from './temperature/request';
import { temperatureFields } from './temperature/state';

/** What the page knows of a panel before its code is there. */
interface Feature {
  /** Its part of the state, by names that no other panel has. */
  readonly fields: Readonly<Record<string, Field<unknown>>>;
  /** What it asks of the frame worker while it is on the screen; see computed.ts for who answers. */
  readonly request?: (state: never) => unknown;
  /** What its state is when it asks the reader to guess before it shows a result. */
  readonly asks?: Readonly<Record<string, boolean>>;
}

export const FEATURES = {
  map: { fields: mapFields },
  pair: { fields: pairFields, request: pairRequest },
  row: { fields: rowFields, request: rowRequest },
  temperature: { fields: temperatureFields, request: temperatureRequest, asks: { curves: false } },
  scale: { fields: scaleFields, request: scaleRequest, asks: { scaleAsk: true } },
  masks: { fields: masksFields, request: masksRequest, asks: { masksAsk: true } },
  positions: { fields: positionsFields, request: positionsRequest, asks: { positionsAsk: true } },
  block: { fields: blockFields, request: blockRequest },
  recurrence: { fields: recurrenceFields },
  learn: { fields: learnFields },
  model: { fields: modelFields },
  cost: { fields: costFields },
  checks: { fields: {} },
  use: { fields: {} },
} satisfies Readonly<Record<string, Feature>>;

export type PanelId = keyof typeof FEATURES;
export const PANEL_IDS = Object.keys(FEATURES) as readonly PanelId[];

/** The state in which a panel asks the reader to guess first; empty: it never does. */
export function asksOf(id: PanelId): Readonly<Record<string, boolean>> {
  const feature: Feature = FEATURES[id];
  return feature.asks ?? {};
}
