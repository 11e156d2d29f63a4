// `edit` of a pass: what callers change in it, as the operators take it.

import { QkvError } from '../api/errors.js';
import type { Edit } from '../api/inspect-types.js';
import { checkArray } from '../arguments/arrays.js';
import { isTensor } from '../arguments/genuine.js';
import { checkInteger, checkNumber, mostInt } from '../arguments/numbers.js';
import { rangeOf } from '../arguments/ranges.js';
import { shapeText, sizeOf } from '../arguments/shapes.js';
import {
  describe,
  isFloat32Array,
  isRecord,
  listOf,
  reading,
  takeOptions,
} from '../arguments/values.js';
import type { Config } from '../language/config.js';
import type { Call } from '../memory/call.js';
import { checkSite, editable } from '../language/places.js';
import { mostPlaces } from '../language/reads.js';
import { axesAt, hasLayer, type PassSize, type SiteName, sites } from '../language/sites.js';

type Range = readonly [begin: number, end: number];

/** Numbers that take the place of others or are added: 1 is one for all, 2 a vector of the last axis, 3 all that is chosen. */
export interface Operand {
  readonly kind: 1 | 2 | 3;
  readonly numbers: ArrayLike<number>;
}

/** One change. Ranges that are left out are whole axes. */
export interface SiteEdit {
  readonly site: SiteName;
  readonly layer: number;
  readonly head?: number | undefined;
  readonly batch?: Range | undefined;
  readonly rows?: Range | undefined;
  readonly keys?: Range | undefined;
  readonly columns?: Range | undefined;
  readonly scale?: number | undefined;
  readonly value?: Operand | undefined;
  readonly add?: Operand | undefined;
}

/** Nothing in place of what a head gives. */
export const zeros = (layer: number, head: number): SiteEdit => ({
  ...{ site: 'z', layer, head },
  value: { kind: 1, numbers: [0] },
});

const whole: Range = [0, -1];

/** Fields of the group modelSites. */
export function editFields(call: Call, edits: readonly SiteEdit[]) {
  if (edits.length === 0) return {};
  const places = edits.flatMap(({ site, layer, head = -1, ...edit }) => [
    ...[sites[site], layer, head, ...(edit.batch ?? whole), ...(edit.rows ?? whole)],
    ...[...(edit.keys ?? whole), ...(edit.columns ?? whole)],
    ...[edit.scale === undefined ? 0 : 1, edit.value?.kind ?? 0, edit.add?.kind ?? 0],
  ]);
  const parts = edits.flatMap(({ scale, value, add }) => [
    ...(scale === undefined ? [] : [[scale]]),
    ...(value ? [value.numbers] : []),
    ...(add ? [add.numbers] : []),
  ]);
  const numbers = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    numbers.set(part, at);
    at += part.length;
  }
  const shape = [edits.length, 14];
  return {
    edits: call.input({ name: 'edit', shape, source: Int32Array.from(places) }),
    numbers: call.input({ name: 'edit', shape: [numbers.length], source: numbers }),
  };
}

/** What is chosen of a place. */
interface Chosen {
  readonly site: Edit['site'];
  readonly shape: readonly number[];
  /** Whether the passes have other tokens than is known here, so that only the last axis has an extent. */
  readonly isOpen: boolean;
}

/** Whether a number may stand at a place: the others would make the pass NaN. */
const mayStand = (site: Edit['site'], x: number): boolean =>
  Number.isFinite(Math.fround(x)) || (site === 'scores' && x === -Infinity);

const withoutOnes = (shape: readonly number[]): string =>
  shapeText(shape.filter((extent) => extent !== 1));

/** An array of a caller, and how it lies over what is chosen. */
function arrayOperand(fn: string, name: string, value: unknown, chosen: Chosen): Operand {
  const { shape, isOpen } = chosen;
  const last = shape[shape.length - 1] ?? 0;
  const isFlat = isFloat32Array(value);
  const { source, shape: own } = isFlat
    ? { source: value, shape: [value.length] }
    : checkArray(fn, name, value as Parameters<typeof checkArray>[2]);
  if (withoutOnes(own) === withoutOnes([last])) return { kind: 2, numbers: copyOf(source) };
  const fits = isFlat ? own[0] === sizeOf(shape) : withoutOnes(own) === withoutOnes(shape);
  if (fits && !isOpen) return { kind: 3, numbers: copyOf(source) };
  const all = isOpen ? '' : ` or ${isFlat ? `${sizeOf(shape)} for ` : ''}${shapeText(shape)}`;
  throw new QkvError(
    'shape_mismatch',
    isFlat
      ? `${fn}: ${name} has ${own[0]} elements, expected ${last} for the last axis${all}`
      : `${fn}: ${name} is ${shapeText(own)}, expected [${last}]${all}`,
  );
}

/** What was checked is what is used, whatever becomes of the caller's array. */
const copyOf = (source: unknown): Float32Array => Float32Array.from(source as Float32Array);

