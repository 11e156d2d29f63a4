// What callers have of a generation, wherever it runs.

import type { FinishReason, Generation, Generations } from '../api/generation-types.js';
import { oneLoop } from './one-loop.js';

/** How a generation has ended; whoever runs it says so. */
export interface Ending {
  reason?: FinishReason | undefined;
}

/** A seed for who gives none. */
export const drawnSeed = (): number => Math.floor(Math.random() * 2 ** 53);

/** The tokens for one loop. `onReturn` is called when a caller breaks off: a generator that has not begun has no `finally`. */
function forOneLoop<T>(
  fn: string,
  tokens: AsyncGenerator<T, void, undefined>,
  onReturn: () => void,
): AsyncGenerator<T> {
  const end = tokens.return.bind(tokens);
  tokens.return = (value) => {
    onReturn();
    return end(value);
  };
  return oneLoop(fn, tokens);
}

/** The tokens, for one loop, with what is known of them all. */
export function generationOf<T extends { readonly text: string }>(
  fn: string,
  tokens: AsyncGenerator<T, void, undefined>,
  seed: number,
  ending: Ending,
): Generation<T> {
  const all = forOneLoop(fn, tokens, () => (ending.reason ??= 'aborted'));
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

/** The seeds of several generations: the first and those after it, 0 after 2^53 - 1. */
export function seedsFrom(first: number, count: number): number[] {
  // Not (first + i) % 2^53: beyond 2^53 a sum is rounded, and two generations would have one seed.
  const left = 2 ** 53 - first;
  return Array.from({ length: count }, (_, i) => (i < left ? first + i : i - left));
}

/** The same of several generations; who runs them says in `reasons` how each has ended. */
export function generationsOf<T extends { readonly text: string; readonly index: number }>(
  fn: string,
  tokens: AsyncGenerator<T, void, undefined>,
  seeds: readonly number[],
  reasons: (FinishReason | undefined)[],
): Generations<T> {
  const all = forOneLoop(fn, tokens, () => seeds.forEach((_, i) => (reasons[i] ??= 'aborted')));
  async function texts(): Promise<string[]> {
    const whole = seeds.map(() => '');
    for await (const { index, text } of all) whole[index] = (whole[index] ?? '') + text;
    return whole;
  }
  Object.defineProperties(all, {
    seeds: { value: seeds, enumerable: true },
    finishReasons: { get: () => [...reasons], enumerable: true },
    texts: { value: texts },
  });
  return all as Generations<T>;
}
