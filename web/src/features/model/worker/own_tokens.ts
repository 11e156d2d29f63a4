/** What a text is to a model: its tokens, and what of it none could be made of. */
export interface Encoded {
  readonly ids: number[];
  readonly unknown: string[];
}

/** Characters, of which those that are no tokens are left out. */
export function charactersIn(text: string, ids: ReadonlyMap<string, number>): Encoded {
  const all = Array.from(text);
  return {
    ids: all.flatMap((character) => ids.get(character) ?? []),
    unknown: [...new Set(all.filter((character) => !ids.has(character)))],
  };
}

/** The word or the character that stands somewhere. */
const WORD = /[A-Za-z\u00c0-\u024f\d']+|./suy;

/** The longest piece at each place, as the tokenizer of the package; words that have no pieces are left out. */
export function piecesIn(text: string, ids: ReadonlyMap<string, number>): Encoded {
  const longest = Math.max(0, ...Array.from(ids.keys(), ({ length }) => length));
  const found: number[] = [];
  const unknown = new Set<string>();
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + longest, text.length);
    const id = () => {
      const piece = text.slice(at, end);
      return ids.get(piece) ?? (at === 0 ? ids.get(` ${piece}`) : undefined);
    };
    while (end > at && id() === undefined) end--;
    if (end > at) {
      found.push(id()!);
      at = end;
      continue;
    }
    WORD.lastIndex = at;
    const [word = ' '] = WORD.exec(text) ?? [];
    if (word.trim() !== '') unknown.add(word);
    at += word.length;
  }
  return { ids: found, unknown: [...unknown] };
}
