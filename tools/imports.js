// Which file imports which, types included: circles, and the layers of the sources, which import one way.
// tests/package/node/imports.test.js holds the sources to both. `node tools/imports.js` prints the layers, and how many
// imports go from each to which.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { root } from './environment.js';

// Layers of the page. What a panel has on both sides, in its worker, for whoever asks of it, and on the page:
const FIELDS = 'state/{field,page,score}.ts';
const SHARED = 'features/*/shared';
const COMPUTING = 'features/*/worker';
const STATE = 'features/*/state.ts';
const KNOWN = 'features/*/{feature.ts,texts.ts}';
const SHOWING = 'features/*/{page,panel.ts}';
const CLIENTS = 'worker/{protocol,client,panel_worker_client}.ts';
const BASE = 'features/{panel,lit_panel,missing_model,file_at}.ts';
const LOAD = 'features/{load,load_inside}.ts';

/**
 * The trees of TypeScript that are checked. `layers`, where a tree has them: a folder, or a file, and the layers that
 * it may import besides itself; in names of layers `*` is any one folder, and `{a,b}` either. A file is in the first that fits.
 * `types`: layers of which it may import types alone. `apart`: folders that import nothing of each other, with `except`, pairs of files
 * that may, and why. `names` are what the bundler resolves otherwise.
 */
export const trees = [
  {
    folder: 'wasm/src',
    names: { 'qkv-files': ['load/files-external.ts', 'load/files-embedded.ts'] },
    layers: {
      api: [],
      platform: ['api'],
      arguments: ['api'],
      memory: ['api', 'arguments'],
      operators: ['api', 'arguments', 'memory'],
      formats: ['api', 'arguments'],
      'plain-arrays.ts': ['api', 'arguments'],
      language: ['api', 'arguments', 'memory', 'operators'],
      grammar: ['api'],
      constraints: ['api', 'arguments', 'grammar'],
      chat: ['api', 'platform', 'arguments'],
      models: ['api', 'platform', 'arguments', 'memory', 'formats', 'language', 'grammar', 'chat'],
      train: ['api', 'arguments', 'memory', 'operators', 'formats', 'language'],
      spectra: ['api', 'arguments', 'memory'],
      'engine.ts': ['api', 'memory', 'operators'],
      load: ['api', 'platform', 'arguments', 'memory', 'engine.ts'],
      'worker/protocol': ['api', 'platform', 'arguments'],
      'worker/host': ['api', 'platform', 'arguments', 'worker/protocol'],
      'worker/client': ['api', 'platform', 'arguments', 'chat', 'worker/protocol'],
      entries: [
        ...['api', 'platform', 'arguments', 'plain-arrays.ts', 'memory', 'load'],
        ...['models', 'train', 'spectra', 'constraints'],
        ...['worker/host', 'worker/client'],
      ],
    },
  },
  {
    folder: 'web/src',
    layers: {
      domain: [],
      i18n: [],
      [FIELDS]: ['domain', 'i18n'],
      engine: ['domain'],
      ui: ['domain', 'i18n', FIELDS],
      [SHARED]: ['domain', 'i18n', FIELDS],
      [STATE]: ['domain', 'i18n', FIELDS, SHARED],
      [COMPUTING]: ['domain', 'engine', SHARED],
      'features/feature.ts': ['engine', FIELDS],
      [KNOWN]: ['i18n', FIELDS, SHARED, STATE, 'features/feature.ts'],
      'features/index.ts': ['features/feature.ts', KNOWN],
      'features/computed.ts': ['features/feature.ts', 'features/index.ts'],
      'features/frame_features.ts': [
        'engine',
        COMPUTING,
        'features/feature.ts',
        'features/computed.ts',
      ],
      [LOAD]: ['i18n', 'features/index.ts'],
      'chapters/index.ts': ['features/index.ts'],
      state: ['domain', 'i18n', FIELDS, 'features/index.ts', 'chapters/index.ts'],
      'features/head_names.ts': ['domain', 'i18n', KNOWN, 'state'],
      [CLIENTS]: ['domain', SHARED, 'features/computed.ts'],
      worker: [
        ...['domain', 'engine', SHARED, COMPUTING, 'features/computed.ts'],
        ...['features/frame_features.ts', CLIENTS],
      ],
      [BASE]: [
        ...['domain', 'i18n', 'ui', SHARED, STATE, KNOWN, 'features/computed.ts', 'state'],
        CLIENTS,
      ],
      [SHOWING]: [
        ...['domain', 'i18n', 'ui', FIELDS, SHARED, STATE, 'features/feature.ts', KNOWN],
        ...['features/index.ts', LOAD, 'state', 'features/head_names.ts', CLIENTS, BASE],
      ],
      app: [
        ...['domain', 'i18n', 'ui', FIELDS, SHARED, STATE, KNOWN, 'features/computed.ts'],
        ...['features/index.ts', LOAD, 'state', 'features/head_names.ts', CLIENTS, BASE, SHOWING],
        'chapters/index.ts',
      ],
    },
    types: {
      [COMPUTING]: [STATE],
      [KNOWN]: [COMPUTING],
      [SHOWING]: [COMPUTING, 'chapters/index.ts'],
    },
    apart: 'features/*',
    except: [
      // The map is in the first view, and what it calls heads and axes is said beside other pictures, too.
      ['features/*/feature.ts', 'features/map/texts.ts'],
      // A word in two contexts needs a trained model: the page's own, if none is there.
      [
        'features/words/page/contexts_part.ts',
        'features/model/{state.ts,shared,page/shipped_files.ts}',
      ],
      // The microscope takes apart the model that the panel of trained models has loaded: one worker has it.
      ['features/model/{shared,worker/model_host.ts}', 'features/microscope/{shared,worker}'],
      [
        'features/microscope/{shared,worker,panel.ts}',
        'features/model/{shared,worker,page/shipped_files.ts}',
      ],
      // Exercises ask for numbers of any panel.
      [
        'features/lessons/page/quantities.ts',
        'features/{block,bounds,cost,flow,fragility,learn,linear,lookup,recurrence,simplex,words}',
      ],
    ],
  },
];

