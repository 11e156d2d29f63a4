// The text of tokens that come one by one.

import type { Tokenizer } from '../../api/model-types.js';

/** What a tokenizer needs to decode tokens as they come. */
export type Decoder = Pick<Tokenizer, 'decode'>;

/** A text that comes token by token. */
export interface TextStream {
  /** What is sure of the text once this token has come: a letter whose bytes are not all there waits for the others. */
  push(id: number): string;
  /** What the token would add if it came next, open letters as signs for them; nothing changes. */
  peek(id: number): string;
  /** What was waiting. */
  end(): string;
}

/** Stands for bytes that are no letter, also for those of one that is not whole. */
export const replacement = '\ufffd';
/** Tokens that wait at most. The bytes of a letter are four; more are of no letter, or of one after such bytes. */
const mostWaiting = 16;
/** Tokens with the bytes of a letter that is not whole, at most. */
const mostOpen = 3;

/** Whether the last letter of a text may not be whole: bytes of one, or half a surrogate pair. */
const isOpen = (text: string): boolean => /[\ud800-\udbff\ufffd]$/.test(text);

/** The length of what both texts begin with, in whole letters. */
function common(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return /[\ud800-\udbff]$/.test(a.slice(0, length)) ? length - 1 : length;
}

/**
 * What `text` has after `before`, which was returned earlier. A tokenizer may decode the same tokens differently once others follow:
 * some take a space away, and what were bytes is a letter then. Letters that were returned are not returned again.
 */
function newsOf(before: string, text: string): string {
  const length = common(before, text);
  const news = text.slice(length);
  const known = before.slice(length).replace(/[\s\ufffd]/g, '');
  return news.startsWith(known) ? news.slice(known.length) : news;
}

/**
 * The last tokens of a prompt from the beginning of a letter on, less those of one that is not whole, and these. Both ends are looked
 * for at once: some decoders make signs of all bytes in a row if a letter in it is not whole.
 */
function endOf({ decode }: Decoder, prompt: readonly number[]): [end: number[], open: number[]] {
  const first = Math.max(prompt.length - mostWaiting, 0);
  for (let open = 0; open <= Math.min(mostOpen, prompt.length); open += 1) {
    const to = prompt.length - open;
    for (let from = first; from >= 0 && first - from <= mostOpen; from -= 1) {
      const text = decode(prompt.slice(from, to));
      if (text.startsWith(replacement) || isOpen(text)) continue;
      return [prompt.slice(from, to), prompt.slice(to)];
    }
  }
  return [prompt.slice(first), []];
}

/** A text that was begun, of which some tokens wait. */
class Stream implements TextStream {
  readonly #decoder: Decoder;
  /** The tokens whose text was returned last, and that text. */
  #before: readonly number[];
  #beforeText: string;
  #waiting: number[];
  /** The text of the prompt with its last, open letter: not returned as long as that letter stays as it is. */
  #asPrompt: string | undefined;

  constructor(tokenizer: Decoder, prompt: readonly number[]) {
    const decode: Decoder['decode'] = (ids) => (ids.length === 0 ? '' : tokenizer.decode(ids));
    this.#decoder = { decode };
    const [end, open] = endOf(this.#decoder, prompt);
    this.#before = end;
    this.#waiting = open;
    this.#beforeText = decode(end);
    this.#asPrompt = open.length > 0 ? decode([...end, ...open]) : undefined;
  }

  push(id: number): string {
    this.#waiting.push(id);
    const text = this.#text();
    if (!isOpen(text)) return this.#take(text);
    if (this.#waiting.length < mostWaiting) return '';
    // The last of them may be bytes of a letter all the same.
    const later = this.#waiting.splice(-mostOpen);
    const news = this.#take(this.#text());
    this.#waiting = later;
    return news;
  }

  peek(id: number): string {
    return newsOf(this.#text(), this.#decoder.decode([...this.#before, ...this.#waiting, id]));
  }

  end(): string {
    return this.#take(this.#text());
  }

  #text(): string {
    return this.#decoder.decode([...this.#before, ...this.#waiting]);
  }

  #take(text: string): string {
    const asPrompt = this.#asPrompt;
    const isSame = asPrompt !== undefined && common(asPrompt, text) === asPrompt.length;
    const before = isSame ? asPrompt : this.#beforeText;
    this.#asPrompt = undefined;
    if (this.#waiting.length > 0) this.#before = this.#waiting;
    this.#waiting = [];
    this.#beforeText = this.#decoder.decode(this.#before);
    return newsOf(before, text);
  }
}

/**
 * Decodes token by token, with any tokenizer. New tokens are decoded together with those before them, because some tokenizers drop
 * the space that a text begins with; and only once no letter is open at the end, because some make one sign of a letter that is not
 * whole, and some one for each byte. `prompt` is what the tokens follow; its text is not returned, but for a letter that is not
 * whole in it.
 */
export function decodeStream(tokenizer: Decoder, prompt: readonly number[] = []): TextStream {
  // Not decoded before the first token.
  let stream: Stream | undefined;
  const begun = (): Stream => (stream ??= new Stream(tokenizer, prompt));
  return {
    push: (id) => begun().push(id),
    peek: (id) => begun().peek(id),
    end: () => begun().end(),
  };
}
