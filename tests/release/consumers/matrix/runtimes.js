// Runtimes without a page.
import { join } from 'node:path';
import { app, two } from './sources.js';
import { load, tool, versionOf } from '../../tools.js';
import { newProject, runIn } from './workshop.js';

const both = ['qkv', 'qkv/inline'];
const node = `Node ${process.versions.node.split('.')[0]}`;

/** What a program of the project printed, as it must be the only thing it prints. */
async function ran(where, folder, command, args, options) {
  const { output } = await runIn(folder, command, args, options);
  const [, json] = /^report (.*)\n$/.exec(output) ?? [];
  return [{ where, report: json === undefined ? { error: output } : JSON.parse(json) }];
}

const inNodeWith = (options) => (entry) =>
  ran(node, newProject({ 'app.js': app(entry, options) }), process.execPath, ['app.js']);

const inThread = (entry) => {
  const main = `import { Worker } from 'node:worker_threads';
new Worker(new URL('./app.js', import.meta.url));
`;
  const folder = newProject({ 'main.js': main, 'app.js': app(entry) });
  return ran(node, folder, process.execPath, ['main.js']);
};

/** One file that needs nothing beside it, which `qkv` cannot be. */
async function bundledForNode(entry) {
  const esbuild = await load('esbuild');
  const folder = newProject({ 'app.js': app(entry) });
  const outfile = join(folder, 'dist/app.js');
  const options = { outfile, bundle: true, format: 'esm', platform: 'node' };
  await esbuild.build({ absWorkingDir: folder, entryPoints: ['app.js'], ...options });
  return ran(node, join(folder, 'dist'), process.execPath, ['app.js']);
}

const isMusl =
  process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime;
const { platform, arch } = process;
const deno = `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`;
const machine = arch === 'arm64' ? 'aarch64' : arch;
const bun = `@oven/bun-${platform}-${machine}${isMusl ? '-musl' : ''}`;
const bunProgram = () => tool(`${bun}/bin/bun`);

const inDeno =
  (...permissions) =>
  (entry) => {
    const args = ['run', '--no-prompt', '--node-modules-dir=manual', ...permissions, 'app.js'];
    const env = { NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1' };
    const where = `Deno ${versionOf('deno')}`;
    return ran(where, newProject({ 'app.js': app(entry) }), tool(`${deno}/deno`), args, { env });
  };

const inBun = (entry) => {
  const folder = newProject({ 'app.js': app(entry) });
  return ran(`Bun ${versionOf('bun')}`, folder, bunProgram(), ['run', 'app.js']);
};

async function compiledByBun(entry) {
  const folder = newProject({ 'app.js': app(entry) });
  await runIn(folder, bunProgram(), ['build', '--compile', 'app.js', '--outfile', 'program']);
  return ran(`Bun ${versionOf('bun')}`, folder, join(folder, 'program'), []);
}

export const runtimes = [
  {
    ...{ name: 'Node', entries: [...both, 'qkv/models', 'qkv/train', 'qkv/worker'] },
    ...{ everyday: ['qkv', 'qkv/models', 'qkv/train'], run: inNodeWith() },
  },
  {
    name: 'Node, 2 threads',
    entries: ['qkv', 'qkv/worker'],
    everyday: ['qkv/worker'],
    ...two,
    run: inNodeWith(two),
  },
  { name: 'Node, worker thread', entries: [...both, 'qkv/train'], run: inThread },
  { name: 'Node, bundled by esbuild', entries: ['qkv/inline'], run: bundledForNode },
  {
    name: 'Deno, may read its files',
    entries: ['qkv'],
    needs: deno,
    run: inDeno('--allow-read=.'),
  },
  { name: 'Deno, no permission', entries: ['qkv/inline'], needs: deno, run: inDeno() },
  { name: 'Bun', entries: both, needs: bun, run: inBun },
  { name: 'Bun, one program', entries: ['qkv/inline'], needs: bun, run: compiledByBun },
];
