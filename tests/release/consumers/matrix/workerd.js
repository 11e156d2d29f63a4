// The server that Cloudflare's Workers run in, and what their tool makes of a program: modules of JavaScript, WebAssembly and bytes.
import { spawn } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { load, tool } from '../../tools.js';

const { platform, arch } = process;
/** The package that has the server for this platform. */
export const workerd = `@cloudflare/workerd-${platform}-${arch === 'arm64' ? 'arm64' : '64'}`;

/** Bundles a program of a folder into its dist/, beside the files that it imports as modules. */
export async function bundleWorker(folder, entry, plugins = []) {
  const esbuild = await load('esbuild');
  const loader = { '.wasm': 'copy', '.safetensors': 'copy' };
  await esbuild.build({
    ...{ absWorkingDir: folder, entryPoints: [entry], outdir: join(folder, 'dist'), plugins },
    ...{ bundle: true, format: 'esm', loader, assetNames: '[name]' },
  });
}

const kinds = { '.wasm': 'wasm', '.safetensors': 'data' };

/** What the configuration of the server calls modules: the program first, which imports the others. */
function configurationOf(folder, main) {
  const others = readdirSync(folder).filter((name) => extname(name) in kinds);
  const modules = [
    `(name = "${main}", esModule = embed "${main}")`,
    ...others.map((name) => `(name = "./${name}", ${kinds[extname(name)]} = embed "${name}")`),
  ];
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .app)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const app :Workerd.Worker = (
  modules = [${modules.join(', ')}],
  # Before workers had a FinalizationRegistry.
  compatibilityDate = "2025-01-01",
);
`;
}

/** Serves the program of a folder with what lies beside it: { url, close }. */
export async function serveWorker(folder, main) {
  writeFileSync(join(folder, 'config.capnp'), configurationOf(folder, main));
  const args = ['serve', 'config.capnp', '--control-fd=1'];
  const server = spawn(tool(`${workerd}/bin/workerd`), args, { cwd: folder });
  const said = await new Promise((resolve, reject) => {
    server.stdout.once('data', resolve);
    let complaint = '';
    server.stderr.on('data', (text) => (complaint += text));
    server.once('error', reject);
    server.once('exit', () => reject(new Error(complaint)));
  });
  return { url: `http://127.0.0.1:${JSON.parse(said).port}/`, close: () => server.kill() };
}
