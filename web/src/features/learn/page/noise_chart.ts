import { text } from '../../../ui/export_figure';
import { digits } from '../../../ui/numbers';
import { leftAxis, linear, shape, type Box, type Pen } from '../../../ui/plot';
import { LEVELS } from '../shared/noise_levels';
import type { NoiseNews } from '../worker/noise_study';
import { t } from '../texts';

export const NOISE_HEIGHT = 210;

/** The weight of one observation of each level of noise: the learned one as a bar, 1 / sigma^2 as a line across it. */
export function drawNoise(pen: Pen, width: number, { learned, optimal }: NoiseNews): string {
  const box: Box = { left: 44, right: width - 12, top: 26, bottom: NOISE_HEIGHT - 44 };
  const y = linear([0, 1], [box.bottom, box.top]);
  const each = (box.right - box.left) / LEVELS.length;
  const wide = Math.min(70, each * 0.5);
  const columns = LEVELS.map((sigma, i) => {
    const middle = box.left + (i + 0.5) * each;
    const label = { ...pen('label'), 'text-anchor': 'middle' };
    const top = y(learned[i] ?? 0);
    const best = y(optimal[i] ?? 0);
    return [
      shape('rect', {
        ...pen('bar'),
        x: middle - wide / 2,
        y: top,
        width: wide,
        height: box.bottom - top,
      }),
      shape('path', {
        ...pen('plain'),
        d: `M${middle - wide * 0.8} ${best}H${middle + wide * 0.8}`,
      }),
      text(middle, box.bottom + 17, `σ = ${sigma}`, label),
      text(
        middle,
        box.bottom + 34,
        `${digits(learned[i] ?? 0, 3)} / ${digits(optimal[i] ?? 0, 3)}`,
        label,
      ),
    ].join('');
  });
  return [
    text(4, 15, t('learn.noise.axis'), pen('title')),
    leftAxis(pen, box, y, [0, 0.25, 0.5, 0.75, 1]),
    shape('path', { ...pen('axis'), d: `M${box.left} ${box.bottom}H${box.right}` }),
    ...columns,
  ].join('');
}
