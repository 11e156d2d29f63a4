/** A few names of many, each so far that the rest of a message can be read: they may be a stranger's. */
export const some = (
  names: readonly string[],
  shown: (name: string) => string = (name) => name.slice(0, 80),
): string =>
  names.slice(0, 5).map(shown).join(', ') +
  (names.length > 5 ? ` and ${names.length - 5} more` : '');
