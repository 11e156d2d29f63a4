import type { Frame } from '../../../worker/protocol';
import type { TemperaturePoint, TemperatureStudy } from '../worker/temperature_study';
import { PROMISE } from '../shared/constants';
import { TEMPERATURES } from '../../../domain/temperatures';
import { t, type Key } from '../feature';
import { sentences, type Values } from '../../../i18n/i18n';
import { digits } from '../../../ui/numbers';
import { headName } from '../../head_names';

/** A row at a temperature, with the curves that belong to it. */
export interface Shown {
  readonly frame: Frame;
  readonly point: TemperaturePoint;
  readonly study: TemperatureStudy;
}

const keysOf = ({ of }: TemperaturePoint) => of.scores.length;

/** Which row it is: a text, and what is filled into it. */
export function rowWords({ request }: Frame, point: TemperaturePoint): readonly [Key, Values] {
  const { layer, view } = request;
  const { row, source } = point.of;
  const count = keysOf(point);
  if (source === 'random') return ['temperature.random', { count, seed: row }];
  const [token, head] = [layer.tokens[row] ?? '', headName(layer, view.head)];
  return ['temperature.row', { position: row, token, head, count }];
}

/** Below the critical temperature, and where the law would be less than 0, its number is no entropy. */
const lawApplies = ({ verdict, theory }: TemperaturePoint) => verdict !== 'collapse' && theory >= 0;

/** The law and how far it is from what was measured, or that it does not apply. */
export function lawNumbers(point: TemperaturePoint): { theory: string; difference: string } {
  if (!lawApplies(point)) return { theory: t('temperature.invalid'), difference: '–' };
  const difference = digits(point.theory - point.entropy, 3);
  return { theory: digits(point.theory, 4), difference };
}

/** Whether the formula can be relied on here, and why not when it cannot: a text, and what is filled into it. */
export function verdictWords(point: TemperaturePoint): readonly [Key, Values] {
  const { critical, cumulants, scores } = point.of;
  const deviation = Math.sqrt(cumulants[2] ?? NaN);
  const ratio = digits(point.temperature / (critical ?? NaN), 3);
  const shape = {
    skewness: digits((cumulants[3] ?? NaN) / deviation ** 3, 2),
    kurtosis: digits((cumulants[4] ?? NaN) / deviation ** 4, 2),
    correction: digits(point.correction, 2),
  };
  const values = {
    temperature: point.temperature,
    most: digits(Math.log(scores.length), 3),
    sharing: digits(Math.exp(point.entropy), 3),
    ratio,
    ...shape,
    promise: PROMISE,
  };
  return [`verdict.${point.verdict}`, values];
}

/** Why the gradient vanishes at both ends, and where, for this row. */
export function gradientStory({ of }: TemperaturePoint): string {
  if (of.gap === null) return t('gradient.single');
  if (of.gap === 0) return t('gradient.tie');
  const reason = t('gradient.story', { gap: digits(of.gap, 3) });
  return of.gap < 3 * TEMPERATURES[0] ? sentences(reason, t('gradient.outside')) : reason;
}

/** The question before the curves are shown: the way to the farther end of the axis. */
function farEnd({ temperature }: TemperaturePoint): { end: number; rises: boolean } {
  const rises = temperature <= 1;
  return { end: TEMPERATURES[rises ? 1 : 0], rises };
}

export function question(point: TemperaturePoint): string {
  return t('guess.question', { from: point.temperature, to: farEnd(point).end });
}

/** What came of the guess. */
export function answer({ study, point }: Shown, guess: 'up' | 'down'): string {
  const { end, rises } = farEnd(point);
  const then = study.entropy[rises ? study.entropy.length - 1 : 0] ?? NaN;
  const right = (guess === 'up') === rises;
  const values = {
    from: point.temperature,
    to: end,
    before: digits(point.entropy, 3),
    after: digits(then, 3),
  };
  return sentences(
    t(right ? 'guess.right' : 'guess.wrong'),
    t(rises ? 'guess.rises' : 'guess.falls', values),
  );
}

/** What a screen reader hears of the dot. */
export function spoken(point: TemperaturePoint, curves: boolean): string {
  const values = {
    value: point.temperature,
    entropy: digits(point.entropy, 3),
    most: digits(Math.log(keysOf(point)), 3),
    theory: digits(point.theory, 3),
  };
  if (!curves) return t('temperature.spoken', values);
  return t(lawApplies(point) ? 'temperature.spokenTheory' : 'temperature.spokenInvalid', values);
}

/** What the picture says, in words. */
export function describe({ study, point }: Shown): string {
  const { entropy, largest, gradient, temperatures } = study;
  const steepest = gradient.indexOf(Math.max(...gradient));
  const at = (values: Float64Array, i: number) => digits(values.at(i) ?? NaN, 3);
  const { critical } = point.of;
  const curve = t('temperature.figure', {
    least: TEMPERATURES[0],
    most: TEMPERATURES[1],
    cold: at(entropy, 0),
    hot: at(entropy, -1),
    sharp: at(largest, 0),
    even: at(largest, -1),
    where: at(temperatures, steepest),
    steep: at(gradient, steepest),
  });
  const line = critical ? t('temperature.figureCritical', { critical: digits(critical, 3) }) : '';
  return sentences(curve, line, spoken(point, true));
}
