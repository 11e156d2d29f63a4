// Bundlers, each with its own defaults: what is configured is what cannot be left out.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { isolation } from '../../../support/js/chromium.js';
import { advice } from '../examples.js';
import { app, appWithWorker, page, reporting, two, worker } from './sources.js';
import { load, tool } from '../../tools.js';
import { newProject, runIn } from './workshop.js';

const both = ['qkv', 'qkv/inline'];
const withTrain = [...both, 'qkv/train'];
/** What a worker of a project imports: training belongs there, and the rest may. */
const inWorker = ['qkv', 'qkv/train'];
const simple = (entry, script = './app.js', more = {}) =>
  newProject({ 'index.html': page(script), 'app.js': app(entry), ...more });
const withThreads = (entry, script = './app.js') =>
  simple(entry, script, { 'app.js': app(entry, two) });
const withWorker = (entry, script = './app.js', more = {}) =>
  newProject({
    'index.html': page(script),
    'app.js': appWithWorker,
    'worker.js': worker(entry),
    ...more,
  });

/** A worker that awaits at its top, which Vite builds as the guide says. */
const withAwaiting = (entry) =>
  withWorker(entry, './app.js', {
    'vite.config.js': advice('js', 'vite.config.js'),
    'worker.js': `import { init } from '${entry}';
import { compute } from './example.js';
const engine = await init();
postMessage(await compute(() => engine));
`,
  });

/** An app in a workspace, whose packages are in a folder above it, out of reach of `../qkv`. */
const inWorkspace = (entry) => {
  const workspace = newProject({
    'package.json': '{ "private": true, "workspaces": ["app"] }\n',
    'app/package.json': '{ "private": true, "type": "module" }\n',
    'app/index.html': page('./app.js'),
    'app/app.js': app(entry),
  });
  cpSync(join(workspace, 'example.js'), join(workspace, 'app/example.js'));
  return join(workspace, 'app');
};

/** The development server of a Vite, which bundles what it finds in node_modules by itself. */
const viteServer = (name, files, headers) => async (entry, browsers) => {
  const { createServer } = await load(name);
  const root = files(entry);
  const options = { host: '127.0.0.1', port: 0, headers };
  const server = await createServer({ root, logLevel: 'error', server: options });
  try {
    await server.listen();
    return await browsers.open(server.resolvedUrls.local[0]);
  } finally {
    await server.close();
  }
};

const viteBuild = (name, files, headers) => async (entry, browsers) => {
  const { build, preview } = await load(name);
  const root = files(entry);
  await build({ root, logLevel: 'error' });
  const options = { host: '127.0.0.1', port: 0, headers };
  const server = await preview({ root, logLevel: 'error', preview: options });
  try {
    return await browsers.open(server.resolvedUrls.local[0]);
  } finally {
    await server.close();
  }
};

const vites = [
  ['vite', 'Vite 7', [...withTrain, 'qkv/models'], { dev: ['qkv'], build: ['qkv/models'] }],
  ['vite8', 'Vite 8', both],
].flatMap(([name, title, entries, often = {}]) => [
  { name: `${title}, dev`, entries, everyday: often.dev, run: viteServer(name, simple) },
  { name: `${title}, dev, own worker`, entries: inWorker, run: viteServer(name, withWorker) },
  { name: `${title}, dev, workspace`, entries: ['qkv'], run: viteServer(name, inWorkspace) },
  { name: `${title}, build`, entries, everyday: often.build, run: viteBuild(name, simple) },
  { name: `${title}, build, own worker`, entries: inWorker, run: viteBuild(name, withWorker) },
  {
    name: `${title}, build, own worker that awaits`,
    entries: ['qkv'],
    run: viteBuild(name, withAwaiting),
  },
  { name: `${title}, dev`, entries: ['qkv/worker'], run: viteServer(name, simple) },
  { name: `${title}, build`, entries: ['qkv/worker'], run: viteBuild(name, simple) },
  ...Object.entries({ dev: viteServer, build: viteBuild }).map(([mode, make]) => ({
    ...{ name: `${title}, ${mode}, 2 threads`, entries: ['qkv'], ...two },
    run: make(name, withThreads, isolation),
  })),
]);

