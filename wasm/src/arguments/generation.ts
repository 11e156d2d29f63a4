// What callers have of a generation, wherever it runs.

import type { FinishReason, Generation } from '../api/generation-types.js';
import { oneLoop } from './one-loop.js';

/** How a generation has ended; whoever runs it says so. */
export interface Ending {
  reason?: FinishReason | undefined;
}

/** A seed for who gives none. */
export const drawnSeed = (): number => Math.floor(Math.random() * 2 ** 53);

/** Says that a generation was broken off, unless something else has ended it: a generator that has not begun has no `finally`. */
function trackingReturn<T>(tokens: AsyncGenerator<T>, ending: Ending): void {
  const end = tokens.return.bind(tokens);
  tokens.return = (value) => {
    ending.reason ??= 'aborted';
    return end(value);
  };
}

/** The tokens, for one loop, with what is known of them all. */
export function generationOf<T extends { readonly text: string }>(
  fn: string,
  tokens: AsyncGenerator<T, void, undefined>,
  seed: number,
  ending: Ending,
): Generation<T> {
  trackingReturn(tokens, ending);
  const all = oneLoop(fn, tokens);
  async function text(): Promise<string> {
    let whole = '';
    for await (const token of all) whole += token.text;
    return whole;
  }
  Object.defineProperties(all, {
    seed: { value: seed, enumerable: true },
    finishReason: { get: () => ending.reason, enumerable: true },
    text: { value: text },
  });
  return all as Generation<T>;
}
