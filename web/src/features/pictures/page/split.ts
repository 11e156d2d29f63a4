import { text } from '../../../ui/export_figure';
import { D_K, D_MODEL, headCount } from '../../../domain/sources';
import type { View } from '../../panel';
import { t } from '../texts';

/** The widths of a layer, in numbers. */
export interface LayerWidths {
  readonly dModel: number;
  readonly heads: number;
  readonly dK: number;
}

/** Those of the layer whose heads are shown; null for numbers of the reader, which come from no x, and while there is no model. */
export function widthsOf({ heads, model }: View): LayerWidths | null {
  const { source } = heads;
  if (source === 'yours') return null;
  if (source !== 'trained') return { dModel: D_MODEL, heads: headCount(heads), dK: D_K };
  return model.info && { ...model.info, heads: model.info.numHeads };
}

const WIDTH = 340;
const [BAR, STEP, LEFT] = [20, 58, 30];
/** The widest row of numbers has this width; the others are drawn on the same scale. */
const ROOM = WIDTH - 2 * LEFT;

const middle = { 'text-anchor': 'middle' } as const;

/** From x to its heads and back: every bar is as wide as its numbers are many. */
export function drawSplit({ dModel, heads, dK }: LayerWidths, chosen: number): string {
  const scale = ROOM / Math.max(dModel, heads * dK);
  const left = (numbers: number) => (WIDTH - numbers * scale) / 2;
  const bar = (y: number, kind: string, from: number, numbers: number) =>
    `<rect class="${kind}" x="${from}" y="${y}" width="${numbers * scale}" height="${BAR}"/>`;
  const strips = (y: number) =>
    Array.from({ length: heads }, (_, head) =>
      bar(
        y,
        head === chosen ? 'split-chosen' : 'split-head',
        left(heads * dK) + head * dK * scale,
        dK,
      ),
    ).join('');
  const down = (y: number, words: string) =>
    `<path class="picture-way" d="M${WIDTH / 2} ${y + BAR + 3}v${STEP - BAR - 8}m-4 -5l4 5l4 -5"/>${text(WIDTH / 2 + 10, y + BAR + 23, words)}`;
  const x = 4;
  const parts = [
    bar(x, 'split-x', left(dModel), dModel) + text(LEFT / 2, x + 15, 'x', middle),
    down(x, t('pictures.split.down')),
    strips(x + STEP),
    down(x + STEP, t('pictures.split.mix')),
    strips(x + 2 * STEP),
    down(x + 2 * STEP, t('pictures.split.back')),
    bar(x + 3 * STEP, 'split-x', left(dModel), dModel),
  ];
  const height = x + 3 * STEP + BAR + 4;
  return `<svg viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" aria-hidden="true">${parts.join('')}</svg>`;
}

/** The same in words, with the numbers. */
export function splitWords({ dModel, heads, dK }: LayerWidths): string {
  const width = heads * dK;
  const values = { dModel, heads, dK, width };
  return t(width === dModel ? 'pictures.split.same' : 'pictures.split.wider', values);
}
