// The arguments of generate(), checked, with their defaults.

import { QkvError } from '../../api/errors.js';
import type { GenerateOptions } from '../../api/model-types.js';
import { drawnSeed } from '../../arguments/generation.js';
import { checkBoolean, checkInteger, mostInt } from '../../arguments/numbers.js';
import { checkSignal } from '../../arguments/signal.js';
import { describe, listOf, takeOptions } from '../../arguments/values.js';
import { Call } from '../../memory/call.js';
import { editsOf, type SiteEdit } from '../edits.js';
import { checkTokenLogits } from '../microscope/one-pass.js';
import type { ModelState } from '../model-state.js';
import { PassSites } from '../pass-sites.js';
import { samplingOf } from '../sampling-options.js';
import { roomIn, type SessionState, sessionStateOf } from '../session.js';
import { hasNoTokenizer, tokensOf } from '../text.js';
import { type ChoiceRules, choiceRulesOf } from './choices.js';
import { mostStops, tokenListOf } from './token-lists.js';

const names = [
  ...['maxTokens', 'temperature', 'topK', 'topP', 'minP', 'repetitionPenalty'],
  ...['frequencyPenalty', 'presencePenalty', 'seed', 'stop', 'stopTokens', 'topLogprobs'],
  ...['logitBias', 'banned', 'forced', 'mask', 'constraint', 'reuse', 'session'],
  ...['inspect', 'read', 'edit', 'signal', 'plain'],
] as const;

export type Sampling = ReturnType<typeof samplingOf>;

/** The tokens of a prompt, and how many may follow. */
interface Prompt {
  readonly prompt: Int32Array;
  /** What the encoder of a model with one reads first, unless a session has its own. */
  readonly source?: Int32Array;
  readonly most: number;
  /** Tokens of the session that stay when the loop begins: those that the prompt begins with. Undefined where all stay. */
  readonly kept?: number;
  /** With `kept`: the prompt with the tokens that the session has of it. */
  readonly whole?: Int32Array;
}

export interface GenerateRequest extends Prompt {
  /** What was called, for messages. */
  readonly fn: string;
  /** The same prompt, should the session be longer by now. */
  readonly again: () => Prompt;
  /** The length of the session when generate() was called. */
  readonly length: number;
  /** As many tokens were requested. */
  readonly maxTokens: number | undefined;
  readonly sampling: Sampling;
  readonly rules: ChoiceRules;
  readonly stops: readonly string[];
  readonly ends: readonly number[];
  readonly session: SessionState | undefined;
  /** What is read of each token that is chosen. */
  readonly sites: Pick<GenerateOptions, 'inspect' | 'read'>;
  readonly edits: readonly SiteEdit[];
  readonly signal: AbortSignal | undefined;
}

