// A copy of the tree in which faults are planted, all of them at once: it is built once, and the environment of a test says
// which fault acts.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { root, toolchain } from '../environment.js';
import { must, run } from '../run.js';
import { planted } from './places.js';

/** Tests that take so long, in ms, hang, which a fault may make them do. */
const HANGING = 120_000;

export class Copy {
  #folder;

  constructor(name) {
    this.#folder = join(root, 'build/mutants', name);
    mkdirSync(this.#folder, { recursive: true });
    const folders = ['bench', 'core', 'models', 'tests', 'tools', 'wasm', 'web'];
    const built = ['build/wasm/wasm', 'build/types', 'dist'];
    const files = ['CMakeLists.txt', 'CMakePresets.json', 'package.json', 'README.md'];
    for (const entry of [...folders, ...built, ...files, '.toolchain/env']) this.#take(entry);
    if (!existsSync(this.path('node_modules'))) {
      symlinkSync(join(root, 'node_modules'), this.path('node_modules'));
    }
  }

  path(entry) {
    return join(this.#folder, entry);
  }

  /** With the times of the original, so that only what differs is built again. */
  #take(entry) {
    rmSync(this.path(entry), { recursive: true, force: true });
    if (!existsSync(join(root, entry))) return;
    const filter = (source) => !source.endsWith('/node_modules');
    cpSync(join(root, entry), this.path(entry), {
      ...{ recursive: true, preserveTimestamps: true },
      filter,
    });
  }

  /** Writes the sources of these faults with a choice for each. */
  plant(faults) {
    for (const file of new Set(faults.map((fault) => fault.file))) {
      const own = faults.filter((fault) => fault.file === file);
      const header = /\.[ch]pp$/.test(file) ? this.path('tools/mutants/planted.hpp') : undefined;
      writeFileSync(this.path(file), planted(readFileSync(join(root, file), 'utf8'), own, header));
    }
  }

  /** A command in the copy, whose objects a compiler cache then knows from the original's. */
  run(command, args, { env, ...options } = {}) {
    const own = { CCACHE_BASEDIR: this.#folder, ...env };
    return run(command, args, { cwd: this.#folder, env: own, ...options });
  }

  async configure(preset, options = []) {
    const launcher = toolchain.CCACHE ? [`-DCMAKE_CXX_COMPILER_LAUNCHER=${toolchain.CCACHE}`] : [];
    const platform =
      preset === 'wasm' ? [`-DCMAKE_TOOLCHAIN_FILE=${toolchain.EMCMAKE_TOOLCHAIN}`] : [];
    const line = ['--preset', preset, ...platform, ...launcher, '-DQKV_WERROR=OFF', ...options];
    await must('cmake', line, { cwd: this.#folder });
  }

  build(preset, targets) {
    const line = ['--build', '--preset', preset, '--target', ...targets];
    return this.run('cmake', line, { env: { CCACHE_BASEDIR: this.#folder } });
  }

  /** The package around the modules that are there, without what makes it smaller, which takes most of the time. */
  bundle() {
    const call = `const { bundlePrograms } = await import('./tools/build.js'); await bundlePrograms({ sourcemap: 'external' });`;
    return this.run(process.execPath, ['--input-type=module', '--eval', call]);
  }

  /** Files of node:test, with this fault. */
  nodeTests(files, { fault = 0, reached = '' } = {}) {
    const env = {
      NODE_OPTIONS: `--import=${this.path('tools/mutants/planted.js')}`,
      QKV_FAULT: `${fault}`,
      QKV_REACHED: reached,
      CHROMIUM: toolchain.CHROMIUM ?? '',
      FIREFOX: toolchain.FIREFOX ?? '',
    };
    const line = ['--test', `--test-timeout=${HANGING}`, ...files];
    return this.run(process.execPath, line, { env });
  }

  /** A suite of Catch2 on one instruction set, up to the first case that fails. What asks for unlimited memory fails, too. */
  suite(name, isa, { fault = 0 } = {}) {
    const cases = '~isa: scalar runs everywhere and comes last';
    const program = this.path(`build/native/tests/${name}`);
    const line = ['-c', 'ulimit -v 8000000; exec "$0" "$@"', program, cases, '--abort'];
    const env = { QKV_ISA: isa, QKV_FAULT: `${fault}` };
    return this.run('bash', [...line, '--order', 'decl'], { env, timeout: HANGING });
  }
}
