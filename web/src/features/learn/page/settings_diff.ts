import { t, type Key } from '../feature';
import type { Tuned } from '../shared/protocol';
import type { Settings, Tuning } from '../shared/run_settings';
import type { RunRecord } from './run_record';

const NAMED = ['task', 'positions', 'norm'] as const;
const NUMBERS = ['layers', 'heads', 'width', 'temperature', 'seed'] as const;
const TUNED = ['rate', 'batch', 'dropout'] as const;

/** How a setting is called and what it is, in the reader's language. */
function textOf(settings: Settings, name: keyof Settings): string {
  const title = t(`learn.set.${name}` as Key);
  if (name === 'causal')
    return `${title}: ${t(settings.causal ? 'learn.causal.yes' : 'learn.causal.no')}`;
  if (name === 'samples') return `${title}: ${settings.samples ?? t('learn.samples.all')}`;
  if (name === 'text') return title;
  const value = settings[name];
  const isNamed = (NAMED as readonly string[]).includes(name);
  return `${title}: ${isNamed ? t(`learn.${name}.${value}` as Key) : value}`;
}

const valueOf = (tuning: Tuning, name: keyof Tuning) =>
  name === 'rate' ? `× ${tuning.rate}` : String(tuning[name]);

/** What one tuning changes in another. */
export function tuningChange(to: Tuning, from: Tuning): string {
  return TUNED.filter((name) => to[name] !== from[name])
    .map((name) => `${t(`learn.set.${name}`)}: ${valueOf(to, name)}`)
    .join(t('page.comma'));
}

/** What a part of the tuning was in a run, and from which step on it was something else. */
function course(tuned: readonly Tuned[], name: keyof Tuning): string {
  const changes = tuned.filter((each, i) => each[name] !== tuned[i - 1]?.[name]);
  const values = changes.map((each) => {
    const value = valueOf(each, name);
    return each.step === 0 ? value : t('learn.tuned.from', { value, step: each.step });
  });
  return `${t(`learn.set.${name}`)}: ${values.join(t('page.comma'))}`;
}

/** The parts of the tuning that changed during a run. */
export const changesDuring = ({ tuned }: RunRecord): string[] =>
  TUNED.filter((name) => tuned.some((each) => each[name] !== tuned[0]?.[name])).map((name) =>
    course(tuned, name),
  );

/** What distinguishes one run from another. */
export function differences(of: RunRecord, from: RunRecord): string {
  const names = [...NAMED, ...NUMBERS, 'causal', 'samples', 'text'] as const;
  const settings = names
    .filter((name) => of.settings[name] !== from.settings[name])
    .map((name) => textOf(of.settings, name));
  const tunings = TUNED.map((name) => [course(of.tuned, name), course(from.tuned, name)] as const)
    .filter(([one, other]) => one !== other)
    .map(([one]) => one);
  return [...settings, ...tunings].join(t('page.comma'));
}

/** Whether two runs were trained on the same rows in the same order. */
export const sameBatches = (a: Settings, b: Settings) =>
  a.task === b.task && a.seed === b.seed && a.samples === b.samples && a.text === b.text;
