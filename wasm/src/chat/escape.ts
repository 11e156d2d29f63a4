// Texts of control tokens in what people wrote: a letter is put into each, so that it is not the text of a control token any more, and
// the tokenizer leaves that letter out.

/** Letters that no text has: the first that is in none of these is taken. For private use, so no template looks for them. */
const [first, last] = [0xe000, 0xf8ff];

/** A letter that none of these texts has. */
export function unusedLetter(texts: readonly string[]): string {
  const used = new Set(texts.flatMap((text) => Array.from(text)));
  for (let code = last; code >= first; code -= 1) {
    const letter = String.fromCharCode(code);
    if (!used.has(letter)) return letter;
  }
  throw new RangeError('no letter for private use is left');
}

/** All texts in a value as JSON has them: the keys of objects, too. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return Object.entries(value).flatMap(([name, each]) => [name, ...textsIn(each)]);
}

/** What puts `letter` after the first letter of every text of `controls`. */
export function escaper(controls: readonly string[], letter: string): (text: string) => string {
  // The longest first: it may have others in it.
  const all = [...controls].filter((text) => text !== '').sort((a, b) => b.length - a.length);
  const changed = all.map((text) => {
    const [begin = ''] = text;
    return [text, begin + letter + text.slice(begin.length)] as const;
  });
  return (text) =>
    changed.reduce(
      (safe, [from, to]) => (safe.includes(from) ? safe.replaceAll(from, () => to) : safe),
      text,
    );
}

/** A copy of a value as JSON has them, with all of its texts, keys of objects too, as `change` has them; what else is in it stays. */
export function withTexts(value: unknown, change = (text: string): string => text): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Array.from(value, (each) => withTexts(each, change));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [change(name), withTexts(each, change)]),
  );
}
