import { text } from '../../../ui/export_figure';
import { leftAxis, linear, niceTicks, shape, type Pen } from '../../../ui/plot';

export const NORM_HEIGHT = 250;
const [LEFT, STRIP, HEAD] = [44, NORM_HEIGHT / 2, 26];

interface Strip {
  readonly row: readonly number[];
  /** The middle of the band, which reaches one deviation to each side. */
  readonly centre: number;
  readonly deviation: number;
  readonly title: string;
}

function drawStrip(pen: Pen, width: number, top: number, { row, centre, deviation, title }: Strip) {
  const [low, high] = [centre - deviation, centre + deviation];
  const domain = [Math.min(0, low, ...row), Math.max(0, high, ...row)] as const;
  const box = {
    left: LEFT,
    right: Math.max(LEFT + 80, width - 8),
    top: top + HEAD,
    bottom: top + STRIP - 8,
  };
  const y = linear(domain, [box.bottom, box.top]);
  const slot = (box.right - box.left) / row.length;
  const bars = row.map((value, i) => {
    const [from, to] = [y(Math.max(0, value)), y(Math.min(0, value))];
    const x = box.left + i * slot + slot * 0.25;
    return shape('rect', { ...pen('bar'), x, y: from, width: slot / 2, height: to - from });
  });
  const band = { x: box.left, y: y(high), width: box.right - box.left, height: y(low) - y(high) };
  const across = (value: number) => `M${box.left} ${y(value).toFixed(1)}H${box.right}`;
  return [
    text(4, top + 15, title, pen('title')),
    shape('rect', { ...pen('collapse'), ...band }),
    ...bars,
    shape('path', { ...pen('axis'), d: across(0) }),
    shape('path', { ...pen('theory'), d: across(centre) }),
    leftAxis(pen, box, y, niceTicks(domain[0], domain[1], 3)),
  ].join('');
}

/** The row before and after, each with a band around its centre. */
export const drawNorm = (pen: Pen, width: number, before: Strip, after: Strip): string =>
  drawStrip(pen, width, 0, before) + drawStrip(pen, width, STRIP, after);
