// Trainers as safetensors files, and back.

import { QkvError } from '../api/errors.js';
import type { SaveOptions } from '../api/trainer-types.js';
import type { Input } from '../arguments/arrays.js';
import { checkBoolean, checkChoice } from '../arguments/numbers.js';
import { shapeText, sizeOf } from '../arguments/shapes.js';
import { attempt, inRoom, isRecord, newFloats, takeOptions } from '../arguments/values.js';
import {
  readSafetensors,
  type StoredArray,
  type StoredArrays,
  writeSafetensors,
} from '../formats/safetensors.js';
import {
  type BlockAxis,
  decode,
  encode,
  scaleOf,
  scaleShape,
  withoutScale,
} from '../formats/stored-numbers.js';
import { some } from '../arguments/name-list.js';
import { type SavedTexts, withGivenTexts } from '../language/saved-texts.js';
import type { BaseModel, Part, TrainerState } from './trainer-state.js';

/** What a file says of the model: which kind of trainer it is of, and its config. */
export interface Identity {
  readonly kind: string;
  readonly config: unknown;
  /** What it says of texts. */
  readonly texts?: (fn: string) => SavedTexts;
}

const none: SavedTexts = new Map();

const moments = ['first', 'second'] as const;
const nameOf = (part: Part, name: string): string =>
  part === 'value' ? name : `optimizer.${part}.${name}`;

/** Tables have rows that are read; linear maps are multiplied from the left, and have blocks down their columns. */
const axisOf = (name: string): BlockAxis =>
  ['embedding', 'positions', 'tokenTypes'].includes(name) ? 1 : 0;

