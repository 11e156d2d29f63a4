import type { Frame, Report } from '../../../worker/protocol';
import { tableSvg, type Figure } from '../../../ui/export_figure';
import { t } from '../feature';

export function readingsFigure(report: Report, frame: Frame): Figure {
  const { check, timing, memory } = report;
  const table = [
    [t('checks.table.reading'), t('checks.table.value')],
    [t('checks.table.weights'), check?.weights ?? ''],
    [t('checks.table.entropy'), check?.entropy ?? ''],
    [t('checks.table.sums'), check?.rowSum ?? ''],
    [t('checks.table.time'), timing?.median ?? ''],
    [t('checks.table.memory'), memory.usedBytes],
    [t('checks.table.build'), frame.info.isa],
    [t('checks.table.version'), frame.info.version],
  ] as const;
  const data = { check, timing, memory, info: frame.info, layer: frame.request.layer };
  return { name: 'checks', svg: tableSvg(table), table, data };
}
