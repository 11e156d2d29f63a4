// Texts that are one token, whatever stands around them, as "<|im_end|>".

export type Specials = ReadonlyMap<string, number>;

/** Letters of all special texts: more than any model has, and every place of a text is compared with them. */
export const mostSpecial = 2 ** 17;

/** The special text at this place: the longest that is there. */
export type SpecialAt = (text: string, at: number) => string | undefined;

/** Finds these texts. Not by a pattern: a stranger's file can make one that no engine takes. */
export function finder(specials: Iterable<string>): SpecialAt {
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

/** Cuts a text into parts: ids of the special texts in it, and what is between them. */
export function splitter(specials: Specials): (text: string) => (string | number)[] {
  const specialAt = finder(specials.keys());
  return (text) => {
    const parts: (string | number)[] = [];
    let from = 0;
    for (let at = 0; at < text.length;) {
      const special = specialAt(text, at);
      const id = special === undefined ? undefined : specials.get(special);
      if (special === undefined || id === undefined) {
        at += 1;
        continue;
      }
      if (at > from) parts.push(text.slice(from, at));
      parts.push(id);
      from = at += special.length;
    }
    if (from < text.length) parts.push(text.slice(from));
    return parts;
  };
}
