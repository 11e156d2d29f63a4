// The engine of the page in Node: the modules of web/src as the page bundles them, and the package as built. What
// a panel computes is asked for here without a browser; that the page shows it is for the panel's other tests.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { root } from '../../support/js/files.js';
import { keptIn, writeWhole } from './kept.js';
import { textsOf } from './texts.js';

const katexPackage = join(root, 'node_modules/katex/package.json');

/** The address of a module of the package as built. */
const packageUrl = (name) => pathToFileURL(join(root, `dist/${name}.js`)).href;
export const packageModule = (name) => import(packageUrl(name));

/** The package, not bundled: it finds its .wasm beside itself. */
const packageBeside = {
  name: 'package beside',
  setup({ onResolve }) {
    onResolve({ filter: /^qkv(\/\w+)?$/ }, ({ path }) => {
      const name = path === 'qkv' ? 'index' : path.slice('qkv/'.length);
      return { path: packageUrl(name), external: true };
    });
  },
};

/** A worker's script has an address beside the page, which a module in Node has not. */
export const workersBeside = {
  name: 'workers beside',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\?worker$/ }, ({ path }) => ({ path, namespace: 'worker' }));
    onLoad({ filter: /./, namespace: 'worker' }, ({ path }) => ({
      contents: `export default function () {
        return new Worker(new URL(${JSON.stringify(path)}, 'https://page.example'), { type: 'module' });
      }`,
    }));
  },
};

/** Files that the page asks for by their addresses, and those whose text it is made with. */
const filesBeside = {
  name: 'files beside',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\?(url|raw)$/ }, ({ path, resolveDir }) => {
      const [file, kind] = path.split('?');
      return { path: join(resolveDir, file), namespace: kind };
    });
    onLoad({ filter: /./, namespace: 'url' }, ({ path }) => ({
      contents: `export default ${JSON.stringify(pathToFileURL(path).href)};`,
    }));
    onLoad({ filter: /./, namespace: 'raw' }, ({ path }) => ({
      contents: readFileSync(path, 'utf8'),
      loader: 'text',
    }));
  },
};

/** What panels compute for frames, which Vite finds in their folders. */
const frameFeatures = {
  name: 'frame features',
  setup({ onLoad }) {
    onLoad({ filter: /\/features\/frame_features\.ts$/ }, ({ path }) => {
      const found = readdirSync(dirname(path))
        .map((id) => `./${id}/worker/frame_feature.ts`)
        .filter((file) => existsSync(join(dirname(path), file)));
      const imports = found.map((file, i) => `import * as feature${i} from '${file}';`);
      const modules = `{ ${found.map((file, i) => `'${file}': feature${i}`).join(', ')} }`;
      const glob = /import\.meta\.glob<.*?>\(.*?\)(?=;)/s;
      const source = readFileSync(path, 'utf8').replace(glob, modules);
      return { contents: [...imports, source].join('\n'), loader: 'ts' };
    });
  },
};

let typesetting;
const formulasKept = join(root, 'build/formulas');
/** Of what is typeset: formulas, and how. */
const keyOf = (path) => {
  const hash = createHash('sha256');
  for (const file of [path, join(root, 'web/build/math.ts'), katexPackage])
    hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
};
/** Formulas, as the page is built with them; kept for other files of tests, as it takes a fifth of a second to set them. */
const formulas = {
  name: 'formulas',
  setup({ onLoad }) {
    onLoad({ filter: /\/formulas\.json$/ }, async ({ path }) => {
      const kept = await keptIn(join(formulasKept, `${keyOf(path)}.json`), async () => {
        typesetting ??= mathOf();
        return (await typesetting).load(path);
      });
      return { contents: readFileSync(kept, 'utf8'), loader: 'json' };
    });
  },
};

/** The plugin of Vite that sets formulas. */
async function mathOf() {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'web/build/math.ts')],
    ...{ bundle: true, write: false, format: 'esm', platform: 'node', packages: 'external' },
  });
  // In the project, where KaTeX is found.
  const file = join(formulasKept, `math-${process.pid}.mjs`);
  writeWhole(file, outputFiles[0].contents);
  try {
    return (await import(pathToFileURL(file).href)).math();
  } finally {
    rmSync(file, { force: true });
  }
}

