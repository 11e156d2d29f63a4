import { addTexts, type Language, type Texts } from '../i18n/i18n';
import type { PanelId } from './index';

/** The code and the texts of the panels, each fetched when it is wanted. */
const PANELS = import.meta.glob('./*/panel.ts');
const TEXTS = import.meta.glob<Texts>('./*/{en,zh}.json', { import: 'default' });

/** The folders and the languages that were requested so far: each folder has its texts in each of these languages. */
const panels = new Set<string>();
const languages = new Set<Language>();

async function loadTexts(id: string, language: Language): Promise<void> {
  const texts = await TEXTS[`./${id}/${language}.json`]?.();
  if (texts) addTexts(language, texts);
}

/** The texts of a folder, in every language that was requested so far. */
export async function loadWords(id: string, language: Language): Promise<void> {
  panels.add(id);
  languages.add(language);
  await Promise.all(Array.from(languages, (name) => loadTexts(id, name)));
}

/** Fetches the code and the texts of a panel, whose elements then come to life; the small pictures of chapters are one folder. */
export async function loadPanel(id: PanelId | 'pictures', language: Language): Promise<void> {
  await loadWords(id, language);
  await PANELS[`./${id}/panel.ts`]?.();
}

/** The texts of all panels that are there, in another language. */
export async function loadLanguage(language: Language): Promise<void> {
  languages.add(language);
  await Promise.all(Array.from(panels, (id) => loadTexts(id, language)));
}
