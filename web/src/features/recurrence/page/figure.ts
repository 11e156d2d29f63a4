import { stacked, text, type Figure } from '../../../ui/export_figure';
import { accuracyOf } from '../shared/accuracy';
import { CHART_HEIGHT, drawAccuracy, drawCost, drawReach } from './plots';
import type { LatestNews } from './latest_news';
import { KINDS } from '../shared/model_configs';
import { lineOf, pointOf } from './plot_marks';
import { shape } from '../../../ui/plot';
import { nameOf } from './sentences';

const WIDTH = 600;
const KEY = 60;

/** Which curve is which. */
const key = (): string =>
  KINDS.map((kind, i) => {
    const y = 14 + 18 * i;
    const line = shape('path', { ...lineOf('file', kind), d: `M4 ${y}H38` });
    return line + pointOf('file', kind, 21, y) + text(46, y + 4, nameOf(kind));
  }).join('');

/** The plots that there are, one below the other; the table has all their numbers. Null before the first press. */
export function recurrenceFigure(known: LatestNews): Figure | null {
  const { progress, counted, reached, timings } = known;
  if (!counted && !reached && timings.length === 0) return null;
  const drawings = [
    ...(counted ? [drawAccuracy('file', WIDTH, counted.tallies)] : []),
    ...(reached ? [drawReach('file', WIDTH, reached)] : []),
    ...(timings.length > 0 ? [drawCost('file', WIDTH, timings)] : []),
  ];
  const { body, end } = stacked(
    drawings.map((drawing) => [CHART_HEIGHT, drawing]),
    { top: 12 + KEY, gap: 16 },
  );
  return {
    name: 'recurrence',
    svg: {
      width: WIDTH + 24,
      height: end + 12,
      body: `<g transform="translate(12 8)">${key()}</g>${body}`,
    },
    table: [
      ['what', 'x', 'model', 'value', 'of'],
      ...KINDS.flatMap((kind) =>
        (counted?.tallies[kind] ?? [])
          .filter(({ sequences }) => sequences > 0)
          .map((tally) => ['accuracy', tally.length, kind, accuracyOf(tally), tally.sequences]),
      ),
      ...(['first', 'now'] as const).flatMap((when) =>
        KINDS.flatMap((kind) =>
          Array.from(reached?.[when][kind] ?? [], (norm, x) => [
            `reach ${when}`,
            x,
            kind,
            norm,
            '',
          ]),
        ),
      ),
      ...timings.flatMap(({ length, gru, attention }) => [
        ['milliseconds', length, 'gru', gru.median, ''],
        ['milliseconds', length, 'attention', attention.median, ''],
      ]),
    ],
    data: { progress, counted, reached, timings, spoken: known.spoken },
  };
}
