import { readFileSync } from 'node:fs';
import type * as Package from 'qkv';
import type { Plugin } from 'vite';
import { packageFile } from './package';
import { source } from './source';

const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "worker-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

export function chapters(): Plugin {
  return {
    name: 'chapters',
    transformIndexHtml: {
      order: 'pre',
      async handler(html) {
        const page = await source<typeof import('./chapters')>('build/chapters.ts');
        return page.withChapters(html);
      },
    },
  };
}

/** The package as built: the same core that will run in the page. By its address, as its types need no build. */
async function engine(): Promise<Package.Qkv> {
  const { init } = (await import(packageFile('index.js').href)) as typeof Package;
  const wasm = readFileSync(packageFile('qkv-simd.wasm'));
  return init({ deterministic: true, wasm });
}

/**
 * The opening sentence and its map, computed here, as part of the HTML: there before the engine is, and
 * without any script. Only in what is built: the development server has no package to compute it with.
 */
export function firstView(): Plugin {
  return {
    name: 'first-view',
    apply: 'build',
    transformIndexHtml: {
      order: 'pre',
      async handler(html) {
        const view = await source<typeof import('./first_view')>('build/first_view.ts');
        return view.withFirstView(html, await engine());
      },
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
