// @build any
// Each public header and each source of the core compiles alone: it includes what it uses, whatever was included before it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { root } from '../support/js/files.js';
import { full, leaveToFullRun } from '../support/js/full.js';
import { PATIENCE } from '../support/js/patience.js';
import { program } from '../support/js/programs.js';
import { changedFiles } from '../../tools/changed.js';
import { files } from '../../tools/tree.js';

const run = promisify(execFile);
const compiler = program('CXX', 'c++');
const xsimd = program('XSIMD_INCLUDE_DIR', '/usr/include');
const eigen = program('EIGEN_INCLUDE_DIR', '/usr/include/eigen3');
const flags = [
  ...['-std=c++20', '-fsyntax-only', '-Wall', '-Wextra', '-Werror', '-x', 'c++'],
  ...['-I', join(root, 'core/include'), '-I', join(root, 'core/src'), '-I', root],
  ...['-isystem', xsimd, '-isystem', eigen, '-DQKV_VERSION="0"'],
  '-DQKV_HAVE_SCALAR', // a build has one instruction set at least
];

const avx512 = ['-mavx512f', '-mavx512cd', '-mavx512dq', '-mavx512bw'];

/** The flags without which the source of an instruction set does not compile; of other processors than this one there are no intrinsics. */
const instructions = {
  scalar: [],
  ...(process.arch === 'x64' && {
    sse4: ['-msse4.2'],
    avx2: ['-mavx2', '-mfma'],
    avxvnni: ['-mavx2', '-mfma', '-mavxvnni'],
    avx512: [...avx512, '-mavx2', '-mfma'],
    avx512vnni: [...avx512, '-mavx2', '-mfma', '-mavx512vnni'],
  }),
  ...(process.arch === 'arm64' && {
    neon64: [],
    neon64dot: ['-march=armv8.2-a+dotprod'],
    neon64mm: ['-march=armv8.2-a+dotprod+i8mm'],
  }),
};

/** What the compiler says of a file that only includes this one. */
async function complaintsOf(file, more = []) {
  const compiling = run(compiler, [...flags, ...more, '-'], { cwd: root });
  compiling.child.stdin.end(`#include "${join(root, file)}"\n`);
  return compiling.then(
    () => '',
    ({ stderr }) => `${file}: ${stderr}`,
  );
}

/** All of them in a full run, else those of the change at hand: each takes a second. */
async function expectAlone(all) {
  assert.ok(all.length > 30);
  const changed = full ? all : await changedFiles();
  const waiting = all.filter((file) => changed.includes(file));
  const found = [];
  const work = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [, isa] = /isa\/arch\/(?:train\/)?(\w+)\.cpp$/.exec(next) ?? [];
      if (!isa || instructions[isa]) found.push(await complaintsOf(next, instructions[isa]));
    }
  };
  await Promise.all([work(), work()]);
  assert.deepEqual(found.filter(Boolean), []);
}

if (!full)
  leaveToFullRun('headers and sources of the core that have not changed, each compiled alone');
const options = { timeout: PATIENCE.test };
test('core: every public header compiles alone', options, async () =>
  expectAlone(await files('core/include/**/*.hpp')),
);
test('core: every source compiles alone', options, async () =>
  expectAlone(await files('core/src/**/*.cpp')),
);
