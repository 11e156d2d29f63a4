// How each part of the tree is asked about a mutation that nobody chose: a judge builds a copy as quickly as it
// can, knows which tests to ask first, and stops at the first that is red. Where browsers are asked last, `inNode` leaves
// them out: all their tests take minutes for a mutation that lives.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { transformSync } from 'esbuild';
import { root } from '../environment.js';
import { faultIsa } from '../runners.js';
import { programs } from '../shipped.js';
import { caseName, isOfTraining, preparePackage } from './grounds.js';
import { originsOf } from './reach.js';
import { TestFiles, limitOf, notAsked, seconds, testFiles } from './test_files.js';
import { untilRed } from './until_red.js';

/** A fingerprint of files: mutants that are compiled to the program as it was have no effect. */
function fingerprint(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest('hex');
}

// ------------------------------------------------------------------------------------------- core

/** Durations as Catch2 prints them, of cases and of their sections: [name, ms]. */
const durations = (output) =>
  Array.from(output.matchAll(/^(\d+\.\d+) s: (.*)$/gm), ([, time, name]) => [name, 1000 * time]);

/** The titles of the cases that Catch2 says failed: it reports a title between two rules, then what happened. */
function redCases(output) {
  const parts = output.split(/^-{70,}$/m);
  const failed = parts.filter((_, i) => i % 2 === 1 && parts[i + 1]?.includes('FAILED:'));
  return [...new Set(failed.map((title) => title.trim().split('\n')[0]))];
}

/** Of the first check that failed the place and what it asks. */
const failure = (output) =>
  /^.*\/([\w.]+:\d+): FAILED:\n(.*)$/m.exec(output)?.slice(1).join(' ') ?? '';

/** Cases that together take a few per cent of the time and are asked first, in ms each. */
const QUICK = 20;

/** The C++ core on one instruction set, faultIsa. */
export class CoreJudge {
  name = 'core';
  /** The suite, and which files of tests/core are compiled besides those of training: all if empty. */
  suite = 'qkv_tests';
  files = '';
  #stages = [];

  holds(file) {
    return file.startsWith('core/') && !isOfTraining(file) && this.isAsked(file);
  }

  /** Of the units of instruction sets, that of the one asked. */
  isAsked(file) {
    const unit = /^core\/src\/arch\/(?:train\/)?(\w+)\.cpp$/.exec(file);
    return !unit || unit[1] === faultIsa;
  }

