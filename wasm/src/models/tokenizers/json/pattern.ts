// Patterns of tokenizer.json, which are Oniguruma's, as expressions of JavaScript. What means the same in both is taken over, what
// differs is written out, and the rest is refused by name.

import { brief, refuse, refuseUnsupported } from '../../errors.js';
import type { Fields } from '../../fields.js';
import { known } from './parts.js';

/** What a part of a pattern became. */
interface Part {
  readonly source: string;
  /** Whether it matches texts of several lengths, or in several ways. */
  readonly varies: boolean;
  readonly isGroup: boolean;
}

const most = { letters: 10_000, depth: 20 };
const wordLetters = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}';
/** Sets by their escapes; as parts of a class. */
const sets = new Map(
  Object.entries({
    ...{ s: '\\p{White_Space}', S: '\\P{White_Space}', d: '\\p{Nd}', D: '\\P{Nd}' },
    w: wordLetters,
  }),
);
/** Places by their escapes. */
const places = new Map(
  Object.entries({
    b: `(?:(?<=[${wordLetters}])(?![${wordLetters}])|(?<![${wordLetters}])(?=[${wordLetters}]))`,
    ...{ A: '(?<![^])', z: '(?![^])' },
  }),
);

const escaped = (letter: string): string => letter.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
/** Where a class is not, this letter is no syntax, and must not be escaped. */
const literal = (letter: string): string => (letter === '-' ? letter : escaped(letter));

/** Second capital letters by their small ones, the long s and the kelvin sign: toUpperCase() never gives them. */
const moreCapitals = new Map([
  ['s', '\u017f'],
  ['k', '\u212a'],
]);

/** The letters that are the same as this one where case does not matter: the one itself, if there are no others. */
function sameLetters(letter: string): string[] {
  const small = letter.toUpperCase().toLowerCase();
  const all = [letter, small, letter.toLowerCase(), letter.toUpperCase(), moreCapitals.get(small)];
  return [...new Set(all.filter((each) => each !== undefined))].filter(
    (each) => Array.from(each).length === 1,
  );
}

class Translator {
  readonly #letters: readonly string[];
  #at = 0;
  #depth = 0;
  #marks = 0;
  #isAnyCase = false;

  constructor(
    pattern: string,
    private readonly no: (what: string) => never,
  ) {
    this.#letters = Array.from(pattern);
  }

  whole(): string {
    if (this.#letters.length > most.letters) this.no(`${this.#letters.length} letters`);
    const { source } = this.#alternatives();
    if (this.#at < this.#letters.length) this.no('")" without "("');
    return source;
  }

  #next(): string {
    return this.#letters[this.#at++] ?? this.no('an end before its end');
  }

  #takes(text: string): boolean {
    const isNext = this.#rest(text.length) === text;
    if (isNext) this.#at += text.length;
    return isNext;
  }

