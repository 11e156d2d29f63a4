import { svgElement } from '../ui/dom';

/** Of a weight of 1, in pixels. */
const WIDEST = 12;
/** A lighter ribbon than this is not drawn. */
const LIGHTEST = 0.01;
/** The room above the words for ribbons between words of one line, in pixels: that of `.chips` in sentence.css. */
const ROOM = 44;

interface Point {
  readonly x: number;
  readonly y: number;
}

/** From one word to another above both, or around a word that takes its own value. */
export function ribbonPath(from: Point, to: Point): string {
  const { x, y } = from;
  if (x === to.x && y === to.y) {
    const top = y - ROOM / 2;
    return `M${x - 7} ${y}C${x - 16} ${top} ${x + 16} ${top} ${x + 7} ${y}`;
  }
  const height = Math.min(ROOM, 16 + Math.abs(x - to.x) / 6) * 1.2; // a curve reaches three quarters of its handles
  return `M${x} ${y}C${x} ${y - height} ${to.x} ${to.y - height} ${to.x} ${to.y}`;
}

/** Ribbons from the query to the words it reads, each as wide as its weight. */
export function drawRibbons(
  svg: SVGElement,
  words: readonly Element[],
  query: number,
  weights: ArrayLike<number> | null,
): void {
  const frame = svg.parentElement;
  const from = words[query];
  if (!frame || !from || !weights) {
    svg.replaceChildren();
    return;
  }
  const { left, top } = frame.getBoundingClientRect();
  svg.setAttribute('width', String(frame.scrollWidth || 1));
  svg.setAttribute('height', String(frame.scrollHeight || 1));
  const above = (word: Element) => {
    const box = word.getBoundingClientRect();
    return {
      x: Math.round(box.left - left + frame.scrollLeft + box.width / 2),
      y: Math.round(box.top - top + frame.scrollTop),
    };
  };
  const start = above(from);
  const ribbons = words.flatMap((word, key) => {
    const weight = weights[key] ?? 0;
    if (weight < LIGHTEST) return [];
    const width = String(Math.max(1, WIDEST * weight));
    return [svgElement('path', { d: ribbonPath(start, above(word)), 'stroke-width': width })];
  });
  svg.replaceChildren(...ribbons);
}
