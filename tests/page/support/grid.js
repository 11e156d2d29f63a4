// Masks of the panel about masks, as lists of [T, T]: 1 where a query may read a key.

export const grid = (count, mayRead) =>
  Array.from({ length: count ** 2 }, (_, at) =>
    Number(mayRead(Math.floor(at / count), at % count)),
  );

/** The mask that a link holds: four hexadecimal digits a row, the first key the highest bit. */
export function unpack(paint, count) {
  return grid(count, (row, col) => {
    const bits = parseInt(paint.slice(4 * row, 4 * row + 4), 16);
    return (bits >> (15 - col)) & 1;
  });
}
