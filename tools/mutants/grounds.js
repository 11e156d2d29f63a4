// Where faults are planted: copies of the tree, and for each part of it how to build and which tests to ask.
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { root, toolchain } from '../environment.js';
import { must, run } from '../run.js';
import { faultIsa } from '../runners.js';

/** Tests that take so long, in ms, hang: a fault may do that to what it is in, which is as red as can be. */
const HANGING = 120_000;

/** A copy that builds like the original and shares nothing with it but the tools. */
export class Copy {
  #folder;
  /** Names the files that ever had a fault: what was built of one is newer than the copy that replaces it. */
  #faulted;

  constructor(name) {
    this.#folder = join(root, 'build/mutants', name);
    this.#faulted = join(this.#folder, 'faulted-files');
    mkdirSync(this.#folder, { recursive: true });
    const folders = ['bench', 'core', 'models', 'tests', 'tools', 'wasm', 'web'];
    for (const entry of [...folders, 'CMakeLists.txt', 'CMakePresets.json']) this.take(entry);
    for (const entry of ['package.json', 'README.md', '.toolchain/env']) this.take(entry);
    if (!existsSync(this.path('node_modules'))) {
      symlinkSync(join(root, 'node_modules'), this.path('node_modules'));
    }
    const faulted = existsSync(this.#faulted) ? readFileSync(this.#faulted, 'utf8') : '';
    for (const file of new Set(faulted.split('\n').filter(Boolean))) {
      if (existsSync(this.path(file))) utimesSync(this.path(file), new Date(), new Date());
    }
  }

  path(entry) {
    return join(this.#folder, entry);
  }

  /** What the original has there, with its times, so that only what changed is built again. */
  take(entry) {
    rmSync(this.path(entry), { recursive: true, force: true });
    cpSync(join(root, entry), this.path(entry), { recursive: true, preserveTimestamps: true });
  }

  /** Likewise the files of a folder, without its folders. */
  takeFiles(folder) {
    mkdirSync(this.path(folder), { recursive: true });
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      if (entry.isFile()) this.take(`${folder}/${entry.name}`);
    }
  }

  /** Options of run() for a command in this copy, whose objects a ccache then knows from the original's. */
  here({ env, ...options } = {}) {
    return { cwd: this.#folder, env: { CCACHE_BASEDIR: this.#folder, ...env }, ...options };
  }

  run(command, args, options) {
    return run(command, args, this.here(options));
  }

  must(command, args) {
    return must(command, args, this.here());
  }

  /** Configures a CMake preset here, with the compiler cache if there is one. */
  configure(preset, options = []) {
    const launcher = toolchain.CCACHE ? [`-DCMAKE_CXX_COMPILER_LAUNCHER=${toolchain.CCACHE}`] : [];
    const place =
      preset === 'wasm' ? [`-DCMAKE_TOOLCHAIN_FILE=${toolchain.EMCMAKE_TOOLCHAIN}`] : [];
    return this.must('cmake', ['--preset', preset, ...place, ...launcher, ...options]);
  }

  /** The package around the modules that are there, without what makes it smaller, which takes most of the time. */
  bundle(folder = 'dist') {
    const options = JSON.stringify({ folder, sourcemap: 'external' });
    const call = `const build = await import('./tools/build.js'); await build.bundlePrograms(${options});`;
    return this.run(process.execPath, ['--input-type=module', '--eval', call]);
  }

  /** The page for a server, without the single file. */
  site() {
    rmSync(this.path('dist/web'), { recursive: true, force: true });
    const line = ['build', '--config', 'web/vite.config.ts', '--logLevel', 'warn'];
    return this.run(process.execPath, ['node_modules/.bin/vite', ...line]);
  }

  /** What the compiler says of the types of a project; it remembers what it knew of the files that are as they were. */
  types(project) {
    const kept = ['--incremental', '--tsBuildInfoFile', `build/${project}.tsbuildinfo`];
    // A fault may leave a name without a reader.
    const unused = ['--noUnusedLocals', 'false', '--noUnusedParameters', 'false'];
    const line = ['node_modules/.bin/tsc', '-p', project, '--noEmit', ...unused, ...kept];
    return this.run(process.execPath, line);
  }

  /** Test files under node:test. */
  nodeTests(files, { relaxed = false } = {}) {
    const flags = relaxed ? ['--experimental-wasm-relaxed-simd'] : [];
    const env = { CHROMIUM: toolchain.CHROMIUM ?? '', FIREFOX: toolchain.FIREFOX ?? '' };
    const line = [...flags, '--test', `--test-timeout=${HANGING}`, ...files];
    return this.run(process.execPath, line, { env });
  }

  /** Runs `work` while the fault is there. */
  withFault({ file, find, replace }, work) {
    return this.#altered(file, (source) => source.replace(find, () => replace), work);
  }

  /** Runs `work` while `text` stands for what is between two places of the file. */
  withText({ file, start, end, text }, work) {
    return this.#altered(file, (source) => source.slice(0, start) + text + source.slice(end), work);
  }

  async #altered(file, alter, work) {
    const path = this.path(file);
    const original = readFileSync(path, 'utf8');
    appendFileSync(this.#faulted, `${file}\n`); // first, for whoever comes after a run that was cut short
    writeFileSync(path, alter(original));
    try {
      return await work();
    } finally {
      writeFileSync(path, original);
    }
  }
}

/** The title of a test case as Catch2 is asked for it: a comma would begin another name, and a bracket a tag. */
export const caseName = (title) => title.replace(/[,[\]]/g, '\\$&');

/** All test cases but the one that asks for more than one instruction set. */
const ALL = '~isa: scalar runs everywhere and comes last';

/** What is asked about a fault, until something is red: the case that is said to find it, then all. */
const asked = ({ caught_by: named }) => (named ? [caseName(named), ALL] : [ALL]);

/** A C++ library and its suite: `files` says which of tests/core are compiled, as a regular expression. */
const library = ({ name, holds, suite, files }) => ({
  name,
  holds,
  prepare: (copy) =>
    copy.configure('native', [
      `-DQKV_ISAS=${faultIsa}`,
      '-DQKV_WERROR=OFF',
      `-DQKV_TEST_FILES=${files}`,
    ]),
  build: (copy) => copy.run('cmake', ['--build', '--preset', 'native', '--target', suite]),
  async test(copy, fault) {
    const options = { env: { QKV_ISA: faultIsa }, timeout: HANGING };
    const program = copy.path(`build/native/tests/${suite}`);
    let tested;
    for (const cases of asked(fault)) {
      tested = await copy.run(program, [cases, '--abort'], options);
      if (/No test cases matched/.test(tested.output)) throw new Error(tested.output);
      if (tested.code !== 0) break;
    }
    return tested;
  },
});

/** Whether a file belongs to the second library. */
export const isOfTraining = (file) => /^core\/.*\btrain\//.test(file);

/** Whether a test case of the second library's suite is said to find a fault, which may be in a file of the first. */
function isFoundByTraining({ caught_by: named }) {
  const folder = join(root, 'tests/core/train');
  const holds = (name) => readFileSync(join(folder, name), 'utf8').includes(`TEST_CASE("${named}"`);
  return named !== undefined && readdirSync(folder).some(holds);
}

const isAskedOfTraining = (fault) => isOfTraining(fault.file) || isFoundByTraining(fault);

const core = library({
  name: 'core',
  holds: (fault) => fault.file.startsWith('core/') && !isAskedOfTraining(fault),
  suite: 'qkv_tests',
  files: '', // all
});

/** The second library, whose tests are few; none of the first's are compiled for it. */
const training = library({
  name: 'training',
  holds: (fault) => fault.file.startsWith('core/') && isAskedOfTraining(fault),
  suite: 'qkv_train_tests',
  files: 'status', // there has to be one
});

/** The package as the original has built it, with its modules and its declarations. */
export async function preparePackage(copy) {
  copy.take('build/wasm/wasm');
  copy.take('build/types');
  copy.takeFiles('dist'); // its folder, the page, may be under way
}

/**
 * The package in TypeScript: bundled anew around the modules that are built already. Types are not asked: a test that sees
 * the fault does so whatever tsc says of it, and tsc took half of the time.
 */
const typescript = {
  name: 'package',
  holds: ({ file }) => file.startsWith('wasm/src/'),
  prepare: preparePackage,
  build: (copy) => copy.bundle(),
  test: (copy, { tests, relaxed }) => copy.nodeTests(tests, { relaxed }),
};

/** Tests of what the page computes bundle its modules themselves. */
export const needsNoPage = (fault) =>
  fault?.tests?.every((file) => file.startsWith('tests/page/numbers/')) ?? false;

const page = {
  name: 'page',
  holds: ({ file }) => file.startsWith('web/'),
  prepare: preparePackage,
  build: (copy, fault) => (needsNoPage(fault) ? { code: 0, output: '' } : copy.site()),
  test: (copy, { tests }) => copy.nodeTests(tests),
};

/** The border in C++: only the simd build, which Node runs without a flag. */
const bindings = {
  name: 'bindings',
  holds: ({ file }) => file.startsWith('wasm/') && !file.startsWith('wasm/src/'),
  async prepare(copy) {
    await preparePackage(copy);
    await copy.configure('wasm');
  },
  build(copy, fault) {
    const module = fault?.file.startsWith('wasm/bindings/train/') ? 'qkv-train' : 'qkv';
    const line = ['--build', '--preset', 'wasm', '--target', `module_${module}-simd`];
    return copy.run('cmake', line).then((built) => (built.code === 0 ? copy.bundle() : built));
  },
  test: (copy, { tests }) => copy.nodeTests(tests),
};

/** In this order: those that build modules of their own come after those that take the finished ones. */
export const grounds = [core, training, typescript, page, bindings];
