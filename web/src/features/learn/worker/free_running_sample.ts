import type { TrainedModel } from 'qkv/train';
import { largestAt } from '../../../domain/largest_at';
import type { Writing } from '../shared/protocol';
import type { Task } from '../shared/task_type';
import { prompts } from '../shared/tasks';

/** Rows that are written at a time. */
const ROWS = 16;

/**
 * What a model writes after the beginning of rows when each token is its own likeliest answer to all before it. Null for tasks whose
 * answers are not the next tokens.
 */
export function write(model: TrainedModel, task: Task, step: number): Writing | null {
  const { prompt, length, vocabulary } = task;
  if (prompt === null) return null;
  const rows = prompts(task, ROWS).map(({ ids, targets }) => ({
    text: ids.slice(0, prompt),
    right: targets.slice(prompt - 1),
  }));
  while (rows[0]!.text.length <= length) {
    const read = rows[0]!.text.length;
    const all = rows.flatMap(({ text }) => text);
    const { data } = model.forward(all, { batch: rows.length }).logits;
    rows.forEach(({ text }, row) => {
      const last = ((row + 1) * read - 1) * vocabulary;
      const logits = data.subarray(last, last + vocabulary);
      text.push(largestAt(logits));
    });
  }
  const marks = rows.flatMap(({ text, right }) => right.map((id, i) => id === text[prompt + i]));
  return {
    step,
    given: rows[0]!.text.slice(0, prompt),
    written: rows[0]!.text.slice(prompt),
    right: rows[0]!.right,
    accuracy: marks.filter(Boolean).length / marks.length,
    rows: rows.length,
  };
}
