// The compilers of constraints and what follows them: modules of wasm/src, which need no engine, bundled as the package bundles them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { root } from '../../../support/js/files.js';

const folder = mkdtempSync(join(tmpdir(), 'qkv-constraints-'));
const outfile = join(folder, 'constraints.mjs');
const modules = [
  ...['models/constraint/constraint-state', 'models/constraint/walker'],
  ...['models/constraint/vocabulary', 'models/constraint/checked', 'models/constraint/masks'],
  ...['constraints/regular-expression', 'constraints/json-schema'],
  ...['characters', 'llama2c', 'pieces'].map((name) => `models/tokenizers/${name}-tokenizer`),
  'models/tokenizers/json/json-tokenizer',
];
await build({
  stdin: {
    contents: modules.map((path) => `export * from './${path}.js';`).join('\n'),
    resolveDir: join(root, 'wasm/src'),
    loader: 'ts',
  },
  bundle: true,
  outfile,
  sourcemap: 'inline',
  format: 'esm',
});

export const constraints = await import(pathToFileURL(outfile).href);
rmSync(folder, { recursive: true });
