import { text } from '../../../ui/export_figure';
import { linear, lowerAxis, niceTicks, shape, type Pen } from '../../../ui/plot';

export const SLOPES_HEIGHT = 138;
const LINE = 22;
const BOX = { left: 56, top: 30, bottom: 30 + 3 * LINE };

/** A dot for the slope of each key, and a line at lambda, where all three stand at the optimum. */
export function drawSlopes(
  pen: Pen,
  width: number,
  { slopes, lambda }: { slopes: readonly number[]; lambda: number },
  { names, title }: { names: readonly string[]; title: string },
): string {
  const box = { ...BOX, right: Math.max(BOX.left + 80, width - 16) };
  const all = [...slopes, lambda].filter(Number.isFinite);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const room = Math.max(0.25, (most - least) * 0.15);
  const domain = [least - room, most + room] as const;
  const x = linear(domain, [box.left, box.right]);
  const dots = slopes.map((slope, i) => {
    const cy = box.top + (i + 0.5) * LINE;
    const name = text(4, cy + 4, names[i] ?? '', pen('label'));
    // Of a weight of 0 the slope is infinite: an arrow that leads out.
    const mark = Number.isFinite(slope)
      ? shape('circle', { ...pen('dot'), cx: x(slope), cy, r: 6 })
      : shape('path', { ...pen('scaled'), d: `M${box.right - 24} ${cy}h20m-7 -5l7 5l-7 5` });
    return name + mark;
  });
  const at = x(lambda).toFixed(1);
  return [
    text(4, 16, title, pen('title')),
    shape('path', { ...pen('theory'), d: `M${at} ${box.top - 4}V${box.bottom}` }),
    ...dots,
    lowerAxis(pen, box, x, { ticks: niceTicks(domain[0], domain[1], 5), labels: true }),
  ].join('');
}
