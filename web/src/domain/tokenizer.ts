/** More tokens than this are not computed; the page says so when it happens. */
export const MAX_TOKENS = 1024;
/** Longer texts are not read to the end; the page says so, too. */
export const MAX_TEXT = 2000;

export const TOKENIZERS = ['word', 'character', 'byte'] as const;
export type Tokenizer = (typeof TOKENIZERS)[number];

export interface TokenList {
  /** What the layer sees: at most MAX_TOKENS. */
  readonly tokens: readonly string[];
  /** How many of them are the text; after those it begins again. */
  readonly own: number;
  /** How many tokens the text that was read has. */
  readonly total: number;
  readonly textCut: boolean;
}

const HAN = /\p{Script=Han}/u;
const SPACE = /^\s*$/u;
// Only for engines without Intl.Segmenter: a flag, or a character with the marks that belong to it.
const CLUSTER =
  /\p{RI}{2}|(?:\r\n|\p{Extended_Pictographic}(?:\p{EMod}|\uFE0F)*(?:\u200D\p{Extended_Pictographic}(?:\p{EMod}|\uFE0F)*)*|.)(?:\p{M}|\u200D)*/gsu;

// And words, as UAX #29 has them where spaces are written: letters and digits, with an apostrophe or a dot between two of them.
const DENSE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const WORD = new RegExp(
  `(?:(?!${DENSE.source})[\\p{L}\\p{Nd}\\p{Nl}\\p{Pc}][\\p{M}\\u200D]*` +
    `|(?<=\\p{L}\\p{M}*)['’.·](?=\\p{L})|(?<=\\p{Nd})['’.,;](?=\\p{Nd}))+|${CLUSTER.source}`,
  'gsu',
);

const segments = () => typeof Intl.Segmenter === 'function';

/** Whether words of this text stand without spaces, and this engine has no dictionary of them: each character is a token then. */
export const lacksWords = (text: string, tokenizer: Tokenizer): boolean =>
  tokenizer === 'word' && !segments() && DENSE.test(text);

type Granularity = 'word' | 'grapheme';
/** Making one takes longer than using it on a sentence. */
const SEGMENTERS = new Map<string, Intl.Segmenter>();

function segment(text: string, granularity: Granularity): string[] {
  if (!segments()) return text.match(granularity === 'word' ? WORD : CLUSTER) ?? [];
  // The language is read off the text, not off the page: switching the page must not move a number.
  const language = HAN.test(text) ? 'zh' : 'en';
  const name = `${language} ${granularity}`;
  const segmenter = SEGMENTERS.get(name) ?? new Intl.Segmenter(language, { granularity });
  SEGMENTERS.set(name, segmenter);
  return Array.from(segmenter.segment(text), (part) => part.segment);
}

/** The characters as a reader counts them. */
export function graphemes(text: string): string[] {
  return segment(text, 'grapheme');
}

/** Joins words again where a word boundary would cut through a grapheme. */
function alignToGraphemes(words: readonly string[], text: string): string[] {
  const ends = new Set<number>();
  let end = 0;
  for (const grapheme of graphemes(text)) ends.add((end += grapheme.length));
  const joined: string[] = [];
  let open = '';
  end = 0;
  for (const word of words) {
    open += word;
    if (!ends.has((end += word.length))) continue;
    joined.push(open);
    open = '';
  }
  return joined; // a text and its last word end together
}

/** As much of the text as is read; a grapheme is never split. */
function readable(source: string): string {
  let read = '';
  for (const grapheme of graphemes(source.slice(0, MAX_TEXT + 32))) {
    if (read.length + grapheme.length > MAX_TEXT) break;
    read += grapheme;
  }
  return read;
}

const hex = (byte: number) => byte.toString(16).toUpperCase().padStart(2, '0');

/** Words and punctuation marks without white space, graphemes without it, or the bytes of UTF-8. */
function split(text: string, tokenizer: Tokenizer): string[] {
  if (tokenizer === 'byte') return Array.from(new TextEncoder().encode(text), hex);
  const parts =
    tokenizer === 'character' ? graphemes(text) : alignToGraphemes(segment(text, 'word'), text);
  return parts.filter((part) => !SPACE.test(part));
}

/** The tokens of a text, repeated or cut to `length` when that is given. */
export function tokenize(source: string, tokenizer: Tokenizer, length: number | null): TokenList {
  const read = readable(source);
  const all = split(read, tokenizer);
  const count = all.length === 0 ? 0 : Math.min(length ?? all.length, MAX_TOKENS);
  return {
    tokens: Array.from({ length: count }, (_, i) => all[i % all.length] ?? ''),
    own: Math.min(all.length, count),
    total: all.length,
    textCut: read.length < source.length,
  };
}
