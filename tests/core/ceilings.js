// node tests/core/ceilings.js [--write]: runs the Catch2 suite on every instruction set of this machine, on NEON under qemu where
// build/native-arm64 is there, and as WebAssembly in Node, and prints the file of ceilings (tests/support/cpp/ceilings.def) as it would be made
// now: 1.5 times the worst error / bound of each quantity. --write writes it. After a change that means to
// make results worse, or better; both builds must be there (node tools/build.js native wasm).
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);
const file = new URL('tests/support/cpp/ceilings.def', root);
const wasm = (name) => [process.execPath, 'tests/core/run_wasm.js', `build/wasm/tests/${name}.mjs`];
/** The suite of each library. */
const natively = [['build/native/tests/qkv_tests'], ['build/native/tests/qkv_train_tests']];
const runs = [
  ...['scalar', 'sse4', 'avx2', 'avxvnni', 'avx512', 'avx512vnni', 'neon64'].flatMap((isa) =>
    natively.map((command) => [isa, command]),
  ),
  ...['qkv_tests', 'qkv_train_tests'].map((name) => [
    'neon64',
    ['qemu-aarch64-static', `build/native-arm64/tests/${name}`],
  ]),
  ['scalar', ['build/native/tests/qkv_spectra_tests']],
  ['wasm-simd128', wasm('qkv_spectra_tests_simd')],
  ['wasm-simd128', wasm('qkv_tests_simd')],
  ['wasm-relaxed-simd', wasm('qkv_tests_relaxed')],
  ['wasm-simd128', wasm('qkv_train_tests_simd')],
  ['wasm-relaxed-simd', wasm('qkv_train_tests_relaxed')],
];

/** What one run measured of every quantity; nothing where it cannot run, which is said. */
function measured([isa, [command, ...args]]) {
  const { stdout } = spawnSync(command, [...args, '--reporter', 'ratios'], {
    cwd: root,
    env: { ...process.env, QKV_ISA: isa },
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  const lines = [...(stdout ?? '').matchAll(/^(.+?) \| (\S+) \| (.*)$/gm)];
  if (lines.length === 0) {
    console.error(`not measured: ${isa}, ${[command, ...args].at(-1)}`);
  }
  return lines.map(([, name, ratio, test]) => ({
    name,
    ratio: Number(ratio),
    where: `${isa}: ${test}`,
  }));
}

/** Rounded up to two digits; the bound itself is a ceiling too. */
function ceilingOf(ratio) {
  const unit = 10 ** (Math.floor(Math.log10(1.5 * ratio || 1)) - 1);
  return Math.min(1, Number((Math.ceil((1.5 * ratio) / unit) * unit).toPrecision(2)));
}

const worst = new Map();
for (const quantity of runs.flatMap(measured)) {
  if (!(quantity.ratio <= (worst.get(quantity.name)?.ratio ?? -1))) {
    worst.set(quantity.name, quantity);
  }
}
const old = readFileSync(file, 'utf8');
const comment = old.match(/^(?:\/\/.*\n)*/)[0];
const lines = [...worst.values()]
  .sort((a, b) => (a.name < b.name ? -1 : 1))
  .map(
    ({ name, ratio, where }) =>
      `QKV_CEILING("${name}", ${ceilingOf(ratio)}, ${ratio}, "${where}")\n`,
  );
const fresh = comment + lines.join('');
const wrong = [...worst.values()].filter(({ ratio }) => !(ratio <= 1));
if (wrong.length > 0 || !process.argv.includes('--write')) {
  console.log(fresh);
  wrong.forEach(({ name, ratio }) => console.error(`above its bound: ${name}, ${ratio}`));
} else {
  writeFileSync(file, fresh);
}
process.exitCode = wrong.length > 0 ? 1 : 0;
