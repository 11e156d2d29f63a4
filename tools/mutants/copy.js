// A copy of the tree in which faults are planted, all of them at once: it is built once, and the environment of a test says
// which fault acts.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { configureLine } from '../build/cmake.js';
import { root, toolchain } from '../environment.js';
import { must, run } from '../run.js';
import { planted } from './places.js';

/** Tests that take so long, in ms, hang, which a fault may make them do. */
const HANGING = 120_000;

/** Whether two files have the same contents. */
const isSame = (one, other) =>
  statSync(one).isFile() && existsSync(other) && readFileSync(one).equals(readFileSync(other));

export class Copy {
  #folder;
  #planted = new Set();

  constructor(name) {
    this.#folder = join(root, 'build/mutants', name);
    mkdirSync(this.#folder, { recursive: true });
    const folders = ['bench', 'core', 'models', 'tests', 'tools', 'wasm', 'web'];
    const built = ['build/wasm/wasm', 'build/types', 'dist'];
    for (const entry of [...folders, ...built]) this.#take(entry);
    for (const name of ['CMakeLists.txt', 'CMakePresets.json', 'package.json', 'README.md']) {
      if (!isSame(join(root, name), this.path(name))) cpSync(join(root, name), this.path(name));
    }
    this.#link('node_modules');
    this.#linkToolchain();
  }

  #link(entry) {
    rmSync(this.path(entry), { force: true });
    symlinkSync(join(root, entry), this.path(entry));
  }

  /** Below a path of the copy, so that a compiler cache has the same commands as of the original. */
  #linkToolchain() {
    mkdirSync(this.path('.toolchain'), { recursive: true });
    for (const name of readdirSync(join(root, '.toolchain'))) this.#link(`.toolchain/${name}`);
    rmSync(this.path('.toolchain/env'));
    const paths = readFileSync(join(root, '.toolchain/env'), 'utf8');
    const own = paths.replaceAll(join(root, '.toolchain'), this.path('.toolchain'));
    writeFileSync(this.path('.toolchain/env'), own);
  }

  path(entry) {
    return join(this.#folder, entry);
  }

  /** Makes an entry what the original has. Only files that differ are written, so only what they are part of is built again. */
  #take(entry) {
    const [from, to] = [join(root, entry), this.path(entry)];
    if (!existsSync(from)) return rmSync(to, { recursive: true, force: true });
    for (const name of existsSync(to) ? readdirSync(to, { recursive: true }) : []) {
      if (!existsSync(join(from, name))) rmSync(join(to, name), { recursive: true, force: true });
    }
    const filter = (one, other) => !one.endsWith('/node_modules') && !isSame(one, other);
    cpSync(from, to, { recursive: true, filter });
  }

  /** Writes the sources of these faults with a choice for each, and those of earlier faults as they are. */
  plant(faults) {
    for (const file of this.#planted) cpSync(join(root, file), this.path(file));
    this.#planted = new Set(faults.map((fault) => fault.file));
    for (const file of this.#planted) {
      const own = faults.filter((fault) => fault.file === file);
      const source = readFileSync(join(root, file), 'utf8');
      writeFileSync(this.path(file), planted(source, own));
    }
  }

  /** A command in the copy, whose objects a compiler cache then knows from the original's. */
  run(command, args, { env, ...options } = {}) {
    const own = { CCACHE_BASEDIR: this.#folder, ...env };
    return run(command, args, { cwd: this.#folder, env: own, ...options });
  }

  async configure(preset, options = []) {
    const line = configureLine(preset, ['-DQKV_WERROR=OFF', ...options]);
    const own = line.map((argument) => argument.replace(root, this.#folder));
    await must('cmake', own, { cwd: this.#folder });
  }

  build(preset, targets) {
    const line = ['--build', '--preset', preset, '--target', ...targets];
    return this.run('cmake', line);
  }

  /** The package around the modules that are there, without what makes it smaller, which takes most of the time. */
  bundle() {
    const call = `const { bundlePrograms } = await import('./tools/build.js'); await bundlePrograms({ sourcemap: 'external' });`;
    return this.run(process.execPath, ['--input-type=module', '--eval', call]);
  }

  /** Files of node:test, with this fault. */
  nodeTests(files, { fault = 0, reached = '' } = {}) {
    const env = {
      QKV_FAULT: `${fault}`,
      QKV_REACHED: reached,
      QKV_FULL: '', // everyday tests are to find it, in a full run, too
      CHROMIUM: toolchain.CHROMIUM ?? '',
      FIREFOX: toolchain.FIREFOX ?? '',
    };
    // A failed assertion leaves servers and workers behind, which would hold the file until its limit.
    const line = ['--test', '--test-force-exit', `--test-timeout=${HANGING}`, ...files];
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
