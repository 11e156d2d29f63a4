import { html, type TemplateResult } from 'lit-html';
import type { NumberField } from '../../../state/field';
import { numeric, options, typedText, withValue } from '../../../ui/lit/controls';
import type { Content } from '../../../ui/lit/texts';
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
import { t, type Key } from '../feature';

type Patch = Partial<LearnState>;

/** What the controls show, and what takes their changes. */
export interface Controlled {
  readonly settings: Settings;
  readonly state: LearnState;
  readonly change: (patch: Patch) => void;
}

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

/** A link may have set another number than those that are offered: then it is offered, too. */
function select(choice: Choice, { settings, state, change }: Controlled): TemplateResult {
  const { key, label } = choice;
  const now = choice.value(settings, state);
  const offered = choice.options.includes(now) ? choice.options : [...choice.options, now];
  const wordsOf = (value: string | number) => {
    if (label) return label(value);
    return typeof value === 'number' ? String(value) : t(`learn.${key}.${value}` as Key);
  };
  return html`
    <label class="learn-control"><span>${t(`learn.set.${key}` as Key)}</span>
      <select name=${key} @change=${withValue((value) => change(choice.patch(value)))}>${options(
        offered.map((value) => [String(value), wordsOf(value)] as const),
        String(now),
      )}</select></label>`;
}

/** What is typed is read as a link is. */
const number = (
  key: 'seed' | 'temperature',
  [field, step]: readonly [field: NumberField, step: number | 'any'],
  value: number,
  take: (value: number) => void,
): TemplateResult => html`
  <label class="learn-control"><span>${t(`learn.set.${key}`)}</span>
    <input name=${key} type="number" min=${field.limits[0]} max=${field.limits[1]} step=${step} ${numeric(
      { value, nearest: (typed) => field.read(String(typed)) ?? typed, take },
    )}></label>`;

/** What the model is made of, and what it is trained on. */
export const modelControls = (of: Controlled): Content => [
  number('seed', [learnFields.learnSeed, 1], of.settings.seed, (learnSeed) =>
    of.change({ learnSeed }),
  ),
  ...MODEL.map((choice) => select(choice, of)),
  number(
    'temperature',
    [learnFields.learnTemperature, 'any'],
    of.settings.temperature,
    (learnTemperature) => of.change({ learnTemperature }),
  ),
];

/** How quickly it goes, and what acts from the next step on. */
export const tuningControls = (of: Controlled): Content =>
  TUNING.map((choice) => select(choice, of));

/** What a run begins with. */
export function setup(of: Controlled): TemplateResult {
  const { settings, change } = of;
  const { task, text } = settings;
  return html`<form class="learn-setup" @submit=${(event: Event) => event.preventDefault()}>
    <div data-control>${select(TASK, of)}</div>
    <details class="learn-model"><summary>${t('learn.model')}</summary>
      <div class="learn-controls">${modelControls(of)}</div>
      <p class="hint">${t('learn.modelHint')}</p>
    </details>
    <p class="learn-task">${t(`learn.story.${task}`)}</p>
    <label class="learn-text" ?hidden=${task !== 'characters'}><span>${t('learn.set.text')}</span>
      <textarea name="text" rows="3" maxlength="1000" spellcheck="false"
        @change=${withValue((value) => change({ learnText: value || null }))} ${typedText(text, (each) => each)}></textarea>
      <span class="hint">${t('learn.textHint')}</span></label>
  </form>`;
}

/** A button of what is done with runs. */
export const barButton = (
  what: string,
  words: string,
  press: () => void,
  hidden = false,
): TemplateResult =>
  html`<button type="button" class="bar-button" data-do=${what} ?hidden=${hidden} @click=${press}>${words}</button>`;
