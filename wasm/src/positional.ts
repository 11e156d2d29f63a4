import { checkChoice, checkInteger, checkKeys, checkOption } from './check.js';
import { QkvError } from './error.js';
import type { Engine } from './engine.js';
import { Transfer } from './transfer.js';
import type { NdArray, Qkv } from './types.js';

const mostInt = 2 ** 31 - 1;
const layouts = ['interleaved', 'concatenated'];

type EncodingOptions = NonNullable<Parameters<Qkv['sinusoidalEncoding']>[2]>;
type ShiftOptions = NonNullable<Parameters<Qkv['sinusoidalShift']>[2]>;

/** Room for one result, filled by `compute`, which gets its address and returns the core's code. */
function fill(
  engine: Engine,
  fn: string,
  shape: readonly number[],
  compute: (address: number) => number,
): NdArray {
  const transfer = new Transfer(engine, fn);
  const slot = transfer.output(shape.reduce((n, extent) => n * extent, 1));
  transfer.begin();
  engine.succeed(fn, compute(transfer.address(slot)));
  return { data: transfer.read(slot), shape };
}

export function sinusoidalEncoding(
  engine: Engine,
  length: number,
  dModel: number,
  options: EncodingOptions,
): NdArray {
  const fn = 'sinusoidalEncoding';
  const raw = engine.raw(fn);
  checkKeys(fn, 'options', options, ['offset', 'base', 'layout']);
  const { offset = 0, base = 10000, layout = 'interleaved' } = options;
  checkInteger(fn, 'length', length, 0, mostInt);
  checkInteger(fn, 'dModel', dModel, 1, mostInt);
  checkInteger(fn, 'offset', offset, -mostInt, mostInt);
  checkOption(fn, 'base', base, 'number');
  checkChoice(fn, 'layout', layout, layouts);
  return fill(engine, fn, [length, dModel], (table) =>
    raw._sinusoid(table, length, dModel, offset, base, layout === 'concatenated'),
  );
}

export function sinusoidalShift(
  engine: Engine,
  k: number,
  dModel: number,
  options: ShiftOptions,
): NdArray {
  const fn = 'sinusoidalShift';
  const raw = engine.raw(fn);
  checkKeys(fn, 'options', options, ['base', 'form', 'layout']);
  const { base = 10000, form = 'blocks', layout = 'interleaved' } = options;
  checkInteger(fn, 'k', k, -mostInt, mostInt);
  checkInteger(fn, 'dModel', dModel, 1, mostInt);
  checkOption(fn, 'base', base, 'number');
  checkChoice(fn, 'form', form, ['blocks', 'dense']);
  checkChoice(fn, 'layout', layout, layouts);
  if (form === 'dense' && dModel % 2 !== 0) {
    throw new QkvError(
      'unsupported',
      `${fn}: dModel is ${dModel}, expected an even number: the last sine of an odd encoding has no ` +
        'cosine, so no matrix shifts it (the blocks do)',
    );
  }
  return form === 'blocks'
    ? fill(engine, fn, [Math.ceil(dModel / 2), 2, 2], (blocks) =>
        raw._shiftBlocks(blocks, k, dModel, base),
      )
    : fill(engine, fn, [dModel, dModel], (matrix) =>
        raw._shiftMatrix(matrix, k, dModel, base, layout === 'concatenated'),
      );
}
