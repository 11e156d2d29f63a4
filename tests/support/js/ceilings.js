// How near to its bound each named quantity comes. A bound that holds for the worst case is loose for the cases that
// are tried, so a kernel may lose most of its accuracy below it; ceilings.json holds, for each quantity, 1.5 times the
// largest error / bound that was measured, on the build where that is larger.
//
// node tests/support/js/ceilings.js measures again, with the built package, and writes the file.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const self = fileURLToPath(import.meta.url);
const file = new URL('ceilings.json', import.meta.url);
const ceilings = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};

/** Where each process of a measurement leaves what it found. */
const found = process.env.QKV_CEILINGS;
const worst = {};
if (found) process.on('exit', () => appendFileSync(found, `${JSON.stringify(worst)}\n`));

/** The largest error / bound of some elements of a quantity stays below its ceiling, `known` by name. */
export function expectBelowCeiling(quantity, ratio, known = ceilings) {
  worst[quantity] = Math.max(worst[quantity] ?? 0, ratio);
  if (found) return;
  assert.ok(quantity in known, `no ceiling for ${quantity}: run node tests/support/js/ceilings.js`);
  const told = `${quantity}: error / bound is ${ratio}, and the ceiling ${known[quantity]}`;
  assert.ok(ratio <= known[quantity], told);
}

function measure() {
  const root = new URL('../../../', import.meta.url);
  const folders = ['tests/package/node', 'tests/package/train', 'tests/reference/torch'];
  const files = folders.flatMap((folder) =>
    readdirSync(new URL(folder, root))
      .filter((name) => name.endsWith('.test.js') && name !== 'check.test.js')
      .map((name) => `${folder}/${name}`)
      .filter((path) =>
        /expectClose|expectResults/.test(readFileSync(new URL(path, root), 'utf8')),
      ),
  );
  const log = join(mkdtempSync(join(tmpdir(), 'qkv-ceilings-')), 'found');
  for (const flags of [[], ['--experimental-wasm-relaxed-simd']]) {
    const env = { ...process.env, QKV_CEILINGS: log };
    execFileSync(process.execPath, [...flags, '--test', ...files], {
      cwd: root,
      env,
      stdio: 'ignore',
    });
  }
  const most = {};
  for (const line of readFileSync(log, 'utf8').split('\n').filter(Boolean)) {
    for (const [quantity, ratio] of Object.entries(JSON.parse(line))) {
      most[quantity] = Math.max(most[quantity] ?? 0, ratio);
    }
  }
  const rounded = Object.entries(most).map(([name, ratio]) => [
    name,
    Number((1.5 * ratio).toPrecision(2)),
  ]);
  rounded.sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`);
  console.log(`${rounded.length} ceilings`);
}

if (process.argv[1] === self) measure();
