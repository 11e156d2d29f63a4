// Where faults are planted: a copy of the tree, and for each part of it how to build and which tests to ask.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { root, toolchain } from '../environment.js';
import { must, run } from '../run.js';

/** It builds like the original and shares nothing with it but the tools. */
const copy = join(root, 'build/mutants');

/** Names the file of the last fault: what was built of it is newer than the copy that replaces it. */
const lastFault = join(copy, 'last-fault');

export function makeCopy() {
  mkdirSync(copy, { recursive: true });
  const folders = ['core', 'tests', 'tools', 'wasm', 'web'];
  for (const entry of [...folders, 'CMakeLists.txt', 'CMakePresets.json']) {
    rmSync(join(copy, entry), { recursive: true, force: true });
    cpSync(join(root, entry), join(copy, entry), { recursive: true, preserveTimestamps: true });
  }
  for (const entry of ['package.json', 'README.md', '.toolchain/env']) {
    cpSync(join(root, entry), join(copy, entry), { preserveTimestamps: true });
  }
  if (!existsSync(join(copy, 'node_modules'))) {
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  }
  if (existsSync(lastFault)) {
    utimesSync(join(copy, readFileSync(lastFault, 'utf8')), new Date(), new Date());
  }
}

/** Runs `work` while the fault is in the copy. */
export async function withFault({ file, find, replace }, work) {
  const path = join(copy, file);
  const original = readFileSync(path, 'utf8');
  writeFileSync(lastFault, file); // first, for whoever comes after a run that was cut short
  writeFileSync(
    path,
    original.replace(find, () => replace),
  );
  try {
    return await work();
  } finally {
    writeFileSync(path, original);
  }
}

const inCopy = (command, args, options = {}) => run(command, args, { cwd: copy, ...options });
const buildPart = (part) => inCopy(process.execPath, ['tools/build.js', part]);

/** Test files under node:test, in the copy. A fault may hang what it is in, which is as red as can be. */
function nodeTests(files, { relaxed = false } = {}) {
  const flags = relaxed ? ['--experimental-wasm-relaxed-simd'] : [];
  const env = { CHROMIUM: toolchain.CHROMIUM ?? '', FIREFOX: toolchain.FIREFOX ?? '' };
  const line = [...flags, '--test', '--test-timeout=120000', ...files];
  return inCopy(process.execPath, line, { env });
}

/** The page that the faults of the core run on: the narrowest tiles, so every tail is walked. */
const isa = 'sse4';

const core = {
  name: 'core',
  holds: (file) => file.startsWith('core/'),
  prepare: () => must('cmake', ['--preset', 'native', '-DQKV_PAGES=sse4'], { cwd: copy }),
  build: () => inCopy('cmake', ['--build', '--preset', 'native', '--target', 'qkv_tests']),
  test: () =>
    inCopy(join(copy, 'build/native/tests/qkv_tests'), ['--abort'], { env: { QKV_ISA: isa } }),
};

/** The package in TypeScript: bundled anew around the modules that are built already. */
const typescript = {
  name: 'package',
  holds: (file) => file.startsWith('wasm/src/'),
  prepare() {
    const modules = 'build/wasm/wasm';
    rmSync(join(copy, modules), { recursive: true, force: true });
    cpSync(join(root, modules), join(copy, modules), { recursive: true, preserveTimestamps: true });
  },
  build: () => buildPart('package'),
  test: ({ tests, relaxed }) => nodeTests(tests, { relaxed }),
};

/** The border in C++: only the simd build, which Node runs without a flag. */
const bindings = {
  name: 'bindings',
  holds: (file) => file.startsWith('wasm/') && !file.startsWith('wasm/src/'),
  async prepare() {
    typescript.prepare();
    const wasm = ['--preset', 'wasm', `-DCMAKE_TOOLCHAIN_FILE=${toolchain.EMCMAKE_TOOLCHAIN}`];
    await must('cmake', wasm, { cwd: copy });
  },
  async build() {
    const built = await inCopy('cmake', ['--build', '--preset', 'wasm', '--target', 'module_simd']);
    return built.code === 0 ? buildPart('package') : built;
  },
  test: ({ tests }) => nodeTests(tests),
};

const page = {
  name: 'page',
  holds: (file) => file.startsWith('web/'),
  async prepare() {
    typescript.prepare();
    const { code, output } = await typescript.build();
    if (code !== 0) throw new Error(output);
  },
  build: () => buildPart('page'),
  test: ({ tests }) => nodeTests(tests),
};

/** In this order: those that build modules of their own come after those that take the finished ones. */
export const grounds = [core, typescript, page, bindings];
