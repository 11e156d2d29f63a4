import type { Frame, Report } from '../../worker/protocol';
import { tableSvg, type Figure } from '../../ui/figure';

export function readingsFigure(report: Report, frame: Frame): Figure {
  const { check, timing, memory } = report;
  const table = [
    ['reading', 'value'],
    ['max error of a weight', check?.weights ?? ''],
    ['max error of an entropy', check?.entropy ?? ''],
    ['max |row sum - 1|', check?.rowSum ?? ''],
    ['median time, ms', timing?.median ?? ''],
    ['bytes in use', memory.usedBytes],
    ['build', frame.info.isa],
    ['version', frame.info.version],
  ] as const;
  const data = { check, timing, memory, info: frame.info, layer: frame.request.layer };
  return { name: 'checks', svg: tableSvg(table), table, data };
}
