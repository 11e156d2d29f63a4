// Texts that are one token, whatever stands around them, as "<|im_end|>".

export type Specials = ReadonlyMap<string, number>;

export interface Special {
  readonly id: number;
  readonly text: string;
  /** Whether no letter may stand beside it. */
  readonly isWord?: boolean;
  /** Whether the spaces before it, and after it, belong to it. */
  readonly takesBefore?: boolean;
  readonly takesAfter?: boolean;
}

/** Parts of a text: ids of the special texts in it, and what is between them. */
export type Parts = readonly (string | number)[];

/** A part of a text without the letter that keeps control texts in it from being tokens. */
export const withoutEscape = (part: string, escape: string): string =>
  escape === '' ? part : part.replaceAll(escape, '');

/** Letters of all special texts: more than any model has, and every place of a text is compared with them. */
export const mostSpecial = 2 ** 17;

/** The special text at this place: the longest that is there. */
type SpecialAt = (text: string, at: number) => string | undefined;

/** Finds these texts. Not by a pattern: a stranger's file can make one that no engine takes. */
function finder(specials: Iterable<string>): SpecialAt {
  const all = new Set(specials);
  // The longest first, so that none is taken for another that it begins with.
  const lengths = new Map<string, number[]>();
  for (const special of [...all].sort((a, b) => b.length - a.length)) {
    const of = lengths.get(special.charAt(0)) ?? [];
    if (of[of.length - 1] !== special.length) of.push(special.length);
    lengths.set(special.charAt(0), of);
  }
  return (text, at) => {
    for (const length of lengths.get(text.charAt(at)) ?? []) {
      const part = text.slice(at, at + length);
      if (all.has(part)) return part;
    }
    return undefined;
  };
}

const wordLetter = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]/u;
const space = /\p{White_Space}/u;

/** Whether a letter of a word stands before or after this part of a text. */
function isInWord(text: string, from: number, to: number): boolean {
  const before = Array.from(text.slice(Math.max(0, from - 2), from)).pop() ?? '';
  const after = String.fromCodePoint(text.codePointAt(to) ?? 0);
  return wordLetter.test(before) || wordLetter.test(after);
}

/** Cuts a text at these, which stand in it as `normalize` has them. */
export function cutterOf(
  specials: readonly Special[],
  normalize: (text: string) => string = (text) => text,
): (text: string) => Parts {
  const byText = new Map(specials.map((special) => [normalize(special.text), special]));
  byText.delete('');
  if (byText.size === 0) return (text) => (text === '' ? [] : [text]);
  const specialAt = finder(byText.keys());
  return (text) => {
    const parts: (string | number)[] = [];
    /** Until where the text is in `parts`. */
    let done = 0;
    for (let at = 0; at < text.length;) {
      const found = specialAt(text, at);
      const special = found === undefined ? undefined : byText.get(found);
      if (found === undefined || !special) {
        at += 1;
        continue;
      }
      let [from, to] = [at, at + found.length];
      at = to;
      if (special.isWord && isInWord(text, from, to)) continue;
      while (special.takesBefore && from > done && space.test(text.charAt(from - 1))) from -= 1;
      while (special.takesAfter && space.test(text.charAt(to))) to += 1;
      if (from > done) parts.push(text.slice(done, from));
      parts.push(special.id);
      // What it took is not looked at again.
      done = to;
      at = Math.max(at, to);
    }
    if (done < text.length) parts.push(text.slice(done));
    return parts;
  };
}

/** Cuts a text at special texts that stand for themselves, whatever is around them. */
export const splitter = (specials: Specials): ((text: string) => Parts) =>
  cutterOf(Array.from(specials, ([text, id]) => ({ id, text })));
