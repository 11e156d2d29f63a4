// Conversations with a model.

import type { ChatPrompt, ChatPromptOptions } from '../api/chat-types.js';
import type { Generation } from '../api/generation-types.js';
import type { ChatOptions, Token } from '../api/model-types.js';
import { chatText, promptNames, promptWith } from '../chat/chat-prompt.js';
import { splitOptions, withReuse } from '../chat/chatting.js';
import { takeOptions } from '../arguments/values.js';
import { bareTokens } from './encoding.js';
import { generate } from './generation/generate.js';
import type { ModelState } from './model-state.js';

/** The prompt of a conversation, for a call of `fn`. */
function promptOf(
  fn: string,
  state: ModelState,
  messages: unknown,
  options: ChatPromptOptions,
): ChatPrompt {
  state.live(fn);
  const { spec } = state;
  const written = chatText(fn, spec.chatTemplates, messages, options);
  return promptWith(written, bareTokens(fn, spec, written.text, written.escape));
}

export function chatPrompt(
  state: ModelState,
  messages: unknown,
  options: ChatPromptOptions,
): ChatPrompt {
  const fn = 'LanguageModel.chatPrompt';
  return promptOf(fn, state, messages, takeOptions(fn, 'options', options, promptNames));
}

export function chat(
  state: ModelState,
  messages: unknown,
  options: ChatOptions,
): Generation<Token> {
  const fn = 'LanguageModel.chat';
  const { prompt, generation } = splitOptions(fn, options);
  const { ids } = promptOf(fn, state, messages, prompt);
  return generate(fn, state, ids, withReuse(generation));
}
