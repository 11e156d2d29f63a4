import { stacked, tableSvg, text, type Figure } from '../../../ui/export_figure';
import { filePen } from '../../../ui/plot';
import { CARDS } from './model_cards';
import { CURVE_HEIGHT, drawLog } from './plots';
import { SHIPPED } from '../shared/shipped_models';
import { t } from '../feature';
import type { View } from '../../panel';

const WIDTH = 600;

/** Before a model is loaded: how those of the page were trained. */
function logsFigure(): Figure {
  const drawings = SHIPPED.map((name) => {
    const { log, baselines } = CARDS[name];
    const title = text(12, 20, t(`model.${name}.name`), { 'font-weight': 700 });
    const drawn = drawLog(filePen, WIDTH, { log, baselines });
    return [CURVE_HEIGHT, `${title}<g transform="translate(12 28)">${drawn}</g>`] as const;
  });
  const { body, end } = stacked(drawings, { left: 0, gap: 44 });
  const rows = SHIPPED.flatMap((name) => {
    const { steps, loss, heldOut } = CARDS[name].log;
    return steps.map((step, i) => [name, step, loss[i] ?? NaN, heldOut[i] ?? NaN]);
  });
  return {
    name: 'model',
    svg: { width: WIDTH + 24, height: end, body },
    table: [
      [t('model.table.model'), t('model.log.step'), t('model.log.loss'), t('model.table.heldOut')],
      ...rows,
    ],
    data: { cards: CARDS },
  };
}

/** What is on the panel: the next token and the heads as tables, and all numbers behind it. */
export function modelFigure({ model }: View): Figure {
  const { info, answers, speed, generated, changes } = model;
  const { next, scores, losses, lens, grid, reads, rollout, reading, near } = answers;
  if (!info || !reading) return logsFigure();
  const rows: (string | number)[][] = [[info.name ?? info.file, reading.labels.join('')]];
  if (next) {
    const steps = ['temperature', 'topK', 'topP'] as const;
    rows.push([t('model.next.token'), ...steps.map((step) => t(`model.next.after.${step}`))]);
    for (const { label, temperature, topK, topP } of next.bars) {
      rows.push([label, temperature, topK ?? '', topP ?? '']);
    }
  }
  if (scores) {
    const kinds = ['previous', 'first', 'induction'] as const;
    const names = kinds.map((kind) => t(`model.heads.${kind}`));
    rows.push([t('model.table.head'), ...names, t('model.table.change')]);
    const { previous, first, induction, numHeads } = scores;
    previous.forEach((value, at) => {
      const name = `${Math.floor(at / numHeads)}.${at % numHeads}`;
      const change = changes?.reading === reading.id ? (changes.changes[at] ?? NaN) : NaN;
      rows.push([
        name,
        value,
        first[at] ?? NaN,
        induction[at] ?? NaN,
        Number.isFinite(change) ? change : '',
      ]);
    });
  }
  if (speed && speed.points.length > 0) {
    const ms = (name: 'cached' | 'whole') => `${t(`model.speed.${name}`)}, ms`;
    rows.push([t('model.speed.length'), ms('cached'), ms('whole')]);
    for (const { length, cached, whole } of speed.points) rows.push([length, cached, whole]);
  }
  const short = rows.map((row) =>
    row.map((cell) => (typeof cell === 'number' ? Number(cell.toPrecision(4)) : cell.slice(0, 60))),
  );
  return {
    name: 'model',
    svg: tableSvg(short),
    table: rows,
    data: {
      ...{ info, reading, next, scores, losses, lens, grid, reads, rollout, near },
      ...{ speed, generated, changes },
    },
  };
}
