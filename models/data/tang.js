// Quatrains of the Tang dynasty (618 to 907) in simplified characters, from the npm package chinese-poetry, and the halves of its
// poems of eight lines, which have the same form: four lines of five or seven characters.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { randomOf } from '../recipes/random.js';
import { charactersOf, characterTokenizer } from './characters.js';
import { fetchArchive } from './fetch.js';

export const archive = {
  from: 'npm',
  name: 'chinese-poetry',
  version: '2.0.1',
  sha256: '25b549e46919c3a0569db6b68ddc96956b04a484ea4518ad2bbd4f137e307e86',
  bytes: 85464664,
  license: 'the poems are in the public domain; the package is under the MIT license',
};
export const converter = {
  from: 'npm',
  name: 'opencc-js',
  version: '1.4.2',
  sha256: 'acde2ed46fecc53eb1c329ff093886bf702975be24ace4caa3d01321167d69c8',
  bytes: 2602149,
  license: 'MIT; its tables of characters Apache-2.0',
};

/** The part of the quatrains that no model is trained on. */
const HELD_OUT = 0.05;
/** Poems with a character that occurs less often in those that models are trained on are left out. */
const RAREST = 8;
const SPLIT_SEED = 618;

const WIDTHS = new Set([5, 7]);
/** The form: four lines of five, or of seven, characters, with these marks after them. */
export const hasForm = (text) => /^(?:(?:\p{Script=Han}{5}[，。]){4}|(?:\p{Script=Han}{7}[，。]){4})$/u.test(text) && text.replace(/\p{Script=Han}/gu, '') === '，。，。'; // oxfmt-ignore

/** The lines of a poem, whatever marks are between them; none where one is of another width or has other signs. */
export function linesOf(text) {
  const lines = text.split(/[，。！？；：、]/).filter(Boolean);
  const width = lines[0]?.length;
  const even = lines.every((line) => line.length === width && /^\p{Script=Han}+$/u.test(line));
  return WIDTHS.has(width) && even ? lines : [];
}

const written = ([a, b, c, d]) => `${a}，${b}。${c}，${d}。`;

/** The quatrains among poems, and the halves of those of eight lines, each once. */
export function quatrainsOf(poems) {
  const lines = poems.map(linesOf);
  const quatrains = lines.filter(({ length }) => length === 4).map(written);
  const eights = lines.filter(({ length }) => length === 8);
  const halves = eights.flatMap((all) => [written(all.slice(0, 4)), written(all.slice(4))]);
  return { quatrains: [...new Set(quatrains)], halves: [...new Set(halves)] };
}

/** A part of the quatrains, drawn with a seed, and all else that has no half of a quatrain of that part. */
export function split({ quatrains, halves }, part = HELD_OUT) {
  const random = randomOf(SPLIT_SEED);
  const chosen = random.different(Math.round(part * quatrains.length), quatrains.length);
  const held = new Set(chosen.map((i) => quatrains[i]));
  const couplets = (text) => text.split(/(?<=。)/);
  const known = new Set([...held].flatMap(couplets));
  const free = (text) => !couplets(text).some((couplet) => known.has(couplet));
  return { training: [...quatrains, ...halves].filter(free), heldOut: [...held] };
}

/** Leaves out poems with characters that occur in fewer than `rarest` places. */
export function withoutRare({ training, heldOut }, rarest = RAREST) {
  const counts = new Map();
  for (const text of training) {
    for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  const common = (text) => [...text].every((character) => counts.get(character) >= rarest);
  return { training: training.filter(common), heldOut: heldOut.filter(common) };
}

async function simplifier() {
  const place = await fetchArchive(converter);
  const file = pathToFileURL(join(place, 'package/dist/esm/t2cn.js')).href;
  const { Converter } = await import(file);
  return Converter({ from: 't', to: 'cn' });
}

/** { training, heldOut, tokenizer }: quatrains as texts; a line break stands before and after each. */
export async function tangTexts() {
  const folder = join(await fetchArchive(archive), 'package/dist/quantangshi');
  const simplify = await simplifier();
  const files = readdirSync(folder).filter((name) => /^poet\.tang\.\d+\.json$/.test(name));
  const numbered = files.sort((a, b) => a.match(/\d+/)[0] - b.match(/\d+/)[0]);
  const poems = numbered.flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  const texts = poems.map(({ paragraphs }) => simplify(paragraphs.join('')));
  const parts = withoutRare(split(quatrainsOf(texts)));
  const characters = charactersOf(`\n${parts.training.join('')}`);
  return { ...parts, tokenizer: characterTokenizer(characters) };
}
