// Which file imports which, types included: circles, and the layers of the sources, which import one way. ESLint
// asks layerFault() for each import; tests/package/node/imports.test.js asks for the circles.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import ts from 'typescript';
import { root } from './environment.js';

/**
 * The trees of TypeScript that are checked. `layers`, where a tree has them: a folder, or a file, and the layers that
 * it may import besides itself. `names` are what the bundler resolves otherwise.
 */
export const trees = [
  {
    folder: 'wasm/src',
    names: { 'qkv-files': ['load/files-external.ts', 'load/files-embedded.ts'] },
    layers: {
      api: [],
      platform: ['api'],
      arguments: ['api'],
      'plain-arrays.ts': ['api', 'arguments'],
      memory: ['api', 'arguments'],
      operators: ['api', 'arguments', 'memory'],
      formats: ['api', 'arguments'],
      language: ['api', 'arguments', 'memory', 'operators'],
      models: ['api', 'platform', 'arguments', 'memory', 'operators', 'formats', 'language'],
      train: ['api', 'arguments', 'memory', 'operators', 'formats', 'language'],
      'engine.ts': ['api', 'memory', 'operators'],
      load: ['api', 'platform', 'arguments', 'memory', 'engine.ts'],
      'worker/protocol': ['api', 'platform', 'arguments'],
      'worker/host': ['api', 'platform', 'arguments', 'worker/protocol'],
      'worker/client': ['api', 'platform', 'arguments', 'worker/protocol'],
      entries: [
        ...['api', 'platform', 'arguments', 'plain-arrays.ts', 'memory', 'load'],
        ...['language', 'models', 'train'],
        ...['worker/host', 'worker/client'],
      ],
    },
  },
  { folder: 'web/src' },
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

const layerOf = (layers, file) =>
  Object.keys(layers).find((layer) => file === layer || file.startsWith(`${layer}/`));

/** Why a file of the tree may not import another; undefined if it may. */
export function layerFault({ layers }, from, to) {
  const [own, other] = [layerOf(layers, from), layerOf(layers, to)];
  if (own === undefined)
    return `${from} is in no layer, expected ${Object.keys(layers).join(', ')}`;
  if (own === other || layers[own].includes(other)) return undefined;
  const expected = layers[own].length > 0 ? layers[own].join(', ') : 'nothing else';
  return `${own} imports ${to}, expected ${expected}`;
}

/** The rule of ESLint: an import goes to a layer below. */
export const layersRule = {
  create(context) {
    const path = relative(root, context.filename).replaceAll('\\', '/');
    const tree = trees.find(({ folder, layers }) => layers && path.startsWith(`${folder}/`));
    if (!tree) return {};
    const file = posix.relative(tree.folder, path);
    const known = (name) => existsSync(join(root, tree.folder, name));
    const check = (node) => {
      const specifier = node?.value ?? node?.literal?.value;
      const to = typeof specifier === 'string' ? resolve(known, file, specifier) : undefined;
      const message = to && layerFault(tree, file, to);
      if (message) context.report({ node, message });
    };
    return {
      ImportDeclaration: ({ source }) => check(source),
      ExportNamedDeclaration: ({ source }) => check(source),
      ExportAllDeclaration: ({ source }) => check(source),
      ImportExpression: ({ source }) => check(source),
      TSImportType: ({ argument }) => check(argument),
    };
  },
};
