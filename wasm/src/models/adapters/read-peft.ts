// Adapters of low rank out of files of PEFT: for each map of the model its own A and B, whatever module has it.

import type { AdapterFiles } from '../../api/adapter-types.js';
import { QkvError } from '../../api/errors.js';
import { some } from '../../arguments/name-list.js';
import { isSameShape, shapeText, sizeOf } from '../../arguments/shapes.js';
import { newFloats, takeOptions } from '../../arguments/values.js';
import { readSafetensors, type StoredArray, type StoredArrays } from '../../formats/safetensors.js';
import { decode } from '../../formats/stored-numbers.js';
import { quoted, refuse, refuseUnsupported } from '../errors.js';
import type { ModelSpec } from '../model-spec.js';
import { type Blocks, blocksIn } from './blocks.js';
import { type AdaptedModule, type Member, modulesOf, type ModuleTable } from './modules.js';
import { type PeftConfig, readPeftConfig } from './peft-config.js';

/** Of a map x W the adapters, by which it becomes x W + alpha / rank (x A) B. */
export interface Adapter {
  /** The name of the array of W. */
  readonly name: string;
  readonly layer: number | undefined;
  readonly rank: number;
  readonly alpha: number;
  /** [rank, in] */
  readonly down: Float32Array;
  /** [out, rank], times what the family multiplies W by. */
  readonly up: Float32Array;
}

/** All that files have. */
export interface Adapters {
  readonly config: PeftConfig;
  readonly all: readonly Adapter[];
}

const weights = 'adapter_model.safetensors';
const names = ['adapter_config.json', weights] as const;
const outer = 'base_model.model.';
const halves = ['lora_A', 'lora_B'] as const;

/** What the readers of this folder say, which is in the name of load(), in that of another function. */
function inNameOf<T>(fn: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof QkvError)) throw error;
    const text = error.message.replace(/^load: /, `${fn}: `);
    throw new QkvError(error.code, text, { cause: error });
  }
}

type Pair = Partial<Record<(typeof halves)[number], StoredArray>>;

/** The pairs of a file, by the modules that they are of. */
function pairsIn({ arrays }: StoredArrays): Map<string, Pair> {
  const pairs = new Map<string, Pair>();
  for (const [name, array] of arrays) {
    const [, path = '', half] = /^base_model\.model\.(.+)\.(lora_[AB])\.weight$/.exec(name) ?? [];
    if (half === undefined) {
      const of = /lora_embedding/.test(name) ? ' of an embedding' : '';
      refuseUnsupported(
        `${weights} has ${quoted(name)}${of}`,
        `${outer}<module>.lora_A.weight and .lora_B.weight of linear maps alone`,
      );
    }
    pairs.set(path, { ...pairs.get(path), [half]: array });
  }
  if (pairs.size === 0) refuse(`${weights} has no arrays`, 'those of adapters');
  return pairs;
}

/** Numbers of an array of this shape. */
function numbersOf(
  name: string,
  { dtype, shape, bytes }: StoredArray,
  expected: readonly number[],
  { base }: PeftConfig,
): Float32Array {
  if (!isSameShape(shape, expected)) {
    const of = base === undefined ? '' : `; the adapters are of ${quoted(base)}`;
    throw new QkvError(
      'shape_mismatch',
      `load: ${name} is ${shapeText(shape)}, expected ${shapeText(expected)} for this model and rank${of}`,
    );
  }
  if (!['F32', 'F16', 'BF16'].includes(dtype))
    refuseUnsupported(`${name} is ${quoted(dtype)}`, 'F32, F16 or BF16');
  const numbers = newFloats('load', sizeOf(expected));
  decode({ dtype, shape, bytes }, undefined, numbers);
  return numbers;
}

/** What a module has: a pair, and of which of its members. */
interface Found {
  readonly module: AdaptedModule;
  /** As in the file. */
  readonly path: string;
  readonly pair: Pair;
}

