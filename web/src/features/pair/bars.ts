import { find } from '../../ui/dom';

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

/** Numbers as small columns from a common zero line, [0, 1] high each way when `most` is the largest. */
export function columns(values: ArrayLike<number>, most: number): string {
  return Array.from(values, (value, c) => {
    const size = most > 0 ? Math.abs(value) / most : 0;
    const y = value < 0 ? 1 : 1 - size;
    const sign = value < 0 ? ' class="negative"' : '';
    return `<rect x="${c + 0.1}" y="${y.toFixed(4)}" width="0.8" height="${size.toFixed(4)}"${sign}/>`;
  }).join('');
}
