import { Call } from '../memory/call.js';
import { checkChoice, checkInteger, checkNumber, mostInt } from '../arguments/numbers.js';
import type { Instance } from '../memory/instance.js';
import { QkvError } from '../api/errors.js';
import { takeOptions } from '../arguments/values.js';
import { checkOut, type To } from '../arguments/out.js';
import type { OwnedArray, Qkv, SinusoidalOptions } from '../api/types.js';

const layouts = ['interleaved', 'concatenated'];

type ShiftOptions = NonNullable<Parameters<Qkv['sinusoidalShift']>[2]>;

export function sinusoidalEncoding(
  instance: Instance,
  length: number,
  dModel: number,
  options: To<SinusoidalOptions> = {},
): OwnedArray {
  const fn = 'sinusoidalEncoding';
  const taken = takeOptions(fn, 'options', options, ['offset', 'base', 'layout', 'out']);
  const { offset = 0, base = 10000, layout = 'interleaved' } = taken;
  checkInteger(fn, 'length', length, 0, mostInt);
  checkInteger(fn, 'dModel', dModel, 1, mostInt);
  checkInteger(fn, 'offset', offset, -mostInt, mostInt);
  checkNumber(fn, 'base', base);
  checkChoice(fn, 'layout', layout, layouts);
  const shape = [length, dModel];
  const out = checkOut(fn, taken.out, shape);
  const given = { offset, sinusoid: { base, layout } };
  return new Call(instance, fn).result(fn, shape, given, { out });
}

export function sinusoidalShift(
  instance: Instance,
  k: number,
  dModel: number,
  options: ShiftOptions = {},
): OwnedArray {
  const fn = 'sinusoidalShift';
  const taken = takeOptions(fn, 'options', options, ['base', 'form', 'layout']);
  const { base = 10000, form = 'blocks', layout = 'interleaved' } = taken;
  checkInteger(fn, 'k', k, -mostInt, mostInt);
  checkInteger(fn, 'dModel', dModel, 1, mostInt);
  checkNumber(fn, 'base', base);
  checkChoice(fn, 'form', form, ['blocks', 'dense']);
  checkChoice(fn, 'layout', layout, layouts);
  if (form === 'dense' && dModel % 2 !== 0) {
    throw new QkvError(
      'unsupported',
      `${fn}: dModel is ${dModel}, expected an even number: the last sine of an odd encoding has no ` +
        'cosine, so no matrix shifts it (the blocks do)',
    );
  }
  const shape = form === 'blocks' ? [Math.ceil(dModel / 2), 2, 2] : [dModel, dModel];
  return new Call(instance, fn).result(fn, shape, { k, dModel, sinusoid: { base, layout } });
}
