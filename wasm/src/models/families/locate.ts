// Where the arrays of a model are in its file: by which name, which way round, and which part of what. plan.ts checks a file
// against it.

import type { LanguageModelConfig } from '../../api/model-config.js';
import { type Module, type Parameter, projectionWidths } from '../config.js';

export type Range = readonly [begin: number, end: number];

/** An array of a model in a file. */
export interface Place {
  readonly tensor: string;
  /** What the tensor must have. The first extent of a table of positions may be greater. */
  readonly shape: readonly number[];
  /** Which axis of a map comes first in the file. */
  readonly layout: 'in_out' | 'out_in';
  /** Outputs of a map, rows of a table or elements of a vector that are this array's, in its order; made when they are read. */
  readonly ranges: () => readonly Range[];
  /** Whether 1 is added to what is there. */
  readonly addOne?: boolean;
  /** What it is multiplied by then. */
  readonly factor?: number;
  /** Whether the tensor has one such matrix for each expert, one below the other. */
  readonly isStacked?: boolean;
}

/** In its place, or a vector of this number that no file has. */
export type Location = Place | { readonly constant: number };

export type Locate = (parameter: Parameter) => Location;

/** How the files of a family have the arrays of its models. */
export interface Names {
  /** Modules of which q, k and v, or gate and up, have one name are one map: one below the other in this order. */
  readonly modules: Readonly<Partial<Record<Module, string>>>;
  /** Before the modules of a layer, without its number. */
  readonly layers: string;
  /** The same of the encoder that a model has besides. */
  readonly encoder?: Pick<Names, 'modules' | 'layers'>;
  /** What files may put before everything but the head. */
  readonly prefix?: string;
  readonly layout?: 'in_out';
  /** Whether such a map has q, k and v of each head of keys in turn. */
  readonly isByHead?: boolean;
  /** Whether gains are kept less 1. */
  readonly isLessOne?: boolean;
  /** Arrays that a file may have besides, of which nothing is needed: what is computed anew. */
  readonly ignored?: RegExp;
  /** Whether one tensor has a map of all experts; otherwise `{}` in a name stands for the number of the expert. */
  readonly isStacked?: boolean;
  /** Arrays of heads and other parts of this family that are not computed. */
  readonly heads?: RegExp;
  /** The bias of the head, where it is not called after its map. */
  readonly headBias?: string;
  /** The row of the table of positions that the first token has. */
  readonly firstPosition?: number;
  /** Arrays that the files have not, as 'up.bias' or 'norm1.weight': a bias is zeros, a gain is ones. */
  readonly constants?: RegExp;
  /** What the weights and biases of modules are multiplied by. */
  readonly factors?: Readonly<Partial<Record<Module, number>>>;
}

/** By one word for each module; '-' stands for one that the family has not. */
const order =
  'embedding norm head norm1 q k v o norm2 up down gate qNorm kNorm postNorm1 postNorm2 positions tokenTypes embeddingNorm relativeBias normCross crossQ crossK crossV crossO router headTransform headNorm'.split(
    ' ',
  ) as Module[];
export const named = (text: string): Names['modules'] =>
  Object.fromEntries(
    text.split(' ').flatMap((name, i) => (name === '-' ? [] : [[order[i] ?? '', name] as const])),
  );

/** Heads for other tasks than the next token, of which none is computed: by the names of transformers, and `cls` of GGUF. */
export const otherHeads =
  /^(pooler|cls|(pre_)?classifier|score|qa_outputs|linear|multiple_choice_head|v_head|vocab_\w+|(discriminator|generator)_\w+|contact_head)\./;

/** Modules that may share a map, in their order there. */
const sharing = ['q', 'k', 'v', 'gate', 'up'] as const;
type Sharing = (typeof sharing)[number];

/** The outputs of each in a map that several modules share; undefined for a map of its own. */
function sharedWidths(
  config: LanguageModelConfig,
  modules: Names['modules'],
  module: Module,
): [Sharing, number][] | undefined {
  const isSharing = sharing.includes(module as Sharing);
  const all = isSharing ? sharing.filter((each) => modules[each] === modules[module]) : [];
  const { dFeedForward: up } = config;
  const widths = { ...projectionWidths(config), up, gate: up };
  return all.length > 1 ? all.map((each) => [each, widths[each]]) : undefined;
}

/** What a module has of the outputs of a map that it shares, which lie in `groups` of the same kind. */
function rangesIn(shared: readonly [Sharing, number][], module: Module, groups: number): Range[] {
  const at = shared.findIndex(([each]) => each === module);
  const widths = shared.map(([, width]) => width / groups);
  const sum = (all: readonly number[]): number => all.reduce((total, width) => total + width, 0);
  const [before, whole, own = 0] = [sum(widths.slice(0, at)), sum(widths), widths[at]];
  return Array.from({ length: groups }, (_, group) => {
    const from = group * whole + before;
    return [from, from + own];
  });
}

/** By names of a file. */
export function locateBy(names: Names, config: LanguageModelConfig): Locate {
  const { layout = 'out_in', isByHead = false, isLessOne = false } = names;
  const { firstPosition = 0, constants, factors = {}, isStacked = false, headBias } = names;
  const { numHeads, numKvHeads = numHeads, numExperts = 0 } = config;
  return ({ name, module, layer, kind, isBias, shape, isOfEncoder, expert }) => {
    const { modules, layers } = (isOfEncoder && names.encoder) || names;
    const part = isBias ? 'bias' : 'weight';
    if (kind === 'vector' && constants?.test(`${module}.${part}`))
      return { constant: isBias ? 0 : 1 };
    const prefix = layer === undefined ? '' : `${layers}${layer}.`;
    const outputs = (kind === 'table' ? shape[0] : shape[shape.length - 1]) ?? 0;
    const shared = sharedWidths(config, modules, module);
    const first = module === 'positions' ? firstPosition : 0;
    const all = shared?.reduce((sum, [, width]) => sum + width, 0) ?? first + outputs;
    const [inputs = 0, columns = 0] = shape;
    // A head is a Linear also where the other maps are not.
    const own = module === 'head' ? 'out_in' : layout;
    const shapes = {
      ...{ vector: [all], table: [all, columns] },
      map: own === 'in_out' ? [inputs, all] : [all, inputs],
    };
    const isInStack = isStacked && expert !== undefined;
    const before = isInStack ? expert * all : 0;
    const ranges = (): Range[] =>
      shared
        ? rangesIn(shared, module, isByHead && /^[qkv]$/.test(module) ? numKvHeads : 1)
        : [[first, all]];
    return {
      tensor:
        module === 'head' && isBias && headBias !== undefined
          ? headBias
          : `${prefix}${(modules[module] ?? name).replace('{}', String(expert))}.${part}`,
      shape: isInStack ? [numExperts, ...shapes[kind]] : shapes[kind],
      ...{ layout: kind === 'map' ? own : 'out_in', isStacked: isInStack },
      ranges: () =>
        before === 0 ? ranges() : ranges().map(([from, to]) => [before + from, before + to]),
      addOne: isLessOne && kind === 'vector' && !isBias,
      factor: (isOfEncoder ? undefined : factors[module]) ?? 1,
    };
  };
}
