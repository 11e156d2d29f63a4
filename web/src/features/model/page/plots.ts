import { Chart, powerTicks } from '../../../ui/chart';
import { niceTicks, type Pen } from '../../../ui/plot';
import type { TrainingLog } from './training_log';
import type { SpeedPoint } from '../shared/protocol';
import { t } from '../feature';

export const CURVE_HEIGHT = 200;
export const SPEED_HEIGHT = 260;
const SIDES = { left: 46, right: 22 };

/** The loss of a training run by its steps: of the batches, and of what was held out; other models as lines. */
export function drawLog(
  pen: Pen,
  width: number,
  { log, baselines }: { log: TrainingLog; baselines: readonly (readonly [string, number])[] },
): string {
  const { steps, loss, heldOut } = log;
  const values = [...loss, ...heldOut];
  const low = Math.min(...values, ...baselines.map(([, value]) => value)) - 0.1;
  const high = Math.max(...values);
  const last = steps.at(-1) ?? 1;
  const layout = { width, height: CURVE_HEIGHT, ...SIDES };
  const chart = new Chart(pen, layout, {
    x: { domain: [0, last], ticks: niceTicks(0, last, 4), title: t('model.log.step') },
    y: { domain: [low, high], ticks: niceTicks(low, high, 4), title: t('model.log.loss') },
  });
  const lines = baselines.map(([name, value], i) => {
    const at = Number(chart.y(value).toFixed(1)) + (i % 2 === 0 ? -5 : 14);
    return chart.across('reference', value) + chart.label(chart.box.right, at, name, 'end');
  });
  return [
    chart.titles(),
    chart.leftAxis(),
    chart.lowerAxis(),
    ...lines,
    chart.curve('plain', steps, loss),
    chart.curve('scaled', steps, heldOut),
  ].join('');
}

/** Milliseconds of a token behind so many others, with and without the cache; both axes are logarithmic. */
export function drawSpeed(pen: Pen, width: number, points: readonly SpeedPoint[]): string {
  const lengths = points.map(({ length }) => length);
  const [whole, cached] = [points.map((point) => point.whole), points.map((point) => point.cached)];
  const last = Math.max(...lengths);
  const low = 10 ** Math.floor(Math.log10(Math.min(...whole, ...cached)));
  const high = 10 ** (Math.floor(Math.log10(Math.max(...whole, ...cached))) + 1);
  const layout = { width, height: SPEED_HEIGHT, ...SIDES };
  const chart = new Chart(pen, layout, {
    x: {
      domain: [8, Math.max(16, last)],
      log: true,
      inset: [8, 12],
      // A number for each doubling: others would overlap on a phone.
      ticks: lengths.filter(
        (length) => length === last || (Number.isInteger(Math.log2(length)) && length * 1.4 < last),
      ),
      title: t('model.speed.length'),
    },
    y: {
      domain: [low, high],
      log: true,
      ticks: powerTicks(low, high),
      title: t('model.speed.time'),
    },
  });
  return [
    chart.titles(),
    chart.leftAxis(),
    chart.lowerAxis(),
    chart.curve('plain', lengths, whole),
    chart.curve('scaled', lengths, cached),
    chart.dots('plain-point', lengths, whole, 4),
    chart.dots('scaled-point', lengths, cached, 4),
  ].join('');
}
