import { text } from '../../../ui/export_figure';
import {
  curve,
  leftAxis,
  linear,
  logarithmic,
  lowerAxis,
  niceTicks,
  shape,
  type Box,
  type Pen,
} from '../../../ui/plot';
import type { TrainingLog } from './training_log';
import type { SpeedPoint } from '../shared/protocol';
import { t } from '../texts';

export const CURVE_HEIGHT = 200;
export const SPEED_HEIGHT = 260;

const boxOf = (width: number, height: number): Box => ({
  ...{ left: 46, right: Math.max(126, width - 22), top: 30, bottom: height - 44 },
});

function titles(pen: Pen, box: Box, above: string, below: string): string {
  const middle = { ...pen('label'), 'text-anchor': 'middle' };
  return (
    text(4, 16, above, pen('title')) +
    text((box.left + box.right) / 2, box.bottom + 38, below, middle)
  );
}

/** The loss of a training run by its steps: of the batches, and of what was held out; other models as lines. */
export function drawLog(
  pen: Pen,
  width: number,
  { log, baselines }: { log: TrainingLog; baselines: readonly (readonly [string, number])[] },
): string {
  const box = boxOf(width, CURVE_HEIGHT);
  const { steps, loss, heldOut } = log;
  const values = [...loss, ...heldOut];
  const [low, high] = [
    Math.min(...values, ...baselines.map(([, value]) => value)),
    Math.max(...values),
  ];
  const x = linear([0, steps.at(-1) ?? 1], [box.left, box.right]);
  const y = linear([low - 0.1, high], [box.bottom, box.top]);
  const lines = baselines.map(([name, value], i) => {
    const at = Number(y(value).toFixed(1));
    const side = i % 2 === 0 ? -5 : 14;
    return (
      shape('path', { ...pen('reference'), d: `M${box.left} ${at}H${box.right}` }) +
      text(box.right, at + side, name, { ...pen('label'), 'text-anchor': 'end' })
    );
  });
  return [
    titles(pen, box, t('model.log.loss'), t('model.log.step')),
    leftAxis(pen, box, y, niceTicks(low - 0.1, high, 4)),
    lowerAxis(pen, box, x, { ticks: niceTicks(0, steps.at(-1) ?? 1, 4), labels: true }),
    ...lines,
    curve(pen('plain'), steps, loss, [x, y]),
    curve(pen('scaled'), steps, heldOut, [x, y]),
  ].join('');
}

/** Milliseconds of a token behind so many others, with and without the cache; both axes are logarithmic. */
export function drawSpeed(pen: Pen, width: number, points: readonly SpeedPoint[]): string {
  const box = boxOf(width, SPEED_HEIGHT);
  const lengths = points.map(({ length }) => length);
  const last = Math.max(...lengths);
  const times = points.flatMap(({ cached, whole }) => [cached, whole]);
  const low = 10 ** Math.floor(Math.log10(Math.min(...times)));
  const high = 10 ** (Math.floor(Math.log10(Math.max(...times))) + 1);
  const x = logarithmic([8, Math.max(16, last)], [box.left + 8, box.right - 12]);
  const y = logarithmic([low, high], [box.bottom, box.top]);
  const powers = Array.from({ length: Math.round(Math.log10(high / low)) + 1 }, (_, i) =>
    Number((low * 10 ** i).toPrecision(1)),
  );
  const dots = (mark: 'plain-point' | 'scaled-point', of: (point: SpeedPoint) => number) =>
    points.map((point) =>
      shape('circle', { ...pen(mark), cx: x(point.length), cy: y(of(point)), r: 4 }),
    );
  const ticks = lengths.filter((length) => length === last || length * 1.4 < last);
  return [
    titles(pen, box, t('model.speed.time'), t('model.speed.length')),
    leftAxis(pen, box, y, powers),
    lowerAxis(pen, box, x, { ticks, labels: true }),
    curve(
      pen('plain'),
      lengths,
      points.map(({ whole }) => whole),
      [x, y],
    ),
    curve(
      pen('scaled'),
      lengths,
      points.map(({ cached }) => cached),
      [x, y],
    ),
    ...dots('plain-point', ({ whole }) => whole),
    ...dots('scaled-point', ({ cached }) => cached),
  ].join('');
}
