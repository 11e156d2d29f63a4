// Beam search: the likeliest answers as a whole, where generate() takes the likeliest token at each place.

import type { Beam } from '../../api/generation-types.js';
import type { BeamOptions, Session } from '../../api/model-types.js';
import { checkInteger, checkNumber } from '../../arguments/numbers.js';
import { checkSignal, throwIfAborted } from '../../arguments/signal.js';
import { takeOptions } from '../../arguments/values.js';
import type { ModelState } from '../model-state.js';
import { sessionStateOf } from '../session.js';
import { chooseTokens } from './batch.js';
import { Choices } from './choices.js';
import { ofOneGeneration, withoutOptions } from './own-options.js';
import { Passes } from './passes.js';
import { breather, type Breather, ownSession, readPrompt } from './prompt.js';
import { type GenerateRequest, requestOf } from './request.js';
import { StreamedText } from './streamed-text.js';

const fn = 'LanguageModel.beams';
const mostBeams = 64;
const names = [
  ...['beams', 'maxTokens', 'stopTokens', 'lengthPenalty', 'plain', 'signal'],
  ...['logitBias', 'banned', 'forced', 'mask', 'constraint'],
] as const;

const drawn = 'beam search draws no token';
const penalty = 'answers are compared by their probabilities; logitBias changes the comparison';
/** Options of generate() that beam search does not have. */
const refused = {
  ...{ temperature: drawn, topK: drawn, topP: drawn, minP: drawn, seed: drawn },
  ...{ repetitionPenalty: penalty, frequencyPenalty: penalty, presencePenalty: penalty },
  stop: 'an answer ends with a token of stopTokens',
  topLogprobs: 'the other answers are the alternatives',
  ...ofOneGeneration,
} as const;

/** An answer that goes on. */
interface Open {
  readonly session: Session;
  /** What its session has not read: the last token. */
  readonly next: Int32Array;
  readonly ids: readonly number[];
  readonly logProbability: number;
  /** ln p with what `logitBias` adds, by which answers are compared. */
  readonly value: number;
  readonly choices: Choices;
}

/** An answer with one token more. */
interface Candidate {
  readonly from: Open;
  readonly id: number;
  readonly logProbability: number;
  readonly value: number;
}

/** A candidate whose token the rules have taken. */
interface Answer extends Candidate {
  readonly choices: Choices;
  /** Whether its last token ends it. */
  readonly isEnd: boolean;
}

interface Search {
  readonly state: ModelState;
  readonly request: GenerateRequest;
  readonly beams: number;
  readonly lengthPenalty: number;
  /** By token, as the core has it. */
  readonly bias: ReadonlyMap<number, number>;
}

/** value / length^lengthPenalty (Wu et al. 2016, without their constant). */
const scoreOf = ({ lengthPenalty }: Search, value: number, length: number): number =>
  value / length ** lengthPenalty;

/** The sum of the biases of each token. */
function biasesOf({ rules: { bias } }: GenerateRequest): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  bias?.ids.forEach((id, i) => sums.set(id, (sums.get(id) ?? 0) + (bias.values[i] ?? 0)));
  return sums;
}

/** Every open answer with each of the likeliest tokens, the likeliest first; of equals the first. */
function candidatesOf(search: Search, open: readonly Open[]): Candidate[] {
  const { state, request, beams, bias } = search;
  // More than are followed, as each token that ends an answer may be among them; of a constraint any token may be one.
  const ending = request.ends.length + (request.rules.begun ? beams : 0);
  const top = Math.min(state.spec.config.vocabulary, beams + ending);
  const rows = open.map(({ session, next, ids, choices }) => ({
    ...{ session: sessionStateOf(fn, state, session), ids: next, sampling: request.sampling },
    ...{ step: ids.length, choice: { ...choices.next(undefined), top } },
  }));
  return chooseTokens(fn, state, rows, true)
    .flatMap(({ topLogprobs = [] }, i) => {
      const from = open[i] as Open;
      return topLogprobs
        .filter(({ logProbability }) => logProbability > -Infinity)
        .map(({ id, logProbability }): Candidate => ({
          ...{ from, id, logProbability: from.logProbability + logProbability },
          value: from.value + logProbability + (bias.get(id) ?? 0),
        }));
    })
    .sort((a, b) => b.value - a.value);
}

