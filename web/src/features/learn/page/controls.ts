import type { Limits } from '../../../state/field';
import { LIMITS } from '../../../state/state';
import { find } from '../../../ui/dom';
import { changesForTask } from './experiments';
import {
  DROPOUTS,
  NORMS,
  POSITIONS,
  RATES,
  SPEEDS,
  TASKS,
  type Settings,
} from '../shared/run_settings';
import { learnFields, type LearnState } from '../state';
import { tuningOf } from './settings_of_state';

type Patch = Partial<LearnState>;

/** A list to choose from: its options, whose words are texts where they are no numbers and have no label, and what they mean. */
interface Choice {
  readonly key: string;
  readonly options: readonly (string | number)[];
  readonly label?: (value: string | number) => string;
  patch(value: string): Patch;
  value(settings: Settings, state: LearnState): string | number;
}

const TASK: Choice = {
  ...{ key: 'task', options: TASKS },
  patch: (value) => changesForTask(value as LearnState['learnTask']),
  value: ({ task }) => task,
};
const SPEED: Choice = {
  ...{ key: 'speed', options: SPEEDS },
  patch: (value) => ({ learnSpeed: value as LearnState['learnSpeed'] }),
  value: (_, { learnSpeed }) => learnSpeed,
};
/** What acts on a run that goes on. */
const TUNING: readonly Choice[] = [
  SPEED,
  {
    ...{ key: 'rate', options: RATES },
    label: (value) => `× ${value}`,
    patch: (value) => ({ learnRate: value as LearnState['learnRate'] }),
    value: (_, { learnRate }) => learnRate ?? '1',
  },
  {
    ...{ key: 'batch', options: [1, 4, 16, 32, 64, 128, 256] },
    patch: (value) => ({ learnBatch: Number(value) }),
    value: (settings, state) => tuningOf(state, settings).batch,
  },
  {
    ...{ key: 'dropout', options: DROPOUTS },
    label: String,
    patch: (value) => ({ learnDropout: value as LearnState['learnDropout'] }),
    value: (_, { learnDropout }) => learnDropout ?? '0',
  },
];
const MODEL: readonly Choice[] = [
  {
    ...{ key: 'positions', options: POSITIONS },
    patch: (value) => ({ learnPositions: value as LearnState['learnPositions'] }),
    value: ({ positions }) => positions,
  },
  {
    ...{ key: 'causal', options: ['yes', 'no'] },
    patch: (value) => ({ learnCausal: value === 'yes' }),
    value: ({ causal }) => (causal ? 'yes' : 'no'),
  },
  {
    ...{ key: 'norm', options: NORMS },
    patch: (value) => ({ learnNorm: value as LearnState['learnNorm'] }),
    value: ({ norm }) => norm,
  },
  {
    ...{ key: 'layers', options: [1, 2, 3, 4] },
    patch: (value) => ({ learnLayers: Number(value) }),
    value: ({ layers }) => layers,
  },
  {
    ...{ key: 'heads', options: [1, 2, 4, 8] },
    patch: (value) => ({ learnHeads: Number(value) }),
    value: ({ heads }) => heads,
  },
  {
    ...{ key: 'width', options: [16, 32, 64, 128] },
    patch: (value) => ({ learnWidth: Number(value) }),
    value: ({ width }) => width,
  },
  {
    ...{ key: 'samples', options: ['all', 4, 8, 16, 32, 64, 128, 256, 512] },
    patch: (value) => ({ learnSamples: value === 'all' ? null : Number(value) }),
    value: ({ samples }) => samples ?? 'all',
  },
];
const CHOICES = [TASK, ...TUNING, ...MODEL];

function select({ key, options, label }: Choice): string {
  const written = options.map((value) => {
    const plain = label ? label(value) : typeof value === 'number' ? String(value) : null;
    const words = plain === null ? ` data-t="learn.${key}.${value}">` : `>${plain}`;
    return `<option value="${value}"${words}</option>`;
  });
  return `
    <label class="learn-control"><span data-t="learn.set.${key}"></span>
      <select name="${key}">${written.join('')}</select></label>`;
}

const number = (key: string, [low, high]: Limits, step: number | 'any') => `
  <label class="learn-control"><span data-t="learn.set.${key}"></span>
    <input name="${key}" type="number" min="${low}" max="${high}" step="${step}"></label>`;

export const TASK_CONTROL = select(TASK);

/** How quickly it goes, and what acts from the next step on. */
export const TUNING_CONTROLS = TUNING.map(select).join('');

/** What a run begins with: what the model is made of, and what it is trained on. */
export const MODEL_CONTROLS =
  number('seed', LIMITS.learnSeed, 1) +
  MODEL.map(select).join('') +
  number('temperature', LIMITS.learnTemperature, 'any');

function patchOf(name: string, value: string): Patch | null {
  const choice = CHOICES.find(({ key }) => key === name);
  if (choice) return choice.patch(value);
  // What is typed is read as a link is.
  if (name === 'seed') {
    const learnSeed = learnFields.learnSeed.read(value);
    return learnSeed === undefined ? null : { learnSeed };
  }
  if (name === 'temperature') {
    const learnTemperature = learnFields.learnTemperature.read(value);
    return learnTemperature === undefined ? null : { learnTemperature };
  }
  return null;
}

/** Passes on what is chosen. */
export function listen(root: HTMLElement, change: (patch: Patch) => void): void {
  root.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLSelectElement || target instanceof HTMLInputElement)) return;
    const patch = patchOf(target.name, target.value);
    if (patch) change(patch);
  });
}

/** Shows what holds, except where somebody is typing. */
export function show(root: HTMLElement, settings: Settings, state: LearnState): void {
  const put = (element: HTMLSelectElement | HTMLInputElement, value: string | number) => {
    if (element !== document.activeElement || element instanceof HTMLSelectElement) {
      if (element.value !== String(value)) element.value = String(value);
    }
  };
  for (const choice of CHOICES) {
    const element = find(root, `[name=${choice.key}]`, HTMLSelectElement);
    put(element, choice.value(settings, state));
  }
  put(find(root, '[name=seed]', HTMLInputElement), settings.seed);
  put(find(root, '[name=temperature]', HTMLInputElement), settings.temperature);
}
