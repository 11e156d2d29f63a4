import { tableSvg, type Figure } from '../../ui/figure';
import type { View } from '../../ui/panel';

/** What is on the panel: the next token and the heads as tables, and all numbers behind it. */
export function modelFigure({ model }: View): Figure | null {
  const { info, answers, speed, generated, changes } = model;
  const { next, scores, losses, lens, reading, near } = answers;
  if (!info || !reading) return null;
  const rows: (string | number)[][] = [[info.name ?? info.file, reading.labels.join('')]];
  if (next) {
    rows.push(['token', 'temperature', 'top-k', 'top-p']);
    for (const { label, temperature, topK, topP } of next.bars) {
      rows.push([label, temperature, topK ?? '', topP ?? '']);
    }
  }
  if (scores) {
    rows.push(['head', 'previous', 'first', 'induction', 'change of loss']);
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
    rows.push(['tokens', 'ms with the cache', 'ms without']);
    for (const { length, cached, whole } of speed.points) rows.push([length, cached, whole]);
  }
  const short = rows.map((row) =>
    row.map((cell) => (typeof cell === 'number' ? Number(cell.toPrecision(4)) : cell.slice(0, 60))),
  );
  return {
    name: 'model',
    svg: tableSvg(short),
    table: rows,
    data: { info, reading, next, scores, losses, lens, near, speed, generated, changes },
  };
}
