import type { Settings, TaskId, Tuning } from '../shared/run_settings';
import type { LearnState } from '../state';
import type { Task } from '../shared/task_type';
import { taskOf } from '../shared/tasks';

/** The settings of a run: what the reader set, and for the rest what the task has of itself. */
export function settingsOf(state: LearnState, ownText: string): Settings {
  const text = state.learnTask === 'characters' ? (state.learnText ?? ownText) : '';
  const { defaults } = taskCalled(state.learnTask, text);
  return {
    task: state.learnTask,
    seed: state.learnSeed,
    layers: state.learnLayers ?? defaults.layers,
    heads: state.learnHeads ?? defaults.heads,
    width: state.learnWidth ?? defaults.width,
    positions: state.learnPositions ?? defaults.positions,
    causal: state.learnCausal ?? defaults.causal,
    norm: state.learnNorm,
    temperature: state.learnTemperature,
    samples: state.learnSamples,
    text,
  };
}

/** What acts on a run while it trains. */
export function tuningOf(state: LearnState, { task, text }: Settings): Tuning {
  return {
    rate: Number(state.learnRate ?? 1),
    batch: state.learnBatch ?? taskCalled(task, text).defaults.batch,
    dropout: Number(state.learnDropout ?? 0),
  };
}

let last: { id: TaskId; text: string; task: Task } | undefined;

/** A task of text is made of the whole text, and needed for every frame. */
export function taskCalled(id: TaskId, text: string): Task {
  if (last?.id !== id || last.text !== text) last = { id, text, task: taskOf(id, text) };
  return last.task;
}

export const sameSettings = (a: Settings, b: Settings) => JSON.stringify(a) === JSON.stringify(b);

export const sameTuning = (a: Tuning, b: Tuning) =>
  a.rate === b.rate && a.batch === b.batch && a.dropout === b.dropout;