  #binary(copy) {
    return copy.path(`build/native/tests/${this.suite}`);
  }

  #run(copy, args, limit) {
    const line = [...args, '--order', 'decl'];
    // A mutant may ask for any amount of memory, and the machine has other work.
    const guarded = ['-c', 'ulimit -v 8000000; exec "$0" "$@"', this.#binary(copy), ...line];
    return untilRed('bash', guarded, copy.here({ env: { QKV_ISA: faultIsa }, limit }));
  }

  async prepare(copy) {
    const isas = [`-DQKV_ISAS=${faultIsa}`, '-DQKV_WERROR=OFF'];
    await copy.configure('native', [...isas, `-DQKV_TEST_FILES=${this.files}`]);
  }

  /** Runs everything without a mutation: says which cases are quick, and leaves out what is red as it is. */
  async sound(copy) {
    const { output, ms } = await this.#run(copy, ['--durations', 'yes'], 600_000);
    const listed = await copy.run(this.#binary(copy), ['--list-tests', '--verbosity', 'quiet'], {
      env: { QKV_ISA: faultIsa },
    });
    const red = redCases(output);
    const names = new Set(listed.stdout.split('\n').filter((name) => !red.includes(name)));
    const cases = durations(output).filter(([name]) => names.has(name));
    if (red.length > 3 || cases.length === 0) throw new Error(output.slice(-3000));
    const isQuick = ([, time]) => time < QUICK;
    const sum = (some) => some.reduce((all, [, time]) => all + time, 0);
    this.#stages = [cases.filter(isQuick), cases.filter((one) => !isQuick(one))].map((some) => ({
      names: some.map(([name]) => caseName(name)),
      limit: limitOf(sum(some)),
    }));
    return [`${cases.length} cases in ${seconds(ms)} s`, ...red.map(notAsked)].join('\n');
  }

  build(copy) {
    return copy.run('cmake', ['--build', '--preset', 'native', '--target', this.suite]);
  }

  fingerprint(copy) {
    return fingerprint([this.#binary(copy)]);
  }

  async judge(copy) {
    for (const [i, { names, limit }] of this.#stages.entries()) {
      const list = copy.path(`build/cases-${i}`);
      writeFileSync(list, `${names.join('\n')}\n`);
      const args = ['--input-file', list, '--abort'];
      const { code, output, late } = await this.#run(copy, args, limit);
      if (/No test cases matched|Invalid Filter/.test(output)) throw new Error(output);
      if (late) return { red: `not done after ${limit / 1000} s`, late };
      if (code !== 0) {
        return { red: redCases(output)[0] ?? `ended with ${code}`, error: failure(output) };
      }
    }
    return {};
  }
}

/** The second library, which the suite of the first is not linked with. */
class TrainingJudge extends CoreJudge {
  name = 'training';
  suite = 'qkv_train_tests';
  files = 'status'; // there has to be one

  holds(file) {
    return isOfTraining(file) && this.isAsked(file);
  }
}

// ---------------------------------------------------------------------------------------- package

const ofPackage = (name) => `tests/package/${name}`;

const doesNotCompile = { verdict: 'does not compile' };

/** Tests that bundle the readers of models themselves, of which the lines that dist/ reaches say nothing. */
const readerTests = testFiles(ofPackage('models')).filter((file) =>
  /support\/bundle\.js'/.test(readFileSync(join(root, file), 'utf8')),
);

/** The package in TypeScript, bundled around modules that are built already. */
class PackageJudge {
  name = 'package';
  #readers = new TestFiles(readerTests);
  #tests = new TestFiles([
    ...testFiles(...['node', 'worker', 'threads', 'train', 'models', 'fuzz'].map(ofPackage)),
    'tests/reference/onnx/onnx.test.js',
    'tests/reference/torch/torch.test.js',
  ]);
  /** What only runs in browsers has tests there, which say nothing of lines: asked about all that still lives. */
  #browser = ['package', 'worker', 'threads', 'train'].map(
    (name) => `${ofPackage('browser')}/${name}.test.js`,
  );
  #programs = Object.keys(programs).filter((name) => name.endsWith('.js'));

  constructor({ inNode = false } = {}) {
    if (inNode) this.#browser = [];
  }

  holds = (file) => file.startsWith('wasm/src/') && file.endsWith('.ts');

  #paths(copy) {
    return this.#programs.map((name) => copy.path(`dist/${name}`));
  }

  prepare = preparePackage;

  async #bundles(copy) {
    const folder = copy.path('build/mapped');
    mkdirSync(folder, { recursive: true });
    const built = await copy.bundle('build/mapped');
    if (built.code !== 0) throw new Error(built.output);
    return new Map(
      this.#programs.map((name) => {
        const bundle = readFileSync(join(folder, name), 'utf8');
        const lineLengths = bundle.split('\n').map(({ length }) => length);
        const data = JSON.parse(readFileSync(join(folder, `${name}.map`), 'utf8'));
        return [name, originsOf({ lineLengths, data })];
      }),
    );
  }

  async sound(copy) {
    const notes = [
      await this.#tests.measure(copy, await this.#bundles(copy)),
      await this.#readers.measure(copy),
    ];
    return notes.join(', ');
  }

  build(copy) {
    return copy.bundle();
  }

  fingerprint(copy) {
    return fingerprint(this.#paths(copy));
  }

  async judge(copy, mutation) {
    const isOfReaders = /^wasm\/src\/(models|formats)\//.test(mutation.file);
    const reaching = [
      ...(isOfReaders ? this.#readers.reaching(mutation) : []),
      ...this.#tests.reaching(mutation),
    ];
    const asked = await this.#tests.ask(copy, reaching);
    if (asked.red) return asked;
    if ((await copy.types('wasm')).code !== 0) return doesNotCompile;
    const last = await this.#tests.ask(
      copy,
      this.#browser.map((file) => ({ file, ms: 60_000 })),
    );
    return { ...last, asked: reaching.length };
  }
}

/** The border in C++, in the simd build, which Node runs without a flag. */
class BindingsJudge {
  name = 'bindings';
  #tests = new TestFiles(testFiles(...['node', 'threads', 'train', 'models'].map(ofPackage)));
  #modules = ['qkv-simd', 'qkv-simd-threads', 'qkv-train-simd'];

  holds = (file) => /^wasm\/bindings\/.*\.(cpp|hpp)$/.test(file);

  async prepare(copy) {
    await preparePackage(copy);
    await copy.configure('wasm');
  }

  sound(copy) {
    return this.#tests.measure(copy);
  }

