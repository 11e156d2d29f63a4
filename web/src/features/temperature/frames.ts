/* eslint-disable @typescript-eslint/no-non-null-assertion -- the shown head is one of the heads */
import type { Mask } from '../../domain/choices';
import type { FrameFeature, Scene, Workbench } from '../../engine/feature';
import type { Heads } from '../../engine/head_list';
import { stage } from '../../engine/memo';
import {
  randomScores,
  rowScores,
  temperaturePoint,
  temperatureStudy,
  type RowScores,
  type TemperaturePoint,
  type TemperatureStudy,
} from './compute';
import type { LabScores } from './settings';

/** The scores that are studied at all temperatures: random ones, or those of the query. */
export function temperatureFrames({
  qkv,
  log,
}: Workbench): FrameFeature<LabScores, TemperaturePoint, RowScores, TemperatureStudy> {
  const ofRow = stage('row scores', log, (heads: Heads, head: number, mask: Mask, row: number) =>
    rowScores(heads.list[head]!, row, mask),
  );
  const ofSeed = stage('random scores', log, (seed: number) => randomScores(qkv, seed));
  const point = stage('temperature', log, (scores: RowScores, temperature: number) =>
    temperaturePoint(qkv, scores, temperature),
  );
  const scoresOf = (studied: LabScores, { heads, layer, view }: Scene) => {
    if (studied === 'random') return ofSeed(layer.seed);
    return heads.count === 0 ? null : ofRow(heads, view.head, layer.mask, view.query);
  };
  return {
    compute: (studied, scene) => {
      const scores = scoresOf(studied, scene);
      return scores && point(scores, scene.layer.temperature);
    },
    study: {
      question: (_request, result) => result?.of ?? null,
      begin: (row) => temperatureStudy(qkv, row),
    },
  };
}
