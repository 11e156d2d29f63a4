// @build any
// The sources import one way: there are no circles, types included, and each layer imports only those below it.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { circlesOf, importsOf, layerFault, trees } from '../../../tools/imports.js';

for (const tree of trees) {
  const imports = importsOf(tree);
  const edges = [...imports].flatMap(([from, all]) => all.map((to) => [from, to]));

  test(`imports: ${tree.folder} has no circles, types included`, (t) => {
    const circles = circlesOf(imports);
    t.diagnostic(
      `${tree.folder}: ${imports.size} files, ${edges.length} imports, ${circles.length} circles`,
    );
    assert.ok(edges.length > imports.size, 'the imports of the tree were found');
    assert.deepEqual(circles, []);
  });

  if (!tree.layers) continue;
  test(`imports: each layer of ${tree.folder} imports only the layers below it`, () => {
    assert.deepEqual(edges.map(([from, to]) => layerFault(tree, from, to)).filter(Boolean), []);
  });

  test(`imports: a layer of ${tree.folder} only names layers that come before it`, () => {
    const names = Object.keys(tree.layers);
    for (const [at, name] of names.entries()) {
      const later = tree.layers[name].filter((other) => names.indexOf(other) >= at);
      assert.deepEqual(later, [], name);
    }
  });
}

test('imports: a circle is found, by values, by types, by export, by import() and by a name of the bundler', (t) => {
  const base = mkdtempSync(join(tmpdir(), 'qkv-imports-'));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  mkdirSync(join(base, 'src/deep'), { recursive: true });
  const circleOf = (a, b) => {
    writeFileSync(join(base, 'src/a.ts'), a);
    writeFileSync(join(base, 'src/deep/b.ts'), b);
    const tree = { folder: 'src', names: { 'by-name': ['a.ts'] } };
    return circlesOf(importsOf(tree, base));
  };
  const toB = "import { b } from './deep/b.js';\nexport const a = b;\n";
  const backs = [
    "import { a } from '../a.js';\nexport const b = () => a;\n",
    "import type { A } from '../a.js';\nexport type B = A;\n",
    "export type * from '../a.js';\n",
    "export type B = import('../a.js').A;\n",
    "export const b = () => import('../a.js');\n",
    "import { a } from 'by-name';\nexport const b = () => a;\n",
  ];
  for (const back of backs) assert.deepEqual(circleOf(toB, back), [['a.ts', 'deep/b.ts']], back);
  assert.deepEqual(circleOf(toB, 'export const b = 1;\n'), []);
  assert.deepEqual(circleOf("import './a.js';\n", 'export {};\n'), [['a.ts']]);
});

test('imports: a layer that imports one above it is named', () => {
  const [tree] = trees;
  assert.match(layerFault(tree, 'memory/call.ts', 'operators/cache.ts'), /^memory imports/);
  assert.match(layerFault(tree, 'somewhere/new.ts', 'api/types.ts'), /is in no layer/);
  assert.equal(layerFault(tree, 'memory/call.ts', 'memory/abi.ts'), undefined);
});
