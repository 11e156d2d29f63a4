// Heads for other things than the next token that are computed: for masked tokens, and for classes of a text or of each token.

import type { ModelFile } from '../file.js';
import type { Names } from './locate.js';
import type { Unturned } from './layered.js';

/** What the classes of transformers are for, by the ends of their names. */
export type Task = 'MaskedLM' | 'SequenceClassification' | 'TokenClassification';

/** How the files of a family have the head of a task. */
export interface Head {
  readonly config: Partial<Unturned>;
  /** Where its maps and its norm are. */
  readonly modules: Pick<Names['modules'], 'headTransform' | 'headNorm' | 'head'>;
  /** Names of the bias of its last map, of which files have one or several that are equal; default that of the map. */
  readonly biases?: readonly string[];
}

export type Heads = Readonly<Partial<Record<Task, Head>>>;

/** Of a decoder: its last token is scored. */
export const scoreOfLast: Heads = {
  SequenceClassification: {
    config: { headPooling: 'last' },
    modules: { head: 'score' },
  },
};

/** Of re-rankers in GGUF, as llama.cpp computes them. */
export const ggufRank: Heads = {
  SequenceClassification: {
    config: { headTransform: 'tanh', headPooling: 'first', headBias: true },
    modules: { headTransform: 'cls', head: 'cls.output' },
  },
};

/** As RoBERTa and MPNet have them. */
export const robertaHeads: Heads = {
  MaskedLM: {
    config: { headTransform: 'gelu', headNorm: true, headBias: true },
    modules: {
      ...{ headTransform: 'lm_head.dense', headNorm: 'lm_head.layer_norm' },
      head: 'lm_head.decoder',
    },
    biases: ['lm_head.bias', 'lm_head.decoder.bias'],
  },
  SequenceClassification: {
    config: { headTransform: 'tanh', headPooling: 'first', headBias: true },
    modules: { headTransform: 'classifier.dense', head: 'classifier.out_proj' },
  },
  TokenClassification: { config: { headBias: true }, modules: { head: 'classifier' } },
};

/** A head that a file has: what it adds to the config, and its names. */
export interface FoundHead {
  readonly config: Partial<Unturned>;
  readonly modules: Head['modules'];
  readonly headBias?: string;
  /** Whether an array, as renamed, is one of it. */
  readonly has: (name: string) => boolean;
}

const taskOf = (name: unknown): Task | undefined =>
  typeof name === 'string'
    ? (/For(MaskedLM|SequenceClassification|TokenClassification)$/.exec(name)?.[1] as Task)
    : undefined;

/** The head of the first of these classes, if all of it is in the file; of the embedding alone, which may be one, nothing is. */
export function headIn(
  { tensors }: ModelFile,
  heads: () => Heads,
  classes: readonly unknown[],
  rename: (name: string) => string,
): FoundHead | undefined {
  const task = taskOf(classes[0]);
  const head = task && heads()[task];
  if (!task || !head) return undefined;
  const { config, modules, biases = [`${modules.head ?? ''}.bias`] } = head;
  const shapes = new Map(Array.from(tensors, ([name, { shape }]) => [rename(name), shape]));
  const { head: last = '', ...others } = modules;
  const isThere = Object.values(others).every((module) => shapes.has(`${module}.weight`));
  const headBias = biases.find((name) => shapes.has(name));
  const map = shapes.get(`${last}.weight`);
  const isTied = task === 'MaskedLM' && !map;
  if (!isThere || (config.headBias && headBias === undefined) || !(map || isTied)) return undefined;
  const used = Object.values(modules).map((module) => `${module}.`);
  return {
    config: {
      ...{ ...config, head: true, tiedEmbeddings: isTied },
      ...(task !== 'MaskedLM' && { classes: map?.[0] ?? 0 }),
    },
    modules,
    ...(headBias !== undefined && { headBias }),
    has: (name) =>
      name === headBias ||
      (!biases.includes(name) && used.some((prefix) => name.startsWith(prefix))),
  };
}
