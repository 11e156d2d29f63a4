// Hashes side by side, and what differs in words.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';

const committedFile = join(root, 'tests/package/determinism/simd.json');

/** The hashes that every engine must arrive at with the simd builds. */
export const committed = () =>
  existsSync(committedFile) ? JSON.parse(readFileSync(committedFile, 'utf8')) : {};

export function refresh(hashes) {
  const sorted = Object.fromEntries(Object.entries(hashes).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(committedFile, `${JSON.stringify(sorted, null, 2)}\n`);
  return Object.keys(sorted).length;
}

/** Names of the results that are not the same, or that only one side has. */
export const differences = (one, other) =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((n) => one[n] !== other[n]);

/** A float32 as C prints it with %a: the bits can be read off it. */
export function hexFloat(bits) {
  const sign = bits >>> 31 ? '-' : '';
  const exponent = (bits >>> 23) & 0xff;
  const fraction = bits & 0x7fffff;
  if (exponent === 0xff) {
    return fraction ? `NaN(0x${bits.toString(16).padStart(8, '0')})` : `${sign}Infinity`;
  }
  if (exponent === 0 && fraction === 0) return `${sign}0x0p+0`;
  // Subnormals have no leading 1.
  const lead = exponent === 0 ? 0 : 1;
  const power = exponent === 0 ? -126 : exponent - 127;
  const digits = (fraction * 2).toString(16).padStart(6, '0').replace(/0+$/, '');
  const point = digits ? '.' : '';
  return `${sign}0x${lead}${point}${digits}p${power < 0 ? '-' : '+'}${Math.abs(power)}`;
}

/** "is X there and Y here" of the first element that differs. */
export function firstDifference(name, there, here) {
  if (there.length !== here.length) {
    return `${name}: ${there.length} elements there, ${here.length} here`;
  }
  const at = there.findIndex((bits, i) => bits !== here[i]);
  if (at < 0) return `${name}: the same elements in another shape`;
  const count = there.filter((bits, i) => bits !== here[i]).length;
  return (
    `${name}: element ${at} is ${hexFloat(there[at])} there and ${hexFloat(here[at])} here ` +
    `(${count} of ${there.length} differ)`
  );
}

/** The values behind the committed hashes are too many to commit; those of the last good run are kept. */
const keptFile = (name) => join(root, 'build/determinism', `${encodeURIComponent(name)}.json`);

export function keep(hashes, values) {
  mkdirSync(join(root, 'build/determinism'), { recursive: true });
  for (const [name, bits] of Object.entries(values)) {
    writeFileSync(keptFile(name), JSON.stringify({ hash: hashes[name], bits }));
  }
}

/** The bits behind a committed hash, if this machine has seen them. */
export function kept(name, hash) {
  if (!existsSync(keptFile(name))) return undefined;
  const { hash: of, bits } = JSON.parse(readFileSync(keptFile(name), 'utf8'));
  return of === hash ? bits : undefined;
}
