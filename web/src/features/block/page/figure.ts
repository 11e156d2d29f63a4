import { mean } from '../../../domain/averages';
import { filePen } from '../../../ui/plot';
import { stacked, text, type Figure } from '../../../ui/export_figure';
import { digits } from '../../../ui/numbers';
import type { DepthResult } from '../shared/protocol';
import { DEPTH_HEIGHT, drawGradient, drawStream, fileArea } from './plots';
import type { BlockView } from '../worker/frame_feature';
import { t } from '../feature';

const WIDTH = 600;
const LINE = 22;

/** The norms of all taps as a list, and below it the curves of the stacks where they were computed. */
export function blockFigure(block: BlockView, query: number, depth: DepthResult | null): Figure {
  const { place, path, norms, heads, tokens, learned } = block;
  const rows = path
    .filter((id) => id !== 'weights')
    .map((id) => {
      const lengths = norms[id]?.norms ?? new Float32Array();
      return [t(`block.${id}`), mean(lengths), lengths[query] ?? NaN] as const;
    });
  const table = [
    ['', t('block.mean'), tokens[query] ?? ''],
    ...rows,
    ...heads.map((lengths, h) => [
      learned
        ? t('heads.learned', { head: `${learned.layer}.${h}` })
        : t('heads.name', { head: h + 1 }),
      ...[mean(lengths), lengths[query] ?? NaN],
    ]),
    ...depthTable(depth),
  ];
  const list = [
    [
      learned ? t('block.learned.title', { layer: learned.layer }) : t(`block.${place}`),
      t('block.mean'),
      tokens[query] ?? '',
    ],
    ...rows,
  ].map(([name, average, own], i) => {
    const y = 32 + i * LINE;
    const weight = { 'font-weight': i === 0 ? 700 : 400 };
    const number = (value: string | number) =>
      typeof value === 'number' ? digits(value, 4) : value;
    return (
      text(12, y, name, weight) +
      text(320, y, number(average), { ...weight, 'text-anchor': 'end' }) +
      text(440, y, number(own), { ...weight, 'text-anchor': 'end' })
    );
  });
  const pens = { pen: filePen, area: fileArea };
  const curves = depth ? [drawStream(pens, WIDTH, depth), drawGradient(pens, WIDTH, depth)] : [];
  const { body, end } = stacked(
    curves.map((drawing) => [DEPTH_HEIGHT, drawing]),
    { top: 44 + (rows.length + 1) * LINE },
  );
  return {
    name: 'block',
    svg: { width: WIDTH + 24, height: end, body: list.join('') + body },
    table,
    data: { block, depth },
  };
}

function depthTable(depth: DepthResult | null): (string | number)[][] {
  if (!depth) return [];
  const { pre, post } = depth.curves;
  const head = ['pre', 'post'].flatMap((place) =>
    ['stream', 'gradient'].flatMap((what) =>
      [what, 'low', 'high'].map((end) => `${place} ${what} ${end}`),
    ),
  );
  const bands = [pre.stream, pre.gradient, post.stream, post.gradient];
  return [
    [t('block.depthAxis'), ...head],
    ...pre.stream.middle.map((_, l) => [
      l,
      ...bands.flatMap(({ middle, low, high }) => [
        middle[l] ?? NaN,
        low[l] ?? NaN,
        high[l] ?? NaN,
      ]),
    ]),
  ];
}
