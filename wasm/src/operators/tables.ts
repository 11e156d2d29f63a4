// Rows of a table, by numbers and by positions.

import { QkvError } from '../api/errors.js';
import type { ArrayInput, Integers, OwnedArray, Qkv } from '../api/types.js';
import { checkArray, type Input, requireIntegers } from '../arguments/arrays.js';
import { checkChoice, checkInteger, mostInt } from '../arguments/numbers.js';
import { shapeText } from '../arguments/shapes.js';
import { takeOptions } from '../arguments/values.js';
import { Call } from '../memory/call.js';
import type { Instance } from '../memory/instance.js';

/** A table of rows. */
function checkTable(fn: string, given: ArrayInput, expected: string): Input {
  const table = checkArray(fn, 'table', given);
  if (table.shape.length !== 2) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: table is ${shapeText(table.shape)}, expected ${expected}`,
    );
  }
  return table;
}

export function embedding(instance: Instance, givenTable: ArrayInput, ids: Integers): OwnedArray {
  const fn = 'embedding';
  const table = checkTable(fn, givenTable, '[vocabulary,dModel]');
  const checked = requireIntegers(fn, 'ids', ids);
  const call = new Call(instance, fn);
  const given = { table: call.input(table), ids: call.input(checked) };
  return call.result(fn, [...checked.shape, table.shape[1] ?? 0], given);
}

export function learnedEncoding(
  instance: Instance,
  givenTable: ArrayInput,
  length: number,
  options: NonNullable<Parameters<Qkv['learnedEncoding']>[2]> = {},
): OwnedArray {
  const fn = 'learnedEncoding';
  const { offset = 0, outOfRange = 'error' } = takeOptions(fn, 'options', options, [
    'offset',
    'outOfRange',
  ]);
  const table = checkTable(fn, givenTable, '[maxLength,dModel]');
  checkInteger(fn, 'length', length, 0, mostInt);
  checkInteger(fn, 'offset', offset, 0, mostInt);
  checkChoice(fn, 'outOfRange', outOfRange, ['error', 'clamp']);
  const call = new Call(instance, fn);
  const given = { table: call.input(table), offset, outOfRange };
  return call.result(fn, [length, table.shape[1] ?? 0], given);
}
