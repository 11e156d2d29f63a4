// What heads do over rows of tokens: means of their weights.

import type { HeadScores, HeadScoresOptions } from '../../api/inspect-types.js';
import { QkvError } from '../../api/errors.js';
import { checkInteger } from '../../arguments/numbers.js';
import { takeOptions } from '../../arguments/values.js';
import { hasPlainHead } from '../../language/config.js';
import { Call } from '../../memory/call.js';
import type { ModelState } from '../model-state.js';
import { shapeAt, SiteReadings } from '../../language/sites.js';
import { checkAlone, tokensOf } from '../text.js';

const fn = 'LanguageModel.headScores';
const names = ['text', 'tokens', 'seed'] as const;
/** Most numbers of weights and scores that are held at a time, unless one layer has more. */
const mostNumbers = 2 ** 24;

/** Numbers in [0, 1) from a seed: mulberry32, public domain. */
function random(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Random tokens twice, each another as far as the vocabulary goes, after the token that begins a text. */
function repeated({ spec }: ModelState, { tokens, seed = 0 }: HeadScoresOptions): Int32Array {
  const { vocabulary, maxLength } = spec.config;
  const begin = spec.tokenizer?.begin;
  const first = begin === undefined ? [] : [begin];
  const room = Math.floor((maxLength - first.length) / 2);
  const count = tokens === undefined ? Math.min(32, room) : tokens;
  checkInteger(fn, 'tokens', count, 1, room);
  checkInteger(fn, 'seed', seed, 0, 2 ** 32 - 1);
  const next = random(seed);
  const taken = new Set<number>(vocabulary > count + first.length ? first : []);
  const chosen = Array.from({ length: count }, () => {
    if (taken.size >= vocabulary) taken.clear();
    let id = Math.floor(next() * vocabulary);
    while (taken.has(id)) id = (id + 1) % vocabulary;
    taken.add(id);
    return id;
  });
  return Int32Array.from([...first, ...chosen, ...chosen]);
}

/** The keys of each row that a score is about. */
function keysOf(ids: Int32Array) {
  const same = Array.from(ids, () => [] as number[]);
  const after = Array.from(ids, () => [] as number[]);
  ids.forEach((id, i) => {
    for (let j = 0; j < i; j += 1) {
      if (ids[j] === id) same[i]?.push(j);
      if (j > 0 && ids[j - 1] === id) after[i]?.push(j);
    }
  });
  const at = (key: (i: number) => number): number[][] =>
    Array.from(ids, (_, i) => (i > 0 ? [key(i)] : []));
  return { previous: at((i) => i - 1), duplicate: same, induction: after, first: at(() => 0) };
}

/** The mean over the rows that have keys of the weights on them. */
function meanOn(keys: readonly (readonly number[])[], weights: Float32Array): number {
  const { length } = keys;
  let [sum, count] = [0, 0];
  keys.forEach((of, i) => {
    if (of.length === 0) return;
    count += 1;
    for (const j of of) sum += weights[i * length + j] ?? 0;
  });
  return count > 0 ? sum / count : 0;
}

/** Entropies over those of even weights on the keys that are not excluded. */
function evennessOf(weights: Float32Array, scores: Float32Array, length: number): number {
  let [entropy, most] = [0, 0];
  for (let i = 1; i < length; i += 1) {
    let open = 0;
    for (let j = i * length; j < (i + 1) * length; j += 1) {
      const w = weights[j] ?? 0;
      if (w > 0) entropy -= w * Math.log(w);
      if (scores[j] !== -Infinity) open += 1;
    }
    if (open > 1) most += Math.log(open);
  }
  return most > 0 ? entropy / most : 0;
}

const none = new Float32Array();

/** The weights and scores of these layers, [numHeads, T, T] each. */
function attentionOf(state: ModelState, ids: Int32Array, layers: readonly number[]) {
  const call = new Call(state.instance, fn);
  const { length } = ids;
  const size = { batch: 1, length, keys: length };
  const shape = shapeAt('weights', state.spec.config, size, length);
  const readings = new SiteReadings(
    call,
    layers.flatMap((layer) =>
      (['weights', 'scores'] as const).map((site) => {
        return { site, layer, rows: [0, length] as const, shape, name: 'text' };
      }),
    ),
  );
  const rows = { name: 'text', shape: [1, length], source: ids };
  const fields = { model: state.live(fn), ids: call.input(rows), sites: readings.fields(call) };
  call.run('forwardModel', fields);
  const arrays = readings.arrays(call).map(({ array }) => array.data);
  return layers.map((layer, i) => {
    return { layer, weights: arrays[2 * i] ?? none, scores: arrays[2 * i + 1] ?? none };
  });
}

/** Whether heads of a layer make likelier what they read: the mean over the tokens. */
function copyingOf(state: ModelState, layer: number, ids: Int32Array): readonly number[] {
  const { numHeads } = state.spec.config;
  if (!hasPlainHead(state.spec.config)) return Array.from({ length: numHeads }, () => NaN);
  const call = new Call(state.instance, fn);
  const slot = call.output('scores', [ids.length, numHeads]);
  const tokens = call.input({ name: 'text', shape: [ids.length], source: ids });
  call.run('copyingModel', { model: state.live(fn), layer, ids: tokens, scores: slot });
  const scores = call.read(slot);
  return Array.from({ length: numHeads }, (_, h) => {
    let sum = 0;
    for (let i = 0; i < ids.length; i += 1) sum += scores[i * numHeads + h] ?? NaN;
    return sum / ids.length;
  });
}

export function headScores(state: ModelState, given: HeadScoresOptions = {}): HeadScores[] {
  const { numLayers, numHeads } = state.spec.config;
  const taken = takeOptions(fn, 'options', given, names);
  checkAlone(fn, state.spec, 'a model without one');
  const ids =
    taken.text === undefined
      ? repeated(state, taken)
      : tokensOf(fn, 'text', taken.text, state.spec).source;
  const { length } = ids;
  if (length < 2) {
    throw new QkvError('shape_mismatch', `${fn}: text has 1 token, expected at least 2`);
  }
  const keys = keysOf(ids);
  const different = Int32Array.from(new Set(ids));
  const square = length * length;
  const atOnce = Math.max(1, Math.floor(mostNumbers / (2 * numHeads * square)));
  const result: HeadScores[] = [];
  for (let first = 0; first < numLayers; first += atOnce) {
    const count = Math.min(atOnce, numLayers - first);
    const layers = Array.from({ length: count }, (_, i) => first + i);
    for (const { layer, weights, scores } of attentionOf(state, ids, layers)) {
      copyingOf(state, layer, different).forEach((copying, head) => {
        const own = weights.subarray(head * square, (head + 1) * square);
        const before = scores.subarray(head * square, (head + 1) * square);
        const on = (name: keyof typeof keys): number => meanOn(keys[name], own);
        result.push({
          ...{ layer, head, previous: on('previous'), duplicate: on('duplicate') },
          ...{ induction: on('induction'), first: on('first'), copying },
          evenness: evennessOf(own, before, length),
        });
      });
    }
  }
  return result;
}
