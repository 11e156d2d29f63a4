// Configs of files that carry one: those that Trainer.save() writes, and checkpoints of llama2.c.

import { isRecord } from '../../arguments/values.js';
import { activations, type ModelConfig, type ModelRotary, positionKinds } from '../config.js';
import { quoted, refuse } from '../errors.js';
import { Fields } from '../fields.js';
import type { ModelFile } from '../file.js';

const words = <T extends string>(list: readonly T[]): Readonly<Record<T, T>> =>
  Object.fromEntries(list.map((word) => [word, word])) as Record<T, T>;

const counts = ['vocabulary', 'numLayers', 'dModel', 'numHeads', 'maxLength'] as const;
const flags = [
  'causal',
  'qkNorm',
  'parallelResidual',
  'tiedEmbeddings',
  'biases',
  'qkvBiases',
  'postNorms',
  'embeddingNorm',
  'head',
] as const;
const numbers = [
  'epsilon',
  'embeddingScale',
  'attentionSoftcap',
  'logitSoftcap',
  'attentionScale',
] as const;
const choices = {
  norm: words(['pre', 'post']),
  normType: words(['layer', 'rms']),
  activation: words(activations),
  positions: words(positionKinds),
} as const;
const known: readonly string[] = [
  ...[...counts, ...flags, ...numbers, ...Object.keys(choices)],
  ...['family', 'numKvHeads', 'dK', 'dFeedForward', 'tokenTypes', 'rotary', 'window'],
];

/** Rotary options, of which the engine checks what they say together. */
function rotaryOf(fields: Fields): ModelRotary {
  const rotary: ModelRotary = {};
  if (fields.has('base')) rotary.base = fields.number('base');
  if (fields.has('rotaryDim')) rotary.rotaryDim = fields.count('rotaryDim');
  if (fields.has('interleaved')) rotary.interleaved = fields.flag('interleaved');
  const scaling = fields.part('scaling');
  if (!scaling) return rotary;
  const type = scaling.choice('type', words(['linear', 'ntk', 'yarn', 'llama3']));
  const rest = Array.from(scaling.names()).filter((name) => name !== 'type');
  const numbers = Object.fromEntries(rest.map((name) => [name, scaling.number(name)]));
  return { ...rotary, scaling: { type, ...numbers } as NonNullable<ModelRotary['scaling']> };
}

function windowOf(fields: Fields): ModelConfig['window'] {
  const value = fields.get('window');
  if (!Array.isArray(value)) return fields.count('window', undefined, 0);
  const list = new Map(value.map((window: unknown, layer) => [String(layer), window]));
  const windows = new Fields(fields.at('window'), list);
  return Array.from(list.keys(), (layer) =>
    windows.isNull(layer) ? null : windows.count(layer, undefined, 0),
  );
}

/** A config as it is written down, every field checked by itself. */
export function writtenConfig(fields: Fields): ModelConfig {
  const surplus = Array.from(fields.names()).find((name) => !known.includes(name));
  if (surplus !== undefined) refuse(`${fields.name} has ${quoted(surplus)}`, known.join(', '));
  const config: Record<string, unknown> = {};
  const read = (names: readonly string[], of: (name: string) => unknown): void => {
    for (const name of names) if (fields.has(name)) config[name] = of(name);
  };
  read(['family'], (name) => fields.text(name));
  for (const name of counts) config[name] = fields.count(name);
  config['dFeedForward'] = fields.count('dFeedForward', undefined, 0);
  read(['numKvHeads', 'dK'], (name) => fields.count(name));
  read(['tokenTypes'], (name) => fields.count(name, undefined, 0));
  read(flags, (name) => fields.flag(name));
  read(numbers, (name) => fields.number(name));
  for (const [name, table] of Object.entries(choices)) {
    read([name], () => fields.choice(name, table));
  }
  read(['rotary'], () => rotaryOf(fields.part('rotary') ?? fields));
  read(['window'], () => windowOf(fields));
  return config as unknown as ModelConfig;
}

/** The config in a file of ours. */
export function ownConfig({ metadata }: ModelFile): ModelConfig {
  const kind = metadata.get('kind');
  if (kind !== 'language_model')
    refuse(`weights are of a ${String(kind).slice(0, 40)}`, 'a language_model');
  let value: unknown;
  try {
    value = JSON.parse(String(metadata.get('config')));
  } catch {
    // What is no JSON is no object either.
  }
  return writtenConfig(Fields.of('config', isRecord(value) ? value : undefined));
}

export function llama2cConfig({ metadata }: ModelFile): ModelConfig {
  const fields = new Fields('header', metadata);
  const vocabulary = fields.number('vocabulary');
  return {
    ...{ family: 'llama', vocabulary: Math.abs(vocabulary), tiedEmbeddings: vocabulary > 0 },
    ...{ numLayers: fields.count('numLayers'), dModel: fields.count('dModel') },
    ...{ numHeads: fields.count('numHeads'), numKvHeads: fields.count('numKvHeads') },
    ...{ dFeedForward: fields.count('dFeedForward'), maxLength: fields.count('maxLength') },
    ...{ normType: 'rms', epsilon: 1e-5, activation: 'swiglu' },
    ...{ positions: 'rotary', rotary: { base: 10_000, interleaved: true } },
  };
}
