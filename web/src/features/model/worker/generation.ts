import { median } from '../../../domain/averages';
import type { Opened } from './open_model';
import type { Generated, HeadName, Sampling, Speed, SpeedPoint } from '../shared/protocol';

/** Tokens whose times are kept for the median. */
const KEPT = 63;
/** News of what was written, at most so often, in milliseconds. */
const OFTEN = 16;

const pause = (time: number) => new Promise((resolve) => setTimeout(resolve, time));

export interface GenerateAsk {
  readonly ids: readonly number[];
  readonly sampling: Sampling;
  readonly ablated: readonly HeadName[];
  readonly seed: number;
  readonly tokens: number;
  readonly pace: number | null;
}

/** Room for all that the page reads and writes. A file may say any maxLength, and a cache is allocated whole. */
const MOST_CACHED = 2048;

/** Writes on from a text with a cache that the page can watch, and tells what there is, until it is stopped. */
export async function generate(
  { model, info, label }: Opened,
  { ids, sampling, ablated, seed, tokens, pace }: GenerateAsk,
  { signal, say }: { signal: AbortSignal; say: (generated: Generated) => void },
): Promise<void> {
  const session = model.session({ capacity: Math.min(info.maxLength, MOST_CACHED) });
  const { capacity, bytes } = session;
  const before = info.tokenizer === 'none' ? ids.join(' ') : (model.tokenizer?.decode(ids) ?? '');
  const times: number[] = [];
  let [text, count, reported] = ['', 0, 0];
  const tell = (running: boolean) => {
    reported = performance.now();
    const cache = { cached: session.length, capacity, bytesPerToken: bytes / capacity };
    say({ before, text, tokens: count, ...cache, median: median(times), running, seed });
  };
  try {
    const written = model.generate(ids, {
      ...sampling,
      ...{ seed, maxTokens: tokens, session, signal },
      inspect: { ablate: ablated },
    });
    const steps = written[Symbol.asyncIterator]();
    for (;;) {
      const begin = performance.now();
      const step = await steps.next();
      if (step.done) break;
      // The first token waits for the whole text before it.
      if (count > 0) times.push(performance.now() - begin);
      if (times.length > KEPT) times.shift();
      count++;
      text += info.tokenizer !== 'none' ? step.value.text : `${label(step.value.id)} `;
      if (pace !== null || performance.now() - reported > OFTEN) tell(true);
      if (pace !== null) await pause(1000 / pace);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    tell(false);
    session.dispose();
  }
}

// ---- with and without the cache ----

/** A cached token is timed over so many of them, as clocks are coarse. */
const SPAN = 8;
/** And so many times, for the median. */
const SPANS = 7;
/** The other way is repeated for so long, in milliseconds. */
const LEAST = 20;

/** Behind so many tokens of `most` there is room for a span; of a model that reads fewer nothing is timed. */
function lengthsUpTo(most: number): number[] {
  const last = most - SPAN;
  const lengths = [8, 16, 32, 64, 128, 192, 256, 384, 512].filter((n) => n < last);
  return last > 0 ? [...lengths, last] : [];
}

/** One pass over all tokens for the last of them, as without a cache; the median of its times, and its logits. */
function whole(model: Opened['model'], ids: readonly number[]) {
  const times: number[] = [];
  let logits = new Float32Array();
  for (let begin = performance.now(), now = begin; now - begin < LEAST && times.length < 64;) {
    logits = model.forward(ids, { rows: 'last' }).logits.data;
    times.push(performance.now() - now);
    now = performance.now();
  }
  return { time: median(times), logits };
}

/**
 * Times a token behind so many others both ways: with the keys and values of those in a cache, and by a pass over all
 * of them. Yields after every length, so that others have a turn.
 */
export function* speedOf({ model }: Opened, ids: readonly number[]): Generator<Speed, undefined> {
  const most = model.config.maxLength;
  const all = Array.from({ length: Math.min(most, 520) }, (_, i) => ids[i % ids.length]!);
  const session = model.session({ capacity: all.length });
  const points: SpeedPoint[] = [];
  let difference = 0;
  const read = (from: number, to: number) => {
    for (let i = from; i < to; i++) model.forward([all[i]!], { session, rows: 'last' });
  };
  try {
    whole(model, all.slice(0, 16)); // code that runs for the first time is slow
    read(0, Math.min(16, all.length));
    for (const length of lengthsUpTo(all.length)) {
      session.truncate(Math.min(session.length, length - 1));
      const missing = all.slice(session.length, length - 1);
      if (missing.length > 0) model.forward(missing, { session, rows: 'last' });
      const short = model.forward([all[length - 1]!], { session, rows: 'last' }).logits.data;
      const spans = Array.from({ length: SPANS }, () => {
        session.truncate(length);
        const begin = performance.now();
        read(length, length + SPAN);
        return (performance.now() - begin) / SPAN;
      });
      const cached = median(spans);
      const long = whole(model, all.slice(0, length));
      for (const [i, x] of long.logits.entries()) {
        difference = Math.max(difference, Math.abs(x - short[i]!));
      }
      points.push({ length, cached, whole: long.time });
      yield { points: [...points], difference, running: true };
    }
    yield { points, difference, running: false };
  } finally {
    session.dispose();
  }
}
