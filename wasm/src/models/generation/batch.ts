// One pass for several sessions, which reads the weights once, and a token for each of them.

import { QkvError } from '../../api/errors.js';
import type { TokenProbability } from '../../api/sampling-types.js';
import { found } from '../../language/rows.js';
import { Call } from '../../memory/call.js';
import type { ModelState } from '../model-state.js';
import type { Choice } from '../sampling-options.js';
import { addressOf, keepOnly, type SessionState } from '../session.js';
import type { Sampling } from './request.js';

/** What one of the sessions reads, and how its token is chosen. */
export interface BatchRow {
  readonly session: SessionState;
  /** As many as those of the other rows. */
  readonly ids: Int32Array;
  readonly sampling: Sampling;
  readonly step: number;
  readonly choice: Choice;
}

export interface BatchToken extends TokenProbability {
  readonly topLogprobs?: readonly TokenProbability[];
}

/** The numbers of a choice in the order of the operator. */
const numbersOf = ({ sampling: s, step }: BatchRow): readonly number[] => [
  ...[s.temperature, s.topK, s.topP, s.minP, s.repetitionPenalty],
  ...[s.frequencyPenalty, s.presencePenalty, s.seed, step],
];

/** Lists of all rows one after another, and where each ends. */
function joined(lists: readonly (ArrayLike<number> | undefined)[]) {
  const all = lists.flatMap((list) => Array.from(list ?? []));
  let end = 0;
  const ends = lists.map((list) => (end += list?.length ?? 0));
  return { all, ends };
}

/** A bit for each token and row; all bits where a row has no mask. Undefined if none has one. */
function masksOf(rows: readonly BatchRow[], vocabulary: number): Int32Array | undefined {
  if (rows.every(({ choice }) => !choice.allowed)) return undefined;
  const words = Math.ceil(vocabulary / 32);
  const all = new Int32Array(rows.length * words).fill(-1);
  rows.forEach(({ choice }, i) => choice.allowed && all.set(choice.allowed, i * words));
  return all;
}

/** The likeliest tokens of a row, as many as its request says. */
function topOf(
  call: Call,
  slots: TopSlots,
  row: number,
  count: number,
): readonly TokenProbability[] {
  const [from, end] = [row * slots.count, row * slots.count + count];
  const ids = new Int32Array(call.read(slots.ids).buffer).subarray(from, end);
  const numbers = call.read(slots.logProbabilities);
  return Array.from(ids, (id, i) => ({ id, logProbability: numbers[from + i] ?? NaN }));
}

interface TopSlots {
  readonly count: number;
  readonly ids: ReturnType<Call['output']>;
  readonly logProbabilities: ReturnType<Call['output']>;
}

/**
 * Reads the tokens of every row into its session, and chooses one that follows: each is the token that the row would get by
 * itself, bit for bit. If anything is refused all sessions stay as they were.
 */
export function chooseTokens(
  fn: string,
  state: ModelState,
  rows: readonly BatchRow[],
  /** Whether `topLogprobs` are those after biases, penalties and masks; by default they are the model's own. */
  topAfterChanges = false,
): readonly BatchToken[] {
  const { vocabulary } = state.spec.config;
  const batch = rows.length;
  const length = rows[0]?.ids.length ?? 0;
  const call = new Call(state.instance, fn);
  const ints = (name: string, source: Int32Array, shape = [source.length]) =>
    call.input({ name, shape, source });
  const ids = Int32Array.from(rows.flatMap((row) => Array.from(row.ids)));
  const numbers = Float64Array.from(rows.flatMap(numbersOf));
  const seen = joined(rows.map(({ choice }) => choice.seen?.source as Int32Array | undefined));
  const biased = joined(rows.map(({ choice }) => choice.bias?.ids));
  const biases = joined(rows.map(({ choice }) => choice.bias?.values));
  const masks = masksOf(rows, vocabulary);
  const count = Math.max(0, ...rows.map(({ choice }) => choice.top ?? 0));
  const top: TopSlots | undefined =
    count > 0
      ? {
          count,
          ids: call.output('topIds', [batch, count]),
          logProbabilities: call.output('topLogProbabilities', [batch, count]),
        }
      : undefined;
  const slot = call.output('found', [4 * batch]);
  const fields = {
    model: state.live(fn),
    ids: ints('prompt', ids, [batch, length]),
    sessions: ints(
      'sessions',
      Int32Array.from(rows, ({ session }) => addressOf(fn, session)),
    ),
    sampling: call.input({
      ...{ name: 'sampling', shape: [2 * numbers.length] },
      source: new Float32Array(numbers.buffer),
    }),
    ...{
      seen: ints('seen', Int32Array.from(seen.all)),
      seenEnds: ints('seen', Int32Array.from(seen.ends)),
    },
    biasIds: ints('logitBias', Int32Array.from(biased.all)),
    biasEnds: ints('logitBias', Int32Array.from(biased.ends)),
    biases: call.input({
      ...{ name: 'logitBias', shape: [biases.all.length] },
      source: Float32Array.from(biases.all),
    }),
    allowed: masks && ints('allowed', masks, [batch, masks.length / batch]),
    ...{ topIds: top?.ids, topLogProbabilities: top?.logProbabilities, found: slot },
    topAfterChanges,
  };
  try {
    call.run('generateTokens', fields);
  } catch (error) {
    if (error instanceof QkvError && error.code === 'thread_lost') {
      for (const { session } of rows) keepOnly(fn, session, session.length);
    }
    throw error;
  }
  const tokens = found(call, slot);
  return rows.map(({ session, choice }, i) => {
    session.length += length;
    session.held.add(ids.subarray(i * length, (i + 1) * length));
    const { top: wanted = 0 } = choice;
    return {
      ...{ id: tokens[2 * i] ?? -1, logProbability: tokens[2 * i + 1] ?? NaN },
      ...(top && wanted > 0 && { topLogprobs: topOf(call, top, i, wanted) }),
    };
  });
}
