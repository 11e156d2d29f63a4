import type { Plugin } from 'vite';
import { PANEL_IDS } from '../src/features/index';

const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "worker-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

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
