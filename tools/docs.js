// npm run docs: the API reference, made from the comments. build/docs/package is the npm package with its
// guides (TypeDoc), build/docs/core the C++ headers (Doxygen), build/docs/index.html leads to both. Whatever
// either of them warns about is an error: something public without a comment, a link that leads nowhere.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root, toolchain, version } from './environment.js';
import { must, step } from './run.js';

const docs = join(root, 'build/docs');

/** An empty folder: pages of what no longer exists must not stay. */
function emptied(name) {
  const folder = join(docs, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}

/** The reference of the npm package, as wasm/typedoc.json says. Throws with every warning. */
export async function documentPackage() {
  emptied('package');
  const options = ['--options', 'wasm/typedoc.json'];
  await must(join(root, 'node_modules/.bin/typedoc'), options, { env: { NO_COLOR: '1' } });
}

/** The reference of the public headers, as core/Doxyfile says. Throws with every warning. */
export async function documentCore() {
  emptied('core');
  await must(toolchain.DOXYGEN, ['core/Doxyfile'], { env: { QKV_VERSION: version } });
}

const startPage = (links) => `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width" />
  <meta name="color-scheme" content="light dark" />
  <title>qkv ${version}: reference</title>
  <style>
    body { font: 1.1em/1.5 system-ui, sans-serif; max-width: 40em; margin: 3em auto; padding: 0 1em; }
  </style>
  <h1>qkv ${version}</h1>
  <p>Attention for the browser and for C++: the same formulas, names and error bounds in both.</p>
  <ul>
${links.map(([href, title, what]) => `    <li><a href="${href}">${title}</a>: ${what}</li>`).join('\n')}
  </ul>
</html>
`;

const packageLinks = [
  ['package/modules.html', 'The npm package', 'every function, option and type'],
  ['package/documents/conventions.html', 'Conventions', 'shapes, masks, order, errors'],
  ['package/documents/bundlers.html', 'Bundlers and pages', 'what to write for each of them'],
  ['package/documents/worked-example.html', 'A worked example', 'attention by hand, with numbers'],
  ['package/documents/encoder-decoder.html', 'An encoder-decoder', 'in JavaScript and in C++'],
  ['package/documents/models.html', 'Language models', 'files, generation, what layers computed'],
  ['package/documents/training.html', 'Gradients', 'by hand, and a layer that learns'],
  ['package/documents/workers.html', 'In a worker', 'pools, giving up, workers of your own'],
];
const coreLinks = [
  ['core/index.html', 'The C++ library', 'the public headers'],
  ['core/using.html', 'Build and link', 'the C++ library with CMake, pkg-config and Eigen'],
];

/** Both references and the page before them; the core's is left out where there is no Doxygen. */
async function main() {
  await step('reference of the package', documentPackage);
  if (toolchain.DOXYGEN) await step('reference of the core', documentCore);
  else console.log('reference of the core ... skipped: no DOXYGEN in .toolchain/env');
  const links = toolchain.DOXYGEN ? [...packageLinks, ...coreLinks] : packageLinks;
  for (const [href] of links) {
    if (!existsSync(join(docs, href))) throw new Error(`build/docs/${href} was not made`);
  }
  writeFileSync(join(docs, 'index.html'), startPage(links));
  console.log('build/docs/index.html');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main().catch((error) => {
    console.error(String(error.message ?? error));
    process.exitCode = 1;
  });
}
