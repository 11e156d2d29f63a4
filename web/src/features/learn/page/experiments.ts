import type { Experiment, Settings } from '../shared/run_settings';
import type { LearnState } from '../state';

type Changes = Partial<Omit<LearnState, 'learnExperiment'>>;

const SET_BY: Readonly<Record<Experiment, Changes>> = {
  birth: { learnTask: 'induction' },
  oneLayer: { learnTask: 'induction', learnLayers: 1 },
  noPositions: { learnTask: 'reverse', learnPositions: 'none' },
  leak: { learnTask: 'addition', learnCausal: false },
  names: { learnTask: 'names', learnSpeed: 'full' },
  overfit: { learnTask: 'histogram', learnSamples: 64, learnSpeed: 'full' },
  noise: {},
};

/** What some experiments try one after the other, by the part of the button's name. */
export const SERIES: Readonly<Record<'names' | 'overfit', readonly Partial<Settings>[]>> = {
  names: [{ layers: 1 }, { layers: 2 }],
  overfit: [{ heads: 1 }, { heads: 2 }, { heads: 4 }, { heads: 8 }],
};

const UNSET: Changes = {
  ...{ learnLayers: null, learnHeads: null, learnWidth: null, learnPositions: null },
  ...{ learnCausal: null, learnNorm: 'pre', learnTemperature: 1, learnSamples: null },
  ...{ learnRate: null, learnBatch: null, learnDropout: null },
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
