import { addTexts, LANGUAGES, type Texts } from '../i18n/i18n';

/**
 * In the place of load.ts in the single file, where the code of all panels runs when it is opened: their texts are there
 * before.
 */
const TEXTS = import.meta.glob<Texts>('./*/{en,zh}.json', { eager: true, import: 'default' });

for (const language of LANGUAGES) {
  for (const [path, texts] of Object.entries(TEXTS)) {
    if (path.endsWith(`/${language}.json`)) addTexts(language, texts);
  }
}

const PANELS = import.meta.glob('./*/panel.ts');

export async function loadPanel(id: string): Promise<void> {
  await PANELS[`./${id}/panel.ts`]?.();
}

export const loadWords = (): Promise<void> => Promise.resolve();
export const loadLanguage = (): Promise<void> => Promise.resolve();
