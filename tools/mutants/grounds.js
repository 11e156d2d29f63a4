// The parts of the tree that faults are planted in: how each is built, and which tests look for its faults.
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { root } from '../environment.js';
import { faultIsa } from '../runners.js';

/** Calls work(item) for each, as many at a time as there are processors, or `lanes`. */
export async function inLanes(items, work, lanes = availableParallelism()) {
  const left = [...items];
  const lane = async () => {
    for (let item = left.shift(); item; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

const suites = ['qkv_tests', 'qkv_train_tests', 'qkv_spectra_tests'];

/** The first of these runs that is red, or the last; green without any. */
async function untilRed(runs) {
  let result = { code: 0 };
  for (const each of runs) {
    result = await each();
    if (result.code !== 0) break;
  }
  return result;
}

/** The C++ libraries, on one instruction set. What is of no library beside the first has tests in all suites. */
class Core {
  name = 'core';

  /** Of the units of instruction sets, the one that is built. */
  holds(file) {
    const isOther = /\/arch\//.test(file) && !file.includes(`/${faultIsa}.`);
    return file.startsWith('core/') && !isOther;
  }

  async prepare(copy) {
    await copy.configure('native', [`-DQKV_ISAS=${faultIsa}`]);
  }

  build(copy) {
    return copy.build('native', suites);
  }

  test(copy, fault) {
    const own = /\b(train|spectra)\//.exec(fault?.file ?? '')?.[1];
    const names = own ? suites.filter((name) => name.includes(own)) : suites;
    return untilRed(
      names.map((name) => () => copy.suite(name, faultIsa, { fault: fault?.number })),
    );
  }
}

/** The test files directly in these folders. */
const testFiles = (folders) =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.test.js'))
      .map((name) => `${folder}/${name}`),
  );

/** What runs in Node: a planted fault names its tests, and a random one is for those that come by it. */
class Scripts {
  #folders;
  /** Of each test file how long it takes and which numbers it comes by. */
  #measured = [];

  constructor(name, start, folders) {
    this.name = name;
    this.#folders = folders;
    this.holds = (file) => file.startsWith(start);
  }

  prepare() {}

  build(copy) {
    return copy.bundle();
  }

  /** Without a fault: the tests that the faults name; or all, and what they come by, if some name none. */
  async #sound(copy, faults) {
    if (faults.every(({ tests }) => tests)) {
      return copy.nodeTests([...new Set(faults.flatMap(({ tests }) => tests))]);
    }
    await inLanes(testFiles(this.#folders), async (file) => {
      const reached = copy.path(`build/reached-${file.replaceAll('/', '-')}`);
      rmSync(reached, { force: true });
      const start = performance.now();
      const { code } = await copy.nodeTests([file], { reached });
      const numbers = readLines(reached).map(Number);
      if (code === 0) this.#measured.push({ file, ms: performance.now() - start, numbers });
      else console.log(`red without a fault, so not used: ${file}`);
    });
    this.#measured.sort((a, b) => a.ms - b.ms);
    return { code: 0 };
  }

  test(copy, fault, faults) {
    if (!fault) return this.#sound(copy, faults);
    const { number, tests } = fault;
    if (tests) return copy.nodeTests(tests, { fault: number });
    const reached = this.reaching(number, this.#measured);
    return untilRed(
      reached.map(
        ({ file }) =>
          () =>
            copy.nodeTests([file], { fault: number }),
      ),
    );
  }

  reaching(number, measured) {
    return measured.filter(({ numbers }) => numbers.includes(number));
  }
}

/** The border in C++, in the modules that Node runs without a flag. They have no environment, so each fault is built alone. */
class Bindings extends Scripts {
  buildsEach = true;

  /** All: a module does not say what a test comes by. */
  reaching(number, measured) {
    return measured;
  }

  async prepare(copy) {
    await copy.configure('wasm');
  }

  async build(copy) {
    const modules = ['qkv-simd', 'qkv-train-simd', 'qkv-spectra-simd'];
    const built = await copy.build(
      'wasm',
      modules.map((name) => `module_${name}`),
    );
    return built.code === 0 ? super.build(copy) : built;
  }
}

function readLines(file) {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return []; // nothing was reached
  }
}

const ofPackage = ['node', 'models', 'constraints', 'train', 'spectra', 'worker', 'threads'].map(
  (name) => `tests/package/${name}`,
);

/** In this order: the last builds modules in the place of the finished ones. */
export const grounds = [
  new Core(),
  new Scripts('package', 'wasm/src/', ofPackage),
  new Scripts('page', 'web/', ['tests/page/numbers']),
  new Bindings('bindings', 'wasm/bindings/', ofPackage),
];