function operandOf(fn: string, name: string, value: unknown, chosen: Chosen): Operand | undefined {
  if (value === undefined) return undefined;
  const hasData = reading(fn, name, () => isRecord(value) && 'data' in value && !isTensor(value));
  const isArray = isFloat32Array(value) || hasData;
  if (typeof value !== 'number' && !isArray) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(value)}, expected a number, a Float32Array or { data: Float32Array, shape }`,
    );
  }
  const operand: Operand = isArray
    ? arrayOperand(fn, name, value, chosen)
    : { kind: 1, numbers: [value as number] };
  const { numbers } = operand;
  const wrong = Array.prototype.findIndex.call(numbers, (x: number) => !mayStand(chosen.site, x));
  if (wrong < 0) return operand;
  const at = isArray ? `[${wrong}]` : '';
  const infinite = chosen.site === 'scores' ? ', or -Infinity' : '';
  throw new QkvError(
    'invalid_argument',
    `${fn}: ${name}${at} is ${numbers[wrong]}, expected a number that is finite as a float32${infinite}`,
  );
}

const editNames = [
  ...(['site', 'layer', 'head', 'batch', 'rows', 'keys', 'columns'] as const),
  ...(['value', 'add', 'scale'] as const),
] as const;

/** Fields that have no meaning at this place. */
function checkMeaning(fn: string, name: string, edit: Edit, heads: number): void {
  const { site } = edit;
  const ofKeys = site === 'scores' || site === 'weights';
  const idle = [
    ...[hasLayer(site) ? undefined : 'layer', heads > 0 ? undefined : 'head'],
    ofKeys ? 'columns' : 'keys',
  ] as const;
  for (const field of idle) {
    if (field === undefined || edit[field] === undefined) continue;
    const why = { layer: 'is of no layer', head: 'has no heads', keys: 'has columns, and no keys' };
    const own = field === 'columns' ? 'has keys, and no columns' : why[field];
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name}.${field} is ${describe(edit[field])}, expected none: '${site}' ${own}`,
    );
  }
}

const extent = ([begin, end]: Range): number => end - begin;

/** An edit of a caller, checked. In a generation rows and keys are not known yet. */
function editOf(
  fn: string,
  name: string,
  given: unknown,
  { config, pass, isOpen }: { config: Config; pass: PassSize; isOpen: boolean },
): SiteEdit {
  const taken = takeOptions(fn, name, given as Edit, editNames);
  const { site, layer, head, scale } = taken;
  checkSite(fn, `${name}.site`, site, { among: editable, config });
  const ofKeys = site === 'scores' || site === 'weights';
  const { length, keys } = isOpen ? { length: mostInt, keys: mostInt } : pass;
  const { heads, width } = axesAt(site, config, keys);
  checkMeaning(fn, name, taken, heads);
  if (hasLayer(site)) checkInteger(fn, `${name}.layer`, layer, 0, config.numLayers - 1);
  if (head !== undefined) checkInteger(fn, `${name}.head`, head, 0, heads - 1);
  if (scale !== undefined) checkNumber(fn, `${name}.scale`, scale);
  const range = (field: 'batch' | 'rows' | 'keys' | 'columns', most: number): Range =>
    rangeOf(fn, `${name}.${field}`, taken[field], most);
  const [batch, rows] = [range('batch', pass.batch), range('rows', length)];
  const last = ofKeys ? range('keys', width) : range('columns', width);
  const several = heads > 0 ? [head === undefined ? heads : 1] : [];
  const shape = [extent(batch), ...several, extent(rows), extent(last)];
  const chosen = { site, shape, isOpen };
  const value = operandOf(fn, `${name}.value`, taken.value, chosen);
  const add = operandOf(fn, `${name}.add`, taken.add, chosen);
  if (!value && !add && scale === undefined) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} has none of value, add and scale, expected one at least`,
    );
  }
  const axis = ofKeys ? { keys: last } : { columns: last };
  return { ...{ site, layer: layer ?? 0, head, batch, rows, ...axis }, ...{ value, add, scale } };
}

/** The changes of a call; with `isOpen` of the passes of a generation, each with tokens of its own. */
export function editsOf(
  fn: string,
  given: unknown,
  config: Config,
  { isOpen = false, ...pass }: PassSize & { readonly isOpen?: boolean },
): readonly SiteEdit[] {
  if (given === undefined) return [];
  const list = listOf(fn, 'edit', given, mostPlaces);
  if (!list) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: edit is ${describe(given)}, expected an array of { site, layer, value } and the like`,
    );
  }
  return list.map((each, i) => editOf(fn, `edit[${i}]`, each, { config, pass, isOpen }));
}

/** What of a range is in [begin, end), counted from `begin`. */
function within([from, to]: Range, begin: number, end: number): Range | undefined {
  const [first, last] = [Math.max(from, begin), Math.min(to, end)];
  return first < last ? [first - begin, last - begin] : undefined;
}

/** Of a vector over keys those that are there. */
const shortened = (operand: Operand | undefined, length: number): Operand | undefined =>
  operand?.kind === 2
    ? { kind: 2, numbers: (operand.numbers as Float32Array).subarray(0, length) }
    : operand;

/** Changes of a generation in one of its passes, of `length` tokens from its token `begin` on, which read `keys`. */
export const editsIn = (
  edits: readonly SiteEdit[],
  begin: number,
  { length, keys }: PassSize,
): readonly SiteEdit[] =>
  edits.flatMap((edit) => {
    const rows = edit.rows && within(edit.rows, begin, begin + length);
    if (edit.rows && !rows) return [];
    if (!edit.keys) return [{ ...edit, rows }];
    const there = within(edit.keys, 0, keys);
    if (!there) return [];
    const [value, add] = [edit.value, edit.add].map((each) => shortened(each, extent(there)));
    return [{ ...edit, rows, keys: there, value, add }];
  });
