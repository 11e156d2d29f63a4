import type { FrameFeature, Workbench } from '../engine/frame_feature';
import type { ComputedId } from './computed';
import type { MakeFrames } from './feature';

/** A feature of which only its name is known: what it takes and makes belongs together by that name. */
export type AnyFeature = FrameFeature<unknown, object>;

/** `<id>Frames` of each folder that computes for frames. Only the frame worker imports this file. */
const MODULES = import.meta.glob<Readonly<Record<string, MakeFrames>>>(
  './*/worker/frame_feature.ts',
  { eager: true },
);

export function makeFeatures(bench: Workbench): Readonly<Record<ComputedId, AnyFeature>> {
  const made = Object.entries(MODULES).map(([path, module]) => {
    const id = path.split('/')[1] ?? '';
    const make = module[`${id}Frames`];
    if (!make) throw new Error(`${path} does not export ${id}Frames`);
    return [id, make(bench) as unknown as AnyFeature];
  });
  return Object.fromEntries(made) as Record<ComputedId, AnyFeature>;
}
