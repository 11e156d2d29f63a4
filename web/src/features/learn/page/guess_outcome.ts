import type { RunRecord } from './run_record';
import type { Settings } from '../shared/run_settings';

/** From this accuracy on, on rows that it is judged by, a model has learned its task. */
const LEARNED = 0.95;

/** What is asked before a run: which of two kinds of heads forms first, or whether the task is learned. */
export type Question = 'first' | 'learns';
export type Answer = 'previous' | 'induction' | 'neither' | 'yes' | 'no';

export const ANSWERS: Readonly<Record<Question, readonly Answer[]>> = {
  first: ['previous', 'induction', 'neither'],
  learns: ['yes', 'no'],
};

export function questionOf({ task, positions, layers, causal }: Settings): Question {
  const usual = positions !== 'none' && layers > 1 && causal;
  return task === 'induction' && usual ? 'first' : 'learns';
}

export interface Outcome {
  readonly answer: Answer;
  /** The step at which it was known. */
  readonly step: number;
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

/** What became of a question; undefined as long as it is open. */
export function outcomeOf(
  question: Question,
  record: RunRecord,
  budget: number,
): Outcome | undefined {
  if (question === 'first') {
    // The task has no scores but those of the two kinds.
    const [first] = record.births;
    if (first && first.step <= budget) return { answer: first.score as Answer, step: first.step };
    return record.step >= budget ? { answer: 'neither', step: budget } : undefined;
  }
  const step = learnedAt(record);
  if (step !== undefined && step <= budget) return { answer: 'yes', step };
  return record.step >= budget ? { answer: 'no', step: budget } : undefined;
}
