import { text } from '../../../ui/export_figure';
import {
  curve,
  leftAxis,
  linear,
  lowerAxis,
  niceTicks,
  shape,
  type Box,
  type Mark,
  type Pen,
  type Scale,
} from '../../../ui/plot';
import { t } from '../texts';
import type { RunRecord } from './run_record';

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

function births(pen: Pen, input: CurveInput, [x, box]: readonly [Scale, Box]): string {
  if (!input.current || input.measure !== 'accuracy') return '';
  return input.current.births
    .map(({ step, score }, i) => {
      const at = Math.round(10 * x(step)) / 10;
      // The first one's name stands before its line where there is room: the second often follows at once.
      const before = i === 0 && at > box.left + 100;
      const label = text(
        before ? at - 4 : at + 4,
        box.bottom - 8 - 15 * i,
        t(`learn.score.${score}`),
        {
          ...pen('label'),
          'text-anchor': before ? 'end' : 'start',
        },
      );
      return shape('path', { ...pen('critical'), d: `M${at} ${box.top}V${box.bottom}` }) + label;
    })
    .join('');
}

/** Loss or accuracy of all runs over their steps: thin on what they are trained on, thick on what they are judged by. */
export function drawCurves(pen: Pen, width: number, input: CurveInput): string {
  const box: Box = { left: 44, right: width - 12, top: 28, bottom: CURVE_HEIGHT - 30 };
  const top = most(input);
  const x = linear([0, Math.max(1, input.steps)], [box.left, box.right]);
  const y = linear([0, top], [box.bottom, box.top]);
  const lines = all(input).map((record) => {
    const mark = markOf(input, record);
    const trained = thinned(record[input.measure]);
    const judged = judgedLine(record, input.measure);
    return (
      curve(thin(pen, mark), trained.xs, trained.ys, [x, y]) +
      curve(pen(mark), judged.xs, judged.ys, [x, y])
    );
  });
  const here =
    input.looked === null
      ? ''
      : shape('path', {
          ...pen('here'),
          d: `M${x(input.looked).toFixed(1)} ${box.top}V${box.bottom}`,
        });
  const ticks = niceTicks(0, top, 4);
  return [
    text(4, 15, t(`learn.${input.measure}`), pen('title')),
    leftAxis(pen, box, y, ticks),
    lowerAxis(pen, box, x, {
      ticks: niceTicks(0, Math.max(1, input.steps), width < 420 ? 4 : 8),
      labels: true,
    }),
    births(pen, input, [x, box]),
    ...lines,
    here,
  ].join('');
}
