import type { FrameAsk, MakeFrames, RequestOf } from './feature';
import { FEATURES, PANEL_IDS } from './index';

type Features = typeof FEATURES;

/** The panels that the frame worker computes for. */
export type ComputedId = {
  [Id in keyof Features]: Features[Id] extends { readonly request: unknown } ? Id : never;
}[keyof Features];
export const COMPUTED_IDS = PANEL_IDS.filter((id): id is ComputedId => 'request' in FEATURES[id]);

type MakeOf<Id extends ComputedId> =
  Features[Id]['request'] extends FrameAsk<infer Make, never> ? Make : never;
type ResultOf<Make extends MakeFrames> = ReturnType<ReturnType<Make>['compute']>;
type StudyOf<Make extends MakeFrames> =
  ReturnType<Make> extends {
    readonly study?: { readonly begin: (question: never) => Generator<infer News, undefined> };
  }
    ? Exclude<News, undefined>
    : never;

/** What is requested of a frame for a panel; null: the panel is not on the screen. */
export type PanelRequests = { readonly [Id in ComputedId]: RequestOf<MakeOf<Id>> | null };
/** What came of it; null: there is nothing to show. */
export type PanelResults = { readonly [Id in ComputedId]: ResultOf<MakeOf<Id>> | null };
/** What panels have worked out besides the frames; null: nothing yet. */
export type Studies = {
  readonly [Id in ComputedId as unknown extends StudyOf<MakeOf<Id>> ? never : Id]: StudyOf<
    MakeOf<Id>
  > | null;
};
