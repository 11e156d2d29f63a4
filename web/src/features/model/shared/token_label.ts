import type { Tokenizer } from 'qkv/models';

/** A token as it is written on the page: white space has signs of its own. */
export function labelOf(text: string): string {
  if (text === '') return '∅';
  return text.replace(/\n/g, '↵').replace(/\t/g, '⇥').replace(/ /g, '␣');
}

/** What is written for the words of a model: without the space before them, unless two would then be written in one way. */
export function labelsOfPieces(pieces: readonly string[]): (id: number) => string {
  const bare = pieces.map((piece) => labelOf(piece.replace(/^ (?=.)/, '')));
  const labels = new Set(bare).size === pieces.length ? bare : pieces.map(labelOf);
  return (id) => labels[id] ?? String(id);
}

/** What is written for each token of a model: its text, or its number where there is no tokenizer. */
export function labelsOf(tokenizer: Tokenizer | undefined): (id: number) => string {
  return (id) => (tokenizer ? labelOf(tokenizer.decode([id])) : String(id));
}
