import en from './en.json';
import { nodesOf, parseRich, type RichPart } from './markup';
import zh from './zh.json';

export type Language = 'en' | 'zh';
export const LANGUAGES: readonly Language[] = ['en', 'zh'];

/** The texts that are there before any panel is. */
export type PageKey = keyof typeof en;
export type Texts = Readonly<Record<string, string>>;
export type Values = Readonly<Record<string, string | number>>;

// The type repeats what the build checks: both languages have every key.
const page: Readonly<Record<Language, Readonly<Record<PageKey, string>>>> = { en, zh };
const known: Readonly<Record<Language, Map<string, string>>> = {
  en: new Map(Object.entries(page.en)),
  zh: new Map(Object.entries(page.zh)),
};
let current: Language = 'en';

export function setLanguage(language: Language): void {
  current = language;
}

/** Adds texts of a panel, which arrive with its code. */
export function addTexts(language: Language, texts: Texts): void {
  for (const [key, text] of Object.entries(texts)) known[language].set(key, text);
}

function sourceOf(key: string): string {
  const text = known[current].get(key);
  if (text === undefined) throw new Error(`no text is called ${key} in ${current}`);
  return text;
}

const fill = (text: string, values: Values) =>
  text.replace(/\{(\w+)\}/g, (_all, name: string) => String(values[name] ?? ''));

/** The text of `key` in the current language, with {placeholders} filled in; throws where there is none. Panels call it by a `t` of their keys. */
export const textOf = (key: string, values: Values = {}): string => fill(sourceOf(key), values);

/** The text of `key` by its marks; marks in what is filled in are characters, as somebody may have typed them. */
export const partsOf = (key: string, values: Values = {}): RichPart[] =>
  parseRich(sourceOf(key)).map((part) => ({ ...part, text: fill(part.text, values) }));

/** The text of `key` as nodes, an element for each mark. */
export const richOf = (key: string, values: Values = {}): Node[] => nodesOf(partsOf(key, values));

/** The text of `key` without its marks, for what has no elements, such as an exported picture. */
export const plainOf = (key: string, values: Values = {}): string =>
  partsOf(key, values)
    .map(({ text }) => text)
    .join('');

/** Sentences one after another, with a space between them where the language has one. */
export const sentences = (...parts: readonly string[]): string =>
  parts.filter((part) => part !== '').join(current === 'zh' ? '' : ' ');

/** textOf() for the keys of some catalogues. */
export type Translate<Key extends string> = (key: Key, values?: Values) => string;

/** textOf() for the texts that are there before any panel is. */
export const t: Translate<PageKey> = textOf;

export function defaultText(language: Language): string {
  return page[language]['sentence.default'];
}

/**
 * Fills every element that names its text: data-t for content, data-t-label for an accessible name.
 * Run once when a panel is built and again when the language changes.
 */
export function translate(root: ParentNode): void {
  for (const element of root.querySelectorAll<HTMLElement>('[data-t]')) {
    element.replaceChildren(...richOf(element.dataset['t'] ?? ''));
  }
  for (const element of root.querySelectorAll<HTMLElement>('[data-t-label]')) {
    element.setAttribute('aria-label', textOf(element.dataset['tLabel'] ?? ''));
  }
}
