// Hashes side by side, and what differs in words.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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

/** A float32 with its bits. */
export const told = (bits) =>
  `${new Float32Array(Uint32Array.of(bits).buffer)[0]} (0x${bits.toString(16).padStart(8, '0')})`;

/** "is X there and Y here" of the first element that differs. */
export function firstDifference(name, there, here) {
  if (there.length !== here.length) {
    return `${name}: ${there.length} elements there, ${here.length} here`;
  }
  const at = there.findIndex((bits, i) => bits !== here[i]);
  if (at < 0) return `${name}: the same elements in another shape`;
  const count = there.filter((bits, i) => bits !== here[i]).length;
  return (
    `${name}: element ${at} is ${told(there[at])} there and ${told(here[at])} here ` +
    `(${count} of ${there.length} differ)`
  );
}
