// Several generations side by side: each pass reads the weights once for all of them.

import { QkvError } from '../../api/errors.js';
import type { FinishReason, Generations } from '../../api/generation-types.js';
import type {
  GenerateAllOptions,
  GenerateOptions,
  Session,
  TokenOfAll,
} from '../../api/model-types.js';
import { drawnSeed, generationsOf, seedsFrom } from '../../arguments/generation.js';
import { throwIfAborted } from '../../arguments/signal.js';
import { describe, listOf } from '../../arguments/values.js';
import type { ModelState } from '../model-state.js';
import { sessionStateOf } from '../session.js';
import { chooseTokens } from './batch.js';
import { Choices } from './choices.js';
import { ofOneGeneration, withoutOptions } from './own-options.js';
import { Passes, seenOf } from './passes.js';
import { breather, type Breather, ownSession, readPrompt } from './prompt.js';
import { type GenerateRequest, requestOf } from './request.js';
import { Telling } from './telling.js';

const fn = 'LanguageModel.generateAll';
/** Most prompts of a call. */
const mostPrompts = 1024;

/** The generations of one call, as they go on. */
class Row {
  readonly session: Session;
  readonly #request: GenerateRequest;
  readonly #state: ModelState;
  readonly #choices: Choices;
  readonly #seen: ReturnType<typeof seenOf>;
  readonly #telling: Telling;
  #next: Int32Array;
  #steps = 0;

  constructor(
    state: ModelState,
    readonly index: number,
    request: GenerateRequest,
  ) {
    const { prompt, sampling, rules } = request;
    this.session = ownSession(fn, state, request);
    this.#state = state;
    this.#request = request;
    this.#choices = new Choices(rules);
    this.#seen = seenOf(prompt, sampling);
    this.#telling = new Telling(state, request);
    this.#next = prompt.subarray(prompt.length - 1);
  }

  /** Reads the prompt but for its last token. */
  async read(breathe: Breather): Promise<void> {
    const passes = new Passes(this.#state, this.#sessionState, this.#request);
    await readPrompt(passes, this.#request.prompt, 1, breathe);
  }

  get #sessionState() {
    return sessionStateOf(fn, this.#state, this.session);
  }

  /** What the next pass is given. */
  get choice() {
    const { sampling } = this.#request;
    const choice = this.#choices.next(this.#seen?.input);
    return { session: this.#sessionState, ids: this.#next, sampling, step: this.#steps, choice };
  }

  /** The token that was chosen, as callers have it. */
  token(chosen: ReturnType<typeof chooseTokens>[number]): TokenOfAll {
    this.#steps += 1;
    this.#next = Int32Array.of(chosen.id);
    this.#seen?.add(chosen.id);
    this.#choices.push(chosen.id);
    return { index: this.index, ...this.#telling.token(chosen, this.#choices.isOver) };
  }
}

async function* tokens(
  state: ModelState,
  requests: readonly GenerateRequest[],
  reasons: (FinishReason | undefined)[],
): AsyncGenerator<TokenOfAll, void, undefined> {
  const signal = requests[0]?.signal;
  const breathe = breather(signal);
  const all: Row[] = [];
  try {
    throwIfAborted(signal);
    for (const [i, request] of requests.entries()) {
      const row = new Row(state, i, request);
      all.push(row);
      await row.read(breathe);
    }
    let rows: readonly Row[] = all;
    while (rows.length > 0) {
      const chosen = chooseTokens(
        fn,
        state,
        rows.map(({ choice }) => choice),
      );
      const tokens = rows.map((row, i) => row.token(chosen[i] as (typeof chosen)[number]));
      for (const token of tokens) {
        if (token.finishReason) reasons[token.index] = token.finishReason;
        yield token;
      }
      rows = rows.filter((row) => reasons[row.index] === undefined);
      await breathe();
    }
  } finally {
    for (const { session } of all) session.dispose();
    requests.forEach((_, i) => (reasons[i] ??= 'aborted'));
  }
}

/** The options of each of them, whose seeds follow each other. */
function optionsOf(options: GenerateAllOptions, count: number): GenerateOptions[] {
  const own: GenerateOptions = withoutOptions(fn, options, ofOneGeneration);
  const { seed = drawnSeed() } = own;
  // What is no seed is refused with the other options.
  const seeds = typeof seed === 'number' ? seedsFrom(seed, count) : Array(count).fill(seed);
  return seeds.map((each) => ({ ...own, seed: each as number }));
}

export function generateAll(
  state: ModelState,
  given: unknown,
  options: GenerateAllOptions,
): Generations<TokenOfAll> {
  const prompts = listOf(fn, 'prompts', given, mostPrompts);
  if (!prompts || prompts.length === 0) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: prompts is ${describe(given)}, expected an array of 1 to ${mostPrompts} texts or lists of tokens`,
    );
  }
  const each = optionsOf(options, prompts.length);
  const requests = prompts.map((prompt, i) => requestOf(fn, state, prompt, each[i] ?? {}));
  const reasons = requests.map((): FinishReason | undefined => undefined);
  const seeds = requests.map(({ sampling }) => sampling.seed);
  return generationsOf(fn, tokens(state, requests, reasons), seeds, reasons);
}
