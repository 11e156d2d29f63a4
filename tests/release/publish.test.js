// @run full, or after changes in package.json wasm/src/entries wasm/src/api
// The tarball as the linters of packages see it: publint for package.json against the files, and "are the
// types wrong" for what each way of resolving modules finds.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { packageJson } from '../support/js/files.js';
import { installPacked } from './packed.js';
import { tool } from './tools.js';

/** publint finds nothing, not even to warn of. */
const publint = ['publint/src/cli.js', 'run', '--strict'];

/**
 * The profile ignores two ways of resolving, because the package is ES modules alone and says so: `node10`,
 * which knows no "exports", and `require()` from CommonJS, which is answered by import() or by a Node that
 * can require ES modules. No rule is ignored besides.
 */
const attw = [
  ...['@arethetypeswrong/cli/dist/index.js', '--profile', 'esm-only', '--no-emoji'],
  // Otherwise a table or not, as wide as it takes the terminal to be.
  ...['--format', 'ascii'],
];

let stranger;
before(async () => {
  stranger = await installPacked();
});
after(() => stranger?.remove());

/** What a linter says of the tarball: { code, output }. */
const lint = ([script, ...options]) =>
  stranger.attempt(process.execPath, tool(script), ...options, stranger.file);

for (const [name, linter] of Object.entries({ publint, 'are the types wrong': attw })) {
  test(`package.json: ${name} has nothing to say`, async () => {
    const { code, output } = await lint(linter);
    assert.equal(code, 0, output);
    assert.match(output, name === 'publint' ? /All good!/ : /bundler: OK/i);
  });
}

test('package.json: it says what a stranger needs, and nothing that leads nowhere', () => {
  const { name, version, license, engines, sideEffects, type, exports, files } = packageJson;
  assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/);
  assert.deepEqual(
    { name, license, sideEffects, type },
    {
      ...{ name: 'qkv', license: 'MIT', type: 'module' },
      // Scripts of workers: nothing imports anything from them.
      sideEffects: ['thread', 'worker-host', 'models-host', 'train-host'].map(
        (name) => `./dist/${name}.js`,
      ),
    },
  );
  assert.match(engines.node, /^>=\d+\.\d+$/);
  for (const [path, target] of Object.entries(exports)) {
    if (typeof target === 'string') continue;
    const conditions = Object.keys(target);
    assert.deepEqual([conditions[0], conditions.at(-1)], ['types', 'default'], path);
  }
  assert.ok(files.length > 0);
  assert.deepEqual(Object.keys(packageJson.dependencies ?? {}), []);
});
