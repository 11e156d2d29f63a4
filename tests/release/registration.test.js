// @build any
// A file of tests waits for nothing between its tests: with --test-force-exit Node ends a file when the tests that it knows so far have
// ended, and those that come after an `await` at the top are missing without a word. And its tags name what is there.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { root, text } from '../support/js/files.js';
import { isLeft, tagsOf } from '../../tools/runners.js';
import { files } from '../../tools/tree.js';

/** Functions of node:test, and those of ours that register tests. */
const REGISTERS = /^(?:test|describe|inFullRun|testIn|testsOf\w+|\w+Test)$/;

/** The lines at which a file waits after it has registered a test. */
function lateWaits(name, source) {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, false);
  const lines = [];
  let hasTests = false;
  const visit = (node) => {
    if (ts.isFunctionLike(node)) return;
    ts.forEachChild(node, visit);
    if (ts.isCallExpression(node) && REGISTERS.test(node.expression.getText(file))) hasTests = true;
    if (ts.isAwaitExpression(node) && hasTests)
      lines.push(file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1);
  };
  visit(file);
  return lines.map((line) => `${name}:${line}`);
}

test('registration: no file of tests waits between two of them', async () => {
  const names = await files('tests/**/*.test.js');
  assert.ok(names.length > 300, `${names.length} files`);
  assert.deepEqual(
    names.flatMap((name) => lateWaits(name, text(name))),
    [],
  );
});

test('registration: a wait after a test is found, and none in a test or before it', () => {
  const source = "await one();\ntest('a', async () => await two());\nconst b = await three();\n";
  assert.deepEqual(lateWaits('a.test.js', source), ['a.test.js:3']);
});

test('registration: a tag for the full run names paths that are there', async () => {
  const tagged = (await files('tests/**/*.test.js')).map((name) => ({ name, ...tagsOf(name) }));
  const named = tagged.filter(({ changesIn }) => changesIn.length > 0);
  assert.ok(named.length > 20, `${named.length} files`);
  const missing = named.flatMap(({ name, changesIn }) =>
    changesIn.filter((path) => !existsSync(join(root, path))).map((path) => `${name}: ${path}`),
  );
  assert.deepEqual(missing, []);
});

test('registration: a file of the full run is in an everyday one after a change of it or of what it names', () => {
  const file = 'tests/page/masks.test.js';
  const panel = 'web/src/features/masks';
  const part = { title: file, fullRun: true, changesIn: [panel] };
  for (const [changed, expected] of [
    [[], true],
    [['README.md', `${panel}_more/a.ts`, 'tests/page/masks.test.js.txt'], true],
    [[`${panel}/panel.ts`], false],
    [['README.md', file], false],
  ]) {
    assert.equal(isLeft(part, changed), expected, `${changed}`);
  }
  assert.ok(!isLeft({ ...part, fullRun: false }, []));
});
