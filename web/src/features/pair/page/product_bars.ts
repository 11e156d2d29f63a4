import { find } from '../../../ui/dom';

/** What a bar of these numbers reaches from and to; zero is always in it. */
export function reachOf(
  ...lists: readonly ArrayLike<number>[]
): readonly [low: number, high: number] {
  const all = lists.flatMap((list) => Array.from(list));
  const low = Math.min(0, ...all);
  const high = Math.max(0, ...all);
  return low === high ? [0, 1] : [low, high];
}

/** A bar from zero, to the left when the number is negative. */
export function drawBar(
  box: HTMLElement,
  value: number,
  [low, high]: readonly [number, number],
): void {
  const span = high - low;
  const { style } = find(box, 'i', HTMLElement);
  style.left = `${((Math.min(0, value) - low) / span) * 100}%`;
  style.width = `${(Math.abs(value) / span) * 100}%`;
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
