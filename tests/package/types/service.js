// TypeScript's language service, which is what editors ask, on programs that import the package as built.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../../support/js/files.js';

const base = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2022.d.ts', 'lib.esnext.disposable.d.ts', 'lib.dom.d.ts'],
  types: [],
};

/** Where a program stands: in this repository `qkv` is the package itself. */
export const placeOf = (name) => join(root, 'tests/package/types', name);

/** A service over programs, { name: text }, that exist nowhere else. */
export function serviceOf(programs, options = {}) {
  const texts = new Map(Object.entries(programs).map(([name, text]) => [placeOf(name), text]));
  const read = (path) =>
    texts.get(path) ?? (existsSync(path) ? readFileSync(path, 'utf8') : undefined);
  return ts.createLanguageService({
    ...ts.sys,
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
    readFile: read,
    fileExists: (path) => texts.has(path) || ts.sys.fileExists(path),
    getCompilationSettings: () => ({ ...base, ...options }),
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => [...texts.keys()],
    getScriptVersion: () => '1',
    getScriptSnapshot(path) {
      const text = read(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
  });
}

/** What the compiler says of a program: the line of each, counted from 1, and its words. */
export function complaints(service, name) {
  const path = placeOf(name);
  const found = [...service.getSyntacticDiagnostics(path), ...service.getSemanticDiagnostics(path)];
  return found.map(({ file, start, messageText }) => ({
    line: file.getLineAndCharacterOfPosition(start).line + 1,
    words: ts.flattenDiagnosticMessageText(messageText, '\n'),
  }));
}