  async build(copy) {
    const targets = this.#modules.flatMap((name) => ['--target', `module_${name}`]);
    const built = await copy.run('cmake', ['--build', '--preset', 'wasm', ...targets]);
    return built.code === 0 ? copy.bundle() : built;
  }

  fingerprint(copy) {
    return fingerprint(this.#modules.map((name) => copy.path(`dist/${name}.wasm`)));
  }

  judge(copy, mutation) {
    return this.#tests.ask(copy, this.#tests.reaching(mutation));
  }
}

// ------------------------------------------------------------------------------------------- page

/** Panels, of which each has tests of its own that need no others, in files that take long as a whole. */
const panels = readdirSync(join(root, 'tests/page/operated'))
  .map((name) => /^wandered-(\w+)\.txt$/.exec(name)?.[1])
  .filter(Boolean);
const parts = {
  'tests/page/numbers/operated.test.js': [...panels, 'top', 'sentence', 'instruments'],
  'tests/page/numbers/wandered.test.js': panels,
};
const allStates = { QKV_FULL: '1' };

/** How many tests are asked before the types are: they take longer than most of these. */
const FIRST = 4;

/** How many test files of the page run beside each other. */
const FILES_AT_ONCE = Math.min(availableParallelism(), 4);

/** The page: the build of a server alone; that of a disk is made of the same modules. */
class PageJudge {
  name = 'page';
  #numbers;
  /** Pictures last, as they take long; what looks at the other build, at files or at the clock not at all. */
  #pages = new TestFiles(
    testFiles('tests/page').filter((file) => !/\/(lighthouse|single|fragment|links)\./.test(file)),
    { atOnce: FILES_AT_ONCE },
  );
  #inNode;

  constructor({ inNode = false, lanes = 1 } = {}) {
    this.#inNode = inNode;
    this.#numbers = new TestFiles(testFiles('tests/page/numbers'), {
      atOnce: Math.ceil(FILES_AT_ONCE / lanes),
      measuredAtOnce: FILES_AT_ONCE,
      env: allStates,
      parts,
    });
  }

  holds = (file) => file.startsWith('web/src/') && file.endsWith('.ts');

  prepare = preparePackage;

  async sound(copy) {
    const numbers = await this.#numbers.measure(copy, 'inline');
    if (this.#inNode) return numbers;
    const { code, output } = await copy.site();
    if (code !== 0) throw new Error(output);
    return `${numbers}, ${await this.#pages.measure(copy)}`;
  }

  /** Nothing: the tests of numbers bundle what they ask, and the site is only built for what they do not see. */
  build() {
    return { code: 0 };
  }

  /** What every source is without its types and its layout. */
  fingerprint(copy) {
    const hash = createHash('sha256');
    for (const name of readdirSync(copy.path('web/src'), { recursive: true }).sort()) {
      if (!this.holds(`web/src/${name}`)) continue;
      const source = readFileSync(copy.path(`web/src/${name}`), 'utf8');
      hash.update(transformSync(source, { loader: 'ts', minify: true }).code);
    }
    return hash.digest('hex');
  }

  /** Test files whose name has the most words of the mutated file's path come first. */
  #inOrder(tests, mutation) {
    const path = mutation.file.split(/[/._]/);
    const words = ({ file, only }) => (only ?? basename(file, '.test.js')).split('_');
    const isSlow = ({ file }) => /\/(screenshots|firefox|offline)\./.test(file);
    const rank = (known) =>
      isSlow(known) ? 1 : -words(known).filter((word) => path.includes(word)).length;
    return tests.reaching(mutation).sort((a, b) => rank(a) - rank(b));
  }

  async judge(copy, mutation) {
    const reaching = this.#inOrder(this.#numbers, mutation);
    const first = await this.#numbers.ask(copy, reaching.slice(0, FIRST));
    if (first.red) return first;
    // A tenth of what is left does not compile, which takes a tenth of the time of the tests to find out.
    if ((await copy.types('web')).code !== 0) return doesNotCompile;
    const rest = await this.#numbers.ask(copy, reaching.slice(FIRST));
    if (rest.red || this.#inNode) return { ...rest, asked: reaching.length };
    const { code, output } = await copy.site();
    if (code !== 0) return { red: `the build: ${output.trim().split('\n')[0]}` };
    return this.#pages.ask(copy, this.#inOrder(this.#pages, mutation));
  }
}

export const judges = [CoreJudge, TrainingJudge, PackageJudge, BindingsJudge, PageJudge];
