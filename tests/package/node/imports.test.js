// @build any
// The sources import one way: there are no circles, types included, and each layer imports only those below it.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  circlesOf,
  edgesOf,
  importFault,
  importsOf,
  layerOf,
  trees,
} from '../../../tools/imports.js';

for (const tree of trees) {
  const imports = importsOf(tree);
  const edges = edgesOf(tree);

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
    assert.deepEqual(edges.map((edge) => importFault(tree, ...edge)).filter(Boolean), []);
  });

  test(`imports: each file of ${tree.folder} is in a layer, and no layer is empty`, () => {
    const files = [...imports.keys()].filter((file) => !file.endsWith('.d.ts'));
    const found = files.map((file) => layerOf(tree, file));
    assert.deepEqual(
      files.filter((_, i) => found[i] === undefined),
      [],
    );
    assert.deepEqual([...new Set(found)].sort(), Object.keys(tree.layers).sort());
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

test('imports: of the worker of a panel its page has types alone, and panels leave each other alone', () => {
  const [, tree] = trees;
  const [page, worker] = ['features/row/page/figure.ts', 'features/row/worker/frame_feature.ts'];
  assert.equal(importFault(tree, page, worker, true), undefined);
  assert.match(importFault(tree, page, worker), /^features.* imports features\/row\/worker/);
  assert.match(importFault(tree, worker, 'ui/plot.ts'), /imports ui\/plot\.ts/);
  assert.match(importFault(tree, 'ui/plot.ts', 'features/panel.ts'), /^ui imports features\/panel/);
  assert.match(importFault(tree, page, 'features/map/page/figure.ts'), /is of another panel$/);
  assert.equal(importFault(tree, 'features/row/feature.ts', 'features/map/texts.ts'), undefined);
  assert.equal(importFault(tree, 'state/page.ts', 'domain/mask.ts'), undefined);
  assert.match(importFault(tree, 'state/page.ts', 'state/state.ts'), /imports state\/state\.ts/);
});

test('imports: types are told from values', (t) => {
  const base = mkdtempSync(join(tmpdir(), 'qkv-types-'));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  mkdirSync(join(base, 'src'));
  writeFileSync(join(base, 'src/b.ts'), 'export const b = 1;\nexport type B = number;\n');
  const of = (text) => {
    writeFileSync(join(base, 'src/a.ts'), text);
    return edgesOf({ folder: 'src' }, base);
  };
  assert.deepEqual(of("import type { B } from './b';"), [['a.ts', 'b.ts', true]]);
  assert.deepEqual(of("import { type B } from './b';"), [['a.ts', 'b.ts', true]]);
  assert.deepEqual(of("export type * from './b';"), [['a.ts', 'b.ts', true]]);
  assert.deepEqual(of("import { b, type B } from './b';"), [['a.ts', 'b.ts', false]]);
  assert.deepEqual(of("import './b';"), [['a.ts', 'b.ts', false]]);
  assert.deepEqual(of("const b = import('./b');"), [['a.ts', 'b.ts', false]]);
});

test('imports: a layer that imports one above it is named', () => {
  const [tree] = trees;
  assert.match(importFault(tree, 'memory/call.ts', 'operators/cache.ts'), /^memory imports/);
  assert.match(importFault(tree, 'somewhere/new.ts', 'api/types.ts'), /is in no layer/);
  assert.equal(importFault(tree, 'memory/call.ts', 'memory/abi.ts'), undefined);
});
