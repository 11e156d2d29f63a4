// npm test: builds what the named groups need, runs their suites side by side, and ends with a summary and one line that
// sums it up. Without names: all groups.
//
//   node tools/test.js [group ...] [--full] [--no-skips] [--allow-skip <name> ...]
//
// --full runs what takes long, too. With --no-skips a test that was skipped counts as failed, unless the
// name of its suite, or the beginning of its own, is allowed.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The groups, and what tools/bootstrap prepares for each. */
const groups = {
  lint: 'lint', // formatters, linters, types; builds only the documentation
  native: 'native', // the C++ suite on each instruction set
  wasm: 'test', // the C++ suites as WebAssembly, in Node and in Chromium; in a full run only
  sanitize: 'native start', // ASan, UBSan, TSan and libFuzzer; in a full run only
  faults: 'test', // planted faults: the tests must find them
  package: 'test', // the npm package in Node, the ONNX and PyTorch references, determinism
  browser: 'test', // the package in Chromium
  page: 'test docs', // the page
  release: 'test docs', // the tarball, its consumers, sizes, licenses, workflows
};

/** { names, full, noSkips, allowed }, or a sentence that says what is wrong. */
function parse(args) {
  const wanted = { names: [], full: false, noSkips: false, allowed: [] };
  const rest = [...args];
  while (rest.length > 0) {
    const arg = rest.shift();
    if (arg === '--full') wanted.full = true;
    else if (arg === '--no-skips') wanted.noSkips = true;
    else if (arg === '--allow-skip') wanted.allowed.push(rest.shift());
    else if (arg in groups) wanted.names.push(arg);
    else return `unknown group ${arg}, expected ${Object.keys(groups).join(', ')}`;
  }
  if (wanted.names.length === 0) wanted.names = Object.keys(groups);
  return wanted;
}

/** These builds and what they need, each after what it needs. */
function closure(names, builds) {
  const found = new Set();
  const visit = (name) => {
    for (const needed of builds[name].needs ?? []) visit(needed);
    found.add(name);
  };
  names.forEach(visit);
  return Object.keys(builds)
    .filter((name) => found.has(name))
    .map((id) => {
      const { needs = [], after = [], run } = builds[id];
      return { id, after: [...needs, ...after], run };
    });
}

const bootstrap = join(dirname(fileURLToPath(import.meta.url)), 'bootstrap');

/** What compiles. Browsers, linters and doxygen are installed while it does: for the most part that waits for the network and the disk. */
const COMPILERS = ['start', 'native'];

/** Installs what these groups need, or the compilers if the rest can wait; what is left is installed by the build `tools`. */
function prepare(profiles, isFull) {
  const began = performance.now();
  const first = !isFull && profiles.has('test') ? COMPILERS : [...profiles];
  const { status } = spawnSync(bootstrap, first, { stdio: 'inherit' });
  if (status !== 0) throw new Error('tools/bootstrap failed');
  console.log(`bootstrap: ${((performance.now() - began) / 1000).toFixed(0)} s\n`);
}

async function main(args) {
  const wanted = parse(args);
  if (typeof wanted === 'string') throw new Error(wanted);
  const profiles = new Set(wanted.names.flatMap((name) => groups[name].split(' ')));
  if (wanted.full) profiles.add('full');
  prepare(profiles, wanted.full);
  if (wanted.full) process.env.QKV_FULL = '1';
  // Imported late: it takes what tools/bootstrap has installed and written down.
  const [{ builds }, { suitesOf }, { report }, { must }, { readAgain }] = await Promise.all([
    import('./build.js'),
    import('./suites.js'),
    import('./report.js'),
    import('./run.js'),
    import('./environment.js'),
  ]);
  const tools = {
    async run() {
      const { output } = await must(bootstrap, [...profiles]);
      console.log(output.trimEnd());
      readAgain();
    },
  };
  const suites = await suitesOf(wanted.names, wanted);
  if (suites.length === 0) throw new Error(`only the full run has ${wanted.names}: add --full`);
  const all = { tools, ...builds };
  const named = suites.flatMap(({ needs }) => needs).filter((name) => name in all);
  return report(suites, closure(named, all), wanted);
}

main(process.argv.slice(2)).then(
  (green) => (process.exitCode = green ? 0 : 1),
  (error) => {
    console.error(String(error.message ?? error));
    console.log('0 passed, 1 failed');
    process.exitCode = 1;
  },
);
