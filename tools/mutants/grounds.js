// Where faults are planted: copies of the tree, and for each part of it how to build and which tests to ask.
import {
  appendFileSync,
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

/** A copy that builds like the original and shares nothing with it but the tools. */
export class Copy {
  #folder;
  /** Names the files that ever had a fault: what was built of one is newer than the copy that replaces it. */
  #faulted;

  constructor(name) {
    this.#folder = join(root, 'build/mutants', name);
    this.#faulted = join(this.#folder, 'faulted-files');
    mkdirSync(this.#folder, { recursive: true });
    const folders = ['core', 'tests', 'tools', 'wasm', 'web'];
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

  run(command, args, options = {}) {
    return run(command, args, { cwd: this.#folder, ...options });
  }

  must(command, args) {
    return must(command, args, { cwd: this.#folder });
  }

  buildPart(part) {
    return this.run(process.execPath, ['tools/build.js', part]);
  }

  /** Test files under node:test. A fault may hang what it is in, which is as red as can be. */
  nodeTests(files, { relaxed = false } = {}) {
    const flags = relaxed ? ['--experimental-wasm-relaxed-simd'] : [];
    const env = { CHROMIUM: toolchain.CHROMIUM ?? '', FIREFOX: toolchain.FIREFOX ?? '' };
    const line = [...flags, '--test', '--test-timeout=120000', ...files];
    return this.run(process.execPath, line, { env });
  }

  /** Runs `work` while the fault is there. */
  async withFault({ file, find, replace }, work) {
    const path = this.path(file);
    const original = readFileSync(path, 'utf8');
    appendFileSync(this.#faulted, `${file}\n`); // first, for whoever comes after a run that was cut short
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
}

/** The page that the faults of the core run on: the narrowest tiles, so every tail is walked. */
const isa = 'sse4';

const core = {
  name: 'core',
  holds: (file) => file.startsWith('core/'),
  prepare: (copy) => copy.must('cmake', ['--preset', 'native', '-DQKV_PAGES=sse4']),
  build: (copy) => copy.run('cmake', ['--build', '--preset', 'native', '--target', 'qkv_tests']),
  test: (copy) =>
    copy.run(copy.path('build/native/tests/qkv_tests'), ['--abort'], { env: { QKV_ISA: isa } }),
};

/** The package in TypeScript: bundled anew around the modules that are built already. */
const typescript = {
  name: 'package',
  holds: (file) => file.startsWith('wasm/src/'),
  prepare: (copy) => copy.take('build/wasm/wasm'),
  build: (copy) => copy.buildPart('package'),
  test: (copy, { tests, relaxed }) => copy.nodeTests(tests, { relaxed }),
};

const page = {
  name: 'page',
  holds: (file) => file.startsWith('web/'),
  async prepare(copy) {
    typescript.prepare(copy);
    const { code, output } = await typescript.build(copy);
    if (code !== 0) throw new Error(output);
  },
  build: (copy) => copy.buildPart('page'),
  test: (copy, { tests }) => copy.nodeTests(tests),
};

/** The border in C++: only the simd build, which Node runs without a flag. */
const bindings = {
  name: 'bindings',
  holds: (file) => file.startsWith('wasm/') && !file.startsWith('wasm/src/'),
  async prepare(copy) {
    typescript.prepare(copy);
    const toolchainFile = `-DCMAKE_TOOLCHAIN_FILE=${toolchain.EMCMAKE_TOOLCHAIN}`;
    await copy.must('cmake', ['--preset', 'wasm', toolchainFile]);
  },
  async build(copy) {
    const module = ['--build', '--preset', 'wasm', '--target', 'module_simd'];
    const built = await copy.run('cmake', module);
    return built.code === 0 ? copy.buildPart('package') : built;
  },
  test: (copy, { tests }) => copy.nodeTests(tests),
};

/** In this order: those that build modules of their own come after those that take the finished ones. */
export const grounds = [core, typescript, page, bindings];
