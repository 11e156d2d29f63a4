// The letters that an atom of a pattern takes. Classes, properties and flags mean what they mean to the engine of this program: what
// has no short way here is tested with a RegExp, letter by letter.

import {
  type CodePoints,
  complement,
  everything,
  lastCodePoint,
  type Range,
  single,
  surrogates,
  union,
  without,
} from './code-points.js';

/** The letters for which something holds. */
function lettersWhere(holds: (letter: string) => boolean): CodePoints {
  const ranges: [low: number, high: number][] = [];
  for (let codePoint = 0; codePoint <= lastCodePoint; codePoint += 1) {
    // Halves of surrogate pairs are in no text.
    if (codePoint === 0xd800) codePoint = 0xe000;
    if (!holds(String.fromCodePoint(codePoint))) continue;
    const last = ranges[ranges.length - 1];
    if (last && last[1] === codePoint - 1) last[1] = codePoint;
    else ranges.push([codePoint, codePoint]);
  }
  return ranges;
}

const lineEnds: CodePoints = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];
const digits: CodePoints = [[0x30, 0x39]];
const words: CodePoints = union([...digits, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]]);

/** Letters that have another case. */
let cased: readonly string[] | undefined;
function casedLetters(): readonly string[] {
  if (!cased) {
    const found = lettersWhere((letter) =>
      /[\p{Changes_When_Casemapped}\p{Changes_When_Casefolded}]/u.test(letter),
    );
    cased = found.flatMap(([low, high]) =>
      Array.from({ length: high - low + 1 }, (_, i) => String.fromCodePoint(low + i)),
    );
  }
  return cased;
}

/** The sets of atoms of one pattern. */
export class LetterSets {
  readonly #flags: string;
  readonly #known = new Map<string, CodePoints>();
  /** Whether letters stand for those of another case too. */
  readonly ignoresCase: boolean;
  /** What a dot takes. */
  readonly dot: CodePoints;

  /** Flags of a RegExp, with 'u' or 'v'. */
  constructor(flags: string) {
    this.#flags = flags.replace(/[^isuv]/g, '');
    this.ignoresCase = flags.includes('i');
    this.dot = flags.includes('s') ? everything : without(everything, lineEnds);
  }

  /** What an atom takes by itself, as it is written. */
  byRegExp(raw: string): CodePoints {
    return this.#once(raw, () => {
      const expression = new RegExp(`^${raw}$`, this.#flags);
      return lettersWhere((letter) => expression.test(letter));
    });
  }

  /** A letter. */
  value(codePoint: number): CodePoints {
    return this.#once(`=${codePoint}`, () => {
      const letter = String.fromCodePoint(codePoint);
      if (!this.ignoresCase || !casedLetters().includes(letter)) return single(codePoint);
      const expression = new RegExp(`^\\u{${codePoint.toString(16)}}$`, this.#flags);
      const same = casedLetters().filter((each) => expression.test(each));
      return union(same.map((each): Range => [each.codePointAt(0) ?? 0, each.codePointAt(0) ?? 0]));
    });
  }

  /** \d, \D, \w, \W, \s or \S. */
  escape(name: string): CodePoints {
    return this.#once(`\\${name}`, () => {
      const lower = name.toLowerCase();
      // With both flags \w has two letters more, and \W is what is left.
      if (lower === 's' || (lower === 'w' && this.ignoresCase)) return this.byRegExp(`\\${name}`);
      const set = lower === 'd' ? digits : words;
      return name === lower ? set : without(complement(set), surrogates);
    });
  }

  #once(key: string, make: () => CodePoints): CodePoints {
    const known = this.#known.get(key);
    if (known) return known;
    const made = make();
    this.#known.set(key, made);
    return made;
  }
}
