// adapter_config.json of PEFT: the fields of its LoraConfig, each obeyed or refused by its name.

import { describe, isUint8Array } from '../../arguments/values.js';
import { refuse, refuseUnsupported } from '../errors.js';
import { Fields } from '../fields.js';

const file = 'adapter_config.json';

/** What such a file says. Paths are those of modules, with what classes put before. */
export interface PeftConfig {
  readonly dropout: number;
  readonly base: string | undefined;
  rankOf(path: string): number;
  /** The factor is this / rank. */
  alphaOf(path: string): number;
  /** Whether a module of a layer is to have adapters; undefined where only a regular expression tells. */
  isTarget(path: string, layer: number | undefined): boolean | undefined;
}

/** On which nothing hangs for adapters that were trained: where they are from, what wraps the model, how they began. */
const idle =
  'task_type auto_mapping revision peft_version inference_mode layers_pattern megatron_core ensure_weight_tying eva_config ' +
  'lora_ga_config qalora_group_size runtime_config fan_in_fan_out';
const obeyed =
  'peft_type r lora_alpha lora_dropout use_rslora rank_pattern alpha_pattern target_modules exclude_modules layers_to_transform ' +
  'base_model_name_or_path';
/** Of the others the values at which they change nothing, besides false. */
const harmless: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ['bias', ['none']],
  // Those that are missing here begin with other weights of the model, which these adapters need.
  ['init_lora_weights', [true, 'gaussian', 'eva', 'orthogonal']],
]);

function checkFields(fields: Fields): void {
  fields.only('peft_type', 'LORA');
  const known = [...idle.split(' '), ...obeyed.split(' ')];
  for (const name of fields.names()) {
    if (!known.includes(name)) fields.only(name, false, ...(harmless.get(name) ?? []));
  }
}

/** Whether a module is the one that a pattern names: the end of its path, or with ^ all of it. */
const isNamed = (path: string, name: string): boolean =>
  name.startsWith('^') ? path === name.slice(1) : path === name || path.endsWith(`.${name}`);
const isPlain = (name: string): boolean => /^\^?[\w.-]+$/.test(name);

/** A field that has a value for some modules. */
function patternOf<T>(
  fields: Fields,
  field: string,
  read: (part: Fields, name: string) => T,
): (path: string) => T | undefined {
  const part = fields.part(field);
  const values = (part?.names() ?? []).map((name) => {
    if (!isPlain(name)) {
      refuseUnsupported(
        `${fields.pathOf(field)} has ${describe(name)}`,
        'names of modules, and no regular expressions',
      );
    }
    return [name, read(part as Fields, name)] as const;
  });
  return (path) => values.find(([name]) => isNamed(path, name))?.[1];
}

const positive = (fields: Fields, field: string): number => {
  const value = fields.number(field);
  return value > 0 ? value : refuse(`${fields.pathOf(field)} is ${value}`, 'a number above 0');
};

/** Names of modules, one or a list of them; undefined of a regular expression. */
function namesIn(fields: Fields, field: string): ((path: string) => boolean) | undefined {
  if (!fields.has(field)) return undefined;
  if (typeof fields.get(field) === 'string') {
    const name = fields.text(field);
    if (name === 'all-linear') return () => true;
    return isPlain(name) ? (path) => path === name : undefined;
  }
  const names = (fields.list(field) ?? []).map((name) =>
    typeof name === 'string'
      ? name
      : refuse(`${fields.pathOf(field)} has ${describe(name)}`, 'names of modules'),
  );
  return (path) => names.some((name) => path === name || path.endsWith(`.${name}`));
}

/** The layers that have adapters: one, a list of them, or all. */
function layersOf(fields: Fields): ((layer: number | undefined) => boolean) | undefined {
  const field = 'layers_to_transform';
  if (fields.isEmpty(field)) return undefined;
  const numbers =
    typeof fields.get(field) === 'number'
      ? [fields.count(field, undefined, 0)]
      : fields.numbers(field);
  return (layer) => layer !== undefined && numbers.includes(layer);
}

/** The file, parsed. */
function parsed(given: unknown): unknown {
  if (!isUint8Array(given)) return given;
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(given));
  } catch (error) {
    return refuse(`${file} cannot be read (${String(error).slice(0, 80)})`, 'JSON');
  }
}

/** What adapter_config.json says. Errors are those of load(). */
export function readPeftConfig(given: unknown): PeftConfig {
  const fields = Fields.of(file, parsed(given));
  checkFields(fields);
  const rank = fields.count('r', 8);
  const alpha = fields.has('lora_alpha') ? positive(fields, 'lora_alpha') : 8;
  const isRoot = fields.flag('use_rslora', false);
  const ranks = patternOf(fields, 'rank_pattern', (part, name) => part.count(name));
  const alphas = patternOf(fields, 'alpha_pattern', positive);
  const dropout = fields.number('lora_dropout', 0);
  if (!(dropout >= 0 && dropout < 1)) refuse(`${file}.lora_dropout is ${dropout}`, '[0, 1)');
  const targets = namesIn(fields, 'target_modules');
  const excluded = namesIn(fields, 'exclude_modules');
  const layers = layersOf(fields);
  const isUnknown = (field: string, names: unknown): boolean =>
    fields.has(field) && names === undefined;
  const isOpen =
    isUnknown('target_modules', targets) || isUnknown('exclude_modules', excluded) || !targets;
  const rankOf = (path: string): number => ranks(path) ?? rank;
  return {
    dropout,
    base: fields.has('base_model_name_or_path')
      ? fields.text('base_model_name_or_path')
      : undefined,
    rankOf,
    // rsLoRA divides by the root of the rank.
    alphaOf: (path) => (alphas(path) ?? alpha) * (isRoot ? Math.sqrt(rankOf(path)) : 1),
    isTarget(path, layer) {
      if (layers?.(layer) === false || excluded?.(path) || targets?.(path) === false) return false;
      return isOpen ? undefined : true;
    },
  };
}

/** What is written of adapters. */
export interface WrittenConfig {
  readonly rank: number;
  readonly alpha: number;
  readonly dropout: number;
  readonly base: string | undefined;
  readonly taskType: string | null;
  readonly isConv1D: boolean;
  /** Modules, each with a rank that is so many times that of the others, and alpha likewise. */
  readonly modules: ReadonlyMap<string, number>;
}

/** The text of adapter_config.json, with the fields that PEFT 0.13 knows. */
export function peftConfig({ rank, alpha, dropout, modules, ...given }: WrittenConfig): string {
  const wide = [...modules].filter(([, times]) => times !== 1);
  const scaled = (by: number) =>
    Object.fromEntries(wide.map(([name, times]) => [name, times * by]));
  const config = {
    ...{ peft_type: 'LORA', task_type: given.taskType, inference_mode: true },
    base_model_name_or_path: given.base ?? null,
    ...{ r: rank, lora_alpha: alpha, lora_dropout: dropout, use_rslora: false, use_dora: false },
    ...{ target_modules: [...modules.keys()], modules_to_save: null, layers_to_transform: null },
    ...{ bias: 'none', fan_in_fan_out: given.isConv1D, init_lora_weights: true },
    ...{ rank_pattern: scaled(rank), alpha_pattern: scaled(alpha) },
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
