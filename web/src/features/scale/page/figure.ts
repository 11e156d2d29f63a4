import type { WidthStudy } from '../worker/frame_feature';
import {
  CHART_HEIGHT,
  drawEntropies,
  drawHistogram,
  drawVariances,
  HISTOGRAM_HEIGHT,
  LAW,
} from './plots';
import { filePen } from '../../../ui/plot';
import type { State } from '../../../state/state';
import { stacked, text, type Figure } from '../../../ui/export_figure';

const WIDTH = 600;

/** The three figures of the panel one below the other; the table has all widths. */
export function scaleFigure(study: WidthStudy, { width, divided, sample }: State): Figure {
  const { results } = study;
  const result = results.find((each) => each.width === width);
  const drawings = [
    [HISTOGRAM_HEIGHT, result ? drawHistogram(filePen, WIDTH, result, divided) : ''],
    [CHART_HEIGHT, drawEntropies(filePen, WIDTH, results, width)],
    [CHART_HEIGHT, drawVariances(filePen, WIDTH, results, width)],
  ] as const;
  const { body, end } = stacked(drawings, { top: 44, gap: 16 });
  const title = `d = ${width}, sample ${sample}`;
  return {
    name: 'scale',
    svg: {
      width: WIDTH + 24,
      height: end,
      body: text(12, 24, title, { 'font-weight': 700 }) + body,
    },
    table: [
      [
        'd',
        'Var(q.k)',
        'H',
        'standard error',
        'Var(q.k/sqrt d)',
        'H',
        'standard error',
        'ln n - 1/2',
      ],
      ...results.map(({ width: d, plain, scaled }) => [
        ...[d, plain.variance, plain.entropy, plain.entropyError],
        ...[scaled.variance, scaled.entropy, scaled.entropyError, LAW],
      ]),
    ],
    data: { width, divided, study },
  };
}
