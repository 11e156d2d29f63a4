// The files of the change at hand (tools/changed.js).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { changedFiles } from '../../tools/changed.js';
import { root } from '../support/js/files.js';

const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' });
const listed = (...args) => git(...args).stdout.split('\n');

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
