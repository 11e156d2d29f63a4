// Runtimes without a page.
import { join } from 'node:path';
import { advice } from '../examples.js';
import { app, appOfFiles, talkingProject, two, withAusten } from './sources.js';
import { load, tool, versionOf } from '../../tools.js';
import { bundleWorker, serveWorker, workerd } from './workerd.js';
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

/** Programs of a folder in a runtime. */
const denoRuns = (folder, ...permissions) => {
  const args = ['run', '--no-prompt', '--node-modules-dir=manual', ...permissions, 'app.js'];
  const env = { NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1' };
  return ran(`Deno ${versionOf('deno')}`, folder, tool(`${deno}/deno`), args, { env });
};
const bunRuns = (folder) => ran(`Bun ${versionOf('bun')}`, folder, bunProgram(), ['run', 'app.js']);

const withFiles = (entry) => withAusten(newProject({ 'app.js': appOfFiles(entry) }));

const inDeno =
  (...permissions) =>
  (entry) =>
    denoRuns(withFiles(entry), ...permissions);

async function compiledByBun(entry) {
  const folder = newProject({ 'app.js': app(entry) });
  await runIn(folder, bunProgram(), ['build', '--compile', 'app.js', '--outfile', 'program']);
  return ran(`Bun ${versionOf('bun')}`, folder, join(folder, 'program'), []);
}

async function inWorkerd() {
  const answering = `import { compute } from './example.js';
export default { fetch: async () => Response.json(await compute(() => qkv)) };
`;
  const program = `${advice('js', '// worker.js')}${answering}`;
  const folder = newProject({ 'app.js': program });
  await bundleWorker(folder, 'app.js');
  const server = await serveWorker(join(folder, 'dist'), 'app.js');
  try {
    const answer = await fetch(server.url);
    const text = await answer.text();
    const report = answer.ok ? JSON.parse(text) : { error: text };
    return [{ where: `workerd ${versionOf('workerd')}`, report }];
  } finally {
    server.close();
  }
}

export const runtimes = [
  {
    ...{ name: 'Node', entries: [...both, 'qkv/models', 'qkv/train', 'qkv/spectra', 'qkv/worker'] },
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
  {
    name: 'Node, a conversation',
    entries: ['qkv/models'],
    everyday: ['qkv/models'],
    run: () => ran(node, talkingProject(), process.execPath, ['app.js']),
  },
  { name: 'Node, bundled by esbuild', entries: ['qkv/inline'], run: bundledForNode },
  {
    name: 'Deno, may read its files',
    entries: ['qkv', 'qkv/models'],
    needs: deno,
    run: inDeno('--allow-read=.'),
  },
  { name: 'Deno, no permission', entries: ['qkv/inline'], needs: deno, run: inDeno() },
  {
    name: 'Deno, a conversation',
    entries: ['qkv/models'],
    needs: deno,
    run: () => denoRuns(talkingProject(), '--allow-read=.'),
  },
  {
    name: 'Bun',
    entries: [...both, 'qkv/models'],
    needs: bun,
    run: (entry) => bunRuns(withFiles(entry)),
  },
  {
    name: 'Bun, a conversation',
    entries: ['qkv/models'],
    needs: bun,
    run: () => bunRuns(talkingProject()),
  },
  { name: 'Bun, one program', entries: ['qkv/inline'], needs: bun, run: compiledByBun },
  { name: 'workerd', entries: ['qkv'], needs: workerd, variant: 'simd', run: inWorkerd },
];