/** The arrays of the model under the adapters, which are added. */
function mergedArrays(
  fn: string,
  { base }: TrainerState,
  hasOptimizer: boolean,
): BaseModel['arrays'] {
  if (!base || hasOptimizer) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: merged is true, expected it of a trainer of adapters alone, without optimizer`,
    );
  }
  return base.arrays;
}

const saveNames = ['optimizer', 'format', 'merged', 'tokenizer', 'chatTemplate'] as const;

/** The file of a trainer. `whole` is what the model under adapters is. */
export function save(
  state: TrainerState,
  own: Identity,
  given: SaveOptions,
  whole: Identity = own,
): Uint8Array<ArrayBuffer> {
  const fn = 'Trainer.save';
  const options = takeOptions(fn, 'options', given, saveNames);
  const { optimizer = false, format = 'f32', merged = false } = options;
  checkBoolean(fn, 'optimizer', optimizer);
  checkBoolean(fn, 'merged', merged);
  checkChoice(fn, 'format', format, ['f32', 'bf16', 'int8']);
  const all = merged ? mergedArrays(fn, state, optimizer) : state.arrays;
  const { kind, config, texts } = merged ? whole : own;
  const metadata = new Map([
    ['format', 'qkv'],
    ['kind', kind],
    ['config', JSON.stringify(config)],
    ...withGivenTexts(fn, texts?.(fn) ?? none, options),
  ]);
  if (optimizer) metadata.set('steps', String(state.steps));
  const arrays = new Map<string, StoredArray>();
  for (const [name, array] of all) {
    const { shape } = array;
    for (const part of ['value', ...(optimizer ? moments : [])] as const) {
      const { data } = merged ? state.readMerged(fn, array) : state.read(fn, name, part);
      const kept = part === 'value' && shape.length === 2 ? format : 'f32';
      const lost = kept === 'int8' ? withoutScale(data) : undefined;
      if (lost !== undefined) {
        throw new QkvError(
          'invalid_argument',
          `${fn}: ${name} has ${lost}, expected numbers below 8.3e6 in magnitude for int8; use format 'f32' or 'bf16'`,
        );
      }
      const stored = inRoom(fn, 4 * data.length, () => encode(data, shape, kept, axisOf(name)));
      arrays.set(nameOf(part, name), stored.array);
      if (stored.scales) arrays.set(scaleOf(name), stored.scales);
    }
  }
  const bytes = [...arrays.values()].reduce((sum, each) => sum + each.bytes.length, 0);
  return inRoom(fn, bytes, () => writeSafetensors({ metadata, arrays }));
}

function refuse(fn: string, what: string, expected: string): never {
  throw new QkvError('invalid_argument', `${fn}: bytes ${what}, expected ${expected}`);
}

/** A config as text, without the family: files of before say none, and it changes no number. */
const comparable = (config: unknown): string =>
  JSON.stringify(config, (name, value: unknown) => (name === 'family' ? undefined : value));

/** The same of what a file says, which may be no config. */
const comparableText = (text: string): string =>
  attempt(() => comparable(JSON.parse(text))) ?? text;

/** What the file says of its model is true of this one; a file may say nothing. */
function checkIdentity(fn: string, { metadata }: StoredArrays, { kind, config }: Identity): void {
  const found = metadata.get('kind');
  if (found !== undefined && found !== kind)
    refuse(fn, `hold a ${found.slice(0, 40)}`, `a ${kind}`);
  const own = comparable(config);
  const text = metadata.get('config');
  const theirs = text === undefined ? own : comparableText(text);
  if (theirs !== own) {
    const [found, expected] = differences(theirs, own);
    refuse(
      fn,
      `hold the config ${found.slice(0, 400)}`,
      `${expected.slice(0, 400)} of this trainer`,
    );
  }
}

/** Two configs, less what they have in common. */
function differences(theirs: string, own: string): readonly [string, string] {
  try {
    const [a, b] = [theirs, own].map((text) => JSON.parse(text) as Record<string, unknown>);
    if (!isRecord(a) || !isRecord(b)) return [theirs, own];
    const text = (of: unknown): string => JSON.stringify(of) ?? 'nothing';
    const differs = (name: string): boolean => text(a[name]) !== text(b[name]);
    const names = Object.keys(a).filter(differs);
    const list = (of: Record<string, unknown>): string =>
      names.map((name) => `${name} ${text(of[name])}`).join(', ');
    return names.length > 0 ? [list(a), list(b)] : [theirs, own];
  } catch {
    return [theirs, own];
  }
}

/** The steps of a file that has the optimizer's state. */
function stepsOf(fn: string, { metadata }: StoredArrays): number | undefined {
  const text = metadata.get('steps');
  if (text === undefined) return undefined;
  const steps = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(steps)) {
    refuse(fn, `hold the steps '${text.slice(0, 40)}'`, 'a whole number');
  }
  return steps;
}

/** Every array that the trainer needs is there, and no other. */
function checkNames(fn: string, { arrays }: StoredArrays, wanted: readonly string[]): void {
  const missing = wanted.filter((name) => !arrays.has(name));
  if (missing.length > 0) refuse(fn, `hold no ${some(missing)}`, 'every array of the model');
  const known = new Set(wanted.flatMap((name) => [name, scaleOf(name)]));
  const surplus = [...arrays.keys()].filter((name) => !known.has(name));
  if (surplus.length > 0) refuse(fn, `hold ${some(surplus)}`, 'only the arrays of the model');
}

/** The numbers of an array of a file, which has this shape. */
function numbersOf(
  fn: string,
  { arrays }: StoredArrays,
  name: string,
  shape: readonly number[],
): Float32Array {
  const stored = arrays.get(name);
  const scales = arrays.get(scaleOf(name));
  if (!stored) throw new RangeError(`no ${name}`);
  const check = (what: string, was: readonly number[], expected: readonly number[]): void => {
    if (String(was) === String(expected)) return;
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${what} is ${shapeText(was)}, expected ${shapeText(expected)}`,
    );
  };
  check(name, stored.shape, shape);
  const was = stored.dtype.slice(0, 40);
  if ((stored.dtype === 'I8') !== (scales !== undefined)) {
    refuse(
      fn,
      `hold ${name} as ${was} ${scales ? 'with' : 'without'} scales`,
      'I8 with scales, or another type without',
    );
  }
  const isMatrix = shape.length === 2;
  if (stored.dtype === 'I8' && !isMatrix) refuse(fn, `hold ${name} as I8`, 'F32 or BF16');
  if (scales) {
    check(scaleOf(name), scales.shape, scaleShape(shape, axisOf(name)));
    if (scales.dtype !== 'F16')
      refuse(fn, `hold ${scaleOf(name)} as ${scales.dtype.slice(0, 40)}`, 'F16');
  }
  if (!['F32', 'BF16', 'I8'].includes(stored.dtype)) {
    refuse(fn, `hold ${name} as ${was}`, isMatrix ? 'F32, BF16 or I8' : 'F32 or BF16');
  }
  const numbers = newFloats(fn, sizeOf(shape));
  decode(stored, scales, numbers);
  return numbers;
}

/** Fills a trainer from the bytes of a file. */
export function load(state: TrainerState, identity: Identity, bytes: Uint8Array): void {
  const fn = 'Trainer.load';
  state.live(fn);
  const file = readSafetensors(fn, bytes);
  checkIdentity(fn, file, identity);
  fill(fn, state, file);
}

/** Fills a trainer from a file of its model. Everything is read, checked and made room for before anything is written. */
export function fill(fn: string, state: TrainerState, file: StoredArrays): void {
  const steps = stepsOf(fn, file);
  const parts = ['value', ...(steps === undefined ? [] : moments)] as const;
  const wanted = [...state.arrays.keys()].flatMap((name) =>
    parts.map((part) => nameOf(part, name)),
  );
  checkNames(fn, file, wanted);
  const all = [...state.arrays].flatMap(([name, { shape }]) =>
    parts.map((part) => {
      const stored = nameOf(part, name);
      const input: Input = { name: stored, shape, source: numbersOf(fn, file, stored, shape) };
      return { name, part, input };
    }),
  );
  state.instance.withRoom(fn, (room) => {
    // One block for all copies, so that none of them can fail for want of memory.
    const block = room(state.largest + 16);
    for (const { name, part, input } of all) state.write(fn, name, part, input, () => block);
    if (steps !== undefined) state.setSteps(fn, steps, () => block);
  });
}
