// The passes of one generation.

import type { Token } from '../../api/model-types.js';
import type { TokenProbability } from '../../api/sampling-types.js';
import type { Input } from '../../arguments/arrays.js';
import { found } from '../../language/rows.js';
import { Call } from '../../memory/call.js';
import { editsIn } from '../edits.js';
import type { ModelState } from '../model-state.js';
import { PassSites, type SiteOptions } from '../pass-sites.js';
import { choiceIn } from '../sampling-options.js';
import { addressOf, keepOnly, makeRoom, readInto, roomIn, type SessionState } from '../session.js';
import { Choices } from './choices.js';
import type { GenerateRequest, Sampling } from './request.js';
import { Seen } from './seen.js';

/** A token and what was likely too, before any of them is a text. */
export type Chosen = Omit<Token, 'text' | 'topLogprobs' | 'finishReason'> & {
  readonly topLogprobs?: readonly TokenProbability[];
};

/** Tokens that penalties are for, if there are any. */
export function seenOf(prompt: Int32Array, sampling: Sampling): Seen | undefined {
  const { repetitionPenalty, frequencyPenalty, presencePenalty } = sampling;
  const isPlain = repetitionPenalty === 1 && frequencyPenalty === 0 && presencePenalty === 0;
  return isPlain ? undefined : new Seen(prompt, frequencyPenalty === 0);
}

export class Passes {
  readonly #state: ModelState;
  readonly #session: SessionState;
  readonly #request: GenerateRequest;
  readonly #seen: Seen | undefined;
  readonly #choices: Choices;
  /** Tokens that the session held before the first pass, and still holds. */
  #before: number;
  /** Tokens that were read. */
  #read = 0;
  #steps = 0;

  constructor(state: ModelState, sessionState: SessionState, request: GenerateRequest) {
    this.#state = state;
    this.#session = sessionState;
    this.#before = sessionState.length;
    this.#request = request;
    this.#seen = seenOf(request.whole ?? request.prompt, request.sampling);
    this.#choices = new Choices(request.rules);
  }

  /** Whether model and session are still there. */
  get isAlive(): boolean {
    return this.#state.isAlive && this.#session.handle.address !== undefined;
  }

  /** Whether a token can be read, also after model or session were disposed. */
  get hasRoom(): boolean {
    return this.isAlive && roomIn(this.#session) > 0;
  }

  /** Whether nothing may follow the token that was chosen last. */
  get isOver(): boolean {
    return this.#choices.isOver;
  }

  /** Leaves the session as it was before the first pass. */
  forget(): void {
    if (this.isAlive && this.#session.length > this.#before)
      keepOnly(this.#request.fn, this.#session, this.#before);
  }

  /** Reads tokens. */
  read(ids: Int32Array): void {
    const { ablate } = this.#request.sites.inspect ?? {};
    const { call, fields } = this.#begin(ids, ablate ? { inspect: { ablate } } : {});
    readInto(this.#request.fn, this.#session, ids, () => {
      call.run('forwardModel', fields());
    });
    this.#read += ids.length;
  }

  /** Reads tokens, and chooses one that follows the last of them. */
  choose(ids: Int32Array): Chosen {
    const { call, places, fields } = this.#begin(ids, this.#request.sites);
    const choice = choiceIn(call, this.#choices.next(this.#seen?.input));
    const slot = call.output('found', [4]);
    readInto(this.#request.fn, this.#session, ids, () => {
      call.run('generateToken', {
        ...fields(),
        sampling: { ...this.#request.sampling, step: this.#steps },
        choice: choice.fields,
        found: slot,
      });
    });
    this.#steps += 1;
    this.#read += ids.length;
    const [id = -1, logProbability = NaN] = found(call, slot);
    this.#seen?.add(id);
    this.#choices.push(id);
    return { id, logProbability, ...choice.result(), ...places.result(call) };
  }

  #makeRoom(rows: Input): void {
    const dropped = makeRoom(this.#request.fn, this.#session, rows);
    const kept = Math.min(this.#before, this.#session.keep ?? 0);
    if (dropped > 0) this.#before = Math.max(kept, this.#before - dropped);
  }

  #begin(ids: Int32Array, sites: SiteOptions) {
    const { fn } = this.#request;
    const state = this.#state;
    const sessionState = this.#session;
    const { length } = ids;
    const rows = { name: 'prompt', shape: [1, length], source: ids };
    this.#makeRoom(rows);
    const call = new Call(state.instance, fn);
    const size = { batch: 1, length, keys: sessionState.length + length };
    const edits = editsIn(this.#request.edits, this.#read, size);
    const places = new PassSites(fn, call, sites, state.spec.config, { ...size, edits });
    const fields = () => ({
      model: state.live(fn),
      session: addressOf(fn, sessionState),
      ids: call.input(rows),
      sites: places.fields(call),
    });
    return { call, places, fields };
  }
}