function stopsOf(fn: string, given: unknown): readonly string[] {
  if (given === undefined) return [];
  const list = listOf(fn, 'stop', given, mostStops);
  if (!list?.every((stop): stop is string => typeof stop === 'string' && stop !== '')) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: stop is ${describe(given)}, expected an array of texts that are not empty`,
    );
  }
  return list;
}

/** Tokens that the model, or the session, has room for beside the prompt; the last one need not be read. */
function roomFor(
  fn: string,
  state: ModelState,
  sessionState: SessionState | undefined,
  prompt: number,
  length = sessionState?.length ?? 0,
): number {
  const most = sessionState ? roomIn({ ...sessionState, length }) : state.spec.config.maxLength;
  const room = most - prompt;
  // A session that drops tokens has room for any number of others.
  if (room >= 0) return sessionState?.keep === undefined ? room + 1 : mostInt;
  throw new QkvError(
    'out_of_range',
    `${fn}: prompt has ${prompt} tokens, expected at most ${room + prompt}: ${sessionState ? 'the session' : 'the model'} has no room for more`,
  );
}

/** In a session with a source a prompt is what the decoder has said, of which a text is no tokens: it would end with the source's end. */
function checkSaid(fn: string, prompt: unknown): void {
  if (typeof prompt !== 'string') return;
  throw new QkvError(
    'invalid_argument',
    `${fn}: prompt is ${describe(prompt)} and the session has its source, expected the tokens that the decoder begins with, as [model.config.startToken]; without a session the text is the source`,
  );
}

/** How many tokens a session holds with which a prompt begins; not the last one, which chooses what follows. */
function commonLength({ held }: SessionState, prompt: Int32Array): number {
  const ids = held.ids ?? [];
  let length = 0;
  while (length < prompt.length - 1 && ids[length] === prompt[length]) length += 1;
  return length;
}

/** The tokens of a prompt, for a model and a session as they are now. */
function promptOf(
  fn: string,
  state: ModelState,
  from: unknown,
  session: SessionState | undefined,
  { maxTokens: most = mostInt, plain = false, reuse = false }: GenerateOptions,
): Prompt {
  const { config } = state.spec;
  if (config.encoderLayers > 0) {
    if (session) checkSaid(fn, from);
    else {
      const { source } = tokensOf(fn, 'prompt', from, state.spec, { plain });
      const prompt = Int32Array.of(config.startToken);
      return { prompt, source, most: Math.min(most, config.maxLength) };
    }
  }
  const goesOn = session !== undefined && session.length > 0 && !reuse;
  const { source, shape } = tokensOf(fn, 'prompt', from, state.spec, { goesOn, plain });
  if (session && reuse) {
    const kept = commonLength(session, source);
    const prompt = source.subarray(kept);
    const room = roomFor(fn, state, session, prompt.length, kept);
    return { prompt, kept, whole: source, most: Math.min(most, room) };
  }
  return { prompt: source, most: Math.min(most, roomFor(fn, state, session, shape[1])) };
}

/** A request of `fn`, whose options are those of generate() or some of them. */
export function requestOf(
  fn: string,
  state: ModelState,
  given: unknown,
  options: GenerateOptions,
): GenerateRequest {
  const taken = takeOptions(fn, 'options', options, names);
  const { maxTokens, session, signal, plain = false, reuse = false } = taken;
  const { config, tokenizer } = state.spec;
  checkTokenLogits(fn, state.spec);
  const stops = stopsOf(fn, taken.stop);
  if (stops.length > 0 && !tokenizer)
    throw hasNoTokenizer(fn, state.spec, 'stop is given', 'stopTokens');
  checkSignal(fn, signal);
  checkBoolean(fn, 'plain', plain);
  checkBoolean(fn, 'reuse', reuse);
  state.live(fn);
  if (maxTokens !== undefined) checkInteger(fn, 'maxTokens', maxTokens, 1, mostInt);
  const sessionState = session === undefined ? undefined : sessionStateOf(fn, state, session);
  if (sessionState) checkInteger(fn, 'the batch of session', sessionState.batch, 1, 1);
  const first = promptOf(fn, state, given, sessionState, taken);
  const again = typeof given === 'string' ? given : (first.whole ?? first.prompt);
  const ends =
    tokenListOf(fn, 'stopTokens', taken.stopTokens, config.vocabulary) ?? state.spec.ends;
  // For what is wrong with it, before anything is done.
  const pass = { batch: 1, length: 1, keys: 1 };
  const { inspect, read, edit } = taken;
  const places = new PassSites(fn, new Call(state.instance, fn), { inspect, read }, config, pass);
  return {
    ...{ ...first, fn },
    again: () => promptOf(fn, state, again, sessionState, taken),
    sampling: samplingOf(fn, { seed: drawnSeed(), ...taken }),
    rules: choiceRulesOf(fn, state.spec, taken, ends),
    ends,
    sites: { inspect: places.inspect, read: places.read },
    edits: editsOf(fn, edit, config, { ...pass, isOpen: true }),
    ...{ stops, session: sessionState, length: sessionState?.length ?? 0, signal, maxTokens },
  };
}
