import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';
import { escapeHtml } from './html';
import { compareCatalogues, type Catalogue } from './compare';
import { PANEL_IDS } from '../src/panels/table';
import { parseRich, type RichPart } from '../src/rich';

const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "worker-src 'self'",
  "img-src 'self' data:",
].join('; ');

function readCatalogue(language: string): Catalogue {
  const file = new URL(`../src/catalogues/${language}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Catalogue;
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
export function catalogues(): Plugin {
  return {
    name: 'catalogues',
    buildStart() {
      const problems = compareCatalogues(readCatalogue('en'), readCatalogue('zh'));
      if (problems.length > 0) this.error(`catalogues differ:\n  ${problems.join('\n  ')}`);
    },
    transformIndexHtml: {
      order: 'pre',
      handler(html) {
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

/** A section for every panel of the table, below the sentence. */
export function panels(): Plugin {
  const section = (id: string) => `
      <section id="${id}" aria-labelledby="${id}-title">
        <div class="section-head"><h2 id="${id}-title" data-t="${id}.title"></h2></div>
        <p data-t="${id}.intro"></p>
        <qkv-panel-${id} data-panel></qkv-panel-${id}>
      </section>`;
  return {
    name: 'panels',
    transformIndexHtml: {
      order: 'pre',
      handler: (html) => html.replace('<!-- panels -->', PANEL_IDS.map(section).join('')),
    },
  };
}

/** Only in what is built: the development server injects styles that the policy would refuse. */
export function contentSecurityPolicy(): Plugin {
  return {
    name: 'content-security-policy',
    apply: 'build',
    transformIndexHtml() {
      const attrs = { 'http-equiv': 'Content-Security-Policy', content: POLICY };
      return [{ tag: 'meta', attrs, injectTo: 'head-prepend' }];
    },
  };
}

/** The first paint waits for the script, so that language and theme never flash. */
export function paintOnce(): Plugin {
  return {
    name: 'paint-once',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (html) =>
        html.replace('<script type="module"', '<script type="module" blocking="render"'),
    },
  };
}
