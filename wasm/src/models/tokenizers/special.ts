// Texts that are one token, whatever stands around them, as "<|im_end|>".

export type Specials = ReadonlyMap<string, number>;

/** Cuts a text into parts: ids of the special texts in it, and what is between them. */
export function splitter(specials: Specials): (text: string) => (string | number)[] {
  if (specials.size === 0) return (text) => (text === '' ? [] : [text]);
  // The longest first, so that none is taken for another that it begins with.
  const all = [...specials.keys()]
    .sort((a, b) => b.length - a.length)
    .map((special) => special.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const pattern = new RegExp(`(${all.join('|')})`);
  return (text) =>
    text
      .split(pattern)
      .filter((part) => part !== '')
      .map((part) => specials.get(part) ?? part);
}
