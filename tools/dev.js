// npm run dev: the page from its sources and those of the package, by Vite's development server. A file that is saved is on the
// screen at once; after a change of C++ the modules that the page has loaded are built first.
import { join, relative } from 'node:path';
import { createServer, runnerImport } from 'vite';
import { modules, modulesAgain } from './build/cmake.js';
import { linkedNames, moduleFile } from './build/modules.js';
import { root } from './environment.js';
import { headers } from './serve.js';

const sourceOf = (name) => join(root, `wasm/src/${name}.ts`);
const alias = [
  { find: /^qkv$/, replacement: sourceOf('entries/index') },
  { find: 'qkv/models', replacement: sourceOf('entries/models') },
  { find: 'qkv/train', replacement: sourceOf('entries/train') },
  { find: 'qkv/spectra', replacement: sourceOf('entries/spectra') },
  { find: 'qkv/constraints', replacement: sourceOf('entries/constraints') },
  { find: 'qkv-files', replacement: sourceOf('load/files-external') },
];

/** What modules are compiled from, besides wasm/src. */
const folders = ['core/include', 'core/src', 'wasm/bindings'];
const isOfModules = (file) => folders.some((folder) => file.startsWith(join(root, folder)));
/** What the layout of the arguments follows from, on both sides. */
const isSchema = (file) => /wasm\/bindings\/(\w+\/)?schema\.js$/.test(file);

/** The constants of the package by the schemas as they are now: Node would keep the modules that it has imported. */
async function constants() {
  const file = join(root, 'tools/build/constants.js');
  return (await runnerImport(file)).module.constants;
}

/** Modules that are built by make(names) when somebody asks for them, and again when their sources have changed. */
class Modules {
  #make;
  #builds = new Map();
  #last = Promise.resolve();

  constructor(make) {
    this.#make = make;
  }

  /** One build at a time, because there is one folder for all. */
  #begin(names) {
    const begin = () => this.#make(names);
    this.#last = this.#last.then(begin, begin);
    for (const name of names) this.#builds.set(name, this.#last);
    return this.#last;
  }

  /** Resolves when this module is built. */
  get = (name) => this.#builds.get(name) ?? this.#begin([name]);

  /** Resolves when those that were requested are built again. */
  again = () => this.#begin([...this.#builds.keys()]);
}

/** The first build of the modules configures their folder, so that they are linked without an optimiser, which takes longest. */
function compiler() {
  let make = async (names) => {
    await modules(names, { development: true });
    make = modulesAgain;
  };
  return (names) => make(names);
}

/** The .wasm files, wherever the package looks for them. */
function wasm(make) {
  const built = new Modules(make);
  const address = new RegExp(`/(${linkedNames.join('|')})\\.wasm$`);

  async function rebuild(server, file) {
    const start = performance.now();
    try {
      await built.again();
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      console.log(`${relative(root, file)}: built after ${seconds} s`);
      if (isSchema(file)) await server.restart();
      else server.ws.send({ type: 'full-reload' });
    } catch ({ message }) {
      console.error(message);
      server.ws.send({ type: 'error', err: { message, stack: '' } });
    }
  }

  return {
    name: 'wasm',
    config: async () => ({ define: await constants() }),
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const [, name] = address.exec(request.url.replace(/\?.*/, '')) ?? [];
        if (!name) return next();
        const send = () => {
          response.writeHead(200, { ...headers, 'content-type': 'application/wasm' });
          response.end(moduleFile(name));
        };
        return built.get(name).then(send, next);
      });
      server.watcher.add(folders.map((folder) => join(root, folder)));
      for (const event of ['add', 'change', 'unlink']) {
        server.watcher.on(event, (file) => isOfModules(file) && void rebuild(server, file));
      }
    },
  };
}

/**
 * A change counts once its file has been left alone for 50 ms. Without this, the watcher reports the first of two changes within
 * 50 ms and never the second, so what a formatter writes after an editor would not come to the page.
 */
const watch = { awaitWriteFinish: { stabilityThreshold: 50, pollInterval: 10 } };

/** Serves the page on `port`, or the next free one; make(names) builds modules. Resolves to Vite's server. */
export async function develop({ port = 5281, make = compiler() } = {}) {
  const server = await createServer({
    configFile: join(root, 'web/vite.config.ts'),
    cacheDir: join(root, 'build/dev'),
    logLevel: 'warn',
    resolve: { alias },
    plugins: [wasm(make)],
    // The page and the package have no dependencies that could be bundled first.
    optimizeDeps: { noDiscovery: true, include: [] },
    server: {
      ...{ host: '127.0.0.1', port, headers, fs: { allow: [root] }, watch },
      warmup: { clientFiles: ['src/app/main.ts', 'src/worker/worker.ts'] },
    },
  });
  return server.listen();
}

if (process.argv[1] === import.meta.filename) {
  const server = await develop();
  console.log(`qkv is at ${server.resolvedUrls.local[0]}, from its sources (Ctrl+C stops it)`);
}
