import { t } from '../feature';
import type { CutEdge, CutHead, MapSite, Share } from '../shared/protocol';

export const headText = ([layer, head]: CutHead): string => `${layer}.${head}`;

/** A number with the sign of mathematics, and a plus. */
export const signed = (value: number): string => {
  const written = Math.abs(value).toFixed(2);
  if (written === '0.00') return '0.00';
  return value < 0 ? `−${written}` : `+${written}`;
};

/** A share of one that may lie outside of [0, 1], in whole percents. */
export const share = (value: number): string => {
  const whole = Math.round(100 * value);
  return whole < 0 ? `−${-whole}%` : `${whole}%`;
};

/** What a part of the stream is called. */
export function partName({ part, layer, head }: Pick<Share, 'part' | 'layer' | 'head'>): string {
  const name = head === null ? '' : headText([layer ?? 0, head]);
  return t(`microscope.part.${part}`, { layer: layer ?? 0, name });
}

/** What an edge is called: positions and tokens of its ends. */
export const edgeText = ([layer, head, query, key]: CutEdge, labels: readonly string[]): string =>
  t('microscope.edge', {
    ...{ name: headText([layer, head]), query, key },
    ...{ from: labels[query] ?? '', to: labels[key] ?? '' },
  });

/** What a cell of a map is, in words. */
export function cellText(
  site: MapSite,
  [row, column, value]: readonly [number, number, number],
  labels: readonly string[],
): string {
  const values = { layer: row, share: share(value) };
  if (site === 'z') return t('microscope.cell.z', { ...values, name: headText([row, column]) });
  return t(`microscope.cell.${site}`, { ...values, at: column, token: labels[column] ?? '' });
}
