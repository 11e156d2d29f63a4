import { sentences } from '../../../i18n/i18n';
import { digits, whole } from '../../../ui/numbers';
import { changesDuring, differences, sameBatches } from './settings_diff';
import { probeOf } from './head_maps';
import type { RunRecord } from './run_record';
import { evenScore, keysOf, SCORES_OF } from '../shared/head_scores';
import type { Settings } from '../shared/run_settings';
import { t } from '../feature';
import type { Training } from './training_client';

/** A share in percent, without the sign: whole numbers, and from 99.5 on tenths, of which 99.9 is the most that is not all. */
export const percent = (part: number) =>
  part >= 0.995 && part < 1 ? Math.min(99.9, 100 * part).toFixed(1) : (100 * part).toFixed(0);

/** Loss and accuracy of a run, its speed and its size. */
export function statusOf(record: RunRecord): string {
  const trained = record.loss.length - 1;
  const { lastJudged } = record;
  return t('learn.status', {
    step: record.step,
    loss: digits(record.loss[trained] ?? NaN, 3),
    accuracy: percent(record.accuracy[trained] ?? 0),
    heldLoss: digits(lastJudged?.loss ?? NaN, 3),
    heldAccuracy: percent(lastJudged?.accuracy ?? 0),
    rate: Math.round(record.rate),
    parameters: whole(record.parameters),
  });
}

/** The same without a step made. */
export const beginningOf = (record: RunRecord) =>
  t('learn.beginning', {
    heldLoss: digits(record.lastJudged?.loss ?? NaN, 3),
    heldAccuracy: percent(record.lastJudged?.accuracy ?? 0),
    parameters: whole(record.parameters),
  });

/** The step that is looked at. Not every step is judged or has maps that are kept: where they are of two steps, both are named. */
export function lookedAt(record: RunRecord, looked: number | null, maps?: number): string {
  const judged = record.judgedAt(looked ?? record.step);
  if (!judged) return '';
  const found = { loss: digits(judged.loss, 3), accuracy: percent(judged.accuracy) };
  const { step } = judged;
  if (looked === null) {
    return step === record.step
      ? t('learn.atNow', { step, ...found })
      : t('learn.atNowJudged', { step: record.step, judged: step, ...found });
  }
  return maps === undefined || maps === step
    ? t('learn.atStep', { step, ...found })
    : t('learn.atSteps', { maps, judged: step, ...found });
}

/** That some settings act on a run that goes on, what they made of the last step, and where they changed. */
export function tuningStory(record: RunRecord | null): string {
  const acts = t('learn.tuned.acts');
  const tuning = record?.tuned.at(-1);
  if (!record || !tuning || record.step === 0) return acts;
  const last = t('learn.tuned.last', { rate: digits(record.learningRate, 2) });
  const changes = changesDuring(record).join(t('page.comma'));
  return sentences(acts, last, changes && t('learn.tuned.changes', { changes }));
}

/** What a run that the live region tells of has come to. */
export const spokenOf = (record: RunRecord) =>
  t('learn.spoken', {
    step: record.step,
    loss: digits(record.lastJudged?.loss ?? NaN, 3),
    accuracy: percent(record.lastJudged?.accuracy ?? 0),
  });

/** When heads came to read in the ways that are looked for. */
export function birthsOf(record: RunRecord): string[] {
  return record.births.map(({ score, layer, head, step, seconds }) => {
    const values = { score: t(`learn.score.${score}`), layer: layer + 1, head: head + 1, step };
    if (seconds === null || step === 0) return t('learn.born', values);
    return t('learn.bornAfter', { ...values, seconds: digits(seconds, 3) });
  });
}

/** What the scores mean, and what a head has that reads everything alike. */
export function scoresStory(settings: Settings): string {
  const { row } = probeOf(settings);
  const meanings = SCORES_OF[settings.task].map((id) =>
    t(`learn.meaning.${id}`, { even: evenScore(keysOf(id, row), settings.causal).toFixed(2) }),
  );
  return sentences(...meanings, t('learn.even'));
}

/** How the runs on the curves differ. */
export function comparison({ current, kept }: Training): string {
  const [a] = kept.slice(-1);
  if (!current || !a) return '';
  const others = kept
    .map((record, i) => {
      const name = t(`learn.run.${kept.length - i}` as 'learn.run.1');
      return t('learn.keptRun', { name, differs: differences(record, current) });
    })
    .reverse();
  const same = kept.every(({ settings }) => sameBatches(settings, current.settings));
  const now = t('learn.currentRun', { differs: differences(current, a) });
  return sentences(now, ...others, t(same ? 'learn.sameBatches' : 'learn.otherBatches'));
}
