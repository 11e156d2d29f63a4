import type { Settings } from '../shared/run_settings';
import { t, type Key } from '../feature';

const NAMED = ['task', 'positions', 'norm'] as const;
const NUMBERS = ['layers', 'heads', 'width', 'temperature', 'seed'] as const;

/** How a setting is called and what it is, in the reader's language. */
function told(settings: Settings, name: keyof Settings): string {
  const title = t(`learn.set.${name}` as Key);
  if (name === 'causal')
    return `${title}: ${t(settings.causal ? 'learn.causal.yes' : 'learn.causal.no')}`;
  if (name === 'samples') return `${title}: ${settings.samples ?? t('learn.samples.all')}`;
  if (name === 'text') return title;
  const value = settings[name];
  const isNamed = (NAMED as readonly string[]).includes(name);
  return `${title}: ${isNamed ? t(`learn.${name}.${value}` as Key) : value}`;
}

/** What distinguishes one run from another. */
export function differences(of: Settings, from: Settings): string {
  const names = [...NAMED, ...NUMBERS, 'causal', 'samples', 'text'] as const;
  return names
    .filter((name) => of[name] !== from[name])
    .map((name) => told(of, name))
    .join(t('page.comma'));
}

/** Whether two runs were trained on the same rows in the same order. */
export const sameBatches = (a: Settings, b: Settings) =>
  a.task === b.task && a.seed === b.seed && a.samples === b.samples && a.text === b.text;
