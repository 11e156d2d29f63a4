import type { FrameFeature, Workbench } from '../engine/frame_feature';
import { blockFrames } from './block/worker/frame_feature';
import { masksFrames } from './masks/worker/frame_feature';
import { pairFrames } from './pair/worker/frame_feature';
import { positionsFrames } from './positions/worker/frame_feature';
import { rowFrames } from './row/worker/frame_feature';
import { scaleFrames } from './scale/worker/frame_feature';
import { temperatureFrames } from './temperature/worker/frame_feature';

/** The panels that the frame worker computes for, under their names in FEATURES. */
const COMPUTED = {
  pair: pairFrames,
  row: rowFrames,
  temperature: temperatureFrames,
  scale: scaleFrames,
  masks: masksFrames,
  positions: positionsFrames,
  block: blockFrames,
};
export type ComputedId = keyof typeof COMPUTED;
export const COMPUTED_IDS = Object.keys(COMPUTED) as readonly ComputedId[];

type Made<Id extends ComputedId> = ReturnType<(typeof COMPUTED)[Id]>;
type RequestOf<Id extends ComputedId> = Parameters<Made<Id>['compute']>[0];
type ResultOf<Id extends ComputedId> = ReturnType<Made<Id>['compute']>;
type StudyOf<Id extends ComputedId> =
  ReturnType<NonNullable<Made<Id>['study']>['begin']> extends Generator<infer News, undefined>
    ? Exclude<News, undefined>
    : never;

/** What a frame is asked for a panel; null: the panel is not on the screen. */
export type PanelRequests = { readonly [Id in ComputedId]: RequestOf<Id> | null };
/** What came of it; null: there is nothing to show. */
export type PanelResults = { readonly [Id in ComputedId]: ResultOf<Id> | null };
/** What panels have worked out besides the frames; null: nothing yet. */
export type Studies = {
  readonly [Id in ComputedId as unknown extends StudyOf<Id> ? never : Id]: StudyOf<Id> | null;
};

/** A feature of which only its name is known: what it takes and makes belongs together by that name. */
export type AnyFeature = FrameFeature<unknown, object>;

export function makeFeatures(bench: Workbench): Readonly<Record<ComputedId, AnyFeature>> {
  const made = COMPUTED_IDS.map((id) => [id, COMPUTED[id](bench) as unknown as AnyFeature]);
  return Object.fromEntries(made) as Record<ComputedId, AnyFeature>;
}
