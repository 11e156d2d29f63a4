import { sentences } from '../i18n/i18n';
import { CHINESE_ENDINGS, ENGLISH_ANIMALS, isAnimal } from '../domain/animals';
import { CONSTRUCTED, trainedHeadName, type HeadSource, type Source } from '../domain/sources';
import { t, type Key } from './map/texts';
import type { State } from '../state/state';

type StoryKey = Extract<Key, `how.${string}`>;

/** What a head is called: those built by hand by what they do, the others by their number. */
export function headName(heads: HeadSource, head: number): string {
  const { source } = heads;
  const name = CONSTRUCTED[head];
  if (source === 'constructed' && name) return t(`head.${name}`);
  if (source === 'trained') return t('heads.learned', { head: trainedHeadName(heads, head) });
  return source === 'yours' ? t('head.yours') : t('heads.name', { head: head + 1 });
}

/** What is said of a head, in this order; what it does depends on the settings of the layer. */
export function storyOf(
  { source, positions, mask }: Pick<State, 'source' | 'positions' | 'mask'>,
  head: number,
): readonly StoryKey[] {
  const name = CONSTRUCTED[head];
  if (source !== 'constructed' || !name) {
    if (source === 'trained') return ['how.trained'];
    return [source === 'yours' ? 'how.yours' : 'how.random'];
  }
  const lost = positions === 'none';
  const window = mask === 'window';
  if (name === 'reference') {
    const sides = mask === 'none' ? 'how.reference.sides' : 'how.reference.near';
    const others = lost ? 'how.reference.even' : sides;
    return ['how.reference', others, ...(window ? (['how.reference.window'] as const) : [])];
  }
  if (lost && (name === 'previous' || name === 'first' || name === 'local')) return ['how.lost'];
  return name === 'first' && window ? ['how.first', 'how.first.window'] : [`how.${name}`];
}

/** Which words the head that looks for animals knows, of these tokens or else at all. */
function knownAnimals(tokens: readonly string[]): string {
  const known = [...new Set(tokens.filter(isAnimal).map((token) => token.toLowerCase()))];
  if (known.length > 0) return t('how.known', { animals: known.join(t('page.comma')) });
  const english = ENGLISH_ANIMALS.join(', ');
  return t('how.unknown', { english, chinese: Array.from(CHINESE_ENDINGS).join(' ') });
}

/** How a head comes to do what it does, in sentences. */
export function headStory(state: State, head: number, tokens: readonly string[]): string {
  const keys = storyOf(state, head);
  const said = keys.map((key) => t(key));
  if (keys.includes('how.reference') && tokens.length > 0) said.push(knownAnimals(tokens));
  return sentences(...said);
}

/** Where the weights come from, in few words. */
export function provenance(source: Source, seed: number): string {
  return t(`badge.${source}`, { seed });
}
