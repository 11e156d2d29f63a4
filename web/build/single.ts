import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import type { Plugin, Rollup } from 'vite';
import { packageFile } from './package';

const FAVICON = new URL('../public/favicon.svg', import.meta.url);

/** What a policy calls an inline script or style. */
const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Workers are made of blobs here; nothing is fetched, ever. */
const policyOf = (script: string, style: string) =>
  [
    "default-src 'none'",
    `script-src ${hashOf(script)} 'wasm-unsafe-eval'`,
    `style-src ${hashOf(style)}`,
    'worker-src blob:',
    'img-src data:',
    'font-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');

/**
 * Workers inside the file, from blob: URLs. The package makes no such URLs, because strict policies forbid them; but a page
 * opened from a disk may load no second file, and has no server whose policy it would break.
 */
export function inlineWorkers(): Plugin {
  return {
    name: 'inline-workers',
    enforce: 'pre',
    resolveId(id, importer) {
      if (!id.endsWith('?worker')) return undefined;
      return this.resolve(`${id}&inline`, importer, { skipSelf: true });
    },
  };
}

const textOf = (file: Rollup.OutputAsset | Rollup.OutputChunk) =>
  file.type === 'chunk' ? file.code : String(file.source);

/** The one file of a bundle with this ending: that there is one only is what makes a single file of it. */
function only(bundle: Rollup.OutputBundle, ending: string): string {
  const found = Object.values(bundle).filter(({ fileName }) => fileName.endsWith(ending));
  const [file] = found;
  if (!file || found.length > 1) {
    throw new Error(`the single file needs one ${ending}, got ${found.map((f) => f.fileName).join()}`);
  }
  return textOf(file);
}

/** The .wasm files of entries that qkv/inline is not, by the modules that have each as a string. */
const MODULES = new Map([
  ['virtual:train-wasm', 'qkv-train-simd.wasm'],
  ['virtual:spectra-wasm', 'qkv-spectra-simd.wasm'],
]);

/** Those as strings, instead of the addresses that train.js, spectra.js and core.js have for files beside them. */
export function inlineModules(): Plugin {
  return {
    name: 'inline-modules',
    enforce: 'pre',
    resolveId: (id) => (MODULES.has(id) ? `\0${id}` : undefined),
    load(id) {
      const file = id.startsWith('\0') ? MODULES.get(id.slice(1)) : undefined;
      if (file) {
        const wasm = readFileSync(packageFile(file));
        return `export default ${JSON.stringify(deflateRawSync(wasm, { level: 9 }).toString('base64'))};`;
      }
      if (!/dist\/(train|spectra|core)\.js$/.test(id)) return undefined;
      const address = /new URL\(("\.\/[\w.-]+"), ?import\.meta\.url\)/g;
      return readFileSync(id, 'utf8').replace(address, 'new URL($1, "https://nowhere.invalid")');
    },
  };
}

/** What `?base64` imports: the bytes of a file as a string. */
export function inlineFiles(): Plugin {
  const query = '?base64';
  return {
    name: 'inline-files',
    enforce: 'pre',
    load(id) {
      if (!id.endsWith(query)) return undefined;
      const bytes = readFileSync(id.slice(0, -query.length));
      return `export default ${JSON.stringify(bytes.toString('base64'))};`;
    },
  };
}

/** The whole page as one file that opens from a disk: scripts, styles, worker and both .wasm inside. */
export function single(name: string): Plugin {
  return {
    name: 'single',
    enforce: 'post',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        // What would end the element early: </script in a string, <!-- likewise.
        const script = only(bundle, '.js')
          .replace(/<\/(script)/gi, '<\\/$1')
          .replace(/<!--/g, '<\\!--');
        const style = only(bundle, '.css');
        const icon = `data:image/svg+xml;base64,${readFileSync(FAVICON).toString('base64')}`;
        const policy = `<meta http-equiv="Content-Security-Policy" content="${policyOf(script, style)}">`;
        const html = only(bundle, '.html')
          .replace('<meta charset', () => `${policy}\n    <meta charset`)
          .replace(/<script type="module".*?<\/script>/, () => `<script type="module" blocking="render">${script}</script>`)
          .replace(/<link rel="stylesheet".*?>/, () => `<style>${style}</style>`)
          .replace('favicon.svg', icon)
          .replace(/\s*<p data-elsewhere>.*?<\/p>/gs, '');
        for (const file of Object.keys(bundle)) Reflect.deleteProperty(bundle, file);
        this.emitFile({ type: 'asset', fileName: name, source: html });
      },
    },
  };
}
