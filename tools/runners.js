// The kinds of things that `npm test` runs, each as a part of a suite: { title, alone, run }. `run` resolves to
// { tests, note, skipped, hung, output }: the tests as tools/readings.js has them, a remark, why there are none if
// they could not be run here, what was running when the time was up, and what to show when something failed.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { theChange } from './changed.js';
import { missing, root, toolchain } from './environment.js';
import { readCatch2, readNodeTest } from './readings.js';
import { run } from './run.js';

/** After this many ms a part counts as hung: the slowest takes two minutes on two busy cores, and of a full run twenty. */
const LIMIT = process.env.QKV_FULL ? 2_700_000 : 900_000;

/** The instruction sets that core/CMakeLists.txt compiles for this machine, best first. */
export const nativeIsas = {
  x64: ['avx512', 'avx2', 'sse4', 'scalar'],
  arm64: ['neon64', 'scalar'],
}[process.arch] ?? ['scalar'];

/** Those that stand on one of these and have other products with bytes. */
export const newerIsas =
  { x64: ['avx512vnni', 'avxvnni'], arm64: ['neon64mm', 'neon64dot'] }[process.arch] ?? [];

/**
 * The instruction set on which faults are planted in the core: four floats at a time, tiles of 6 x 2 and two roundings, which
 * both of these have, so every tail is walked and a fault shows in the same bits. sse4 is the faster one.
 */
export const faultIsa = nativeIsas.includes('sse4') ? 'sse4' : 'scalar';

/** The only test of a part. */
const only = (name, problem) => ({
  tests: [{ name, ok: !problem, skipped: false, said: problem }],
});

/** A command that is one check: it fails when the command does. */
export const command = (title, program, ...args) => ({
  title,
  async run() {
    const { code, output, hung } = await run(program, args, { timeout: LIMIT });
    return { ...only(title, code === 0 ? '' : output), hung: hung ? title : undefined, output };
  },
});

/** A function that is one check: what it resolves to is the complaint, or { problem, note }. */
export const check = (title, work) => ({
  title,
  async run() {
    const found = await work();
    const { problem = found, note } = typeof found === 'object' ? found : {};
    return { ...only(title, problem ?? ''), note };
  },
});

/** A part that needs a tool which a system may lack, such as the one release of clang-format whose output is checked. */
export const ifPresent = (key, part) => ({
  ...part,
  run: async () => (toolchain[key] ? part.run() : { tests: [], skipped: missing(key) }),
});

/** Whether a program of this name can be called. */
export const isOnPath = (program) =>
  process.env.PATH.split(delimiter).some((folder) => existsSync(join(folder, program)));

/** A part that this machine cannot run. */
export const skipped = (title, why) => ({
  title,
  run: async () => ({ tests: [], skipped: why }),
});

/** A test as CTest knows it. `onOutput` gets what it printed. */
export const ctest = (preset, name, { onOutput = () => undefined } = {}) => ({
  title: name,
  async run() {
    const report = join(root, 'build', preset, 'reports', `${name}.txt`);
    rmSync(report, { force: true });
    const folder = join('build', preset);
    const line = ['--test-dir', folder, '-V', '-R', `^${name.replaceAll('.', '\\.')}$`];
    const { code, output, hung } = await run('ctest', [...line, '--no-tests=error'], {
      timeout: LIMIT,
    });
    // Of what CTest adds the numbers at the beginning of each line matter least.
    const said = output.replace(/^\d+: /gm, '');
    onOutput(said);
    if (/\*\*\*Skipped/.test(said)) return { tests: [], skipped: 'this machine lacks it' };
    const { tests, running } = readCatch2(existsSync(report) ? readFileSync(report, 'utf8') : '');
    if (code !== 0 && tests.every(({ ok }) => ok)) {
      tests.push({ name: running ?? `${name} ends well`, ok: false, skipped: false, said: '' });
    }
    if (tests.length === 0) {
      tests.push({ name: `${name} has tests`, ok: false, skipped: false, said });
    }
    return {
      tests,
      hung: hung || /\*\*\*Timeout/.test(said) ? (running ?? name) : undefined,
      output: said,
    };
  },
});

/** How a test file asks to be run: tags in its first lines, which tests/README.md explains. */
export function tagsOf(file) {
  const head = readFileSync(join(root, file), 'utf8').split('\n').slice(0, 6).join('\n');
  return {
    alone: /^\/\/ @alone\b/m.test(head),
    anyBuild: /^\/\/ @build any\b/m.test(head),
    fullRun: /^\/\/ @run full\b/m.test(head),
    /** Paths of the project that bring a file of the full run into an everyday run, when something in them has changed. */
    changesIn: /^\/\/ @run full, or after changes in (.+)$/m.exec(head)?.[1].split(' ') ?? [],
  };
}

/** Whether an everyday run leaves a file to the full one: it asks for that, and neither it nor what it names is among the changed files. */
export function isLeft({ title, fullRun, changesIn }, changed) {
  const isIn = (path) => changed.some((file) => file === path || file.startsWith(`${path}/`));
  return fullRun && ![title, ...changesIn].some(isIn);
}

/** Node 20 knows relaxed SIMD behind a flag, and newer ones without. */
export const relaxedFlags =
  parseInt(process.versions.node) < 21 ? ['--experimental-wasm-relaxed-simd'] : [];

/** A file under node:test, in a process of its own. */
export const nodeTest = (file, { flags = [], env = {} } = {}) => ({
  title: file,
  ...tagsOf(file),
  async run() {
    if (this.fullRun && !process.env.QKV_FULL && isLeft(this, await theChange()))
      return { tests: [], note: `left to the full run: ${file}` };
    // Without --test, as that would start a second process for the file. A failed assertion leaves workers and pages behind, which
    // would hold the file until its limit.
    const options = ['--test-force-exit', '--test-reporter=./tools/test_reporter.js'];
    const whole = ['--import', join(root, 'tools/whole_output.js')];
    const line = [...flags, ...whole, ...options, file];
    const { code, output, hung } = await run(process.execPath, line, {
      env: { CHROMIUM: toolchain.CHROMIUM, FIREFOX: toolchain.FIREFOX ?? '', ...env },
      timeout: LIMIT,
    });
    const { tests, running } = readNodeTest(output);
    if ((code !== 0 || running) && tests.every(({ ok }) => ok)) {
      tests.push({
        name: running ?? `${basename(file)} ends well`,
        ok: false,
        skipped: false,
        said: output,
      });
    }
    // What a file says of itself, beside its tests: that it leaves them, or all of them, to the full run.
    const remarks = output.matchAll(/^(?:left to the full run|not on this platform): .*/gm);
    const note = Array.from(remarks, ([remark]) => remark).join('; ');
    if (tests.length === 0 && note === '') {
      tests.push({ name: `${basename(file)} has tests`, ok: false, skipped: false, said: output });
    }
    return { tests, note, hung: hung ? (running ?? file) : undefined, output };
  },
});
