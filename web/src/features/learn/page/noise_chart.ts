import { Chart } from '../../../ui/chart';
import { digits } from '../../../ui/numbers';
import { shape, type Pen } from '../../../ui/plot';
import { LEVELS } from '../shared/noise_levels';
import type { NoiseNews } from '../shared/protocol';
import { t } from '../feature';

export const NOISE_HEIGHT = 210;

/** The weight of one observation of each level of noise: the learned one as a bar, 1 / sigma^2 as a line across it. */
export function drawNoise(pen: Pen, width: number, { learned, optimal }: NoiseNews): string {
  const layout = { width, height: NOISE_HEIGHT, left: 44, right: 12, top: 26, titleAt: 15 };
  const chart = new Chart(pen, layout, {
    x: { domain: [0, LEVELS.length], ticks: [] },
    y: { domain: [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1], title: t('learn.noise.axis') },
  });
  const { bottom } = chart.box;
  const column = chart.x(1) - chart.x(0);
  const wide = Math.min(70, column * 0.5);
  const inOneLine = column > 90; // both numbers, next to those of the other columns
  const columns = LEVELS.map((sigma, i) => {
    const middle = chart.x(i + 0.5);
    const [weight, best] = [learned[i] ?? 0, optimal[i] ?? 0];
    const top = chart.y(weight);
    const bar = { x: middle - wide / 2, y: top, width: wide, height: bottom - top };
    const across = `M${middle - wide * 0.8} ${chart.y(best)}H${middle + wide * 0.8}`;
    return [
      shape('rect', { ...pen('bar'), ...bar }),
      shape('path', { ...pen('plain'), d: across }),
      chart.label(middle, bottom + 17, `σ = ${sigma}`, 'middle'),
      ...(inOneLine
        ? [chart.label(middle, bottom + 34, `${digits(weight, 3)} / ${digits(best, 3)}`, 'middle')]
        : [weight, best].map((value, line) =>
            chart.label(middle, bottom + 29 + 13 * line, digits(value, 3), 'middle'),
          )),
    ].join('');
  });
  return [chart.titles(), chart.leftAxis(), chart.lowerAxis(), ...columns].join('');
}
