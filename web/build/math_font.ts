import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import subset from 'subset-font';
import type { Plugin } from 'vite';
import { typeset } from './math';

const PANELS = new URL('../src/features/', import.meta.url);
const FONT = new URL(import.meta.resolve('@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff2'));

/** Where styles have it from, by the alias of this name in vite.config.ts. */
export const MATH_FONT = fileURLToPath(new URL('../../build/math/stix-two-math.woff2', import.meta.url));

/** What a browser draws for a single Latin letter: its mathematical italic, which for h is the constant of Planck. */
const ITALIC = Array.from({ length: 52 }, (_, i) => String.fromCodePoint(0x1d434 + i)).join('') + '\u210e';
/** What a browser draws of its own. */
const ROOT = '√';
const ASCII = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join('');

const OPTIONS = {
  targetFormat: 'woff2' as const,
  keepFeatures: ['ssty', 'kern', 'mark'],
  noHinting: true,
  preserveNameIds: [0, 13, 14],
};

async function formulas(): Promise<string[]> {
  const names = await readdir(PANELS, { recursive: true });
  const files = names.filter((name) => name.endsWith('formulas.json')).sort();
  const read = async (name: string) =>
    Object.values(JSON.parse(await readFile(new URL(name, PANELS), 'utf8')) as Record<string, string>);
  return (await Promise.all(files.map(read))).flat();
}

/**
 * Writes the part of STIX Two Math that the formulas are drawn with: their characters, letters in italics, what these become in
 * indices (ssty), and of brackets, roots and sums the larger forms that the MATH table names. Its names keep copyright and license.
 */
async function writeMathFont(): Promise<void> {
  const drawn = (await formulas()).map((tex) => typeset(tex).replace(/<[^>]*>|&\w+;/g, ''));
  const font = await subset(await readFile(FONT), ASCII + ITALIC + ROOT + drawn.join(''), OPTIONS);
  await mkdir(new URL('.', `file://${MATH_FONT}`), { recursive: true });
  // The page and the single file are built at the same time.
  const own = `${MATH_FONT}.${process.pid}`;
  await writeFile(own, font);
  await rename(own, MATH_FONT);
}

/** Formulas get a font. */
export const mathFont = (): Plugin => ({ name: 'math font', buildStart: writeMathFont });
