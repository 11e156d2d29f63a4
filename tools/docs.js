// npm run docs: the documentation as a site, in build/docs. TypeDoc makes the pages of tools/docs/contents.js and the
// reference of the npm package, Doxygen that of the C++ headers in build/docs/core. Whatever either of them warns about is an
// error: something public without a comment, a link that leads nowhere.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bothSchemes } from './docs/schemes.js';
import { missing, root, toolchain, version } from './environment.js';
import { must, step } from './run.js';

const docs = join(root, 'build/docs');
const core = join(docs, 'core');

/** All pages but those of the headers, as tools/docs/typedoc.js says. Throws with every warning. */
async function documentPackage() {
  mkdirSync(docs, { recursive: true });
  // Pages of what no longer exists must not stay; the other half may be made at the same time.
  for (const name of readdirSync(docs).filter((entry) => entry !== 'core')) {
    rmSync(join(docs, name), { recursive: true });
  }
  const options = ['--options', 'tools/docs/typedoc.js'];
  await must(join(root, 'node_modules/.bin/typedoc'), options, { env: { NO_COLOR: '1' } });
}

/** The reference of the public headers, as core/Doxyfile says, under the bar of the site. Throws with every warning. */
async function documentCore() {
  mkdirSync(core, { recursive: true });
  // Imported late: its links depend on doxygen, which may have been installed since.
  const { dress } = await import('./docs/bar.js');
  await must(toolchain.DOXYGEN, ['core/Doxyfile'], { env: { QKV_VERSION: version } });
  for (const name of ['search', 'search.html'])
    rmSync(join(core, name), { recursive: true, force: true });
  const names = readdirSync(core, { recursive: true });
  const rewrite = (which, work) => {
    for (const name of names.filter((entry) => which.test(entry))) {
      const file = join(core, name);
      writeFileSync(file, work(readFileSync(file, 'utf8'), name));
    }
  };
  rewrite(/^[^/]*\.html$/, (html, name) => dress(html, `core/${name}`));
  rewrite(/\.css$/, bothSchemes);
}

/** Both halves; without Doxygen that of the core is left out, and nothing leads there then. Throws with every warning. */
export async function makeDocs() {
  // Imported late: npm start builds no documentation until somebody asks for it.
  const { found, makeSearch } = await import('./docs/search/index.js');
  for (const path of [core, found.core]) rmSync(path, { recursive: true, force: true });
  await Promise.all([documentPackage(), toolchain.DOXYGEN ? documentCore() : undefined]);
  await makeSearch();
  return toolchain.DOXYGEN ? undefined : `without the C++ reference: ${missing('DOXYGEN')}`;
}

export const buildDocs = () => step('build docs', makeDocs);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  buildDocs().then(
    () => console.log('build/docs/index.html'),
    (error) => {
      console.error(String(error.message ?? error));
      process.exitCode = 1;
    },
  );
}
