import type { Experiment } from '../shared/run_settings';
import type { LearnState } from '../state';

type Changes = Partial<Omit<LearnState, 'learnExperiment'>>;

const SET_BY: Readonly<Record<Experiment, Changes>> = {
  birth: { learnTask: 'induction' },
  oneLayer: { learnTask: 'induction', learnLayers: 1 },
  noPositions: { learnTask: 'reverse', learnPositions: 'none' },
  leak: { learnTask: 'addition', learnCausal: false },
  overfit: { learnTask: 'histogram', learnSamples: 64, learnSpeed: 'full' },
  noise: {},
};

/** Heads that the experiment about overfitting tries one after the other. */
export const HEADS_TRIED = [1, 2, 4, 8] as const;

const UNSET: Changes = {
  ...{ learnLayers: null, learnHeads: null, learnWidth: null, learnPositions: null },
  ...{ learnCausal: null, learnNorm: 'pre', learnTemperature: 1, learnSamples: null },
  ...{ learnMap: null, learnText: null, learnSpeed: '25', learnSeed: 1 },
};

/** All of the panel's state for an experiment, so that what was set before does not stay; null: a run of the reader's own. */
export const changesFor = (experiment: Experiment | null): Partial<LearnState> => ({
  ...UNSET,
  learnTask: 'induction',
  ...(experiment && SET_BY[experiment]),
  learnExperiment: experiment,
});

/** What another task begins with. */
export const changesForTask = (task: LearnState['learnTask']): Partial<LearnState> => ({
  ...UNSET,
  learnTask: task,
  learnExperiment: null,
});
