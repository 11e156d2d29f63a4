import { digits, whole } from '../../../ui/numbers';
import { accuracyOf, accuracyWhere, marks } from '../shared/accuracy';
import { crossing } from './crossing';
import { KINDS, type Kind } from '../shared/model_configs';
import type { Counted, Progress, Reached, Said } from '../shared/protocol';
import { LONGEST, LONGEST_TESTED } from '../shared/task';
import { t } from '../feature';
import { LAYERS, slopes } from './plots';
import { FITTED_FROM, LENGTHS, LONGEST_TIMED, type Timing } from '../shared/timing_settings';

export const nameOf = (kind: Kind): string => t(`recurrence.${kind}`);
const percent = (part: number) => (Number.isFinite(part) ? (100 * part).toFixed(0) : '–');
/** A list as a sentence has it. */
const listed = (parts: readonly string[]) => parts.join(t('recurrence.comma'));

/** What all models have, in one list. */
const ofAll = (value: (kind: Kind) => string) =>
  listed(KINDS.map((kind) => t('recurrence.value', { name: nameOf(kind), value: value(kind) })));

/** By how much the largest model is larger than the smallest, in per cent. */
export function spreadOfSizes({ learners }: Progress): string {
  const sizes = KINDS.map((kind) => learners[kind].parameters);
  return digits(100 * (Math.max(...sizes) / Math.min(...sizes) - 1), 2);
}

/** The cells of a model's row after its name. */
export function tableRows({ origin, learners }: Progress, kind: Kind): string[] {
  const { parameters, steps, loss, accuracy, milliseconds } = learners[kind];
  const known = (value: number, written: string) => (Number.isFinite(value) ? written : '–');
  return [
    whole(parameters),
    String(steps),
    origin === 'here' ? known(milliseconds, digits(1000 / milliseconds, 3)) : '–',
    known(loss, digits(loss, 3)),
    known(accuracy, `${(100 * accuracy).toFixed(0)}%`),
  ];
}

const isTrained = (length: number) => length <= LONGEST;
const isLonger = (length: number) => length > LONGEST;

/** What was counted, in sentences: lengths that were trained on, others, and whether all models drop there. */
export function accuracyWords({ tallies, steps }: Counted, loaded: boolean): string[] {
  const known = tallies.transformer.filter(({ sequences }) => sequences > 0);
  const counts = known.map(({ sequences }) => sequences);
  if (counts.length === 0) return [];
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const counted = { steps, count: least === most ? least : `${least}–${most}` };
  const part = (kind: Kind, has: (length: number) => boolean) => accuracyWhere(tallies[kind], has);
  const values = (has: (length: number) => boolean) =>
    ofAll((kind) => `${percent(part(kind, has))}%`);
  const drop = KINDS.every((kind) => part(kind, isLonger) < part(kind, isTrained) - 0.05);
  // Lengths are counted from the shortest on: what is not counted yet is not spoken of.
  const reached = Math.max(...known.map(({ length }) => length));
  const whole = reached === LONGEST_TESTED;
  return [
    ...(reached >= LONGEST ? [t('recurrence.inside', { values: values(isTrained) })] : []),
    ...(whole ? [t('recurrence.outside', { values: values(isLonger) })] : []),
    ...(whole && drop ? [t('recurrence.allDrop')] : []),
    t(loaded ? 'recurrence.countedLoaded' : 'recurrence.counted', counted),
  ];
}

/** The figure in one sentence. */
export function accuracyLabel(tallies: Counted['tallies'] | null): string {
  const at = (tested: number) =>
    ofAll((kind) => {
      const tally = tallies?.[kind].find(({ length }) => length === tested);
      return `${percent(tally ? accuracyOf(tally) : NaN)}%`;
    });
  return t('recurrence.figure.accuracy', { at12: at(12), at20: at(20), at32: at(32) });
}

/** What a step back multiplies the norm by: the geometric mean over the distances from 1 to the longest. */
export function factorOf(norms: ArrayLike<number>): number {
  const steps = LONGEST_TESTED - 2;
  return ((norms[LONGEST_TESTED - 1] ?? NaN) / (norms[1] ?? NaN)) ** (1 / steps);
}