let folder;
/** A folder of this process for what is bundled; a file, as what fails in a data: URL is told with all of it. */
function ownFolder() {
  if (!folder) {
    folder = mkdtempSync(join(tmpdir(), 'qkv-web-'));
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  }
  return folder;
}

/** The address of a script of this name, bundled as the page is; `options` are those of esbuild. */
export async function bundled(name, { plugins = [], ...options }) {
  const outfile = join(ownFolder(), `${name}.mjs`);
  await build({
    bundle: true,
    outfile,
    sourcemap: 'inline',
    format: 'esm',
    // package.json says of the package, not of the page, that its modules do nothing when they are imported.
    ignoreAnnotations: true,
    external: ['math.woff2'], // the build makes it; what is tested here has no fonts
    plugins: [frameFeatures, ...plugins, packageBeside, workersBeside, filesBeside, formulas],
    ...options,
  });
  return pathToFileURL(outfile).href;
}

let count = 0;
/** The paths that one path with braces stands for: 'domain/{rows,mask}', 'page/{lens,speed}_part'. */
function expanded(path) {
  const [, before, names, after] = /^(.*)\{(.*)\}(.*)$/.exec(path) ?? [];
  return names ? names.split(',').map((name) => before + name + after) : [path];
}

/** What these modules of web/src export, by their paths without `.ts`; all texts are there. */
export async function modules(...paths) {
  const all = ['i18n/i18n', ...paths.flatMap(expanded)];
  const stdin = {
    contents: all.map((path) => `export * from './${path}';`).join('\n'),
    resolveDir: join(root, 'web/src'),
    loader: 'ts',
  };
  // What Vite fetches file by file: there is none of it, as all texts are there.
  const define = { 'import.meta.glob': 'Object' };
  const exported = await import(await bundled(`modules-${++count}`, { stdin, define }));
  for (const language of exported.LANGUAGES) exported.addTexts(language, textsOf(language));
  return exported;
}

/**
 * The pipeline of the page for a file of tests. `ask(patch)` is the frame for the page's first state with these
 * fields changed, every panel on the screen and no canvas; `tensors()` is everything behind the latest one, and
 * `report()` what the page works out about it besides.
 */
export async function startEngine() {
  const { init } = await import(pathToFileURL(join(root, 'dist/index.js')).href);
  const qkv = await init();
  const web = await modules(
    ...[
      'worker/pipeline',
      'worker/background',
      'features/temperature/worker/temperature_study',
      'features/scale/worker/frame_feature',
    ],
    ...[
      'state/state',
      'domain/tokenizer',
      'app/request',
      'engine/random',
      'worker/study_scheduler',
    ],
  );
  const pipeline = new web.Pipeline(qkv);
  const background = new web.Background(pipeline);
  let request;
  let frame;
  let id = 0;
  return {
    qkv,
    web,
    ask(patch = {}) {
      request = requestOf({ ...web.initialState('en'), ...patch }, web);
      ({ frame } = pipeline.run(++id, request));
      return frame;
    },
    /** What panels work out besides the latest frame, when they are done. */
    studies() {
      const desk = new web.StudyDesk(pipeline.features);
      desk.ask({ ...request }, { ...frame });
      let found = {};
      while (desk.busy) found = { ...found, ...desk.step() };
      return found;
    },
    request: () => request,
    tensors: (wanted = 'all') => background.tensors(request, wanted),
    report: () => resultOf(background.work(request)).report,
  };
}

/** What the page asks its worker for in this state, with every panel on the screen and no canvas. */
function requestOf(state, { tokenize, requestOf: ask }) {
  const tokens =
    state.source === 'yours'
      ? Array.from({ length: state.numbers.q.length / 2 }, (_, i) => `x${i + 1}`)
      : tokenize(state.text, state.tokenizer, state.length).tokens;
  const query = state.query ?? tokens.length - 1;
  const seen = { query, described: null, dragging: false, sees: () => true, ratio: 1 };
  const request = ask(state, tokens, { ...seen, surfaces: {} });
  return { ...request, view: { ...request.view, matrix: true } };
}

/** What a study of the page has found when it is done. */
export function resultOf(study) {
  let result;
  for (const news of study) result = news ?? result;
  return result;
}
