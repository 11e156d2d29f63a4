import type { State } from '../../../state/state';
import type { Feature } from '../../feature';
import { FEATURES } from '../../index';

/** Where the controls of a field are that the settings of the page show; those of panels alone are in the `lockable` of feature.ts. */
const PAGE_CONTROLS = {
  text: '#text',
  tokenizer: '#choose-tokenizer',
  length: '#choose-length',
  temperature: '#tau, #temperature-number, qkv-panel-temperature .plot-handle',
  head: '#choose-head, [name=head]',
  mask: '#choose-mask',
  positions: '#choose-positions',
  source: '#choose-source',
  seed: '#seed, #new-seed',
  query: '.chip input',
} as const satisfies Partial<Record<keyof State, string>>;

type Features = (typeof FEATURES)[keyof typeof FEATURES];
type LockableOf<Panel> = Panel extends { readonly lockable: infer Fields } ? keyof Fields : never;
type Lockable = (keyof typeof PAGE_CONTROLS | LockableOf<Features>) & keyof State;

const features: readonly Feature[] = Object.values(FEATURES);
const CONTROLS = Object.assign(
  { ...PAGE_CONTROLS },
  ...features.map(({ lockable }) => lockable),
) as Readonly<Record<Lockable, string>>;

/** Fields that a teacher is offered to lock. */
export const LOCKABLE = Object.keys(CONTROLS) as readonly Lockable[];

/** A selector of the controls of a field; of a field that has none, one of nothing. */
export function controlsOf(field: string): string {
  const known = LOCKABLE.find((name) => name === field);
  return known ? CONTROLS[known] : 'x-none';
}