export function reachWords({ first, now }: Reached): string[] {
  const far = LONGEST_TESTED - 1;
  const values = {
    gru: digits(factorOf(first.gru), 2),
    attention: digits(factorOf(first.gru_attention), 2),
    transformer: digits((first.transformer[far] ?? NaN) / (first.transformer[1] ?? NaN), 2),
  };
  const part = (kind: Kind) => (now[kind][LONGEST - 1] ?? NaN) / (now[kind][1] ?? NaN);
  return [
    t('recurrence.reachFirst', values),
    t('recurrence.reachNow', { values: ofAll((kind) => digits(part(kind), 2)) }),
  ];
}

export function reachLabel({ first }: Reached): string {
  const range = (kind: Kind) =>
    t('recurrence.fromTo', {
      from: digits(first[kind][1] ?? NaN, 2),
      to: digits(first[kind][LONGEST_TESTED - 1] ?? NaN, 2),
    });
  return t('recurrence.figure.reach', { values: ofAll(range) });
}

const layerNames = () => [t('recurrence.gruLayer'), t('recurrence.attentionLayer')];
const medians = (timings: readonly Timing[]) =>
  LAYERS.map(({ of }) => timings.map((each) => of(each).median));

/** Which of the two is faster up to which length. */
function crossWords(timings: readonly Timing[]): string {
  const lengths = timings.map(({ length }) => length);
  const [gru = [], attention = []] = medians(timings);
  const at = crossing(lengths, gru, attention);
  const longer = (attention.at(-1) ?? NaN) > (gru.at(-1) ?? NaN);
  if (at === null) return t(longer ? 'recurrence.gruWins' : 'recurrence.attentionWins');
  const value = { crossing: Number(at.toPrecision(2)) };
  return t(longer ? 'recurrence.crosses' : 'recurrence.crossesBack', value);
}

/** Slopes and where the curves cross, when all lengths are there. */
export function costWords(timings: readonly Timing[]): string[] {
  if (timings.length < LENGTHS.length) return [];
  const fits = slopes(timings).map(({ slope, spread }, i) =>
    t('recurrence.slope', {
      name: layerNames()[i] ?? '',
      slope: slope.toFixed(2),
      error: spread.toFixed(2),
    }),
  );
  const range = { from: FITTED_FROM, to: LONGEST_TIMED };
  return [t('recurrence.slopes', { ...range, values: listed(fits) }), crossWords(timings)];
}

export function costLabel(timings: readonly Timing[]): string {
  const ends = medians(timings).map((values) => values.map((value) => digits(value, 2)));
  const [from, to] = [timings[0]?.length ?? 0, timings.at(-1)?.length ?? 0];
  const values = layerNames().map((name, i) => {
    const range = { from: ends[i]?.[0] ?? '', to: ends[i]?.at(-1) ?? '' };
    return t('recurrence.value', { name, value: t('recurrence.fromTo', range) });
  });
  return t('recurrence.figure.cost', { from, to, values: listed(values) });
}

/** What a model said, in words: its digits, how many are right, and which places are wrong. */
export function saidWords(name: string, source: readonly number[], { ids }: Said): string {
  const right = marks(source, ids);
  const wrong = right.flatMap((fine, i) => (fine ? [] : [i + 1]));
  for (let i = source.length; i < ids.length; i++) wrong.push(i + 1);
  const values = { name, tokens: ids.join(' '), all: source.length };
  if (wrong.length === 0) return t('recurrence.spokenRight', values);
  const count = right.filter(Boolean).length;
  return t('recurrence.spoken', { ...values, right: count, places: wrong.join(', ') });
}

/**
 * The mean weights that rows give to the place of the digit they should say, and to the place right of it. The first row says the
 * last digit, right of which there is no place; where no row has one, the second mean is NaN.
 */
export function mirrored(source: readonly number[], said: Said, head: number): [number, number] {
  const columns = source.length;
  const rows = Math.min(said.rows, columns);
  const mean = (shift: number) => {
    let sum = 0;
    for (let row = shift; row < rows; row++) {
      const column = columns - 1 - row + shift;
      sum += said.weights[(head * said.rows + row) * columns + column] ?? NaN;
    }
    return rows > shift ? sum / (rows - shift) : NaN;
  };
  return [mean(0), mean(1)];
}

/** That in words. */
export function mirrorWords(
  kind: 'gru_attention' | 'transformer',
  ...[source, said, head]: Parameters<typeof mirrored>
): string {
  const [own, right] = mirrored(source, said, head);
  if (Number.isNaN(right)) return t(`recurrence.mirrorOwn.${kind}`, { own: digits(own, 3) });
  return t(`recurrence.mirror.${kind}`, { own: digits(own, 3), right: digits(right, 3) });
}
