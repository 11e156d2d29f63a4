import {
  choice,
  clamp,
  flag,
  freeText,
  integer,
  number,
  optional,
  optionalNumber,
  significant,
  type Field,
  type Limits,
  type StateOf,
} from '../../state/field';
import type { HeadName, ModelAsk, ModelInfo } from './shared/protocol';
import { SHIPPED, type ShippedName } from './shared/shipped_models';

/** How the grid of heads is ordered. */
export const HEAD_ORDERS = ['layer', 'previous', 'first', 'induction', 'change'] as const;
export type HeadOrder = (typeof HEAD_ORDERS)[number];

/** Heads that a link can take out. */
const MOST_OUT = 64;
const HEAD = /^(\d{1,4})\.(\d{1,4})$/;

/** Heads as 0.3,2.1: their layer and their place there. */
const heads: Field<readonly HeadName[]> = {
  key: 'lmo',
  initial: [],
  write: (list) => list.map((head) => head.join('.')).join(),
  read(raw) {
    const parts = raw
      .split(',')
      .slice(0, MOST_OUT)
      .map((part) => HEAD.exec(part));
    const list = parts.map((match) => match && ([Number(match[1]), Number(match[2])] as const));
    return list.every((head) => head !== null) ? list : undefined;
  },
};

const TEMPERATURE: Limits = [0, 3];
const TOP_P: Limits = [0.01, 1];
const twoDigits = (limits: Limits) => (value: number) => clamp(significant(value, 3), limits);

/** One head as 1.3. */
const head: Field<HeadName> = {
  key: 'lmh',
  initial: [0, 0],
  write: (name) => name.join('.'),
  read: (raw) => {
    const match = HEAD.exec(raw);
    return match ? [Number(match[1]), Number(match[2])] : undefined;
  },
};

/** Long names are cut: the link only says which file its sender had. */
const LONGEST_NAME = 80;
const shortened = (name: string) =>
  name.slice(0, LONGEST_NAME).replace(/\p{Surrogate}/gu, '\uFFFD');
const fileName: Field<string> = {
  key: 'lmf',
  initial: '',
  write: shortened,
  read: (raw) => (raw === '' ? undefined : shortened(raw)),
};

/** An address has no blanks around it, so that one of blanks is none, as in the box for it. */
const text = freeText('lma', 300);
const address: Field<string> = { ...text, read: (raw) => text.read(raw.trim()) || undefined };

export const modelFields = {
  /** Which model its button loads; null: that of the language. */
  model: optional(choice('lmw', 'austen', SHIPPED)),
  /** The file of the reader's own model that is shown; null: it is one of the page. */
  modelFile: optional(fileName),
  /** Where a file of the reader's own is to be fetched; null: nowhere. */
  modelAddress: optional(address),
  /** The token after which the next one is shown; null: the last. */
  modelAt: optionalNumber(integer('lmat', 0, [0, 255])),
  /** How tokens are chosen. */
  modelTemperature: number('lmt', 0.8, TEMPERATURE, twoDigits(TEMPERATURE)),
  modelTopK: integer('lmk', 0, [0, 9999]),
  modelTopP: number('lmp', 1, TOP_P, twoDigits(TOP_P)),
  modelSeed: integer('lms', 1, [0, 999999]),
  /** Whether it writes slowly enough to be followed. */
  modelSlow: flag('lmslow', true),
  /** Heads that are taken out. */
  modelOut: heads,
  modelOrder: choice('lmsort', 'layer', HEAD_ORDERS),
  /** The token whose neighbours are shown; null: the chosen one. */
  modelNear: optionalNumber(integer('lmn', 0, [0, 999999])),
  /** The head whose whole map is shown; null: the first. */
  modelHead: optional(head),
  /** What the maps of weights show: null, the weights; or weights times the length of what they bring. */
  modelReads: optional(choice('lmr', 'brought', ['brought'] as const)),
};
export type ModelState = StateOf<typeof modelFields>;

/** How a link names the model that is shown: its own files are not in it. */
export const namedAs = ({ name, file }: Pick<ModelInfo, 'name' | 'file'>): Partial<ModelState> =>
  name === null ? { model: null, modelFile: shortened(file) } : { model: name, modelFile: null };

/** What another model begins with: heads and tokens of the one before mean nothing in it. */
export const AFRESH = { modelOut: [], modelAt: null, modelNear: null, modelHead: null } as const;

export const modelOf = ({ model }: ModelState, language: string): ShippedName =>
  model ?? (language === 'zh' ? 'tang' : 'austen');

/** What the panel asks of a loaded model in this state. */
export function modelAsk(
  state: ModelState & { readonly text: string; readonly length: number | null },
): ModelAsk {
  const { modelTemperature: temperature, modelTopK: topK, modelTopP: topP } = state;
  return {
    text: state.text,
    length: state.length,
    at: state.modelAt,
    sampling: { temperature, topK, topP },
    ablated: state.modelOut,
    near: state.modelNear,
    head: state.modelHead,
    brought: state.modelReads === 'brought',
  };
}