/** A candidate after its last token. */
function answerOf({ request }: Search, candidate: Candidate): Answer {
  const choices = candidate.from.choices.fork();
  choices.push(candidate.id);
  const isEnd = request.ends.includes(candidate.id) || choices.isOver;
  return { ...candidate, choices, isEnd };
}

/** The answers that go on, each with a session of its own: the last of several out of one gets that one's, the others copies. */
function kept(answers: readonly Answer[], open: readonly Open[]): Open[] {
  const taken = new Set<Open>();
  const next: Open[] = [];
  try {
    for (const { from, id, ...rest } of answers) {
      // Copies first: the session itself must not have read anything then.
      const isLast = !answers.slice(next.length + 1).some((other) => other.from === from);
      const session = isLast ? from.session : from.session.fork();
      if (isLast) taken.add(from);
      next.push({ ...rest, session, next: Int32Array.of(id), ids: [...from.ids, id] });
    }
    return next;
  } catch (error) {
    for (const { session } of next) session.dispose();
    throw error;
  } finally {
    for (const each of open) if (!taken.has(each)) each.session.dispose();
  }
}

/** Reads a prompt but for its last token into a session. */
async function begin({ state, request }: Search, breathe: Breather): Promise<Open> {
  const session = ownSession(fn, state, request);
  try {
    const passes = new Passes(state, sessionStateOf(fn, state, session), request);
    const next = await readPrompt(passes, request.prompt, 1, breathe);
    const choices = new Choices(request.rules);
    return { session, next, ids: [], logProbability: 0, value: 0, choices };
  } catch (error) {
    session.dispose();
    throw error;
  }
}

/** An answer as callers have it. */
function beamOf(search: Search, { from, id, logProbability, value, isEnd }: Answer): Beam {
  const { state, request } = search;
  const ids = [...from.ids, id];
  const texts = new StreamedText(fn, state.spec, [], request.prompt);
  const said = request.ends.includes(id) ? ids.slice(0, -1) : ids;
  const text = said.map((each) => texts.push(each).text).join('') + texts.end();
  const score = scoreOf(search, value, ids.length);
  return {
    ...{ ids: Int32Array.from(ids), text, logProbability, score },
    finishReason: isEnd ? 'stop' : request.most === request.maxTokens ? 'length' : 'room',
  };
}

/** Whether no answer that goes on can become better than those that have ended. */
function isSettled(search: Search, ended: readonly Beam[], open: readonly Open[]): boolean {
  const worst = ended[search.beams - 1];
  const best = open[0];
  if (!worst) return false;
  if (!best) return true;
  // Log probabilities only fall, biases may add to them; a score rises or falls with length.
  const { most } = search.request;
  const length = best.ids.length;
  const gain = Math.max(0, ...search.bias.values());
  const value = best.value + (gain > 0 ? gain * (most - length) : 0);
  return worst.score >= Math.max(scoreOf(search, value, length), scoreOf(search, value, most));
}

export async function beams(
  state: ModelState,
  prompt: unknown,
  options: BeamOptions,
): Promise<Beam[]> {
  const own: BeamOptions = withoutOptions(fn, options, refused);
  const taken = takeOptions(fn, 'options', own, names);
  const { beams: count = 4, lengthPenalty = 1, signal, ...rules } = taken;
  checkInteger(fn, 'beams', count, 1, mostBeams);
  checkNumber(fn, 'lengthPenalty', lengthPenalty);
  checkSignal(fn, signal);
  const request = requestOf(fn, state, prompt, { ...rules, seed: 0 });
  const bias = biasesOf(request);
  const search: Search = { state, request, beams: count, lengthPenalty, bias };
  const breathe = breather(signal);
  throwIfAborted(signal);
  const ended: Beam[] = [];
  let open: Open[] = [await begin(search, breathe)];
  try {
    for (let length = 1; open.length > 0; length += 1) {
      const isLast = length >= request.most;
      const going: Answer[] = [];
      const candidates = candidatesOf(search, open);
      // Answers of one length are as good as they are likely.
      for (const candidate of isLast ? candidates.slice(0, count) : candidates) {
        const answer = answerOf(search, candidate);
        if (answer.isEnd || isLast) ended.push(beamOf(search, answer));
        else going.push(answer);
        if (going.length === count) break;
      }
      ended.sort((a, b) => b.score - a.score).splice(count);
      const before = open;
      open = [];
      open = kept(going, before);
      if (isSettled(search, ended, open)) break;
      await breathe();
    }
    return ended;
  } finally {
    for (const { session } of open) session.dispose();
  }
}
