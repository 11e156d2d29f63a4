// How numbers of files are kept in memory, where nobody says it.

import type { KeptFormat, WeightFormat } from '../api/model-types.js';
import { isPacked, type Parameter } from './config.js';
import { sizeOf } from '../arguments/shapes.js';
import type { LoadPart, LoadStep } from './plan.js';

/** Bytes that a number takes, with its part of what its block has once. */
const bytesPerNumber: Readonly<Record<KeptFormat, number>> = {
  ...{ f32: 4, f16: 2, bf16: 2, int8: 34 / 32, int4: 20 / 32, q4_k: 148 / 256 },
};

/** The formats that a program may ask for, and those that a model may have, in the order of the core. */
export const formats = ['f32', 'bf16', 'int8', 'f16', 'int4'] as const satisfies WeightFormat[];
export const keptFormats = [...formats, 'q4_k'] as const satisfies KeptFormat[];

/** What keeps numbers of a type of files as they are, or else what comes nearest. */
const ofFloats: Readonly<Record<string, WeightFormat>> = { F32: 'f32', F16: 'f16', BF16: 'bf16' };
const formatOf = (type: string): KeptFormat =>
  ofFloats[type] ?? (type === 'Q4_K' ? 'q4_k' : /^Q4_[01]$/.test(type) ? 'int4' : 'int8');

/** The format of an array where most are blocks. What is multiplied on the way cannot stay as it is. */
function formatInBlocks(type: string, { factor = 1 }: LoadPart): KeptFormat {
  const format = formatOf(type);
  if (format === 'q4_k') return factor === 1 ? format : 'int4';
  return format === 'int4' ? format : 'int8';
}

/** What holds the numbers of both: an array may be put together of several tensors. */
function joined(one: KeptFormat | undefined, other: KeptFormat): KeptFormat {
  if (one === undefined || one === other) return other;
  return one === 'int8' || other === 'int8' ? 'int8' : 'int4';
}

/** A format for all matrices, or for each by its name where they differ. */
export interface Kept {
  /** What most numbers have. */
  readonly format: KeptFormat;
  readonly byName: ReadonlyMap<string, KeptFormat>;
}

/**
 * What most numbers in matrices have in the files. Where that is blocks, matrices with blocks of 4 bits keep these, and all others
 * are int8.
 */
export function keptOf(steps: readonly LoadStep[]): Kept {
  const counts = new Map<KeptFormat, number>([['f32', 0]]);
  const byName = new Map<string, KeptFormat>();
  for (const { tensor, parts } of steps) {
    if (tensor.shape.length !== 2) continue;
    const format = formatOf(tensor.type);
    counts.set(format, (counts.get(format) ?? 0) + sizeOf(tensor.shape));
    for (const part of parts) {
      const { name } = part.parameter;
      byName.set(name, joined(byName.get(name), formatInBlocks(tensor.type, part)));
    }
  }
  const [[format] = ['f32' as const]] = [...counts].sort(([, a], [, b]) => b - a);
  const isBlocks = !Object.values(ofFloats).includes(format as WeightFormat);
  return { format, byName: isBlocks ? byName : new Map() };
}

/** The format of an array. */
export const formatIn = ({ format, byName }: Kept, { name }: { name: string }): KeptFormat =>
  byName.get(name) ?? format;

/** About as many bytes as the weights take; rows and columns that are rounded up add a little. */
export const bytesIn = (kept: Kept, parameters: readonly Parameter[]): number =>
  parameters.reduce((sum, each) => {
    const bytes = isPacked(each) ? bytesPerNumber[formatIn(kept, each)] : 4;
    return sum + Math.ceil(sizeOf(each.shape) * bytes);
  }, 0);
