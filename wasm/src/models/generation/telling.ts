// The tokens of a generation as callers have them: their texts, alternatives, and the reason for which the last one is the last.

import type { Alternative, FinishReason } from '../../api/generation-types.js';
import type { Token } from '../../api/model-types.js';
import type { ModelState } from '../model-state.js';
import type { Chosen } from './passes.js';
import type { GenerateRequest } from './request.js';
import { StreamedText } from './streamed-text.js';

/** Makes what callers get of one generation, token by token, from what was chosen. */
export class Telling {
  readonly #request: GenerateRequest;
  readonly #texts: StreamedText;
  #count = 0;

  constructor(state: ModelState, request: GenerateRequest) {
    this.#request = request;
    const { fn, stops, whole, prompt } = request;
    this.#texts = new StreamedText(fn, state.spec, stops, whole ?? prompt);
  }

  /** The token as callers have it; with a reason it is the last. `isOver`: whether nothing may follow it. */
  token({ topLogprobs: top, ...chosen }: Chosen, isOver: boolean): Token {
    const { ends, most, maxTokens } = this.#request;
    this.#count += 1;
    const topLogprobs = top?.map((each): Alternative => ({
      ...each,
      text: this.#texts.peek(each.id),
    }));
    const isEnd = ends.includes(chosen.id);
    const { text, isStopped } = isEnd
      ? { text: '', isStopped: false }
      : this.#texts.push(chosen.id);
    const isFull = this.#count >= most;
    const atMost: FinishReason = most === maxTokens ? 'length' : 'room';
    const finishReason = isEnd || isStopped || isOver ? 'stop' : isFull ? atMost : undefined;
    return {
      ...chosen,
      text: finishReason && !isStopped ? text + this.#texts.end() : text,
      ...(topLogprobs && { topLogprobs }),
      ...(finishReason && { finishReason }),
    };
  }
}
