/** What a bar of these numbers reaches from and to; zero is always in it. */
export function reachOf(
  ...lists: readonly ArrayLike<number>[]
): readonly [low: number, high: number] {
  const all = lists.flatMap((list) => Array.from(list));
  const low = Math.min(0, ...all);
  const high = Math.max(0, ...all);
  return low === high ? [0, 1] : [low, high];
}

/** The place of a bar from zero, to the left when the number is negative. */
export function barStyle(value: number, [low, high]: readonly [number, number]): string {
  const percent = (part: number) => `${(part / (high - low)) * 100}%`;
  return `left: ${percent(Math.min(0, value) - low)}; width: ${percent(Math.abs(value))}`;
}

/** Numbers as small columns up or down from a common line, 1 long when `most` is the largest: a path for each sign. */
export function columns(values: ArrayLike<number>, most: number): { up: string; down: string } {
  const path = { up: '', down: '' };
  Array.from(values, (value, c) => {
    if (value === 0 || most === 0) return;
    path[value > 0 ? 'up' : 'down'] += `M${c + 0.1} 1v${(-value / most).toFixed(3)}h.8V1z`;
  });
  return path;
}
