// The bytes of all tokens of a vocabulary as a tree: tokens that begin with the same bytes have them in common, and what no text can
// begin with is refused for all of them at once.

import type { Tokenizer } from '../../api/model-types.js';
import { QkvError } from '../../api/errors.js';
import { describe, isUint8Array, reading } from '../../arguments/values.js';
import { plainView } from '../../arguments/views.js';

/** Bytes of a token, at most. */
const longest = 2 ** 16;

/** A tree of tokens, its nodes in the order of a walk that meets each before those below it. The first is that of no bytes. */
export interface Tree {
  /** The most bytes of a token in it. */
  readonly longest: number;
  /** Of each node how many bytes lead there, and the last of them. */
  readonly depths: Int32Array;
  readonly bytes: Uint8Array;
  /** The node after those below. */
  readonly skips: Int32Array;
  /** Where the tokens of each node begin in `tokens`: those that end there. */
  readonly firsts: Int32Array;
  readonly tokens: Int32Array;
}

export interface Vocabulary {
  /** Of tokens, with those that have no bytes. */
  readonly count: number;
  /**
   * Tokens of up to so many bytes, of more, ...: what a state allows of short ones depends on few bytes, so that it is the same for many states.
   * A token is in one tree.
   */
  readonly trees: readonly Tree[];
  /** The bytes of a token; undefined for one that is no text. */
  readonly bytesOf: (id: number) => Uint8Array | undefined;
}

type BytesOf = (id: number) => Uint8Array | undefined;

/** What gives the bytes of tokens, checked: it may be the caller's. */
function bytesOfTokens(fn: string, tokenizer: Tokenizer): BytesOf {
  const has = reading(fn, 'tokenizer', () => typeof tokenizer.bytesOf === 'function');
  if (!has) {
    throw new QkvError(
      'unsupported',
      `${fn}: constraint is given and the tokenizer has no bytesOf(), expected one that has it: those out of GGUF files and tokenizer.json have, unless they are of the kind WordPiece; pass tokenizer.json to load() in place of huggingFaceTokenizer(), or add bytesOf(id) to yours`,
    );
  }
  return (id) => {
    const name = `tokenizer.bytesOf(${id})`;
    const bytes: unknown = reading(fn, name, () => tokenizer.bytesOf?.(id));
    if (bytes === undefined) return undefined;
    const view = isUint8Array(bytes)
      ? reading(fn, name, () => plainView(bytes) as Uint8Array)
      : undefined;
    if (view && view.length <= longest) return view;
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${view ? `${view.length} bytes` : describe(bytes)}, expected a Uint8Array of at most ${longest} or undefined`,
    );
  };
}

/** The tokens with bytes, by those as letters of Latin-1, in their order. */
function sorted(count: number, bytesOf: BytesOf): [key: string, id: number][] {
  const all: [key: string, id: number][] = [];
  for (let id = 0; id < count; id += 1) {
    const bytes = bytesOf(id);
    // A token without bytes would be allowed for ever.
    if (!bytes || bytes.length === 0) continue;
    let key = '';
    for (const byte of bytes) key += String.fromCharCode(byte);
    all.push([key, id]);
  }
  return all.sort(([a, i], [b, k]) => (a < b ? -1 : a > b ? 1 : i - k));
}

/** The most bytes of a token of each tree. */
const limits = [8, 16, 32, longest];

function made(fn: string, tokenizer: Tokenizer, count: number): Vocabulary {
  const bytesOf = bytesOfTokens(fn, tokenizer);
  const all = sorted(count, bytesOf);
  const trees = limits.map((limit, i) => {
    const before = limits[i - 1] ?? 0;
    return treeOf(all.filter(([key]) => key.length > before && key.length <= limit));
  });
  return { count, trees, bytesOf };
}

/** The tree of tokens in the order of their bytes. */
function treeOf(all: readonly [key: string, id: number][]): Tree {
  let most = 1;
  let before = '';
  const common = all.map(([key]) => {
    let length = 0;
    while (length < before.length && key.charCodeAt(length) === before.charCodeAt(length))
      length += 1;
    before = key;
    most += key.length - length;
    return length;
  });
  const [depths, skips] = [new Int32Array(most), new Int32Array(most).fill(most)];
  const bytes = new Uint8Array(most);
  const firsts = new Int32Array(most + 1);
  const tokens = new Int32Array(all.length);
  /** The nodes that lead to the last one. */
  const open: number[] = [0];
  let node = 0;
  all.forEach(([key, id], i) => {
    const from = common[i] ?? 0;
    // An equal one ends at the same node.
    for (let at = from; at < key.length; at += 1) {
      node += 1;
      while (open.length > at + 1) skips[open.pop() ?? 0] = node;
      open.push(node);
      depths[node] = at + 1;
      bytes[node] = key.charCodeAt(at);
      firsts[node] = i;
    }
    tokens[i] = id;
  });
  firsts[most] = all.length;
  const longestToken = all.reduce((length, [key]) => Math.max(length, key.length), 0);
  return { longest: longestToken, depths, bytes, skips, firsts, tokens };
}

const kept = new WeakMap<Tokenizer, Vocabulary>();

/** The vocabulary of a tokenizer, of so many tokens: made once. */
export function vocabularyOf(fn: string, tokenizer: Tokenizer, count: number): Vocabulary {
  const known = kept.get(tokenizer);
  if (known?.count === count) return known;
  const vocabulary = made(fn, tokenizer, count);
  kept.set(tokenizer, vocabulary);
  return vocabulary;
}
