import { Chart } from '../../../ui/chart';
import { niceTicks, type Mark, type Pen } from '../../../ui/plot';
import { t } from '../feature';
import { BORN, SCORES_OF } from '../shared/head_scores';
import type { RunRecord } from './run_record';

export const SCORES_HEIGHT = 190;
/** Points of a curve, as in curves.ts. */
const POINTS = 240;
/** The pens of the scores of a task, in their order. */
export const SCORE_MARKS: readonly Mark[] = ['scaled', 'plain', 'gradient'];

export interface ScoreInput {
  readonly record: RunRecord | null;
  /** Steps of the axis. */
  readonly steps: number;
  /** The step that is looked at. */
  readonly looked: number | null;
}

/** Of every score of the task the largest that a head has, over the steps: how far one kind of head is when another forms. */
export function drawScores(pen: Pen, width: number, { record, steps, looked }: ScoreInput): string {
  const most = Math.max(1, steps);
  const layout = { width, height: SCORES_HEIGHT, left: 44, right: 12, top: 28, bottom: 30 };
  const chart = new Chart(
    pen,
    { ...layout, titleAt: 15 },
    {
      x: { domain: [0, most], ticks: niceTicks(0, most, width < 420 ? 4 : 8) },
      y: { domain: [0, 1], ticks: [0, BORN, 1], title: t('learn.scores') },
    },
  );
  const judged = record?.judged ?? [];
  const every = Math.ceil(judged.length / POINTS);
  const some = judged.filter((_, i) => i % every === 0 || i === judged.length - 1);
  const xs = some.map(({ step }) => step);
  const ids = record ? SCORES_OF[record.settings.task] : [];
  const curves = ids.map((_, i) =>
    chart.curve(
      SCORE_MARKS[i] ?? 'plain',
      xs,
      some.map(({ best }) => best[i] ?? 0),
    ),
  );
  return [
    chart.titles(),
    chart.leftAxis(),
    chart.lowerAxis(),
    chart.across('reference', BORN),
    ...curves,
    looked === null ? '' : chart.upright('here', looked),
  ].join('');
}
