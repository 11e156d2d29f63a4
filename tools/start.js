// npm start: builds what the page loads first and serves it; then it builds the rest, of which each file is served once it is
// built. The documentation is built when somebody asks for it. Where dist/ is built already, it is served as it is.
import { basename } from 'node:path';
import { setPriority } from 'node:os';
import { modules } from './build/cmake.js';
import { building, isBuilt } from './build/fingerprint.js';
import { firstModules, linkedNames, moduleFile } from './build/modules.js';
import { bundleForPage, bundlePackage, types } from './build/package.js';
import { bundlePage, bundleSite } from './build/page.js';
import { makeDocs } from './docs.js';
import { step } from './run.js';
import { documentation, filesIn, once, serve, wasm } from './serve.js';

/** What is served before dist/ is there: a package with the first modules alone, and the page around it. */
const first = { from: 'build/start/package', folder: 'build/start/web' };

const seconds = () => `after ${process.uptime().toFixed(0)} s`;
const messageOf = (error) => String(error.message ?? error);
const announce = ({ url }) => console.log(`\nqkv is at ${url} ${seconds()} (Ctrl+C stops it)`);

const docs = documentation(async () => {
  await makeDocs();
  console.log(`the documentation: built ${seconds()}`);
});

/** They come first: a button of the page asks for them. */
const trainingModules = linkedNames.filter((name) => /^qkv-(train|spectra)-/.test(name));

async function serveAndBuild() {
  await step(`build ${firstModules.join(' and ')}`, () => modules(firstModules));
  await step('build the page', async () => {
    await bundleForPage(first.from);
    await bundleSite(first);
  });
  const training = once(() => modules(trainingModules));
  const rest = once(() =>
    building(async () => {
      await training();
      console.log(`the training modules: built ${seconds()}`);
      await modules();
      await types();
      await bundlePackage();
      await bundlePage();
    }),
  );
  const later = [
    docs,
    {
      paths: new RegExp(`^/assets/(${trainingModules.join('|')})\\.wasm$`),
      build: training,
      respond: (path) => wasm(moduleFile(basename(path, '.wasm'))),
    },
    { paths: /^\/qkv\.html$/, build: rest, respond: filesIn('dist/web') },
  ];
  const server = await serve({ folder: first.folder, later });
  announce(server);
  console.log(
    'Still being built: the training modules, then the package in dist/ and the single file qkv.html. A request for one of them ' +
      'waits until it is built. The documentation is built when somebody opens it.',
  );
  setPriority(10); // the page that is open goes first
  await rest();
  server.prefer('dist/web');
  console.log(`all of dist/: built ${seconds()}`);
}

try {
  if (isBuilt()) announce(await serve({ later: [docs] }));
  else await serveAndBuild();
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
