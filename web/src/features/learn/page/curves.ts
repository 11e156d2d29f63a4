import { Chart } from '../../../ui/chart';
import { niceTicks, shape, type Mark, type Pen } from '../../../ui/plot';
import { t } from '../feature';
import type { RunRecord } from './run_record';
import { tuningChange } from './settings_diff';
import { taskCalled } from './settings_of_state';
import type { Settings } from '../shared/run_settings';

export const CURVE_HEIGHT = 190;
/** Points of a curve; more would fall on the same pixels. */
const POINTS = 240;

export type Measure = 'loss' | 'accuracy';

/** One curve: of a run on the rows it is trained on, or on those it is judged by. */
interface Line {
  readonly xs: ArrayLike<number>;
  readonly ys: ArrayLike<number>;
}

/** Means over so many steps each that there are at most POINTS of them. */
export function thinned(values: Float32Array, most = POINTS): Line {
  const width = Math.max(1, Math.ceil(values.length / most));
  const count = Math.ceil(values.length / width);
  const [xs, ys] = [new Float32Array(count), new Float32Array(count)];
  for (let i = 0; i < count; i++) {
    const part = values.subarray(i * width, (i + 1) * width);
    xs[i] = i * width + (part.length - 1) / 2;
    ys[i] = part.reduce((a, b) => a + b, 0) / part.length;
  }
  return { xs, ys };
}

function judgedLine({ judged }: RunRecord, measure: Measure): Line {
  const every = Math.ceil(judged.length / POINTS);
  const some = judged.filter((_, i) => i % every === 0 || i === judged.length - 1);
  return { xs: some.map(({ step }) => step), ys: some.map((each) => each[measure]) };
}

/** The pens of runs: of the one that trains, then of those before it from the last one on. They differ in dashes, too. */
const RUN_MARKS = ['scaled', 'plain', 'gradient', 'density'] as const;

export interface CurveInput {
  readonly measure: Measure;
  readonly current: RunRecord | null;
  readonly kept: readonly RunRecord[];
  /** Steps of the axis. */
  readonly steps: number;
  /** The step that is looked at. */
  readonly looked: number | null;
}

/** The axis holds at least what a run of this task takes, so that it does not move all the time. */
export function stepsOf(
  { current, kept }: Pick<CurveInput, 'current' | 'kept'>,
  settings: Settings,
): number {
  const runs = [...kept, current ?? { step: 0, settings }];
  return Math.max(
    ...runs.map((run) => {
      const { task, text } = run.settings;
      return Math.max(taskCalled(task, text).defaults.budget, run.step);
    }),
  );
}

const all = ({ current, kept }: CurveInput) => (current ? [current, ...kept] : [...kept]);

function most(input: CurveInput): number {
  if (input.measure === 'accuracy') return 1;
  let largest = 1;
  for (const record of all(input)) {
    for (const { loss } of record.judged) largest = Math.max(largest, loss);
    largest = Math.max(largest, record.loss[0] ?? 0);
  }
  return largest * 1.05;
}

/** Where a run stands among the pens: those that were kept last are A, then B and C. */
const markOf = (input: CurveInput, record: RunRecord): Mark =>
  record === input.current
    ? RUN_MARKS[0]
    : (RUN_MARKS[input.kept.length - input.kept.indexOf(record)] ?? RUN_MARKS[3]);

/** A thin line of a pen: on the page by a class, which outweighs attributes. */
function thin(pen: Pen, mark: Mark): ReturnType<Pen> {
  const thick = pen(mark);
  const { class: named } = thick;
  const thinner = named === undefined ? {} : { class: `${named} learn-thin` };
  return { ...thick, ...thinner, 'stroke-width': 1, 'stroke-opacity': 0.75 };
}

/** The steps at which heads of a kind came to be. */
function births(chart: Chart, input: CurveInput): string {
  const { pen, x, box } = chart;
  if (!input.current || input.measure !== 'accuracy') return '';
  return input.current.births
    .map(({ step, score }, i) => {
      const at = Math.round(10 * x(step)) / 10;
      // The first one's name stands before its line where there is room: the second often follows at once.
      const [end, anchor] =
        i === 0 && at > box.left + 100 ? ([at - 4, 'end'] as const) : ([at + 4, 'start'] as const);
      return (
        shape('path', { ...pen('critical'), d: `M${at} ${box.top}V${box.bottom}` }) +
        chart.label(end, box.bottom - 8 - 15 * i, t(`learn.score.${score}`), anchor)
      );
    })
    .join('');
}

/** Pixels that a letter of a label takes at most. */
const LETTER = 7;

/** Words beside an upright line, on the side where there is room for them; none where there is none. */
function beside(chart: Chart, at: number, y: number, words: string): string {
  const [needed, { left, right }] = [LETTER * words.length + 4, chart.box];
  if (at + needed <= right) return chart.label(at + 4, y, words, 'start');
  return at - needed >= left ? chart.label(at - 4, y, words, 'end') : '';
}

/** The steps at which the run of now got another learning rate, other batches or another dropout. */
function tunings(chart: Chart, { current, measure }: CurveInput): string {
  const tuned = current?.tuned ?? [];
  return tuned
    .map((each, i) => {
      const before = tuned[i - 1];
      if (!before) return '';
      const line = chart.upright('reference', each.step);
      if (measure !== 'accuracy') return line;
      const y = chart.box.top + 10 + 14 * ((i - 1) % 3);
      return line + beside(chart, chart.x(each.step), y, tuningChange(each, before));
    })
    .join('');
}

/** Loss or accuracy of all runs over their steps: thin on what they are trained on, thick on what they are judged by. */
export function drawCurves(pen: Pen, width: number, input: CurveInput): string {
  const top = most(input);
  const steps = Math.max(1, input.steps);
  const layout = { width, height: CURVE_HEIGHT, left: 44, right: 12, top: 28, bottom: 30 };
  const chart = new Chart(
    pen,
    { ...layout, titleAt: 15 },
    {
      x: { domain: [0, steps], ticks: niceTicks(0, steps, width < 420 ? 4 : 8) },
      y: { domain: [0, top], ticks: niceTicks(0, top, 4), title: t(`learn.${input.measure}`) },
    },
  );
  const lines = all(input).map((record) => {
    const mark = markOf(input, record);
    const trained = thinned(record[input.measure]);
    const judged = judgedLine(record, input.measure);
    return (
      chart.curve(thin(pen, mark), trained.xs, trained.ys) + chart.curve(mark, judged.xs, judged.ys)
    );
  });
  return [
    chart.titles(),
    chart.leftAxis(),
    chart.lowerAxis(),
    tunings(chart, input),
    births(chart, input),
    ...lines,
    input.looked === null ? '' : chart.upright('here', input.looked),
  ].join('');
}
