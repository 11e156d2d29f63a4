// npm run sizes: writes what the files that ship weigh into the table of the guide to the package, and after a new version into its notes. Whole kB (1000 bytes),
// because another compiler's .wasm differs by some bytes; a test tells when a number is off by more.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { root } from './environment.js';
import { pack } from './release/pack.js';
import { gzipped, programs } from './shipped.js';

/** The document with the table. */
export const sizesGuide = 'wasm/docs/package.md';

const [begin, end] = ['<!-- sizes: npm run sizes -->', '<!-- /sizes -->'];

/** Bytes as they are, and as servers send them at their best: { name: [raw, gzip, brotli] }. Brotli takes seconds. */
export function measure({ brotli = true } = {}) {
  return Object.fromEntries(
    Object.keys(programs).map((name) => {
      const bytes = readFileSync(join(root, 'dist', name));
      const smallest = brotli ? brotliCompressSync(bytes).length : undefined;
      return [name, [bytes.length, gzipped(bytes), smallest]];
    }),
  );
}

/** What npm would send, in bytes. */
export async function tarballSize() {
  const folder = mkdtempSync(join(tmpdir(), 'qkv-sizes-'));
  try {
    return (await pack(folder)).size;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What a program loads at most, in bytes of gzip: its JavaScript, that of threads, and the largest .wasm that it may choose. */
function download(sizes, product, scripts) {
  const wasm = new RegExp(`^${product}-(simd|relaxed)(-threads)?\\.wasm$`);
  const gzip = (name) => sizes[name][1];
  const chosen = Object.keys(sizes).filter((name) => wasm.test(name));
  const all = ['errors.js', 'core.js', 'thread.js', ...scripts].map(gzip);
  return all.reduce((sum, one) => sum + one) + Math.max(...chosen.map(gzip));
}

/** What a program of each entry loads at most: { entry: bytes }. */
export const downloads = (sizes) => ({
  qkv: download(sizes, 'qkv', ['index.js']),
  'qkv/models': download(sizes, 'qkv', ['index.js', 'language.js', 'models.js']),
  'qkv/train': download(sizes, 'qkv-train', ['language.js', 'train.js']),
});

const row = (cells) => `| ${cells.join(' | ')} |`;
const kilobytes = (bytes) => String(Math.round(bytes / 1000));

/** The parts of a document around and between its marks; throws when they are not there once each. */
export function between(markdown) {
  const parts = markdown.split(begin);
  const inner = parts[1]?.split(end) ?? [];
  if (parts.length !== 2 || inner.length !== 2) throw new Error(`expected one ${begin} … ${end}`);
  return { before: parts[0], table: inner[0], after: inner[1] };
}

/** Stands in the newest section of CHANGELOG.md for a table, until this tool writes it, for good. */
export const MARK = '<!-- sizes -->';

/** What a program downloads, as a table. */
export function downloadsTable(sizes, tarballBytes) {
  const rows = Object.entries(downloads(sizes)).map(([entry, bytes]) => [
    `\`${entry}\``,
    String(Math.ceil(bytes / 1000)),
  ]);
  return [
    ['a program of', 'downloads at most, kB with gzip'],
    ['---', '--:'],
    ...rows,
    ['the npm tarball', kilobytes(tarballBytes)],
  ]
    .map(row)
    .join('\n');
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
  const [sizes, tarballBytes] = [measure(), await tarballSize()];
  const rewrite = (path, change) => {
    const file = join(root, path);
    const made = change(readFileSync(file, 'utf8'));
    writeFileSync(file, made);
    return made;
  };
  const guide = rewrite(sizesGuide, (markdown) => withSizes(markdown, sizes, tarballBytes));
  rewrite('CHANGELOG.md', (log) => log.replace(MARK, () => downloadsTable(sizes, tarballBytes)));
  console.log(between(guide).table.trim());
}
