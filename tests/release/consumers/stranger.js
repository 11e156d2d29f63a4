// A stranger's machine for the tests of the C++ library: a temporary folder with this repository in it as
// `qkv`, and what core/docs/using.md says, run there word for word.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { toolchain } from '../../../tools/environment.js';
import { must, run } from '../../../tools/run.js';
import { root } from '../../support/js/files.js';
import { PATIENCE } from '../../support/js/patience.js';
import { guide, programsOf } from './examples.js';

/** A choice of instruction sets that leaves most of them out: the library compiles in seconds. */
export const isas = (x64) => `-DQKV_ISAS=${{ x64, arm64: 'neon64;scalar' }[arch()] ?? 'scalar'}`;

/** What a project that minds its warnings is compiled with. */
export const strict = '-Wall -Wextra -Werror';

/** The first program of the guide and the one on Eigen, with what they print. */
export const [[program], [eigenProgram]] = programsOf(guide, 'cpp');

export class Stranger {
  constructor() {
    this.home = mkdtempSync(join(tmpdir(), 'qkv-stranger-'));
    this.env = { HOME: this.home, CXX: toolchain.CXX, CMAKE_GENERATOR: 'Ninja' };
    symlinkSync(root, this.path('qkv'));
  }

  leave() {
    rmSync(this.home, { recursive: true, force: true });
  }

  path(...names) {
    return join(this.home, ...names);
  }

  write(name, content) {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), content);
  }

  /** A folder with a CMakeLists.txt, main.cpp and, as a checkout, this repository. */
  project(name, cmakeLists, { code } = program) {
    this.write(`${name}/CMakeLists.txt`, cmakeLists);
    this.write(`${name}/main.cpp`, code);
    symlinkSync(root, this.path(name, 'qkv'));
  }

  #options(cwd, env) {
    return { cwd: this.path(cwd), env: { ...this.env, ...env }, timeout: PATIENCE.test };
  }

  /** Runs a command; resolves to its output, rejects when it fails. */
  async must(command, args, { cwd = '.', env } = {}) {
    return (await must(command, args, this.#options(cwd, env))).output;
  }

  /** Runs a command that may fail: { code, output }. */
  run(command, args, { cwd = '.', env } = {}) {
    return run(command, args, this.#options(cwd, env));
  }

  /** Lines of a shell, which stop at the first that fails; resolves to what they print. */
  sh(lines, options) {
    return this.must('bash', ['-euo', 'pipefail', '-c', lines], options);
  }

  /** Configures and builds a project into its folder build; resolves to what CMake says. */
  async build(name, options = []) {
    const said = await this.configure(name, options);
    await this.must('cmake', ['--build', 'build'], { cwd: name });
    return said;
  }

  configure(name, options = []) {
    const flags = `-DCMAKE_CXX_FLAGS=${strict}`;
    return this.must('cmake', ['-S', '.', '-B', 'build', flags, ...options], { cwd: name });
  }
}

/** `text` with a part replaced that must be in it. */
export function replaced(text, part, by) {
  if (!text.includes(part)) throw new Error(`there is no "${part}" in\n${text}`);
  return text.replace(part, () => by);
}
