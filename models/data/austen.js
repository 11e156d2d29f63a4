// Six novels by Jane Austen (1811 to 1818), as Debian's package of the R package janeaustenr has them.
import { join } from 'node:path';
import { charactersOf, characterTokenizer } from './characters.js';
import { fetchArchive } from './fetch.js';
import { readRDatabase } from './r_data.js';

export const archive = {
  from: 'debian',
  name: 'r-cran-janeaustenr',
  version: '1.0.0-1',
  sha256: 'df6bddf211906d1ff404f8ff662c21b34e6660e7f54a311084e749050c019c95',
  bytes: 1626392,
  license: 'the novels are in the public domain; the package is under the MIT license',
};

const NOVELS = ['sensesensibility', 'prideprejudice', 'mansfieldpark'];
const LATER_NOVELS = ['emma', 'northangerabbey', 'persuasion'];
/** The part at the end of each novel that no model is trained on. */
export const HELD_OUT = 0.05;

/**
 * The paragraphs of a novel, each without line breaks. Those in which someone else speaks, in brackets, and the one with a
 * sign for pounds, are left out, so that every character is one of ASCII that occurs more than once.
 */
export const paragraphsOf = (lines) =>
  lines
    .join('\n')
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replace(/\s+/g, ' ').trim())
    .filter((paragraph) => /^[\x20-\x5a\x5e-\x7e]+$/.test(paragraph));

/** What is trained on and what is held out: whole paragraphs, each with a line break at its end. */
export function split(paragraphs, part = HELD_OUT) {
  const text = paragraphs.map((paragraph) => `${paragraph}\n`);
  const all = text.reduce((sum, { length }) => sum + length, 0);
  let read = 0;
  const at = text.findIndex(({ length }) => (read += length) > (1 - part) * all);
  return { training: text.slice(0, at).join(''), heldOut: text.slice(at).join('') };
}

/** The paragraphs of each novel. */
export async function austenNovels() {
  const place = await fetchArchive(archive);
  const library = 'usr/lib/R/site-library/janeaustenr/data/Rdata';
  const novels = readRDatabase(join(place, library));
  return [...NOVELS, ...LATER_NOVELS].map((name) => paragraphsOf(novels[name]));
}

/** { training, heldOut, tokenizer }: two texts, and numbers for their characters. */
export async function austenTexts() {
  const parts = (await austenNovels()).map((novel) => split(novel));
  const whole = (key) => parts.map((part) => part[key]).join('');
  const [training, heldOut] = [whole('training'), whole('heldOut')];
  return { training, heldOut, tokenizer: characterTokenizer(charactersOf(training + heldOut)) };
}
