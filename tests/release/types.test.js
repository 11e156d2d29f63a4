// What compilers say of the declarations, as an installed package: the oldest TypeScript that is promised and
// the newest. The one in between, which builds the package, checks tests/package/types/types.test-d.ts.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import ts from 'typescript';
import { oldestTypeScript } from '../../tools/shipped.js';
import { packageJson, root, text } from '../support/js/files.js';
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
  const result = await stranger.inProject(process.execPath, ...line).catch((error) => error);
  return `${result.stdout}${result.stderr}`.replaceAll(name, 'program');
}

test('the oldest and the newest are what they are said to be', () => {
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

test('the program of the stranger uses every name of every entry', () => {
  const entries = Object.values(packageJson.exports).flatMap(({ types = [] }) => types);
  const names = [...new Set(entries.flatMap(exportedNames))];
  assert.ok(names.length > 20, String(names));
  const unused = names.filter((name) => !new RegExp(`\\b${name}\\b`).test(consumer));
  assert.deepEqual(unused, []);
});

for (const compiler of Object.keys(compilers)) {
  describe(`with the ${compiler} TypeScript`, () => {
    for (const [moduleResolution, module] of Object.entries(resolutions)) {
      for (const [libraryName, lib] of Object.entries(libraries)) {
        test(`moduleResolution ${moduleResolution}, ${libraryName}`, async () => {
          assert.equal(await compile(compiler, consumer, { module, moduleResolution, lib }), '');
        });
      }
    }

    test('for Node, without the types of a browser', async () => {
      const typeRoots = [join(root, 'node_modules/@types')];
      // The declarations of Node are checked by their own authors, with newer compilers.
      const options = { module: 'nodenext', lib: ['es2022'], types: ['node'], typeRoots };
      const url =
        "import { init } from 'qkv';\nvoid init({ wasm: new URL('file:///qkv.wasm') });\n";
      assert.equal(await compile(compiler, url, { ...options, skipLibCheck: true }), '');
    });

    test('every source of a .wasm is taken, and nothing else', async () => {
      const start = "import { init } from 'qkv';\n";
      const options = { module: 'nodenext', lib: ['es2022', 'dom'] };
      const sources = ["'/qkv.wasm'", "new URL('file:///')", 'new ArrayBuffer(8)', "fetch('/')"];
      const right = sources.map((source) => `void init({ wasm: ${source} });\n`).join('');
      assert.equal(await compile(compiler, start + right, options), '');
      const wrong = (value, lib) =>
        compile(compiler, `${start}void init({ wasm: ${value} });\n`, { ...options, lib });
      assert.match(await wrong('null', options.lib), /^program\.ts\(2,13\): error TS2322/);
      // With DOM a number passes: there a WebAssembly.Module is an interface without members.
      assert.match(await wrong('3', ['es2022']), /^program\.ts\(2,13\): error TS2322/);
    });

    test('the types are found, and are not any', async () => {
      const wrong = "import { init } from 'qkv';\nvoid init({ variant: 'fast' });\n";
      const said = await compile(compiler, wrong, { module: 'nodenext', lib: ['es2022'] });
      assert.match(said, /^program\.ts\(2,13\): error TS2322: Type '"fast"'/);
    });

    test('what is optional may be left out and not be undefined', async () => {
      const wrong = "import { init } from 'qkv';\nvoid init({ variant: undefined });\n";
      const said = await compile(compiler, wrong, { module: 'nodenext', lib: ['es2022'] });
      assert.match(said, /exactOptionalPropertyTypes/);
    });
  });
}
