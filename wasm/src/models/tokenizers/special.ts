// Texts that are one token, whatever stands around them, as "<|im_end|>".

export type Specials = ReadonlyMap<string, number>;

/** A text in parts: ids of the special texts in it, and what is between them. */
export function split(text: string, specials: Specials): (string | number)[] {
  if (text === '') return [];
  if (specials.size === 0) return [text];
  // The longest first, so that none is taken for another that it begins with.
  const all = [...specials.keys()]
    .sort((a, b) => b.length - a.length)
    .map((special) => special.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return text
    .split(new RegExp(`(${all.join('|')})`))
    .filter((part) => part !== '')
    .map((part) => specials.get(part) ?? part);
}
