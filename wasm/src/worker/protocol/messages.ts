// What goes between the two sides. Every message is an object with the key below and nobody else's messages
// have it, so a worker or port may be used for other things too.

import { isOptions, isRecord, tagOf } from '../../arguments/values.js';
import type { QkvErrorCode } from '../../api/errors.js';
import type { EngineInfo, InitOptions } from '../../api/types.js';
import type { RunReport } from '../../api/worker-train-types.js';

/** Its value names the conversation: all messages about one engine, from its start to its end. */
export const key = 'qkv/worker';

/** Stands where a handle of the worker is meant. */
export const handleKey = 'qkv/handle';
interface HandleMark {
  readonly [handleKey]: number;
}

/** What a Response holds, which cannot be sent itself. */
export interface SentResponse {
  readonly 'qkv/response': { url: string; status: number; type: string | null; body: ArrayBuffer };
}

/** The first message of a conversation. */
export interface InitRequest {
  readonly id: number;
  readonly init: InitOptions;
  readonly watched: boolean;
}

export interface CallRequest {
  readonly id: number;
  /** Of the handle, or of the engine. */
  readonly method: string;
  readonly target: number | undefined;
  readonly args: readonly unknown[];
}

type Ask =
  | InitRequest
  | CallRequest
  /** This call may end early: a load, for which nobody waits any more, or the token of a generation. */
  | { readonly abort: number }
  | { readonly end: true };
export type Request = { readonly [key]: string } & Ask;

export interface SentError {
  readonly code: QkvErrorCode;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: { readonly name: string; readonly message: string } | undefined;
}

/** What a handle is like, for those who cannot look. */
export interface SentHandle {
  readonly id: number;
  readonly shape?: readonly number[];
  readonly capacity?: number;
  /** Of models and sessions: fields that do not change. */
  readonly about?: Readonly<Record<string, unknown>>;
  /** Of sessions: what they hold when they are made. Of trainers: the steps that were made. */
  readonly length?: number;
}

export interface Ready {
  readonly info: EngineInfo;
  /** Whether the worker holds a lock of the conversation's name for as long as it lives. */
  readonly lock: boolean;
}

export interface Answer {
  readonly id: number;
  readonly ready?: Ready;
  readonly value?: unknown;
  readonly handle?: SentHandle;
  readonly error?: SentError;
  /** Of the caches that the call used, in the order in which they were named. */
  readonly lengths: readonly number[];
}
/** Instead of a conversation: for all of them. */
export const everyone = '*';

/** How far a call is. */
export interface Underway {
  readonly id: number;
  readonly progress: unknown;
}

/** Of a run of a trainer: what it has reached, or the number of a step whose batch it wants. */
export type RunProgress = { readonly report: RunReport } | { readonly wants: number };

/** An answer; how far a call is; that the worker listens now; or that it could not read a message. */
export type Reply = { readonly [key]: string } & (
  | Answer
  | Underway
  | { readonly hello: true }
  | { readonly unreadable: true }
);

export const isOurs = (message: unknown): message is { readonly [key]: string } =>
  isRecord(message) && typeof message[key] === 'string';

export const isMark = (value: unknown): value is HandleMark =>
  isRecord(value) && typeof value[handleKey] === 'number';

/** What a `leaf` of `rebuild` returns for what it does not want. */
export const descend = Symbol('descend');

/**
 * A copy with `leaf(value, path, depth)` for everything that is no plain object or array, and for objects that `leaf`
 * wants: those for which it returns anything but `descend`.
 */
export function rebuild(
  value: unknown,
  path: string,
  leaf: (value: unknown, path: string, depth: number) => unknown,
  depth = 1,
): unknown {
  const kept = leaf(value, path, depth);
  if (kept !== descend) return kept;
  if (Array.isArray(value)) {
    // A copy keeps holes, and has the same elements however often it is read.
    const copy = Array.prototype.slice.call(value) as unknown[];
    // Numbers are most of what arrays hold.
    return copy.some((element) => isRecord(element) || typeof element === 'function')
      ? copy.map((element, i) => rebuild(element, `${path}[${i}]`, leaf, depth + 1))
      : copy;
  }
  const prefix = path === '' ? '' : `${path}.`;
  return Object.fromEntries(
    fieldsOf(value as object).map(([name, part]) => [
      name,
      rebuild(part, prefix + name, leaf, depth + 1),
    ]),
  );
}

/** The root of all objects, of whatever realm. */
const isRoot = (value: object): boolean =>
  Object.getPrototypeOf(value) === null &&
  Object.getOwnPropertyNames(value).includes('constructor');

/**
 * Fields with what they hold, inherited ones too: a message carries no prototype, and options may be inherited.
 * An array of somebody's own class may have accessors, which are no fields.
 */
export function fieldsOf(value: object): [name: string, part: unknown][] {
  const names = new Set<string>();
  if ('data' in value && 'shape' in value) names.add('data').add('shape');
  else {
    for (let at = value; at !== null && !isRoot(at); at = Object.getPrototypeOf(at) as object) {
      for (const name of Object.keys(at)) names.add(name);
    }
  }
  return Array.from(names, (name) => [name, (value as Record<string, unknown>)[name]]);
}

/** Whether `rebuild` can look inside. */
export const isPlain = (value: unknown): value is object =>
  Array.isArray(value) || isOptions(value);

/** The buffers of the arrays in `value`, each once, without those that are shared between threads. */
export function buffersOf(value: unknown): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  const look = (part: unknown): unknown => {
    if (isPlain(part)) return descend;
    const buffer = ArrayBuffer.isView(part) ? part.buffer : part;
    const tag = tagOf(buffer);
    if (tag === 'ArrayBuffer') found.add(buffer as ArrayBuffer);
    // The readings of a model, by layer.
    if (tag === 'Map') rebuild([...(part as Map<unknown, unknown>).values()], '', look);
    return undefined;
  };
  rebuild(value, '', look);
  return [...found];
}
