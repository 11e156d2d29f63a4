import { text } from '../../../ui/export_figure';
import { shape, type Pen } from '../../../ui/plot';

const [BOX, GAP, TOP] = [38, 26, 34];
export const ARCHITECTURE_HEIGHT = TOP + 5 * (BOX + GAP);

/** What stands in the boxes, from the first to the last of each side, and at the arrows. */
export interface ArchitectureWords {
  readonly titles: readonly [encoder: string, decoder: string];
  readonly encoder: readonly string[];
  readonly decoder: readonly string[];
  readonly queries: string;
  readonly memory: string;
}

/** The box of the decoder that reads what the encoder made; the last of the encoder stands beside it. */
const CROSS = 2;

/** Encoder and decoder side by side, and the arrow between them. */
export function drawArchitecture(pen: Pen, width: number, words: ArchitectureWords): string {
  const wide = Math.max(120, Math.min(250, width * 0.43));
  const left = (side: 0 | 1) => (side === 0 ? 2 : Math.max(wide + 20, width - wide - 2));
  const top = (row: number) => TOP + row * (BOX + GAP);
  const box = (side: 0 | 1, row: number, name: string) => {
    const isToken = row === 0 || (side === 1 && row === words.decoder.length - 1);
    const place = { x: left(side), y: top(row), width: wide, height: BOX, rx: 6 };
    const edge = pen(side === 1 && row === CROSS ? 'scaled' : 'axis');
    const inside = isToken ? '' : shape('rect', { ...pen('collapse'), ...place });
    const middle = { ...pen('label'), 'text-anchor': 'middle' };
    return (
      inside +
      shape('rect', { ...edge, ...place, fill: 'none' }) +
      text(left(side) + wide / 2, top(row) + BOX / 2 + 4, name, middle)
    );
  };
  const down = (side: 0 | 1, row: number) => {
    const [x, y] = [left(side) + wide / 2, top(row) + BOX];
    return shape('path', {
      ...pen('here'),
      d: `M${x} ${y}v${GAP - 2}m-4 -6l4 6l4 -6`,
      fill: 'none',
    });
  };
  const column = (side: 0 | 1, names: readonly string[]) =>
    names.map(
      (name, row) => box(side, row, name) + (row < names.length - 1 ? down(side, row) : ''),
    );
  const [from, to, y] = [left(0) + wide, left(1), top(CROSS) + BOX / 2];
  const across = `M${from} ${y}H${to - 2}m-7 -5l7 5l-7 5`;
  return [
    text(left(0), 16, words.titles[0], pen('title')),
    text(left(1), 16, words.titles[1], pen('title')),
    ...column(0, words.encoder),
    ...column(1, words.decoder),
    shape('path', { ...pen('scaled'), d: across, fill: 'none' }),
    text((from + to) / 2, y - 8, words.memory, { ...pen('label'), 'text-anchor': 'middle' }),
    text(left(1) + wide / 2 + 10, top(CROSS) - GAP / 2 + 4, words.queries, pen('label')),
  ].join('');
}
