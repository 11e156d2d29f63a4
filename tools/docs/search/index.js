// The search of the documentation: one index of both halves, and the script that asks it, in build/docs/assets. The index is a
// script too, so that it can be read from a file as well as from a server.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import MiniSearch from 'minisearch';
import { root } from '../../environment.js';
import { headersOf } from './headers.js';
import { indexOptions } from './words.js';

/** What TypeDoc and Doxygen write down of what can be found. */
export const found = {
  package: join(root, 'build/docs-found/package.json'),
  core: join(root, 'build/docs-found/core.xml'),
};
mkdirSync(dirname(found.package), { recursive: true });

const assets = join(root, 'build/docs/assets');

export function makeIndex() {
  const headers = existsSync(found.core) ? headersOf(readFileSync(found.core, 'utf8')) : [];
  const entries = [...JSON.parse(readFileSync(found.package, 'utf8')), ...headers];
  const index = new MiniSearch(indexOptions);
  index.addAll(entries.map((entry, id) => ({ id, ...entry })));
  return index;
}

/** The script contains these, with their licenses. */
const licenses = ['minisearch/LICENSE.txt', 'stemmer/license'].map((file) => {
  const text = readFileSync(join(root, 'node_modules', file), 'utf8');
  return `/*! ${file.split('/')[0]}\n${text}*/`;
});

/** Writes the index, the script and the look of the search. */
export async function makeSearch() {
  const text = JSON.stringify(JSON.stringify(makeIndex()));
  writeFileSync(join(assets, 'search-index.js'), `globalThis.qkvSearchIndex = ${text};\n`);
  appendFileSync(
    join(assets, 'custom.css'),
    readFileSync(join(root, 'tools/docs/search/search.css'), 'utf8'),
  );
  await build({
    ...{
      entryPoints: [join(root, 'tools/docs/search/client.js')],
      outfile: join(assets, 'search.js'),
    },
    ...{ bundle: true, minify: true, target: 'es2022', format: 'iife', logLevel: 'error' },
    banner: { js: licenses.join('\n') },
  });
}
