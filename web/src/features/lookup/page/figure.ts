import { tableSvg, type Figure } from '../../../ui/export_figure';
import { digits, four } from '../../../ui/numbers';
import { hardAnswer, READINGS, softAnswer } from '../shared/readings';

/** The entries with their weights, and both answers. */
export function lookupFigure(question: number, temperature: number): Figure {
  const { weights, answer } = softAnswer(question, temperature);
  const hard = hardAnswer(question);
  const heading = ['key', 'value', 'weight'];
  const rows = READINGS.map(({ key, value }, i) => [key, value, weights[i] ?? 0] as const);
  const drawn = rows.map(([key, value, weight]) => [key, value, four(weight)]);
  const answers = ['hard', hard ?? 'none', `soft: ${digits(answer, 4)}`];
  return {
    name: 'lookup',
    svg: tableSvg([heading, ...drawn, answers]),
    table: [heading, ...rows],
    data: { lookup: { question, temperature, entries: READINGS, weights, hard, soft: answer } },
  };
}
