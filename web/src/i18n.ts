import en from './catalogues/en.json';
import zh from './catalogues/zh.json';
import { richNodes } from './rich';

export type Language = 'en' | 'zh';
export type Key = keyof typeof en;
export const LANGUAGES: readonly Language[] = ['en', 'zh'];

// The type of zh repeats what the build checks: both languages have every key.
const catalogues: Record<Language, Record<Key, string>> = { en, zh };
let current: Language = 'en';

export function setLanguage(language: Language): void {
  current = language;
}

/** The text of `key` in the current language, with {placeholders} filled in. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  return catalogues[current][key].replace(/\{(\w+)\}/g, (_all, name: string) =>
    String(values[name] ?? ''),
  );
}

export function defaultText(language: Language): string {
  return catalogues[language]['sentence.default'];
}

/**
 * Fills every element that names its text: data-t for content, data-t-label for an accessible name.
 * Run once when a panel is built and again when the language changes.
 */
export function translate(root: ParentNode): void {
  for (const element of root.querySelectorAll<HTMLElement>('[data-t]')) {
    element.replaceChildren(...richNodes(t(element.dataset['t'] as Key)));
  }
  for (const element of root.querySelectorAll<HTMLElement>('[data-t-label]')) {
    element.setAttribute('aria-label', t(element.dataset['tLabel'] as Key));
  }
}
