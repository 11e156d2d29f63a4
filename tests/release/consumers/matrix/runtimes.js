// Runtimes without a page.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { advice } from '../examples.js';
import { app, appOfFiles, two, withAusten } from './sources.js';
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
    const folder = withAusten(newProject({ 'app.js': appOfFiles(entry) }));
    return ran(where, folder, tool(`${deno}/deno`), args, { env });
  };

const inBun = (entry) => {
  const folder = withAusten(newProject({ 'app.js': appOfFiles(entry) }));
  return ran(`Bun ${versionOf('bun')}`, folder, bunProgram(), ['run', 'app.js']);
};

async function compiledByBun(entry) {
  const folder = newProject({ 'app.js': app(entry) });
  await runIn(folder, bunProgram(), ['build', '--compile', 'app.js', '--outfile', 'program']);
  return ran(`Bun ${versionOf('bun')}`, folder, join(folder, 'program'), []);
}

/** The server that Cloudflare's Workers run in, with what its configuration calls modules. */
const capnp = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .app)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const app :Workerd.Worker = (
  modules = [
    (name = "app.js", esModule = embed "dist/app.js"),
    (name = "./qkv-simd.wasm", wasm = embed "dist/qkv-simd.wasm"),
  ],
  # Before workers had a FinalizationRegistry.
  compatibilityDate = "2025-01-01",
);
`;
const workerd = `@cloudflare/workerd-${platform}-${arch === 'arm64' ? 'arm64' : '64'}`;

async function inWorkerd() {
  const answering = `import { compute } from './example.js';
export default { fetch: async () => Response.json(await compute(() => qkv)) };
`;
  const program = `${advice('js', '// worker.js')}${answering}`;
  const folder = newProject({ 'app.js': program, 'config.capnp': capnp });
  const esbuild = await load('esbuild');
  await esbuild.build({
    ...{ absWorkingDir: folder, entryPoints: ['app.js'], outdir: join(folder, 'dist') },
    ...{ bundle: true, format: 'esm', loader: { '.wasm': 'copy' }, assetNames: '[name]' },
  });
  const args = ['serve', 'config.capnp', '--control-fd=1'];
  const server = spawn(tool(`${workerd}/bin/workerd`), args, { cwd: folder });
  try {
    const said = await new Promise((resolve, reject) => {
      server.stdout.once('data', resolve);
      let complaint = '';
      server.stderr.on('data', (text) => (complaint += text));
      server.once('error', reject);
      server.once('exit', () => reject(new Error(complaint)));
    });
    const answer = await fetch(`http://127.0.0.1:${JSON.parse(said).port}/`);
    const text = await answer.text();
    const report = answer.ok ? JSON.parse(text) : { error: text };
    return [{ where: `workerd ${versionOf('workerd')}`, report }];
  } finally {
    server.kill();
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
  { name: 'Node, bundled by esbuild', entries: ['qkv/inline'], run: bundledForNode },
  {
    name: 'Deno, may read its files',
    entries: ['qkv', 'qkv/models'],
    needs: deno,
    run: inDeno('--allow-read=.'),
  },
  { name: 'Deno, no permission', entries: ['qkv/inline'], needs: deno, run: inDeno() },
  { name: 'Bun', entries: [...both, 'qkv/models'], needs: bun, run: inBun },
  { name: 'Bun, one program', entries: ['qkv/inline'], needs: bun, run: compiledByBun },
  { name: 'workerd', entries: ['qkv'], needs: workerd, variant: 'simd', run: inWorkerd },
];
