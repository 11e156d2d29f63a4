// What an everyday run leaves out because an earlier run has asked it (tools/changed.js).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { changedFiles, coreAsAsked, inCore, touches } from '../../tools/changed.js';
import { root, text } from '../support/js/files.js';

const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' });
const listed = (...args) => git(...args).stdout.split('\n');

test('changed: what the C++ suite stands on is known from the rest', () => {
  const core = [
    ...[
      'core/src/rows/norm.cpp',
      'core/include/qkv/norm.hpp',
      'core/CMakeLists.txt',
      'CMakeLists.txt',
    ],
    ...['tests/core/norm_test.cpp', 'tests/core/fuzz/corpus/norm/1', 'tests/CMakeLists.txt'],
    ...['tests/support/cpp/compare.hpp', 'tests/reference/torch/fixtures/a.json'],
    ...['CMakePresets.json', 'tools/sanitizers.cmake', 'tools/fuzz_native.js'],
  ];
  const other = [
    ...['web/src/app/app.ts', 'wasm/src/api/types.ts', 'tests/page/row.test.js', 'README.md'],
    ...[
      'tests/support/js/chromium.js',
      'tools/mutants.js',
      'tools/bootstrap',
      'wasm/CMakeLists.txt',
      'package.json',
    ],
  ];
  assert.deepEqual(inCore([...core, ...other]), core);
});

test('changed: the core is the one that was asked if git shows no difference', async (t) => {
  const { commit } = JSON.parse(text('tests/core-run.json'));
  assert.match(commit, /^[0-9a-f]{40}$/);
  const known = git('cat-file', '-e', `${commit}^{commit}`).status === 0;
  const changed = [
    ...listed('diff', '--name-only', '--no-renames', commit, '--'),
    ...listed('ls-files', '-o', '--exclude-standard'),
  ];
  const same = known && inCore(changed).length === 0;
  t.diagnostic(same ? 'the same' : 'not the same');
  assert.equal(await coreAsAsked(), same ? commit : undefined);
});

/** changedFiles() with QKV_BASE set to this, or without it, and what it said. */
async function changedSince(t, base) {
  const before = process.env.QKV_BASE;
  t.after(() => {
    if (before === undefined) delete process.env.QKV_BASE;
    else process.env.QKV_BASE = before;
  });
  const { mock } = t.mock.method(console, 'log', () => {});
  if (base === undefined) delete process.env.QKV_BASE;
  else process.env.QKV_BASE = base;
  const files = await changedFiles();
  const said = mock.calls.map(({ arguments: [line] }) => line);
  mock.restore();
  return { files, said };
}

test('changed: the change begins at QKV_BASE', async (t) => {
  const [head] = listed('rev-parse', 'HEAD');
  const { files, said } = await changedSince(t, head);
  const differ = listed('diff', '--name-only', '--no-renames', 'HEAD', '--');
  const unknown = listed('ls-files', '-o', '--exclude-standard');
  assert.deepEqual(files, [...differ, ...unknown].filter(Boolean));
  assert.deepEqual(said, []);
});

// What a server knows from before the first push of a branch, or one that rewrote it.
for (const [what, base] of Object.entries({
  'forty zeros': '0'.repeat(40),
  'a commit that is not there': 'c0ffee'.padEnd(40, '1'),
})) {
  test(`changed: where QKV_BASE is ${what} it is as if there were none`, async (t) => {
    const without = await changedSince(t, undefined);
    const { files, said } = await changedSince(t, base);
    assert.deepEqual(files, without.files);
    assert.deepEqual(said, [
      `QKV_BASE ${base} is not a commit of this repository, so it is ignored`,
    ]);
  });
}

test('changed: a file of tests is asked when it, or what it is about, is otherwise', () => {
  const part = {
    title: 'tests/page/row.test.js',
    about: ['web/src/features/row/', 'web/vite.config.ts'],
  };
  const touching = (...changed) => touches(changed, part);
  assert.ok(touching('README.md', 'web/src/features/row/panel.ts'));
  assert.ok(touching('web/vite.config.ts'));
  assert.ok(touching('tests/page/row.test.js'));
  assert.ok(
    !touching('web/src/features/rows/panel.ts', 'tests/page/pair.test.js', 'web/src/ui/plot.ts'),
  );
  assert.ok(!touching());
});

test('changed: what files of tests are about is there', () => {
  const said = listed('grep', '-n', '^// @about ', '--', 'tests');
  assert.ok(said.length > 20);
  for (const line of said.filter(Boolean)) {
    const [, file, number, paths] = /^([^:]+):(\d+):\/\/ @about (.+)$/.exec(line);
    assert.ok(Number(number) <= 6, `${file} says it in its first lines`);
    for (const path of paths.split(' '))
      assert.ok(existsSync(join(root, path)), `${file}: ${path}`);
  }
});
