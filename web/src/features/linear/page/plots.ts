import { Chart, powerText, powerTicks } from '../../../ui/chart';
import { text } from '../../../ui/export_figure';
import { bars, linear as scaleOf, shape, type Mark, type Pen } from '../../../ui/plot';
import { SHARPNESS, TOKENS, WAYS, type Way } from '../shared/constants';
import { costOf } from '../shared/counts';
import type { LinearResult } from '../worker/frame_feature';

export const [WEIGHTS_HEIGHT, ERRORS_HEIGHT, COSTS_HEIGHT] = [330, 260, 280];
const SIDES = { left: 48, right: 16 } as const;
/** How the curves of each way are drawn. */
export const MARKS: Readonly<Record<Way, Mark>> = {
  softmax: 'weight',
  window: 'plain',
  linear: 'scaled',
};

export interface Titles {
  readonly x: string;
  readonly y: string;
}

/** The weights of one query for all keys, a strip for each way; all strips have one scale. */
export function drawWeights(
  pen: Pen,
  width: number,
  { weights }: LinearResult,
  names: Readonly<Record<Way, string>>,
): string {
  const strip = WEIGHTS_HEIGHT / WAYS.length;
  const most = Math.max(...WAYS.flatMap((way) => weights[way]));
  const x = scaleOf([0, TOKENS], [4, Math.max(84, width - 4)]);
  return WAYS.map((way, i) => {
    const [top, bottom] = [i * strip + 24, (i + 1) * strip - 6];
    const y = scaleOf([0, most], [bottom, top]);
    const counts = weights[way];
    return [
      text(4, i * strip + 15, names[way], pen('title')),
      bars(pen, { from: 0, width: 1, counts }, [x, y]),
      shape('path', { ...pen('axis'), d: `M4 ${bottom}H${Math.max(84, width - 4)}` }),
    ].join('');
  }).join('');
}

/** How far the cheaper ways are from softmax, against the factor of the scores. */
export function drawErrors(
  pen: Pen,
  width: number,
  { curve, sharpness }: LinearResult,
  titles: Titles,
): string {
  const most = Math.max(1, ...curve.flatMap((each) => [each.window, each.linear]));
  const chart = new Chart(
    pen,
    { width, height: ERRORS_HEIGHT, ...SIDES },
    {
      x: { domain: [0.25, 8], log: true, ticks: [0.25, 0.5, 1, 2, 4, 8], title: titles.x },
      y: { domain: [0, most * 1.05], ticks: [0, 0.25, 0.5, 0.75, 1], title: titles.y },
    },
  );
  const of = (way: 'window' | 'linear') => curve.map((errors) => errors[way]);
  return [
    chart.titles(),
    chart.leftAxis(),
    chart.lowerAxis(),
    chart.upright('here', sharpness),
    chart.curve(MARKS.window, SHARPNESS, of('window')),
    chart.curve(MARKS.linear, SHARPNESS, of('linear')),
  ].join('');
}

/** Operations against the length, on logarithmic axes. */
export function drawCosts(
  pen: Pen,
  width: number,
  {
    tokens,
    ...sizes
  }: { readonly tokens: number; readonly width: number; readonly window: number },
  titles: Titles,
): string {
  const lengths = Array.from({ length: 17 }, (_, i) => 2 ** (i + 4));
  const [first, last] = [16, 2 ** 20];
  const operations = (way: Way) => lengths.map((length) => costOf(way, { tokens: length, ...sizes }).operations); // prettier-ignore
  const all = WAYS.flatMap(operations);
  const [low, high] = [Math.min(...all) / 1.5, Math.max(...all) * 1.5];
  const powers = powerTicks(low, high);
  const chart = new Chart(
    pen,
    { width, height: COSTS_HEIGHT, ...SIDES },
    {
      x: {
        ...{ domain: [first, last], log: true, title: titles.x },
        ticks: [16, 128, 1024, 8192, 65536],
      },
      y: {
        ...{ domain: [low, high], log: true, title: titles.y, tickText: powerText },
        ticks: powers.filter((_, i) => i % 2 === 0),
      },
    },
  );
  return [
    chart.titles(),
    chart.leftAxis(),
    chart.lowerAxis(),
    chart.upright('here', tokens),
    ...WAYS.map((way) => chart.curve(MARKS[way], lengths, operations(way))),
  ].join('');
}
