// How tokenizer.json cuts words into pieces: the kinds of vocabularies.

import { describe, isObject } from '../../../arguments/values.js';
import { refuse } from '../../errors.js';
import type { Fields } from '../../fields.js';
import { bytesOfText, pieceOfByte } from '../byte-letters.js';
import { merge } from '../merge.js';
import { unigram, unknownPenalty } from '../unigram.js';
import { spellWord } from '../words.js';
import { known } from './parts.js';

/** A vocabulary. */
export interface Pieces {
  /** Ids by texts. */
  readonly ids: ReadonlyMap<string, number>;
  /** The tokens of a word. */
  readonly encode: (word: string) => number[];
}

/** Numbers of tokens, at most. */
const mostIds = 2 ** 31;
/** A letter that no text has, between the two of a pair. */
const between = '\ud800';

const isId = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < mostIds;

/** The vocabulary of most kinds: an object. */
function idsOf(fields: Fields): Map<string, number> {
  const vocabulary = fields.part('vocab');
  const ids = new Map<string, number>();
  for (const text of vocabulary?.names() ?? []) {
    const id = vocabulary?.get(text);
    if (!isId(id))
      refuse(
        `${fields.pathOf('vocab')} has ${describe(id)} for ${describe(text)}`,
        'a number of a token',
      );
    ids.set(text, id);
  }
  return ids;
}

/** The token of a field. */
function tokenOf(fields: Fields, field: string, ids: ReadonlyMap<string, number>): number {
  const text = fields.text(field);
  return (
    ids.get(text) ?? refuse(`${fields.pathOf(field)} is ${describe(text)}`, 'a token of vocab')
  );
}

/** The tokens of all bytes of a text, if each has one. */
function bytesIn(ids: ReadonlyMap<string, number>, text: string): number[] | undefined {
  const found = Array.from(bytesOfText(text), (byte) => ids.get(pieceOfByte(byte)));
  return found.every((id) => id !== undefined) ? found : undefined;
}

/** The ranks of pairs: "left right", or [left, right] in newer files. */
function ranksOf(fields: Fields, ids: ReadonlyMap<string, number>): Map<string, number> {
  const ranks = new Map<string, number>();
  for (const [rank, pair] of (fields.list('merges') ?? []).entries()) {
    const parts: readonly unknown[] =
      typeof pair === 'string' ? pair.split(' ') : Array.isArray(pair) ? pair : [];
    const [left, right] = parts;
    const isPair = parts.length === 2 && typeof left === 'string' && typeof right === 'string';
    if (!isPair || !ids.has(left) || !ids.has(right) || !ids.has(left + right))
      refuse(
        `${fields.pathOf(`merges[${rank}]`)} is ${describe(pair)}`,
        'two tokens that make a third',
      );
    ranks.set(`${left}${between}${right}`, -rank);
  }
  return ranks;
}

const pairFields = [
  ...['vocab', 'merges', 'unk_token', 'end_of_word_suffix', 'continuing_subword_prefix'],
  ...['fuse_unk', 'byte_fallback', 'ignore_merges', 'dropout'],
];

function pairs(fields: Fields): Pieces {
  known(fields, ...pairFields);
  fields.only('dropout', 0);
  fields.only('continuing_subword_prefix', '');
  const ids = idsOf(fields);
  const ranks = ranksOf(fields, ids);
  const suffix = fields.text('end_of_word_suffix', '');
  const hasBytes = fields.flag('byte_fallback', false);
  const wholeWords = fields.flag('ignore_merges', false);
  const fuses = fields.flag('fuse_unk', false);
  const unknown = fields.has('unk_token') ? tokenOf(fields, 'unk_token', ids) : undefined;
  /** The pieces of a letter: itself, or those of its bytes. */
  const piecesOfLetter = (letter: string): readonly string[] | undefined => {
    if (ids.has(letter)) return [letter];
    return hasBytes && bytesIn(ids, letter)
      ? Array.from(bytesOfText(letter), pieceOfByte)
      : undefined;
  };
  const spelt = (word: string): string[] => {
    const symbols: string[] = [];
    const letters = Array.from(word);
    letters.forEach((letter, i) => {
      const found = piecesOfLetter(i === letters.length - 1 ? letter + suffix : letter);
      if (found) symbols.push(...found);
      // A letter that no pair has; without a token for it, it is left out.
      else if (unknown !== undefined && !(fuses && symbols[symbols.length - 1] === between))
        symbols.push(between);
    });
    return symbols;
  };
  const encode = (word: string): number[] => {
    const whole = wholeWords ? ids.get(word) : undefined;
    if (whole !== undefined) return [whole];
    const rankOf = (left: string, right: string): number | undefined =>
      ranks.get(`${left}${between}${right}`);
    return merge(spelt(word), rankOf).flatMap((piece) => ids.get(piece) ?? unknown ?? []);
  };
  return { ids, encode };
}

function wordPieces(fields: Fields): Pieces {
  known(fields, 'vocab', 'unk_token', 'continuing_subword_prefix', 'max_input_chars_per_word');
  const ids = idsOf(fields);
  const prefix = fields.text('continuing_subword_prefix', '##');
  const spelling = {
    idOf: (piece: string, begins: boolean) => ids.get(begins ? piece : prefix + piece),
    unknown: tokenOf(fields, 'unk_token', ids),
    longest: fields.count('max_input_chars_per_word', 100, 0),
  };
  return { ids, encode: (word) => spellWord(word, spelling) };
}

function scored(fields: Fields): Pieces {
  known(fields, 'vocab', 'unk_id', 'byte_fallback');
  const ids = new Map<string, number>();
  const pieces = (fields.list('vocab') ?? []).map((each, id) => {
    const [text, score] = Array.isArray(each) ? (each as readonly unknown[]) : [];
    if (typeof text !== 'string' || typeof score !== 'number' || !Number.isFinite(score))
      refuse(`${fields.pathOf(`vocab[${id}]`)} is ${describe(each)}`, 'a text and a score');
    if (!ids.has(text)) ids.set(text, id);
    return [text, id, score] as const;
  });
  const hasBytes = fields.flag('byte_fallback', false);
  const unknown = fields.has('unk_id') ? fields.count('unk_id', undefined, 0) : undefined;
  const least = pieces.reduce((min, [, , score]) => Math.min(min, score), Infinity);
  const cut = unigram({ pieces, unknownScore: least - unknownPenalty });
  const spelt = ({ text, id }: { text: string; id: number | undefined }): number | number[] =>
    id ?? (hasBytes ? bytesIn(ids, text) : undefined) ?? unknown ?? [];
  return { ids, encode: (word) => cut(word).flatMap(spelt) };
}

const kinds = { BPE: pairs, WordPiece: wordPieces, Unigram: scored };

/** The kind; older files do not say it. */
function kindOf(fields: Fields): keyof typeof kinds {
  if (fields.has('merges')) return 'BPE';
  return isObject(fields.get('vocab')) ? 'WordPiece' : 'Unigram';
}

export const piecesOf = (fields: Fields): Pieces =>
  fields.choice('type', kinds, kindOf(fields))(fields);
