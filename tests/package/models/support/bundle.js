// The readers of models by themselves: modules of wasm/src/models, which need no engine, bundled as the package bundles them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { root } from '../../../support/js/files.js';

const folder = mkdtempSync(join(tmpdir(), 'qkv-models-'));
const outfile = join(folder, 'models.mjs');
const modules = [
  ...['open', 'fill', 'file', 'plan', 'stream', 'config', 'readers/read-files', 'text-list'],
  ...['opener', 'requests', 'web', 'sha256', 'hashed-source'].map((name) => `sources/${name}`),
  ...['cache/model-cache', 'cache/shelf', 'cache/folder-store', 'cache/kept-source', 'cache/locks'],
  ...['hub/hub-address', 'rate'],
  ...['locate', 'hub', 'gguf'].map((name) => `families/${name}`),
  ...['characters', 'hugging-face', 'llama2c', 'gguf'].map(
    (name) => `tokenizers/${name}-tokenizer`,
  ),
  ...['tokenizers/text-stream', 'tokenizers/merge', 'tokenizers/cuts'],
  ...['tokenizers/given-tokenizer', 'tokenizers/unigram', 'fields'],
  ...['json-tokenizer', 'normalizers', 'pre-tokenizers', 'decoders', 'pattern'].map(
    (name) => `tokenizers/json/${name}`,
  ),
];
await build({
  stdin: {
    contents: modules.map((path) => `export * from './${path}';`).join('\n'),
    resolveDir: join(root, 'wasm/src/models'),
    loader: 'ts',
  },
  bundle: true,
  outfile,
  sourcemap: 'inline',
  format: 'esm',
});

export const models = await import(pathToFileURL(outfile).href);
rmSync(folder, { recursive: true });
