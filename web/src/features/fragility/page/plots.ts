import { Chart } from '../../../ui/chart';
import type { Pen } from '../../../ui/plot';
import { sharpBound, simpleBound, worstChange } from '../shared/bounds';
import { CURVE } from '../shared/constants';
import type { FragilityResult } from '../worker/frame_feature';

export const HEIGHT = 300;
const TICKS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5];

/** What a shake does to the weights, against the temperature: measured, the worst of this row, and what no row exceeds. */
export function drawChanges(
  pen: Pen,
  width: number,
  { scores, shake, temperature, curve }: FragilityResult,
  titles: { readonly x: string; readonly y: string },
): string {
  const [least, most] = [CURVE[0] ?? 0, CURVE.at(-1) ?? 1];
  const chart = new Chart(
    pen,
    { width, height: HEIGHT, left: 42, right: 14 },
    {
      x: { domain: [least, most], log: true, ticks: TICKS, title: titles.x },
      y: { domain: [0, 2.05], ticks: [0, 0.5, 1, 1.5, 2], title: titles.y },
    },
  );
  const over = (of: (tau: number) => number) => CURVE.map(of);
  const inside = over((tau) => simpleBound(shake, tau)).map((bound) => (bound <= 2 ? bound : NaN));
  return [
    chart.titles(),
    chart.leftAxis(),
    chart.lowerAxis(),
    chart.across('reference', 2),
    chart.curve('theory-outside', CURVE, inside),
    chart.curve(
      'theory',
      CURVE,
      over((tau) => sharpBound(shake, tau)),
    ),
    chart.curve(
      'weight',
      CURVE,
      over((tau) => worstChange(scores, shake, tau)),
    ),
    chart.curve(
      'scaled',
      CURVE,
      curve.map(({ largest }) => largest),
    ),
    chart.curve(
      'plain',
      CURVE,
      curve.map(({ mean }) => mean),
    ),
    temperature <= most ? chart.upright('here', temperature) : '',
  ].join('');
}
