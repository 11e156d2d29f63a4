import type { Limits } from '../../../state/field';
import { LIMITS } from '../../../state/state';
import { find } from '../../../ui/dom';
import { changesForTask } from './experiments';
import { NORMS, POSITIONS, SPEEDS, TASKS, type Settings } from '../shared/run_settings';
import { learnFields, type LearnState } from '../state';

type Patch = Partial<LearnState>;

/** A list to choose from: its options, whose words are texts where they are no numbers, and what they mean. */
interface Choice {
  readonly key: string;
  readonly options: readonly (string | number)[];
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
const CHOICES = [TASK, SPEED, ...MODEL];

function select({ key, options }: Choice): string {
  const written = options.map((value) => {
    const words = typeof value === 'number' ? `>${value}` : ` data-t="learn.${key}.${value}">`;
    return `<option value="${value}"${words}</option>`;
  });
  return `
    <label class="learn-control"><span data-t="learn.set.${key}"></span>
      <select name="${key}">${written.join('')}</select></label>`;
}

const number = (key: string, [low, high]: Limits, step: number | 'any') => `
  <label class="learn-control"><span data-t="learn.set.${key}"></span>
    <input name="${key}" type="number" min="${low}" max="${high}" step="${step}"></label>`;

/** What is trained, how quickly, and from which beginning. */
export const TASK_CONTROLS = select(TASK) + select(SPEED) + number('seed', LIMITS.learnSeed, 1);

/** What the model is made of, and what it is trained on. */
export const MODEL_CONTROLS =
  MODEL.map(select).join('') + number('temperature', LIMITS.learnTemperature, 'any');

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
