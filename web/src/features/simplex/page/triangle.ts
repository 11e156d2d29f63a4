import { cividis } from '../../../domain/cividis';
import { text } from '../../../ui/export_figure';
import { shape, type Pen } from '../../../ui/plot';
import { objective, type Weights } from '../shared/objective';

export const HEIGHT = 372;
const [MARGIN, TOP] = [40, 34];
const LARGEST_SIDE = 340;
/** Small triangles along a side. */
const STEPS = 40;

/** Where the triangle stands in a drawing: key 1 at the left, key 2 at the right, key 3 above. */
export class Triangle {
  readonly corners: readonly [Spot, Spot, Spot];

  constructor(width: number) {
    const side = Math.max(120, Math.min(LARGEST_SIDE, width - 2 * MARGIN));
    const left = Math.max(0, (width - side) / 2);
    const high = (side * Math.sqrt(3)) / 2;
    const bottom = TOP + high;
    this.corners = [
      [left, bottom],
      [left + side, bottom],
      [left + side / 2, TOP],
    ];
  }

  /** The place of weights. */
  spot(p: ArrayLike<number>): Spot {
    const along = (axis: 0 | 1) =>
      this.corners.reduce((sum, corner, i) => sum + corner[axis] * (p[i] ?? 0), 0);
    return [along(0), along(1)];
  }

  /** The three weights of a place, which sum to 1; outside some are below 0. */
  weights([x, y]: Spot): Weights {
    const [[left, bottom], [right], [, top]] = this.corners;
    const third = (bottom - y) / (bottom - top);
    const second = (x - left) / (right - left) - third / 2;
    return [1 - second - third, second, third];
  }
}
export type Spot = readonly [x: number, y: number];

/** What the triangle shows. */
export interface Hill {
  readonly scores: readonly number[];
  readonly temperature: number;
  readonly best: ArrayLike<number>;
  /** J at the optimum. */
  readonly value: number;
}

const colourAt = (share: number) => {
  const at = 4 * Math.round(255 * Math.min(1, Math.max(0, share)));
  return `rgb(${cividis.subarray(at, at + 3).join(',')})`;
};

/** J as colour: small triangles, those of one colour as one path. */
function heights(triangle: Triangle, { scores, temperature, value }: Hill): string {
  const low = Math.min(...scores); // J is concave, so it is least in a corner, where it is the score
  const paths = new Map<string, string>();
  const add = (a: number, b: number, up: boolean) => {
    const inner = up ? 1 / 3 : 2 / 3;
    const p = [(a + inner) / STEPS, (b + inner) / STEPS];
    p.push(1 - p[0]! - p[1]!);
    const share = (objective(p, scores, temperature) - low) / (value - low);
    const ends = up
      ? [[a, b], [a + 1, b], [a, b + 1]]
      : [[a + 1, b], [a, b + 1], [a + 1, b + 1]]; // prettier-ignore
    const spots = ends.map(([i = 0, j = 0]) =>
      triangle
        .spot([i / STEPS, j / STEPS, 1 - (i + j) / STEPS])
        .map((each) => each.toFixed(1))
        .join(' '),
    );
    const colour = colourAt(share);
    paths.set(colour, `${paths.get(colour) ?? ''}M${spots.join('L')}Z`);
  };
  for (let a = 0; a < STEPS; a++) {
    for (let b = 0; a + b < STEPS; b++) {
      add(a, b, true);
      if (a + b < STEPS - 1) add(a, b, false);
    }
  }
  return Array.from(paths, ([colour, d]) =>
    shape('path', { d, fill: colour, stroke: colour, 'stroke-width': 0.6 }),
  ).join('');
}

const cross = ([x, y]: Spot, size: number) =>
  `M${(x - size).toFixed(1)} ${(y - size).toFixed(1)}l${2 * size} ${2 * size}m0 ${-2 * size}l${-2 * size} ${2 * size}`;

/** The triangle with its corners named by `names`, and a cross where the optimum is. */
export function drawTriangle(
  pen: Pen,
  width: number,
  hill: Hill,
  { names, title }: { names: readonly string[]; title: string },
): string {
  const triangle = new Triangle(width);
  const [left, right, top] = triangle.corners;
  const label = (at: number, [x, y]: Spot, dy: number) =>
    text(Math.round(x), Math.round(y + dy), names[at] ?? '', {
      ...pen('label'),
      'text-anchor': 'middle',
    });
  const d = cross(triangle.spot(hill.best), 7);
  return [
    text(4, 14, title, pen('title')),
    heights(triangle, hill),
    shape('path', { d, fill: 'none', stroke: '#ffffff', 'stroke-width': 6 }),
    shape('path', { d, fill: 'none', stroke: '#1d1f22', 'stroke-width': 2.5 }),
    label(0, left, 20),
    label(1, right, 20),
    label(2, top, -6),
  ].join('');
}
