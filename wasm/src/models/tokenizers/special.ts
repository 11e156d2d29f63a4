// Texts that are one token, whatever stands around them, as "<|im_end|>".

export type Specials = ReadonlyMap<string, number>;

/**
 * Cuts a text into parts: ids of the special texts in it, and what is between them. Not by a pattern: a stranger's file can make
 * one that no engine takes.
 */
export function splitter(specials: Specials): (text: string) => (string | number)[] {
  // The longest first, so that none is taken for another that it begins with.
  const lengths = new Map<string, number[]>();
  for (const special of [...specials.keys()].sort((a, b) => b.length - a.length)) {
    const of = lengths.get(special.charAt(0)) ?? [];
    if (of[of.length - 1] !== special.length) of.push(special.length);
    lengths.set(special.charAt(0), of);
  }
  const specialAt = (text: string, at: number): string | undefined => {
    for (const length of lengths.get(text.charAt(at)) ?? []) {
      const part = text.slice(at, at + length);
      if (specials.has(part)) return part;
    }
    return undefined;
  };
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
