// Every argument and option field that the package declares, read off its TypeScript.
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../../../support/js/files.js';

/** Types that are one argument, however many properties they have. */
const leaves = new Set([
  ...['NdArray', 'NdMask', 'Tensor', 'KvCache', 'Float32Array', 'Int32Array', 'Uint8Array'],
  'Uint32Array',
  ...['ArrayLike'],
  ...['URL', 'Response', 'Promise', 'Module', 'ArrayBuffer', 'ArrayBufferView', 'DataView'],
  ...['Blob', 'AbortSignal', 'Qkv', 'Session', 'Tokenizer', 'Constraint', 'ModelCache'],
]);

/** The declarations of an entry: the compiler's view, and what is exported by name. */
function load(entry) {
  const file = join(root, `dist/${entry}.d.ts`);
  const program = ts.createProgram([file], {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    types: [],
  });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const exports = checker.getExportsOfModule(checker.getSymbolAtLocation(source));
  return { checker, exported: new Map(exports.map((symbol) => [symbol.name, symbol])) };
}

/** A type that is a leaf, or has a leaf among those that it is made of. */
const isLeaf = (checker, type) =>
  checker.isArrayLikeType(type) ||
  leaves.has(type.aliasSymbol?.name ?? type.symbol?.name) ||
  leaves.has(type.symbol?.name) ||
  (type.isIntersection() && type.types.some((part) => isLeaf(checker, part)));

/** A boolean whose type parameter the result follows has no fields either. */
const isBoolean = (type) =>
  (type.flags & ts.TypeFlags.BooleanLike) !== 0 ||
  (type.isIntersection() && type.types.some(isBoolean));

const isOptions = (checker, type) =>
  !isBoolean(type) &&
  (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) !== 0 &&
  !isLeaf(checker, type);

/** `path` itself, and the fields below it if it takes options. */
function addPaths(checker, paths, path, type) {
  paths.add(path);
  for (const part of type.isUnion() ? type.types : [type]) {
    // The options of attention() and forward() are a type parameter; its constraint says what there is.
    const member = part.isTypeParameter() ? checker.getBaseConstraintOfType(part) : part;
    if (!member || !isOptions(checker, member)) continue; // a parameter may be of any type
    for (const field of checker.getPropertiesOfType(member)) {
      addPaths(checker, paths, `${path}.${field.name}`, checker.getTypeOfSymbol(field));
    }
  }
}

function addCalls(checker, methods, name, type) {
  const paths = methods.get(name) ?? new Set();
  for (const signature of type.getCallSignatures()) {
    for (const parameter of signature.getParameters()) {
      addPaths(checker, paths, parameter.name, checker.getTypeOfSymbol(parameter));
    }
  }
  methods.set(name, paths);
}

/**
 * 'Qkv.attention' -> 'q', 'k', 'v', 'options', 'options.scale', ...: for these functions of an entry of the package and
 * for every method of everything that has to be disposed, less what another entry makes. By default those of `qkv`: init(), and
 * what engines make.
 */
export function declared(entry = 'index', functions = ['init'], madeBy = null) {
  const { checker, exported } = load(entry);
  const methods = new Map();
  const others = madeBy ? load(madeBy).exported : new Map();
  for (const name of functions) {
    addCalls(checker, methods, name, checker.getTypeOfSymbol(exported.get(name)));
  }
  for (const [name, symbol] of exported) {
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    if (!type.getProperty('dispose') || others.has(name)) continue; // an engine, or what it makes
    for (const member of checker.getPropertiesOfType(type)) {
      const of = checker.getTypeOfSymbol(member);
      const isDispose = member.name === 'dispose' || member.name.startsWith('__@dispose');
      if (of.getCallSignatures().length > 0 && !isDispose) {
        addCalls(checker, methods, `${name}.${member.name}`, of);
      }
    }
  }
  return methods;
}
