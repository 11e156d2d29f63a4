import { sentences } from '../../../i18n/i18n';
import { CONSTRUCTED } from '../../../domain/sources';
import type { State } from '../../../state/state';
import { t, type Key } from '../feature';

type MadeKey = Extract<Key, `pair.made.${string}`>;
const BY_POSITION = ['previous', 'first', 'local'];

/** What the components of a head are, as far as that can be said. */
export function madeOf(
  { source, positions }: Pick<State, 'source' | 'positions'>,
  head: number,
): readonly MadeKey[] {
  const name = CONSTRUCTED[head];
  if (source !== 'constructed' || !name) {
    if (source === 'trained') return ['pair.made.trained'];
    return [source === 'yours' ? 'pair.made.yours' : 'pair.made.random'];
  }
  const own = BY_POSITION.includes(name) || name === 'reference';
  const lost = own && positions === 'none' ? (['pair.made.without'] as const) : [];
  const products =
    name === 'reference' || name === 'same' || name === 'mean'
      ? (`pair.made.${name}` as const)
      : 'pair.made.positions';
  return [products, ...lost, 'pair.made.value'];
}

export function madeStory(state: State, head: number): string {
  const said = madeOf(state, head).map((key) => t(key));
  return sentences(...said);
}
