// What compilers say of the declarations, as an installed package: the oldest TypeScript that is promised and
// the newest. The one in between, which builds the package, checks tests/package/types/types.test-d.ts.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import ts from 'typescript';
import { oldestTypeScript } from '../../tools/shipped.js';
import { packageJson, root, text } from '../support/js/files.js';
import { inFullRun } from '../support/js/full.js';
import { installPacked } from './packed.js';
import { tool, versionOf } from './tools.js';

const compilers = {
  oldest: tool('typescript-oldest/bin/tsc'),
  newest: tool('typescript-newest/bin/tsc'),
};
const resolutions = { node16: 'node16', nodenext: 'nodenext', bundler: 'esnext' };
const libraries = { 'ES2022 alone': ['es2022'], 'ES2022 and DOM': ['es2022', 'dom'] };

/** Whatever a strict project may have switched on. */
const strict = {
  ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  ...{ noImplicitOverride: true, noPropertyAccessFromIndexSignature: true },
  ...{ noImplicitReturns: true, noUnusedLocals: true, noUnusedParameters: true },
  ...{ verbatimModuleSyntax: true, isolatedModules: true },
  ...{ skipLibCheck: false, noEmit: true, types: [], target: 'es2022' },
};
const consumer = text('tests/release/consumer.ts');

let stranger;
before(async () => {
  stranger = await installPacked();
});
after(() => stranger?.remove());

let programs = 0;

/** What a compiler says of a program, which is nothing when all is well. */
async function compile(compiler, content, compilerOptions) {
  const name = `program-${++programs}`;
  const config = { compilerOptions: { ...strict, ...compilerOptions }, files: [`${name}.ts`] };
  stranger.write(`${name}.ts`, content);
  stranger.write(`${name}.json`, JSON.stringify(config));
  const line = [compilers[compiler], '-p', `${name}.json`, '--pretty', 'false'];
  const { output } = await stranger.attempt(process.execPath, ...line);
  return output.replaceAll(name, 'program');
}

test('types: the oldest and the newest are what they are said to be', () => {
  assert.ok(versionOf('typescript-oldest').startsWith(`${oldestTypeScript}.`));
  for (const name of ['README.md', 'README.zh-CN.md']) {
    assert.ok(text(name).includes(`TypeScript ${oldestTypeScript}`), name);
  }
  const major = (version) => Number(version.split('.')[0]);
  const ours = packageJson.devDependencies.typescript;
  assert.ok(major(versionOf('typescript-newest')) >= major(ours));
});

/** What an entry of the package exports, by its declarations. */
function exportedNames(declarations) {
  const entry = join(stranger.project, 'node_modules/qkv', declarations);
  const options = { module: ts.ModuleKind.NodeNext, lib: ['lib.es2022.d.ts'], types: [] };
  const program = ts.createProgram([entry], options);
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(entry));
  return checker.getExportsOfModule(module).map(({ name }) => name);
}

test('types: the program of the stranger uses every name of every entry', () => {
  const entries = Object.values(packageJson.exports).flatMap(({ types = [] }) => types);
  const names = [...new Set(entries.flatMap(exportedNames))];
  assert.ok(names.length > 20, String(names));
  const unused = names.filter((name) => !new RegExp(`\\b${name}\\b`).test(consumer));
  assert.deepEqual(unused, []);
});

/** A program of these lines after an import of init. */
const programOf = (...lines) => ["import { init } from 'qkv';", ...lines, ''].join('\n');

/** The lines of a program that a compiler refuses, each with the code of its error. */
const refused = (said) =>
  Array.from(said.matchAll(/^program\.ts\((\d+),\d+\): error (TS\d+)/gm), ([, line, code]) => [
    Number(line),
    code,
  ]);

for (const compiler of Object.keys(compilers)) {
  describe(`types: with the ${compiler} TypeScript`, () => {
    const resolves = (moduleResolution, libraryName) =>
      test(`moduleResolution ${moduleResolution}, ${libraryName}`, async () => {
        const module = resolutions[moduleResolution];
        const options = { module, moduleResolution, lib: libraries[libraryName] };
        assert.equal(await compile(compiler, consumer, options), '');
      });
    // How modules are found and what the language brings along have nothing to do with each other.
    const [alone, withDom] = Object.keys(libraries);
    resolves('node16', alone);
    resolves('bundler', alone);
    resolves('nodenext', withDom);
    inFullRun(`every resolution with every library, ${compiler} TypeScript`, () => {
      resolves('node16', withDom);
      resolves('bundler', withDom);
      resolves('nodenext', alone);
    });

    test('for Node, without the types of a browser', async () => {
      const typeRoots = [join(root, 'node_modules/@types')];
      // The declarations of Node are checked by their own authors, with newer compilers.
      const options = { module: 'nodenext', lib: ['es2022'], types: ['node'], typeRoots };
      const url = programOf("void init({ wasm: new URL('file:///qkv.wasm') });");
      assert.equal(await compile(compiler, url, { ...options, skipLibCheck: true }), '');
    });

    test('every source of a .wasm is taken, and nothing else', async () => {
      const sources = ["'/qkv.wasm'", "new URL('file:///')", 'new ArrayBuffer(8)', "fetch('/')"];
      const lines = [...sources, 'null'].map((source) => `void init({ wasm: ${source} });`);
      const options = { module: 'nodenext', lib: ['es2022', 'dom'] };
      const said = await compile(compiler, programOf(...lines), options);
      assert.deepEqual(refused(said), [[6, 'TS2322']], said);
    });

    test('what is wrong is refused, and undefined stands for what is left out', async () => {
      const lines = [
        // With DOM a number passes: there a WebAssembly.Module is an interface without members.
        'void init({ wasm: 3 });',
        "void init({ variant: 'fast' });",
        'void init({ variant: undefined });',
        "void init({ variant: 'simd' });",
      ];
      const options = { module: 'nodenext', lib: ['es2022'] };
      const said = await compile(compiler, programOf(...lines), options);
      assert.deepEqual(
        refused(said).map(([line]) => line),
        [2, 3],
        said,
      );
      assert.match(said, /TS2322: Type '"fast"'/);
    });
  });
}
