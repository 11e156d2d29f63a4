import type { Mask } from '../../../domain/choices';
import type { FrameFeature, Scene, Workbench } from '../../../engine/frame_feature';
import type { Heads } from '../../../engine/head_list';
import { stage } from '../../../engine/memo';
import {
  randomScores,
  rowScores,
  temperaturePoint,
  temperatureStudy,
  type RowScores,
  type TemperaturePoint,
  type TemperatureStudy,
} from './temperature_study';
import { gainRows, type GainResult } from './gain_rows';
import type { LabScores } from '../shared/constants';
import type { TemperatureRequest } from '../state';

/** The studied scores at this temperature, and what a gain does at it. */
export type TemperatureResult = TemperaturePoint & { readonly gain: GainResult };

/** The scores that are studied at all temperatures: random ones, or those of the query. */
export function temperatureFrames({
  qkv,
  log,
}: Workbench): FrameFeature<TemperatureRequest, TemperatureResult, RowScores, TemperatureStudy> {
  const ofRow = stage('row scores', log, (heads: Heads, head: number, mask: Mask, row: number) =>
    rowScores(heads.list[head]!, row, mask),
  );
  const ofSeed = stage('random scores', log, (seed: number) => randomScores(qkv, seed));
  const gained = stage('gain', log, (seed: number, gain: number, temperature: number) =>
    gainRows(qkv, seed, gain, temperature),
  );
  const point = stage('temperature', log, (scores: RowScores, temperature: number) =>
    temperaturePoint(qkv, scores, temperature),
  );
  // The parts say themselves that they ran.
  const both = stage('both', [], (at: TemperaturePoint, gain: GainResult) => ({ ...at, gain }));
  const scoresOf = (studied: LabScores, { heads, layer, view }: Scene) => {
    if (studied === 'random') return ofSeed(layer.seed);
    return heads.count === 0 ? null : ofRow(heads, view.head, layer.mask, view.query);
  };
  return {
    compute: ({ scores: studied, gain }, scene) => {
      const { seed, temperature } = scene.layer;
      const scores = scoresOf(studied, scene);
      return scores && both(point(scores, temperature), gained(seed, gain, temperature));
    },
    study: {
      question: (_request, result) => result?.of ?? null,
      begin: (row) => temperatureStudy(qkv, row),
    },
  };
}