  #rest(count: number): string {
    return this.#letters.slice(this.#at, this.#at + count).join('');
  }

  #alternatives(): Omit<Part, 'isGroup'> {
    let source = '';
    let varies = false;
    while (this.#at < this.#letters.length && this.#rest(1) !== ')') {
      const isNew = this.#takes('|');
      const part = isNew ? { source: '|', varies: true } : this.#repeated(this.#one());
      source += part.source;
      varies ||= part.varies;
    }
    return { source, varies };
  }

  #one(): Part {
    const letter = this.#next();
    if (letter === '(') return this.#group();
    const simple = (source: string): Part => ({ source, varies: false, isGroup: false });
    if (letter === '[') return simple(`[${this.#takes('^') ? '^' : ''}${this.#class()}]`);
    if (letter === '\\') return simple(this.#escape());
    if (letter === '.') return simple('[^\\n]');
    // Of a line, not of the text.
    if (letter === '^') return simple('(?<![^\\n])');
    if (letter === '$') return simple('(?![^\\n])');
    if ('*+?'.includes(letter)) this.no(`"${letter}" after nothing`);
    return simple(this.#literal(letter));
  }

  /** The letters that a letter of the pattern stands for here. */
  #same(letter: string): string[] {
    return this.#isAnyCase ? sameLetters(letter) : [letter];
  }

  #literal(letter: string): string {
    const same = this.#same(letter);
    return same.length === 1 ? literal(letter) : `[${same.map(escaped).join('')}]`;
  }

  #group(): Part {
    this.#depth += 1;
    if (this.#depth > most.depth) this.no(`groups in groups, more than ${most.depth}`);
    const begin = ['?:', '?=', '?!', '?<=', '?<!', '?i:'].find((each) => this.#takes(each));
    if (begin === undefined && this.#rest(1) === '?') this.no(`"(${this.#rest(3)}"`);
    const wasAnyCase = this.#isAnyCase;
    this.#isAnyCase ||= begin === '?i:';
    const { source, varies } = this.#alternatives();
    this.#isAnyCase = wasAnyCase;
    if (!this.#takes(')')) this.no('"(" without ")"');
    this.#depth -= 1;
    const kept = begin === undefined || begin === '?i:' ? '?:' : begin;
    return { source: `(${kept}${source})`, varies, isGroup: true };
  }

  #repeated(part: Part): Part {
    const [, sign, least = '', comma, last = ''] =
      /^(?:([*+?])|\{(\d*)(,?)(\d*)\})/.exec(this.#rest(20)) ?? [];
    const isCount = sign === undefined && `${least}${last}` !== '';
    if (sign === undefined && !isCount) return part;
    this.#at += sign === undefined ? `{${least}${comma}${last}}`.length : 1;
    // Several ways to cut a text into matches of the group could be tried one after the other for ever.
    if (part.isGroup && part.varies && sign !== '?') this.no('a group that varies and repeats');
    const count = `{${least || 0}${comma}${last}}`;
    const source = `${part.source}${sign ?? count}`;
    const varies = sign !== undefined || comma === ',';
    if (this.#takes('?')) return { source: `${source}?`, varies, isGroup: true };
    if (sign !== undefined && this.#takes('+')) {
      // What it has taken it does not give back.
      const mark = `m${++this.#marks}`;
      return { source: `(?:(?=(?<${mark}>${source}))\\k<${mark}>)`, varies, isGroup: true };
    }
    if (/^[*+?]/.test(this.#rest(1))) this.no('a repetition of a repetition');
    return { source, varies, isGroup: true };
  }

  /** What is between brackets, and brackets in it. */
  #class(depth = 0): string {
    if (depth > most.depth) this.no(`classes in classes, more than ${most.depth}`);
    let items = '';
    while (!this.#takes(']')) {
      if (this.#takes('&&')) this.no('"&&"');
      const letter = this.#next();
      if (letter === '[') {
        if (/^[:^]/.test(this.#rest(1))) this.no(`"[${this.#rest(1)}" in a class`);
        items += this.#class(depth + 1);
      } else items += this.#item(letter);
    }
    return items === '' ? this.no('an empty class') : items;
  }

  /** A letter of a class, a range or a set. */
  #item(letter: string): string {
    const from = letter === '\\' ? this.#escape(true) : escaped(letter);
    const isRange = this.#rest(1) === '-' && this.#rest(2) !== '-]' && !/^\\[pP]/.test(from);
    const same = this.#same(letter);
    if (!isRange) return same.length > 1 ? same.map(escaped).join('') : from;
    this.#at += 1;
    const to = this.#next();
    if (same.length > 1 || this.#same(to).length > 1) this.no('a range where case does not matter');
    return `${from}-${to === '\\' ? this.#escape(true) : escaped(to)}`;
  }

  #escape(isInClass = false): string {
    const letter = this.#next();
    const set = sets.get(letter);
    if (set !== undefined) return isInClass || letter !== 'w' ? set : `[${set}]`;
    if (letter === 'W' && !isInClass) return `[^${wordLetters}]`;
    const place = isInClass ? undefined : places.get(letter);
    if (place !== undefined) return place;
    if ('nrtfv'.includes(letter)) return `\\${letter}`;
    if (letter === 'p' || letter === 'P') return this.#property(letter);
    if (letter === 'x' || letter === 'u') return this.#byNumber(letter);
    if (/[\p{L}\p{N}]/u.test(letter)) this.no(`"\\${letter}"`);
    return isInClass ? escaped(letter) : literal(letter);
  }

  #property(sign: string): string {
    const [all = '', not = '', name = ''] = /^\{(\^?)(\w+)\}/.exec(this.#rest(40)) ?? [];
    this.#at += all.length;
    const isNegative = (sign === 'P') !== (not === '^');
    const property = /^[CLMNPSZ][a-z]?$/.test(name) ? name : `Script=${name}`;
    if (this.#isAnyCase && /^L[ult]$/.test(name))
      this.no(`"\\${sign}${all}" where case does not matter`);
    try {
      return new RegExp(`\\${isNegative ? 'P' : 'p'}{${property}}`, 'u').source;
    } catch {
      return this.no(`"\\${sign}${all}"`);
    }
  }

  /** A letter by its number. */
  #byNumber(kind: string): string {
    const form = kind === 'u' ? /^()([0-9a-f]{4})/i : /^(\{([0-9a-f]{1,6})\}|([0-9a-f]{2}))/i;
    const [all = this.no(`"\\${kind}"`), , braced, bare = braced] = form.exec(this.#rest(8)) ?? [];
    this.#at += all.length;
    const number = parseInt(bare ?? '', 16);
    const isLetter = number <= 0x10ffff; // others are refused as no pattern
    if (isLetter && this.#same(String.fromCodePoint(number)).length > 1)
      this.no(`"\\${kind}${all}" where case does not matter`);
    return `\\u{${bare ?? ''}}`;
  }
}

/** An expression that can be used: engines compile it when it meets a text, of either width, and some are too large. */
function usable(source: string, no: () => never): RegExp {
  try {
    const expression = new RegExp(source, 'gu');
    for (const text of ['', '\u0100']) text.search(expression);
    return expression;
  } catch {
    return no();
  }
}

/** The expression of a pattern, which finds all that it matches. */
export function expressionOf(path: string, pattern: string): RegExp {
  const no = (what: string): never =>
    refuseUnsupported(
      `${path} is ${JSON.stringify(brief(pattern))}, which has ${brief(what)}`,
      'a pattern that JavaScript can have too',
    );
  return usable(new Translator(pattern, no).whole(), () => no('what is no pattern'));
}

/** An expression for just this text. */
export const expressionOfText = (path: string, text: string): RegExp =>
  usable(Array.from(text, literal).join(''), () =>
    refuseUnsupported(
      `${path} is ${JSON.stringify(brief(text))}, of ${text.length} characters`,
      'a text that is short enough for an expression',
    ),
  );

/** The pattern of a part: a text, or Oniguruma's. */
export function patternOf(fields: Fields): RegExp {
  const pattern = fields.part('pattern') ?? refuse(`${fields.pathOf('pattern')} is missing`, 'one');
  known(pattern, 'Regex', 'String');
  if (pattern.has('Regex')) return expressionOf(pattern.pathOf('Regex'), pattern.text('Regex'));
  const text = pattern.text('String');
  return text === ''
    ? refuse(`${pattern.pathOf('String')} is empty`, 'a text')
    : expressionOfText(pattern.pathOf('String'), text);
}
