import type { FrameFeature, Workbench } from '../engine/frame_feature';
import type { Field } from '../state/field';

/** What the page knows of a panel before its code is there: its `feature.ts`, a line of index.ts. */
export interface Feature {
  /** Its part of the state, by names that no other panel has. */
  readonly fields: Readonly<Record<string, Field<unknown>>>;
  /** What it requests of the frame worker while it is on the screen. */
  readonly request?: (state: never) => unknown;
  /** What its state is when it asks the reader to guess before it shows a result. */
  readonly asks?: Readonly<Record<string, boolean>>;
  /** Fields that a teacher may lock in a lesson, each with a selector of its controls and a text `lessons.f.<field>`. */
  readonly lockable?: Readonly<Record<string, string>>;
}

/** What makes a frame feature: the `<id>Frames` of `worker/frame_feature.ts`. */
export type MakeFrames = (bench: Workbench) => Pick<FrameFeature<never, object>, 'compute'>;

/** What such a feature takes. */
export type RequestOf<Make extends MakeFrames> = Parameters<ReturnType<Make>['compute']>[0];

/**
 * What a panel requests of the frame worker in a state. `Make` is what answers: only its type is known to the page, which never
 * imports the code of a worker.
 */
export interface FrameAsk<Make extends MakeFrames, State> {
  (state: State): RequestOf<Make>;
  /** Never there: it carries the type. */
  readonly answeredBy?: Make;
}
