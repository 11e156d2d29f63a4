import type { Settings, TaskId } from '../shared/run_settings';
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

let last: { id: TaskId; text: string; task: Task } | undefined;

/** A task of text is made of the whole text, and asked for with every frame. */
export function taskCalled(id: TaskId, text: string): Task {
  if (last?.id !== id || last.text !== text) last = { id, text, task: taskOf(id, text) };
  return last.task;
}

export const sameSettings = (a: Settings, b: Settings) => JSON.stringify(a) === JSON.stringify(b);
