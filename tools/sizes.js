// npm run sizes: writes what the files that ship weigh into the table of the guide to the package. Whole kB (1000 bytes),
// because another compiler's .wasm differs by some bytes; a test tells when a number is off by more.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { root } from './environment.js';
import { gzipped, programs } from './shipped.js';

/** The document with the table. */
export const sizesGuide = 'wasm/docs/package.md';

const [begin, end] = ['<!-- sizes: npm run sizes -->', '<!-- /sizes -->'];

/** Bytes as they are, and as servers send them at their best: { name: [raw, gzip, brotli] }. */
export function measure() {
  return Object.fromEntries(
    Object.keys(programs).map((name) => {
      const bytes = readFileSync(join(root, 'dist', name));
      return [name, [bytes.length, gzipped(bytes), brotliCompressSync(bytes).length]];
    }),
  );
}

/** What npm would send. */
export function tarballSize() {
  const line = ['pack', '--dry-run', '--ignore-scripts', '--json'];
  const stdio = ['ignore', 'pipe', 'ignore'];
  return JSON.parse(execFileSync('npm', line, { cwd: root, encoding: 'utf8', stdio }))[0].size;
}

const row = (cells) => `| ${cells.join(' | ')} |`;
const kilobytes = (bytes) => String(Math.round(bytes / 1000));

/** The parts of a document around and between its marks; throws when they are not there once each. */
export function between(markdown) {
  const parts = markdown.split(begin);
  const inner = parts[1]?.split(end) ?? [];
  if (parts.length !== 2 || inner.length !== 2) throw new Error(`expected one ${begin} … ${end}`);
  return { before: parts[0], table: inner[0], after: inner[1] };
}

/** The table of these files and of the tarball. */
export function sizesTable(sizes, tarballBytes) {
  return [
    ['file', 'kB', 'gzip', 'brotli'],
    ['---', '--:', '--:', '--:'],
    ...Object.entries(sizes).map(([name, all]) => [`\`${name}\``, ...all.map(kilobytes)]),
    ['the npm tarball', '', kilobytes(tarballBytes), ''],
  ]
    .map(row)
    .join('\n');
}

/** A document with its table made anew. */
export function withSizes(markdown, sizes, tarballBytes) {
  const { before, after } = between(markdown);
  return `${before}${begin}\n${sizesTable(sizes, tarballBytes)}\n${end}${after}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = join(root, sizesGuide);
  const made = withSizes(readFileSync(file, 'utf8'), measure(), tarballSize());
  writeFileSync(file, made);
  console.log(between(made).table.trim());
}
