// node tests/core/ceilings.js [--write]: runs the Catch2 suite on every instruction set of this machine and as
// WebAssembly in Node, and prints the file of ceilings (tests/support/cpp/ceilings.def) as it would be made
// now: 1.5 times the worst error / bound of each quantity. --write writes it. After a change that means to
// make results worse, or better; both builds must be there (node tools/build.js native wasm).
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);
const file = new URL('tests/support/cpp/ceilings.def', root);
const native = ['scalar', 'sse4', 'avx2', 'avx512', 'neon64'];
const runs = [
  ...native.map((isa) => ({ isa, command: ['build/native/tests/qkv_tests'] })),
  ...[
    ['simd', 'wasm-simd128'],
    ['relaxed', 'wasm-relaxed-simd'],
  ].map(([variant, isa]) => ({
    isa,
    command: [process.execPath, 'tests/core/run_wasm.js', variant, isa],
  })),
];

/** What one run measured: [name, ratio, test] of every quantity; null where it cannot run. */
function measured({ isa, command: [command, ...args] }) {
  const { stdout, error } = spawnSync(command, args, {
    cwd: root,
    env: { ...process.env, QKV_ISA: isa, QKV_REPORT: '1' },
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  const lines = [...(stdout ?? '').matchAll(/^worst error \/ bound: (.+?) \| (\S+) \| (.*)$/gm)];
  if (error || lines.length === 0) {
    console.error(`not measured: ${isa}`);
    return [];
  }
  return lines.map(([, name, ratio, test]) => ({ name, ratio: Number(ratio), where: `${isa}, ${test}` }));
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
  .map(({ name, ratio, where }) => `QKV_CEILING("${name}", ${ceilingOf(ratio)}, ${ratio}, "${where}")\n`);
const fresh = comment + lines.join('');
const wrong = [...worst.values()].filter(({ ratio }) => !(ratio <= 1));
if (wrong.length > 0 || !process.argv.includes('--write')) {
  console.log(fresh);
  wrong.forEach(({ name, ratio }) => console.error(`above its bound: ${name}, ${ratio}`));
} else {
  writeFileSync(file, fresh);
}
process.exitCode = wrong.length > 0 ? 1 : 0;
