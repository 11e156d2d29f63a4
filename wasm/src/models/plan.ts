// What is read of a file, in the order of the file. Every array of the model is there with its shape and in a type that can be
// read, and nothing is left over, or the file is refused before anything of it is read.

import { scaleOf } from '../formats/stored-numbers.js';
import { type Parameter, parametersOf } from './config.js';
import { some } from '../arguments/name-list.js';
import { brief, quoted, refuse, refuseUnsupported } from './errors.js';
import type { Described } from './families/describe.js';
import type { Place, Range } from './families/locate.js';
import { blockOf, type ModelFile, type StoredTensor } from './file.js';

/** What of a tensor goes to which array of the model. */
export interface LoadPart {
  readonly parameter: Parameter;
  /**
   * Outputs of a map, rows of a table or elements of a vector, in the order in which the array has them. Called once the
   * model has its memory, which a list for each head of each layer could be too much beside.
   */
  readonly ranges: () => readonly Range[];
  /** Vectors alone: 1 is added to what is there. */
  readonly addOne?: boolean | undefined;
  /** What it is multiplied by then; 1 by default. */
  readonly factor?: number | undefined;
}

/** A tensor that is read, once. */
export interface LoadStep {
  readonly tensor: StoredTensor;
  /** float16, with int8: of each block of 32 inputs of each output. */
  readonly scales?: StoredTensor;
  /**
   * out_in: a row of the file has the inputs of one output, and ranges are rows; in_out: it has the outputs of one input,
   * and ranges are columns. Tables and vectors are out_in.
   */
  readonly layout: 'in_out' | 'out_in';
  readonly parts: readonly LoadPart[];
}

/** An array whose elements are one number that no file has. */
export interface LoadConstant {
  readonly parameter: Parameter;
  readonly constant: number;
}

/** All arrays of a model: from where each is. */
export interface LoadPlan {
  /** In the order of the file. */
  readonly steps: readonly LoadStep[];
  readonly constants: readonly LoadConstant[];
}

const floats = ['F32', 'F16', 'BF16'];

/** The tensor has the shape that the config asks for. */
function checkShape(tensor: StoredTensor, { shape }: Place, kind: Parameter): void {
  const [rows = 0, ...rest] = tensor.shape;
  // A table of positions may be read in part.
  const isRight = kind.module === 'positions' ? rows >= (shape[0] ?? 0) : rows === shape[0];
  if (isRight && String(rest) === String(shape.slice(1))) return;
  refuse(
    `${quoted(tensor.name)} is [${tensor.shape.join(',')}]`,
    `[${shape.join(',')}] as the config says`,
  );
}

/** The tensor is of a type that can be read where it is. */
function checkType(
  { name, type, shape }: StoredTensor,
  { layout }: Place,
  hasScales: boolean,
): void {
  const quantised =
    shape.length === 2 && (type === 'I8' ? hasScales : blockOf(type) > 1 && layout === 'out_in');
  if (floats.includes(type) || quantised) return;
  const more = shape.length === 2 ? ['blocks of GGUF', 'I8 with scales'] : [];
  refuseUnsupported(`${quoted(name)} is ${brief(type)}`, [...floats, ...more].join(', '));
}

/** The scales of a tensor in int8: one for each block of 32 inputs of each output. */
function scalesOf(
  tensor: StoredTensor,
  layout: string,
  all: ReadonlyMap<string, StoredTensor>,
): StoredTensor {
  const name = scaleOf(tensor.name);
  const scales =
    all.get(name) ?? refuse(`weights have no ${quoted(name)}`, 'the scales of every I8 array');
  const [rows = 0, columns = 0] = tensor.shape;
  const blocks = (count: number): number => Math.ceil(count / 32);
  const expected = layout === 'in_out' ? [blocks(rows), columns] : [rows, blocks(columns)];
  if (scales.type !== 'F16') refuseUnsupported(`${quoted(name)} is ${brief(scales.type)}`, 'F16');
  if (String(scales.shape) !== String(expected)) {
    refuse(`${quoted(name)} is [${scales.shape.join(',')}]`, `[${expected.join(',')}]`);
  }
  return scales;
}

/** The tensors by the names that the family has for them. */
function renamed({ tensors }: ModelFile, { rename }: Described): Map<string, StoredTensor> {
  const all = new Map<string, StoredTensor>();
  for (const [name, tensor] of tensors) {
    if (all.has(rename(name)))
      refuse(`weights have ${quoted(name)} twice, under two names`, 'it once');
    all.set(rename(name), tensor);
  }
  return all;
}

/** The steps by the sources and places of what they read. */
const inOrder = (steps: readonly LoadStep[], { tensors }: ModelFile): LoadStep[] => {
  const sources = [...new Set(Array.from(tensors.values(), ({ source }) => source))];
  const place = ({ tensor }: LoadStep): number => sources.indexOf(tensor.source);
  return [...steps].sort((a, b) => place(a) - place(b) || a.tensor.begin - b.tensor.begin);
};

/** Arrays of a file that are of other heads, by the names that the file has for them. */
export const otherHeadsOf = ({ tensors }: ModelFile, described: Described): string[] =>
  [...tensors.keys()].filter((name) => described.isOtherHead(described.rename(name)));

/** The matrices of a tensor one below the other. */
function flattened(tensor: StoredTensor): StoredTensor {
  const [count = 0, rows = 0, columns = 0] = tensor.shape;
  return { ...tensor, shape: [count * rows, columns] };
}

/** From where all arrays of a model are. @throws {@link QkvError} if the file does not have just these */
export function planOf(file: ModelFile, described: Described): LoadPlan {
  const { locate, isIgnored, isOtherHead, hasScales, config } = described;
  const tensors = renamed(file, described);
  const wanted: { parameter: Parameter; at: Place }[] = [];
  const constants: LoadConstant[] = [];
  for (const parameter of parametersOf(config)) {
    const at = locate(parameter);
    if ('constant' in at) constants.push({ parameter, ...at });
    else wanted.push({ parameter, at });
  }
  const names = new Set(wanted.map(({ at }) => at.tensor));
  const missing = [...names].filter((name) => !tensors.has(name));
  const family = config.family ?? 'language model';
  if (missing.length > 0)
    refuse(`weights have no ${some(missing, quoted)}`, `every array of a ${family}`);
  const isScale = (name: string): boolean =>
    hasScales && name.endsWith('.scale') && tensors.get(name.slice(0, -6))?.type === 'I8';
  const isSurplus = (name: string): boolean =>
    !names.has(name) && !isScale(name) && !isIgnored(name) && !isOtherHead(name);
  const surplus = [...tensors.keys()].filter(isSurplus);
  if (surplus.length > 0)
    refuse(`weights have ${some(surplus, quoted)}`, `only the arrays of a ${family}`);

  const steps = new Map<string, LoadStep & { parts: LoadPart[] }>();
  for (const { parameter, at } of wanted) {
    const tensor = tensors.get(at.tensor);
    if (!tensor) continue;
    const { ranges, addOne, factor, layout } = at;
    let step = steps.get(at.tensor);
    if (!step) {
      checkShape(tensor, at, parameter);
      const flat = at.isStacked ? flattened(tensor) : tensor;
      checkType(flat, at, hasScales);
      const scales = flat.type === 'I8' ? { scales: scalesOf(flat, layout, tensors) } : {};
      step = { tensor: flat, ...scales, layout, parts: [] };
      steps.set(at.tensor, step);
    }
    step.parts.push({ parameter, ranges, addOne, factor });
  }
  return { steps: inOrder([...steps.values()], file), constants };
}
