import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformWithEsbuild, type Plugin } from 'vite';

const SOURCE = new URL('../offline/service_worker.ts', import.meta.url);
const SCRIPT = 'service-worker.js';

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

/** The page starts no threads, so nobody would ever ask for what they need. */
const isForThreads = (name: string) => /-threads-|^thread-/.test(name.replace(/.*\//, ''));

/** Below docs/ there is the documentation, or in its place a page that says where it is: neither is of this build. */
const isDocumentation = (name: string) => name.startsWith('docs/');

/** Path -> hash of every file of a built page that it may ask for; '' is what the server has for index.html. */
function manifestOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => statSync(join(folder, name)).isFile() && !isForThreads(name))
    .filter((name) => name !== SCRIPT && name !== 'qkv.html' && !isDocumentation(name))
    .sort();
  return Object.fromEntries(
    names.map((name) => {
      const hash = sha256(readFileSync(join(folder, name)));
      return [name === 'index.html' ? '' : name, hash];
    }),
  );
}

/** Those that are kept only once a reader has asked for them: models are larger than the page, and not everybody trains or asks for spectra. */
const isForLater = (name: string) => name.startsWith('models/') || /\/qkv-(train|spectra)-/.test(name);

async function writeServiceWorker(folder: string): Promise<void> {
  const source = readFileSync(SOURCE, 'utf8');
  const all = Object.entries(manifestOf(folder));
  const some = (later: boolean) =>
    JSON.stringify(Object.fromEntries(all.filter(([name]) => isForLater(name) === later)));
  const files = some(false);
  const define = { FILES: files, LATER: some(true), BUILD: JSON.stringify(sha256(files + source).slice(0, 16)) };
  const { code } = await transformWithEsbuild(source, SOURCE.pathname, {
    define,
    minify: true,
    sourcemap: false,
  });
  writeFileSync(join(folder, SCRIPT), code);
}

/** Writes the service worker, after everything else is on the disk: what is hashed are the files that will be served. */
export function offline(): Plugin {
  return {
    name: 'offline',
    apply: 'build',
    enforce: 'post',
    writeBundle: {
      order: 'post',
      sequential: true,
      handler: ({ dir }) => writeServiceWorker(dir ?? ''),
    },
  };
}
