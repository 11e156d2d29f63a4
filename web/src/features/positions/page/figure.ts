import type { PositionsResult } from '../worker/frame_feature';
import { D_MODEL } from '../../../domain/sources';
import { t } from '../feature';
import { CURVES, DRIFT_HEIGHT, driftPath, driftScale, POWERS, X_TICKS } from './drift_part';
import { raster, text, type Figure } from '../../../ui/export_figure';

const WIDTH = 640;
const INKS = { naive: '#d55e00', core: '#0072b2' } as const;

/** The curves of the drift and what they are called. */
function driftDrawing(positions: PositionsResult, top: number): string {
  const { x, y, bottom } = driftScale(WIDTH, DRIFT_HEIGHT);
  const parts = CURVES.flatMap((curve, i) => [
    `<path d="${driftPath(positions.drift, curve, WIDTH, DRIFT_HEIGHT)}" fill="none" stroke="${INKS[curve]}" stroke-width="2"/>`,
    text(60, 24 + 18 * i, t(`drift.${curve}`), { fill: INKS[curve] }),
  ]);
  for (const power of POWERS) parts.push(text(4, y(10 ** power) + 4, `1e${power}`));
  for (const p of X_TICKS) {
    parts.push(text(x(p), bottom + 18, p, { 'text-anchor': 'middle' }));
  }
  return `<g transform="translate(20 ${top})">${parts.join('')}</g>`;
}

export function positionsFigure(
  positions: PositionsResult,
  canvas: HTMLCanvasElement,
  map: HTMLCanvasElement,
): Figure {
  const { data, length } = positions.encoding;
  const row = (p: number) => data.subarray(p * D_MODEL, (p + 1) * D_MODEL);
  const rows = Array.from({ length }, (_, p) => p);
  const height = Math.min(WIDTH, length * 6);
  const title = `PE(p, c), ${length} × ${D_MODEL}`;
  const body = [
    text(40, 20, title, { 'font-weight': 700 }),
    raster(canvas, [40, 36, WIDTH, height]),
  ];
  let end = height + 60;
  const residual = `|PE(p+k) − Mₖ·PE(p)|, k = ${positions.place.k}`;
  body.push(text(40, end + 8, residual, { 'font-weight': 700 }));
  body.push(driftDrawing(positions, end + 16));
  end += 290;
  const { scheme } = positions.scheme;
  body.push(text(40, end + 8, t(`scheme.${scheme}`), { 'font-weight': 700 }));
  body.push(raster(map, [40, end + 20, 400, 400]));
  end += 440;
  return {
    name: 'positions',
    svg: { width: WIDTH + 60, height: end, body: body.join('') },
    table: [
      ['p', ...Array.from({ length: D_MODEL }, (_, c) => c)],
      ...rows.map((p) => [p, ...row(p)]),
    ],
    data: positions,
  };
}