/** A part of a pair for each member. */
function adaptersOf(found: Found, config: PeftConfig, blocks: Blocks): Adapter[] {
  const { module, path, pair } = found;
  const { inputs, outputs, layer } = module;
  const whole = config.rankOf(path);
  const read = (half: (typeof halves)[number], shape: readonly number[]): Float32Array => {
    const name = `${outer}${path}.${half}.weight`;
    const array = pair[half] ?? refuse(`${weights} has no ${quoted(name)}`, 'both of a pair');
    return numbersOf(name, array, shape, config);
  };
  const down = read('lora_A', [whole, inputs]);
  const up = read('lora_B', [outputs, whole]);
  const parts = blocks.partsOf(module, { path, rank: whole, up });
  const alpha = config.alphaOf(path);
  return parts.map(({ member, first, rank }) => ({
    ...{ name: member.name, layer, rank },
    // Whatever the rank, alpha / rank is that of the file.
    alpha: rank === whole ? alpha : (alpha * rank) / whole,
    down: down.slice(first * inputs, (first + rank) * inputs),
    up: rowsOf(up, member, { whole, first, rank }),
  }));
}

/** The rows of a member, and of these some columns. */
function rowsOf(
  up: Float32Array,
  { rows, factor, outputs }: Member,
  { whole, first, rank }: { whole: number; first: number; rank: number },
): Float32Array {
  const own = newFloats('load', outputs * rank);
  rows().forEach((row, j) => {
    for (let r = 0; r < rank; r += 1)
      own[j * rank + r] = (up[row * whole + first + r] ?? 0) * factor;
  });
  return own;
}

/** The modules that have a pair; every one that the config wants has one, and no other. */
function foundIn(
  pairs: ReadonlyMap<string, Pair>,
  { modules, prefix }: ModuleTable,
  config: PeftConfig,
): Found[] {
  const found = Array.from(pairs, ([path, pair]) => {
    const plain = path.startsWith(prefix) ? path.slice(prefix.length) : path;
    const module = modules.get(plain) ?? modules.get(path);
    if (!module) {
      const known = some([...modules.keys()], quoted);
      return refuse(`adapters are of the module ${quoted(path)}`, `of this model ${known}`);
    }
    if (config.isTarget(path, module.layer) === false)
      refuse(`${weights} has a pair of ${quoted(path)}`, 'those that adapter_config.json names');
    return { module, path, pair };
  });
  // One module has two paths: with what its class puts before, and without.
  const has = new Map<AdaptedModule, string>();
  for (const { module, path } of found) {
    const other = has.get(module);
    if (other !== undefined)
      refuse(`${weights} has pairs of ${quoted(other)} and ${quoted(path)}`, 'one of the two');
    has.set(module, path);
  }
  const isWhole = found.some(({ path }) => prefix !== '' && path.startsWith(prefix));
  for (const module of modules.values()) {
    const path = `${isWhole && module.layer !== undefined ? prefix : ''}${module.path}`;
    // 'all-linear' leaves out what is no layer's.
    if (has.has(module) || module.layer === undefined) continue;
    if (config.isTarget(path, module.layer) === true)
      refuse(`${weights} has no pair of ${quoted(path)}`, 'one, as adapter_config.json names it');
  }
  return found;
}

/** The adapters of files, for a model. */
export function readAdapters(fn: string, spec: ModelSpec, files: AdapterFiles): Adapters {
  const given = takeOptions(fn, 'adapters', files, names);
  return inNameOf(fn, () => {
    const config = readPeftConfig(given['adapter_config.json']);
    const file = readSafetensors(fn, given[weights]);
    const blocks = blocksIn(file.metadata);
    const found = foundIn(pairsIn(file), modulesOf(spec), config);
    return { config, all: found.flatMap((each) => adaptersOf(each, config, blocks)) };
  });
}
