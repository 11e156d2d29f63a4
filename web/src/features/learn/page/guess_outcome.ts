import type { RunRecord } from './run_record';
import type { Settings } from '../shared/run_settings';

/** From this accuracy on, on rows that it is judged by, a model has learned its task. */
const LEARNED = 0.95;

/** The question before a run: which of two kinds of heads forms first, how many layers it takes, or whether the task is learned. */
export type Question = 'first' | 'layers' | 'learns';
export type Answer = 'previous' | 'induction' | 'neither' | 'one' | 'two' | 'more' | 'yes' | 'no';

export const ANSWERS: Readonly<Record<Question, readonly Answer[]>> = {
  first: ['previous', 'induction', 'neither'],
  layers: ['one', 'two', 'more'],
  learns: ['yes', 'no'],
};

export function questionOf({ task, positions, layers, causal }: Settings): Question {
  const usual = positions !== 'none' && layers > 1 && causal;
  if (task === 'names' && causal && layers < 3) return 'layers';
  return task === 'induction' && usual ? 'first' : 'learns';
}

export interface Outcome {
  readonly answer: Answer;
  /** The step at which it was known. */
  readonly step: number;
  /** Of the two kinds of heads the largest scores at that step. */
  readonly scores?: { readonly previous: number; readonly induction: number };
}

/** Text is learned by heart: the rows that count are those it was trained on. */
const judgedByTraining = ({ task }: Settings) => task === 'characters';

function learnedAt(record: RunRecord): number | undefined {
  if (!judgedByTraining(record.settings)) {
    return record.judged.find(({ accuracy }) => accuracy >= LEARNED)?.step;
  }
  const first = record.accuracy.findIndex((accuracy) => accuracy >= LEARNED);
  return first < 0 ? undefined : first;
}

/** Which kind of head passed first, and how far the other one was then. */
function firstOf(record: RunRecord, budget: number): Outcome | undefined {
  // The task has no scores but those of the two kinds.
  const [first] = record.births;
  if (!first || first.step > budget) {
    return record.step >= budget ? { answer: 'neither', step: budget } : undefined;
  }
  const [previous = 0, induction = 0] = record.judgedAt(first.step)?.best ?? [];
  return {
    answer: first.score as Answer,
    step: first.step,
    scores: { previous, induction },
  };
}

/** How many layers it takes, of runs with one layer and with two. */
function layersOf(records: readonly RunRecord[], budget: number): Outcome | undefined {
  const of = (layers: number) => {
    const record = records.filter(({ settings }) => settings.layers === layers).at(-1);
    return record && outcomeOf('learns', [record], budget);
  };
  const [one, two] = [of(1), of(2)];
  if (one?.answer === 'yes') return { answer: 'one', step: one.step };
  if (!one || !two) return undefined;
  return { answer: two.answer === 'yes' ? 'two' : 'more', step: two.step };
}

/** What became of a question, by the runs that answer it; undefined as long as it is open. */
export function outcomeOf(
  question: Question,
  records: readonly RunRecord[],
  budget: number,
): Outcome | undefined {
  const record = records.at(-1);
  if (!record) return undefined;
  if (question === 'first') return firstOf(record, budget);
  if (question === 'layers') return layersOf(records, budget);
  const step = learnedAt(record);
  if (step !== undefined && step <= budget) return { answer: 'yes', step };
  return record.step >= budget ? { answer: 'no', step: budget } : undefined;
}
