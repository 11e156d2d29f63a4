import { drawCurves, drawHere, placesOf } from './plots';
import { drawScores, HISTOGRAM_HEIGHT } from './histogram';
import { plainOf } from '../../../i18n/i18n';
import { rowWords, type Shown } from './sentences';
import { filePen } from '../../../ui/plot';
import { stacked, text, type Figure } from '../../../ui/export_figure';

const WIDTH = 640;
const HEAD = 44;

/** The curves with the histogram under them, whether the reader has been shown them or not. */
export function temperatureFigure({ frame, point, study }: Shown): Figure {
  const places = placesOf(WIDTH);
  const { temperatures, entropy, theory, largest, gradient } = study;
  const title = `${plainOf(...rowWords(frame, point))} τ = ${point.temperature}`;
  const histogram = drawScores(filePen, WIDTH, study, point.of);
  const curves =
    drawCurves(filePen, places, point.of, study) + drawHere(filePen, places, study, point);
  const drawings = [
    [places.height, curves],
    [HISTOGRAM_HEIGHT, histogram],
  ] as const;
  const { body, end } = stacked(drawings, { top: HEAD, gap: 16 });
  const { layer, view } = frame.request;
  return {
    name: 'temperature',
    svg: {
      width: WIDTH + 24,
      height: end,
      body: text(12, 24, title, { 'font-weight': 700 }) + body,
    },
    table: [
      ['tau', 'H', 'ln n - v/(2 tau^2)', 'largest weight', '|J|_F'],
      ...Array.from(temperatures, (tau, i) => [
        tau,
        ...[entropy, theory, largest, gradient].map((values) => values[i] ?? NaN),
      ]),
    ],
    data: { layer, view, point, study },
  };
}
