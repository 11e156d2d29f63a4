import type { Tokenizer } from 'qkv/models';

/** A token as it is written on the page: white space has signs of its own. */
export function labelOf(text: string): string {
  if (text === '') return '∅';
  return text.replace(/\n/g, '↵').replace(/\t/g, '⇥').replace(/ /g, '␣');
}

/** What is written for each token of a model: its text, or its number where there is no tokenizer. */
export function labelsOf(tokenizer: Tokenizer | undefined): (id: number) => string {
  return (id) => (tokenizer ? labelOf(tokenizer.decode([id])) : String(id));
}