const webpackIn = (files, headers) => async (entry, browsers) => {
  const { default: webpack } = await load('webpack');
  const context = files(entry);
  const output = { path: join(context, 'dist') };
  const configuration = { mode: 'production', context, entry: './app.js', output };
  const said = await new Promise((resolve, reject) => {
    webpack(configuration, (error, stats) =>
      error ? reject(error) : resolve(stats.toJson({ all: false, errors: true, warnings: true })),
    );
  });
  // It warns of JavaScript beyond 244 kB, which qkv/inline is.
  const complaints = [...said.errors, ...said.warnings].map(({ message }) => message);
  const serious = complaints.filter((text) => !/(size limit|webpack performance)/.test(text));
  if (serious.length > 0) throw new Error(serious.join('\n'));
  cpSync(join(context, 'index.html'), join(context, 'dist/index.html'));
  return browsers.openFolder(output.path, { headers });
};

/** What a person does by hand whose bundler does not follow `new URL(file, import.meta.url)`. */
function copyWasm(folder) {
  for (const variant of ['simd', 'relaxed']) {
    const file = `qkv-${variant}.wasm`;
    cpSync(join(folder, 'node_modules/qkv/dist', file), join(folder, 'dist', file));
  }
}

/** A command line in a project, then its dist/ in the browsers. */
async function bundled(folder, browsers, [file, ...args], finish) {
  await runIn(folder, process.execPath, [tool(file), ...args]);
  cpSync(join(folder, 'index.html'), join(folder, 'dist/index.html'));
  finish?.(folder);
  return browsers.openFolder(join(folder, 'dist'));
}

/** Rollup as the guide says, with or without the plugin that carries files. */
const rollup = (edit, finish) => (entry, browsers) => {
  const configuration = edit(advice('js', 'rollup.config.js'));
  const folder = simple(entry, './app.js', { 'rollup.config.js': configuration });
  const command = ['rollup/dist/bin/rollup', '--config', '--failAfterWarnings'];
  return bundled(folder, browsers, command, finish);
};
const withoutAssets = (configuration) => configuration.replace(', importMetaAssets()', '');

/** esbuild as the guide says, with or without the loader. */
const esbuild = (files, edit, finish) => (entry, browsers) => {
  const [, ...args] = edit(advice('sh', 'esbuild').trim()).split(' ');
  return bundled(files(entry), browsers, ['esbuild/bin/esbuild', ...args], finish);
};
const withoutLoader = (command) => command.replace(' --loader:.wasm=file', '');
const withLoader = (entry) =>
  simple(entry, './app.js', { 'app.js': reporting(advice('js', '// app.js')) });

const parcel = (files) => async (entry, browsers) => {
  const folder = files(entry);
  const args = [tool('parcel/lib/bin.js'), 'build', 'index.html', '--no-cache'];
  await runIn(folder, process.execPath, args);
  return browsers.openFolder(join(folder, 'dist'));
};

/** Without it Parcel knows no entry but the first. */
const packageExports = () => ({ 'package.json': advice('json', 'packageExports') });

export const bundlers = [
  ...vites,
  {
    ...{ name: 'webpack 5', entries: withTrain },
    run: webpackIn((entry) => simple(entry, './main.js')),
  },
  {
    name: 'webpack 5, own worker',
    entries: inWorker,
    run: webpackIn((entry) => withWorker(entry, './main.js')),
  },
  {
    name: 'webpack 5',
    entries: ['qkv/worker'],
    run: webpackIn((entry) => simple(entry, './main.js')),
  },
  {
    ...{ name: 'webpack 5, 2 threads', entries: ['qkv'], ...two },
    run: webpackIn((entry) => withThreads(entry, './main.js'), isolation),
  },
  { name: 'Rollup', entries: ['qkv/inline'], run: rollup(withoutAssets) },
  { name: 'Rollup, files copied', entries: ['qkv'], run: rollup(withoutAssets, copyWasm) },
  {
    ...{ name: 'Rollup, import-meta-assets', entries: withTrain, everyday: ['qkv'] },
    run: rollup((all) => all),
  },
  { name: 'esbuild', entries: ['qkv/inline'], run: esbuild(simple, withoutLoader) },
  {
    name: 'esbuild, files copied',
    entries: ['qkv'],
    run: esbuild(simple, withoutLoader, copyWasm),
  },
  {
    // It names one build for everybody.
    ...{ name: 'esbuild, loader', entries: ['qkv'], everyday: ['qkv'], variant: 'simd' },
    run: esbuild(withLoader, (all) => all),
  },
  { name: 'Parcel', entries: ['qkv'], run: parcel(simple) },
  {
    name: 'Parcel, packageExports',
    entries: withTrain,
    run: parcel((entry) => simple(entry, './app.js', packageExports())),
  },
  { name: 'Parcel, own worker', entries: ['qkv'], run: parcel(withWorker) },
  {
    name: 'Parcel, packageExports, own worker',
    entries: ['qkv/train'],
    run: parcel((entry) => withWorker(entry, './app.js', packageExports())),
  },
];
