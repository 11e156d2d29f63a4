// happy-dom in one file: as it is installed it is 700 files, which take a fifth of a second of processor time.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { root } from '../../support/js/files.js';
import { keptIn } from './kept.js';

const folder = join(root, 'node_modules/happy-dom');
const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const file = join(root, `build/happy-dom/${version}.mjs`);

await keptIn(file, async () => {
  const { outputFiles } = await build({
    ...{ entryPoints: [join(folder, 'lib/index.js')], write: false, logLevel: 'error' },
    ...{ bundle: true, format: 'esm', platform: 'node', minifyWhitespace: true },
    // Parts of it are of a kind that asks for require().
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  return outputFiles[0].contents;
});

export const { PropertySymbol, Window } = await import(pathToFileURL(file).href);
