import { text } from '../../../ui/export_figure';
import { filePen, pagePen, shape, type Attributes } from '../../../ui/plot';
import type { PlaneOfWords } from './plane_of_words';

export type Paper = 'page' | 'file';

/** The height of a vector as a strip of cells. */
export const VECTOR_LINE = 44;
const STRIP = 18;

/** Signs of numbers, blue and orange as in the matrices: on the page by a class, in a file by their colours. */
const signed = (paper: Paper, value: number): Attributes => {
  if (paper === 'page') return { class: value < 0 ? 'words-minus' : 'words-plus' };
  return { fill: value < 0 ? '#0072b2' : '#d55e00' };
};

/** Vectors one below the other, a cell for each number, darker the larger it is. */
export function drawVectors(
  paper: Paper,
  width: number,
  names: readonly string[],
  vectors: readonly (readonly number[])[],
): string {
  const most = Math.max(...vectors.flat().map(Math.abs)) || 1;
  const pen = paper === 'page' ? pagePen : filePen;
  return vectors
    .map((vector, line) => {
      const top = line * VECTOR_LINE + 18;
      const step = width / vector.length;
      const cells = vector.map((value, i) =>
        shape('rect', {
          ...signed(paper, value),
          ...{ x: i * step, y: top, width: Math.max(0.5, step - 0.5), height: STRIP },
          'fill-opacity': Math.abs(value) / most,
        }),
      );
      return text(0, top - 5, names[line] ?? '', pen('label')) + cells.join('');
    })
    .join('');
}

const MARGIN = 20;
/** Below this width there is no room for meanings beside words. */
const NARROW = 480;
/** The height of a line, and the width of a letter of each script, about. */
const [LINE, LETTER, CHARACTER] = [15, 8.2, 14.5];

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}
const overlap = (a: Box, b: Box) =>
  Math.abs(a.y - b.y) < LINE && a.x < b.x + b.width && b.x < a.x + a.width;

/** Where a name may stand at its dot, the best place first. */
function placesFor(name: string, [x, y]: readonly [number, number], width: number): Box[] {
  const letters = Array.from(name);
  const wide = letters.reduce((sum, letter) => sum + (letter > '\u2fff' ? CHARACTER : LETTER), 0);
  const all = [
    { x: x + 7, y: y + 4 },
    { x: x - 7 - wide, y: y + 4 },
    { x: x - wide / 2, y: y - 8 },
    { x: x - wide / 2, y: y + 17 },
    { x: x + 7, y: y + 16 },
    { x: x + 7, y: y - 8 },
  ].map((place) => ({ ...place, width: wide }));
  const inside = all.filter((place) => place.x >= 0 && place.x + wide <= width);
  return inside.length > 0 ? inside : [{ x: Math.max(0, width - wide), y: y + 4, width: wide }];
}

/** Words on the plane: both axes have one scale, and a name avoids those that stand there already. */
export function drawPlane(
  paper: Paper,
  [width, height]: readonly [number, number],
  plane: PlaneOfWords,
): string {
  const pen = paper === 'page' ? pagePen : filePen;
  const { points, pairs } = plane;
  const names = width < NARROW ? plane.words : plane.names;
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  // Names need more room at the sides than above.
  const room = Math.min(
    (width - 2 * MARGIN - 70) / (right - left || 1),
    (height - 2 * MARGIN) / (high - low || 1),
  );
  const at = points.map(
    ([x, y]) =>
      [
        width / 2 + (x - (left + right) / 2) * room,
        height / 2 - (y - (low + high) / 2) * room,
      ] as const,
  );
  const lines = pairs.map(([a, b]) => {
    const [[x1, y1], [x2, y2]] = [at[a]!, at[b]!];
    const d = `M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}`;
    return shape('path', { ...pen('weight'), d });
  });
  const dots = at.map(([cx, cy]) => shape('circle', { ...pen('dot'), cx, cy, r: 4.5 }));
  const taken: Box[] = at.map(([x, y]) => ({ x: x - 4, y: y + 4, width: 8 }));
  const labels = names.map((name, i) => {
    const places = placesFor(name, at[i]!, width);
    const others = taken.filter((_, j) => j !== i);
    const hits = places.map((place) => others.filter((box) => overlap(place, box)).length);
    const free = places[hits.indexOf(Math.min(...hits))]!;
    taken.push(free);
    return text(Number(free.x.toFixed(1)), Number(free.y.toFixed(1)), name, pen('label'));
  });
  return [...lines, ...dots, ...labels].join('');
}
