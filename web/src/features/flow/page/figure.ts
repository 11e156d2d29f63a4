import { tableSvg, type Figure } from '../../../ui/export_figure';
import { four } from '../../../ui/numbers';
import type { FlowResult } from '../worker/frame_feature';

/** The keys of the query with their weights before and after the change, and all vectors in the data. */
export function flowFigure(result: FlowResult, tokens: readonly string[]): Figure {
  const heading = ['position', 'key', 'score', 'weight', 'weight before'];
  const { keys, matrices, ...vectors } = result;
  const rows = keys.map(({ key, score, weight, before }) => {
    return [key, tokens[key] ?? '', score, weight, before] as const;
  });
  const drawn = rows.map(([key, token, ...numbers]) => [key, token, ...numbers.map(four)]);
  return {
    name: 'flow',
    svg: tableSvg([heading, ...drawn]),
    table: [heading, ...rows],
    data: { flow: { ...vectors, token: tokens[result.query] ?? '', keys, matrices } },
  };
}
