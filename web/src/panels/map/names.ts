import { CONSTRUCTED, type Source } from '../../engine/sources';
import { t } from '../../i18n';

/** What a head is called: those built by hand by what they do, the others by their number. */
export function headName(source: Source, head: number): string {
  const name = CONSTRUCTED[head];
  if (source === 'constructed' && name) return t(`head.${name}`);
  return source === 'yours' ? t('head.yours') : t('heads.name', { head: head + 1 });
}

/** How it comes to do that. */
export function headStory(source: Source, head: number): string {
  const name = CONSTRUCTED[head];
  if (source === 'constructed' && name) return t(`how.${name}`);
  return t(source === 'yours' ? 'how.yours' : 'how.random');
}

/** Where the weights come from, in few words. */
export function provenance(source: Source, seed: number): string {
  return t(`badge.${source}`, { seed });
}
