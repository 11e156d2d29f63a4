// A generation whose prompt is a conversation.

import type { ChatPromptOptions } from '../api/chat-types.js';
import type { FinishReason, Generation } from '../api/generation-types.js';
import { QkvError } from '../api/errors.js';
import { type Ending, generationOf } from '../arguments/generation.js';
import { copiedOptions } from '../arguments/values.js';
import { promptNames } from './chat-prompt.js';

interface Split {
  readonly prompt: ChatPromptOptions;
  /** All other options. */
  readonly generation: Record<string, unknown>;
}

/** The options of chat() as those of its prompt and those of its generation. */
export function splitOptions(fn: string, options: object): Split {
  const isOfPrompt = (name: string): boolean => (promptNames as readonly string[]).includes(name);
  const all = Object.entries(copiedOptions(fn, options));
  return {
    prompt: Object.fromEntries(all.filter(([name]) => isOfPrompt(name))),
    generation: Object.fromEntries(all.filter(([name]) => !isOfPrompt(name))),
  };
}

/** Options of generate() for a prompt that is all of a conversation. */
export const withReuse = (generation: Record<string, unknown>): Record<string, unknown> =>
  generation['session'] === undefined ? generation : { reuse: true, ...generation };

/** An error of generate() as one of `fn`, which called it: the worker knows only what it runs. */
function namedAs(fn: string, error: unknown): unknown {
  const begin = 'LanguageModel.generate:';
  if (!(error instanceof QkvError) || !error.message.startsWith(begin)) return error;
  const { code, message, cause, stack } = error;
  const own = new QkvError(
    code,
    `${fn}:${message.slice(begin.length)}`,
    cause === undefined ? undefined : { cause },
  );
  if (stack !== undefined) own.stack = stack.replace(message, () => own.message);
  return own;
}

/** The tokens that follow a prompt, once it is made, out of generate() in a worker. */
export function chatting<T extends { readonly text: string; readonly finishReason?: FinishReason }>(
  fn: string,
  prompt: Promise<Int32Array>,
  seed: number,
  generate: (ids: Int32Array) => AsyncGenerator<T>,
): Generation<T> {
  const ending: Ending = {};
  // Until the first token is requested nobody wants to know.
  prompt.catch(() => undefined);
  async function* tokens(): AsyncGenerator<T, void, undefined> {
    try {
      for await (const token of generate(await prompt)) {
        ending.reason = token.finishReason;
        yield token;
      }
    } catch (error) {
      throw namedAs(fn, error);
    } finally {
      ending.reason ??= 'aborted';
    }
  }
  return generationOf(fn, tokens(), seed, ending);
}
