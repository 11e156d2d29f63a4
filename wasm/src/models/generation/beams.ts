// Beam search: the likeliest answers as a whole, where generate() takes the likeliest token at each place.

import type { Beam, BeamOptions } from '../../api/generation-types.js';
import type { Session } from '../../api/model-types.js';
import { checkInteger, checkNumber } from '../../arguments/numbers.js';
import { checkSignal, throwIfAborted } from '../../arguments/signal.js';
import { takeOptions } from '../../arguments/values.js';
import type { ModelState } from '../model-state.js';
import { sessionStateOf } from '../session.js';
import { chooseTokens } from './batch.js';
import { Passes } from './passes.js';
import { breather, type Breather, ownSession, readPrompt } from './prompt.js';
import { type GenerateRequest, requestOf } from './request.js';
import { StreamedText } from './streamed-text.js';

const fn = 'LanguageModel.beams';
const mostBeams = 64;

/** An answer that goes on. */
interface Open {
  readonly session: Session;
  /** What its session has not read: the last token. */
  readonly next: Int32Array;
  readonly ids: readonly number[];
  readonly logProbability: number;
}

/** An answer with one token more. */
interface Candidate {
  readonly from: Open;
  readonly id: number;
  readonly logProbability: number;
}

interface Search {
  readonly state: ModelState;
  readonly request: GenerateRequest;
  readonly beams: number;
  readonly lengthPenalty: number;
}

/** log p / length^lengthPenalty (Wu et al. 2016, without their constant). */
const scoreOf = ({ lengthPenalty }: Search, logProbability: number, length: number): number =>
  logProbability / length ** lengthPenalty;

/** Every open answer with each of the likeliest tokens, the likeliest first; of equals the first. */
function candidatesOf({ state, request, beams }: Search, open: readonly Open[]): Candidate[] {
  // Twice as many, as one in each answer may end it.
  const count = Math.min(state.spec.config.vocabulary, beams + request.ends.length);
  const rows = open.map(({ session, next, ids }) => ({
    ...{ session: sessionStateOf(fn, state, session), ids: next, sampling: request.sampling },
    ...{ step: ids.length, choice: { top: count } },
  }));
  return chooseTokens(fn, state, rows)
    .flatMap(({ topLogprobs = [] }, i) => {
      const from = open[i] as Open;
      return topLogprobs.map(({ id, logProbability }) => ({
        ...{ from, id, logProbability: from.logProbability + logProbability },
      }));
    })
    .sort((a, b) => b.logProbability - a.logProbability);
}

/** The answers that go on: each has a session of its own, the first of several out of one keeps that one's. */
function kept(candidates: readonly Candidate[], open: readonly Open[]): Open[] {
  const taken = new Set<Open>();
  const next: Open[] = [];
  try {
    for (const { from, id, logProbability } of candidates) {
      // Copies first: the session itself goes to the last of them, before it reads anything.
      const isLast = !candidates.slice(next.length + 1).some((other) => other.from === from);
      const session = isLast ? from.session : from.session.fork();
      if (isLast) taken.add(from);
      next.push({ session, next: Int32Array.of(id), ids: [...from.ids, id], logProbability });
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
    return { session, next, ids: [], logProbability: 0 };
  } catch (error) {
    session.dispose();
    throw error;
  }
}

/** An answer as callers have it. */
function beamOf(search: Search, { from, id, logProbability }: Candidate, isEnd: boolean): Beam {
  const { state, request } = search;
  const ids = [...from.ids, id];
  const texts = new StreamedText(fn, state.spec, [], request.prompt);
  const said = isEnd ? ids.slice(0, -1) : ids;
  const text = said.map((each) => texts.push(each).text).join('') + texts.end();
  const score = scoreOf(search, logProbability, ids.length);
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
  // Log probabilities only fall; a score rises with length if the penalty is above 0.
  const length = search.lengthPenalty > 0 ? search.request.most : best.ids.length;
  return worst.score >= scoreOf(search, best.logProbability, length);
}

export async function beams(
  state: ModelState,
  prompt: unknown,
  options: BeamOptions,
): Promise<Beam[]> {
  const names = [
    ...['beams', 'maxTokens', 'stopTokens', 'lengthPenalty', 'plain', 'signal'],
  ] as const;
  const taken = takeOptions(fn, 'options', options, names);
  const { beams: count = 4, lengthPenalty = 1, signal, maxTokens, stopTokens, plain } = taken;
  checkInteger(fn, 'beams', count, 1, mostBeams);
  checkNumber(fn, 'lengthPenalty', lengthPenalty);
  checkSignal(fn, signal);
  const request = requestOf(state, prompt, { maxTokens, stopTokens, plain, seed: 0 });
  const search: Search = { state, request, beams: count, lengthPenalty };
  const breathe = breather(signal);
  throwIfAborted(signal);
  const ended: Beam[] = [];
  let open: Open[] = [await begin(search, breathe)];
  try {
    for (let length = 1; open.length > 0; length += 1) {
      const isLast = length >= request.most;
      const going: Candidate[] = [];
      for (const candidate of candidatesOf(search, open)) {
        const isEnd = request.ends.includes(candidate.id);
        if (isEnd || isLast) ended.push(beamOf(search, candidate, isEnd));
        else going.push(candidate);
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
