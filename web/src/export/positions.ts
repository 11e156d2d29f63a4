import type { Frame } from '../engine/protocol';
import { D_MODEL } from '../engine/sources';
import { raster, text, type Figure } from './figure';

export function positionsFigure(frame: Frame, canvas: HTMLCanvasElement): Figure {
  const { data, length } = frame.encoding;
  const row = (p: number) => data.subarray(p * D_MODEL, (p + 1) * D_MODEL);
  const positions = Array.from({ length }, (_, p) => p);
  const [width, height] = [640, Math.min(640, length * 6)];
  const title = `PE(p, c), ${length} × ${D_MODEL}`;
  return {
    name: 'positions',
    svg: {
      width: width + 60,
      height: height + 60,
      body: text(40, 20, title, { 'font-weight': 700 }) + raster(canvas, [40, 36, width, height]),
    },
    table: [
      ['p', ...Array.from({ length: D_MODEL }, (_, c) => c)],
      ...positions.map((p) => [p, ...row(p)]),
    ],
    data: { encoding: frame.encoding, shift: frame.shift },
  };
}
