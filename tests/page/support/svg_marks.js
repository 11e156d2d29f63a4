// What stands in a drawing: the points of its curves, and its words.

/** [x, y] of each point of the curve of this class, in the order of the path. */
export function pointsOf(svg, mark) {
  const [, path] = new RegExp(`class="${mark}" d="([^"]*)"`).exec(svg);
  return path
    .split(/[ML]/)
    .slice(1)
    .map((point) => point.split(' ').map(Number));
}

export const wordsOf = (svg) => [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text);
