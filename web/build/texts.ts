import { readdirSync, readFileSync } from 'node:fs';
import type { Plugin } from 'vite';
import type { Language } from '../src/i18n/i18n';
import type { RichPart } from '../src/i18n/markup';
import { compareCatalogues, type Catalogue } from './compare';
import { escapeHtml } from './html';
import { panelIds, source } from './source';

const SOURCE = new URL('../src/', import.meta.url);
const MODULE = 'virtual:headings';
const RESOLVED = `\0${MODULE}`;

const readJson = (path: string) =>
  JSON.parse(readFileSync(new URL(path, SOURCE), 'utf8')) as Catalogue;

/** All texts of a language: those of the page, of the chapters and of every panel. */
function readCatalogue(language: Language): Catalogue {
  const folders = readdirSync(new URL('features/', SOURCE), { withFileTypes: true });
  const panels = folders.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const files = [`i18n/${language}.json`, `chapters/${language}.json`, ...panels.map((id) => `features/${id}/${language}.json`)];
  const texts: Catalogue = {};
  for (const [key, text] of files.flatMap((file) => Object.entries(readJson(file)))) {
    if (key in texts) throw new Error(`two texts are called ${key}`);
    texts[key] = text;
  }
  return texts;
}

/** What the chapters say, and what stands above a panel before its code is there. */
function headingsOf(language: Language, ids: readonly string[]): Catalogue {
  const texts = readCatalogue(language);
  const keys = [
    ...Object.keys(readJson(`chapters/${language}.json`)),
    ...ids.flatMap((id) => [`${id}.title`, `${id}.intro`]),
  ];
  return Object.fromEntries(keys.map((key) => [key, texts[key] ?? '']));
}

function partToHtml({ kind, text }: RichPart): string {
  const escaped = escapeHtml(text);
  if (kind === 'text') return escaped;
  if (kind === 'code' || kind === 'em' || kind === 'sub') return `<${kind}>${escaped}</${kind}>`;
  return `<span class="role role-${kind}">${escaped}</span>`;
}

/**
 * Fails the build when the two languages disagree, and writes the English texts into index.html,
 * so that they stand in one place only and the page can be read before, or without, its script.
 */
export function texts(): Plugin {
  return {
    name: 'texts',
    buildStart() {
      const problems = compareCatalogues(readCatalogue('en'), readCatalogue('zh'));
      if (problems.length > 0) this.error(`texts differ:\n  ${problems.join('\n  ')}`);
    },
    resolveId: (id) => (id === MODULE ? RESOLVED : undefined),
    async load(id) {
      if (id !== RESOLVED) return undefined;
      const ids = await panelIds();
      const headings = { en: headingsOf('en', ids), zh: headingsOf('zh', ids) };
      return `export default ${JSON.stringify(headings)};`;
    },
    /** In development: the headings are made of these files without importing them. */
    hotUpdate({ file, modules }) {
      const headings = this.environment.moduleGraph.getModuleById(RESOLVED);
      return headings && /\/(en|zh)\.json$/.test(file) ? [...modules, headings] : modules;
    },
    transformIndexHtml: {
      order: 'pre',
      async handler(html) {
        const { parseRich } = await source<typeof import('../src/i18n/markup')>('src/i18n/markup.ts');
        const english = readCatalogue('en');
        const text = (key: string) => {
          const value = english[key];
          if (value === undefined) throw new Error(`index.html asks for unknown text "${key}"`);
          return value;
        };
        return html
          .replace(/(<[^>]*\bdata-t="([^"]+)"[^>]*>)(?=<\/)/g, (_all, tag: string, key: string) => {
            return tag + parseRich(text(key)).map(partToHtml).join('');
          })
          .replace(/%([\w.]+)%/g, (_all, key: string) => escapeHtml(text(key)));
      },
    },
  };
}