/** The .ts files of a folder, as paths from it. */
const filesOf = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();

/** The file of the tree that `specifier` means in `file`; undefined for anything outside. */
function resolve(known, file, specifier) {
  if (!specifier.startsWith('.')) return undefined;
  const path = posix.join(dirname(file), specifier);
  return [path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.d.ts'), `${path}.ts`].find((name) =>
    known(name),
  );
}

/** What of a file is imported as types alone, by the specifiers. */
function typesOnly(source) {
  const { statements } = ts.createSourceFile('file.ts', source, ts.ScriptTarget.Latest);
  const declared = statements.filter(
    (one) => (ts.isImportDeclaration(one) || ts.isExportDeclaration(one)) && one.moduleSpecifier,
  );
  const isType = (one) => {
    if (ts.isExportDeclaration(one)) return one.isTypeOnly;
    const { isTypeOnly, name, namedBindings } = one.importClause ?? {};
    const named = namedBindings && ts.isNamedImports(namedBindings) ? namedBindings.elements : [];
    return isTypeOnly || (!name && named.length > 0 && named.every((each) => each.isTypeOnly));
  };
  const specifiers = (some) => some.map(({ moduleSpecifier }) => moduleSpecifier.text);
  const values = new Set(specifiers(declared.filter((one) => !isType(one))));
  return specifiers(declared.filter(isType)).filter((specifier) => !values.has(specifier));
}

/** The imports of a tree as [from, to, whether it is of types alone]. */
export function edgesOf(tree, base = root) {
  return [...importsOf(tree, base)].flatMap(([from, all]) => {
    const found = typesOnly(readFileSync(join(base, tree.folder, from), 'utf8'));
    const types = new Set(
      found.map((specifier) => resolve((n) => all.includes(n), from, specifier)),
    );
    return all.map((to) => [from, to, types.has(to)]);
  });
}

