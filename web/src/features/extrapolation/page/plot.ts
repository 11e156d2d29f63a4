import { Chart } from '../../../ui/chart';
import type { Mark, Pen } from '../../../ui/plot';
import { BLOCK, TESTED, VOCABULARY, WAYS, type Tested, type Way } from '../shared/protocol';

export const HEIGHT = 320;
/** How the curve of each way is drawn. */
export const MARKS: Readonly<Record<Way, Mark>> = {
  learned: 'weight',
  clamped: 'plain',
  sinusoidal: 'critical',
  rotary: 'scaled',
};

/** The middle of each block of positions. */
const MIDDLES = Array.from({ length: TESTED / BLOCK }, (_, i) => (i + 0.5) * BLOCK);

export interface Words {
  readonly x: string;
  readonly y: string;
  readonly trained: string;
  readonly chance: string;
}

/** Accuracy at every position; the trained ones are shaded. */
export function drawAccuracy(
  pen: Pen,
  width: number,
  { accuracy, settings }: Tested,
  words: Words,
): string {
  const chart = new Chart(
    pen,
    { width, height: HEIGHT, left: 42, right: 16 },
    {
      x: { domain: [0, TESTED], ticks: [0, 64, 128, 192, 256], title: words.x },
      y: { domain: [0, 1.05], ticks: [0, 0.25, 0.5, 0.75, 1], title: words.y },
    },
  );
  const edges = [0, settings.trained];
  return [
    chart.band(pen('collapse'), edges, [0, 0], [1.05, 1.05]),
    chart.titles(),
    chart.leftAxis(),
    chart.lowerAxis(),
    chart.label(chart.x(0) + 6, chart.y(0.55), words.trained),
    chart.across('reference', 1 / VOCABULARY),
    chart.label(chart.x(0) + 6, chart.y(1 / VOCABULARY) - 5, words.chance),
    ...WAYS.map((way) => chart.curve(MARKS[way], MIDDLES, accuracy[way])),
  ].join('');
}