/** From each file of a tree, the files that it imports: values, types and `import()` alike. */
export function importsOf({ folder, names = {} }, base = root) {
  const place = join(base, folder);
  const files = filesOf(place);
  const known = new Set(files);
  return new Map(
    files.map((file) => {
      const { importedFiles } = ts.preProcessFile(readFileSync(join(place, file), 'utf8'));
      const found = importedFiles.flatMap(
        ({ fileName }) => names[fileName] ?? resolve((name) => known.has(name), file, fileName),
      );
      return [file, [...new Set(found.filter(Boolean))]];
    }),
  );
}

/** The groups of files that import each other in a circle (Tarjan 1972), each sorted. */
export function circlesOf(imports) {
  const state = new Map();
  const stack = [];
  const circles = [];
  const visit = (file) => {
    const own = { index: state.size, low: state.size, onStack: true };
    state.set(file, own);
    stack.push(file);
    for (const next of imports.get(file) ?? []) {
      if (!state.has(next)) visit(next);
      const other = state.get(next);
      if (other.onStack) own.low = Math.min(own.low, other.low);
    }
    if (own.low !== own.index) return;
    const group = stack.splice(stack.indexOf(file));
    for (const member of group) state.get(member).onStack = false;
    if (group.length > 1 || imports.get(file)?.includes(file)) circles.push(group.sort());
  };
  for (const file of imports.keys()) if (!state.has(file)) visit(file);
  return circles;
}

/** What of a file's path a pattern means; undefined: it does not. */
function matched(pattern, file) {
  const source = pattern
    .replace(/[.]/g, '\\.')
    .replace(/\*/g, '[^/]+')
    .replace(/\{([^}]*)\}/g, (_all, names) => `(?:${names.replaceAll(',', '|')})`);
  return new RegExp(`^${source}(?=/|$)`).exec(file)?.[0];
}

export const layerOf = ({ layers }, file) =>
  Object.keys(layers).find((layer) => matched(layer, file) !== undefined);

/** Why a file may not import another of a folder that is apart from its own; undefined if it may. */
function apartFault({ apart, except = [] }, from, to) {
  const [own, other] = [from, to].map((file) =>
    file.endsWith('.ts') && apart ? matched(apart, dirname(file)) : undefined,
  );
  if (own === undefined || other === undefined || own === other) return undefined;
  const isNamed = ([a, b]) => matched(a, from) !== undefined && matched(b, to) !== undefined;
  return except.some(isNamed) ? undefined : `${from} imports ${to}, which is of another panel`;
}

/** Why a file of the tree may not import another, or its types; undefined if it may. */
export function importFault(tree, from, to, isTypes = false) {
  const { layers, types = {} } = tree;
  const [own, other] = [layerOf(tree, from), layerOf(tree, to)];
  if (own === undefined)
    return `${from} is in no layer, expected ${Object.keys(layers).join(', ')}`;
  const isBelow = own === other || layers[own].includes(other);
  if (isBelow || (isTypes && types[own]?.includes(other))) return apartFault(tree, from, to);
  const expected = layers[own].length > 0 ? layers[own].join(', ') : 'nothing else';
  return `${own} imports ${to}, expected ${expected}`;
}

/** The layers of a tree as a table, the lowest first: its files, and how many imports go to which layer. */
function written(tree) {
  const edges = edgesOf(tree);
  const files = [...importsOf(tree).keys()];
  return Object.keys(tree.layers).map((layer) => {
    const isOwn = (file) => layerOf(tree, file) === layer;
    const to = edges.filter(([from]) => isOwn(from)).map(([, file]) => layerOf(tree, file));
    const counted = [...new Set(to)].filter((other) => other !== layer).sort();
    const parts = counted.map((other) => `${other} ${to.filter((one) => one === other).length}`);
    return `  ${layer} (${files.filter(isOwn).length} files) -> ${parts.join(', ') || 'nothing'}`;
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const tree of trees) {
    console.log(tree.folder);
    console.log(written(tree).join('\n'));
    for (const [from, to] of tree.except ?? []) console.log(`  except ${from} -> ${to}`);
  }
}
