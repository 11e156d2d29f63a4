import { largestAt } from '../../../domain/largest_at';
import type { Qkv } from 'qkv';
import type { Spectra } from 'qkv/spectra';
import { prefixMatching } from '../../../domain/prefix_matching';
import { nearest } from '../../../domain/nearest';
import { principalPlane } from '../../../engine/principal_plane';
import { hashText, uniform } from '../../../engine/random';
import type { Opened } from './open_model';
import {
  MOST_BARS,
  type HeadName,
  type HeadScores,
  type Lens,
  type Losses,
  type ModelAsk,
  type Near,
  type NextToken,
  type Plane,
  type Rollout,
  type Sampling,
} from '../shared/protocol';
import { firstScore, previousScore } from './head_scores';
import { select } from './selection';
import { differenceOf, passOver, type Pass } from './forward_pass';

/** Random tokens of the text that is read twice, at most. */
const REPEATED = 50;
const NEIGHBOURS = 8;
const LENS_TOKENS = 5;

const round = (of: Opened) =>
  ({ mask: of.info.causal ? 'causal' : 'none', temperature: 1 }) as const;

/** [begin, r_1 .. r_n, r_1 .. r_n], the same for every load of a model. */
export function repeatedIds({ info, begin }: Pick<Opened, 'info' | 'begin'>): {
  ids: number[];
  repeated: number;
} {
  const lead = begin === null ? [] : [begin];
  const repeated = Math.min(REPEATED, Math.floor((info.maxLength - lead.length) / 2));
  const draws = uniform(hashText('induction', 1), repeated, 1);
  const once = Array.from(draws, (x) => Math.floor(((x + 1) / 2) * info.vocabulary));
  return { ids: [...lead, ...once, ...once], repeated };
}

/** Scores of every head: on the shown text, and on random tokens that are read twice. */
export function* headScores(
  of: Opened,
  pass: Pass,
): Generator<undefined, Omit<HeadScores, 'induction' | 'repeated'>> {
  const previous = Float32Array.from(pass.weights, previousScore);
  const first = Float32Array.from(pass.weights, firstScore);
  yield;
  const { difference } =
    of.info.notDrawn === null ? differenceOf(pass, round(of)) : { difference: NaN };
  return { numHeads: of.info.numHeads, previous, first, difference };
}

export function inductionScores(qkv: Qkv, of: Opened): Pick<HeadScores, 'induction' | 'repeated'> {
  const { ids, repeated } = repeatedIds(of);
  const { weights } = passOver(qkv, of.model, ids);
  const induction = Float32Array.from(weights, (each) => prefixMatching(each, ids));
  return { induction, repeated };
}

/** Those that the model has: a link may name heads of a larger one. */
const headsOf = ({ info }: Opened, heads: ModelAsk['ablated']) =>
  heads.filter(([layer, head]) => layer < info.numLayers && head < info.numHeads);

export function losses(of: Opened, pass: Pass, heads: ModelAsk['ablated']): Losses | null {
  const { model, info } = of;
  if (pass.ids.length < 2 || !info.speaks) return null;
  const whole = model.loss(pass.ids);
  const there = headsOf(of, heads);
  const ablated = there.length > 0 ? model.loss(pass.ids, { inspect: { ablate: there } }) : null;
  return { whole, ablated, heads: there };
}

/** The row of logits after a token of a pass. */
function rowOf({ logits, ids }: Pass, at: number): Float32Array {
  const vocabulary = logits!.length / ids.length;
  return logits!.slice(at * vocabulary, (at + 1) * vocabulary);
}

/** What the likeliest token of the whole model becomes without some heads. */
function cutOf(
  whole: Float32Array,
  cut: Float32Array,
  { label, heads }: { label: Opened['label']; heads: readonly HeadName[] },
): NonNullable<NextToken['cut']> {
  const likeliest = largestAt(whole);
  return { heads, label: label(likeliest), whole: whole[likeliest]!, cut: cut[likeliest]! };
}

export function nextToken(
  qkv: Qkv,
  of: Opened,
  pass: Pass,
  { at, sampling, ablated }: { at: number; sampling: Sampling; ablated: ModelAsk['ablated'] },
): NextToken | null {
  const { label, info, model } = of;
  if (!pass.logits || !info.speaks || pass.ids.length === 0) return null;
  const ablate = headsOf(of, ablated);
  const whole = rowOf(pass, at);
  const before = pass.ids.slice(0, at + 1);
  const logits =
    ablate.length > 0
      ? model.forward(before, { rows: 'last', inspect: { ablate } }).logits.data
      : whole;
  const { order, p, keptK, keptP, sumK, sumP } = select(qkv, logits, sampling);
  const bars = Array.from(order.subarray(0, MOST_BARS), (id, i) => ({
    id,
    label: label(id),
    temperature: p[id]!,
    topK: i < keptK ? p[id]! / sumK : null,
    topP: i < keptP ? p[id]! / sumP : null,
  }));
  const plainOf = (data: Float32Array) => qkv.softmax({ data, shape: [data.length] });
  const plain = plainOf(logits);
  const follows = pass.ids[at + 1];
  return {
    at,
    label: label(pass.ids[at]!),
    actual:
      follows === undefined
        ? null
        : { id: follows, label: label(follows), p: plain.data[follows]! },
    bars,
    keptK,
    keptP,
    entropy: qkv.entropy(plain).data[0]!,
    vocabulary: logits.length,
    cut:
      ablate.length > 0 ? cutOf(plainOf(whole).data, plain.data, { label, heads: ablate }) : null,
  };
}

/** The likeliest tokens by the stream after each layer, through the last norm and the head. */
export function lensAt(
  qkv: Qkv,
  of: Opened,
  pass: Pass,
  { at, ablated }: { at: number; ablated: ModelAsk['ablated'] },
): Lens | null {
  const { model, label, info } = of;
  if (!info.speaks || pass.ids.length === 0) return null;
  const session = model.session({ capacity: at + 1 });
  try {
    const ablate = headsOf(of, ablated);
    if (at > 0)
      model.forward(pass.ids.slice(0, at), { session, rows: 'last', inspect: { ablate } });
    const inspect = { logitLens: true, ablate } as const;
    const { layers } = model.forward([pass.ids[at]!], { session, inspect });
    const last = Array.from(layers.values()).at(-1)!.logits.data;
    const likeliest = largestAt(last);
    return {
      at,
      layers: Array.from(layers.values(), ({ logits }) => {
        const plain = { temperature: 1, topK: 0, topP: 1 };
        const { order, p } = select(qkv, logits.data, plain);
        const tokens = Array.from(order.subarray(0, LENS_TOKENS), (id) => ({
          id,
          label: label(id),
          p: p[id]!,
        }));
        return { tokens, last: p[likeliest]! };
      }),
    };
  } finally {
    session.dispose();
  }
}

/** Sources of a token that are listed. */
const ROLLOUT_TOKENS = 6;

/** Attention rollout (Abnar and Zuidema 2020) over the weights that the pass itself used. */
export function rolloutAt(qkv: Qkv, { label, info }: Opened, pass: Pass, at: number): Rollout {
  const { ids, weights } = pass;
  const { numLayers, numHeads } = info;
  const count = ids.length;
  const all = new Float32Array(numLayers * numHeads * count * count);
  weights.forEach((of, head) => all.set(of, head * count * count));
  const shape = [numLayers, numHeads, count, count];
  const row = qkv
    .attentionRollout({ data: all, shape })
    .data.subarray(at * count, (at + 1) * count);
  const lastLayer = weights.slice(-numHeads);
  const meanOf = (place: number) =>
    lastLayer.reduce((sum, of) => sum + of[at * count + place]!, 0) / numHeads;
  const places = Array.from(row.keys()).sort((a, b) => row[b]! - row[a]! || a - b);
  const listed = places.slice(0, Math.min(ROLLOUT_TOKENS, count));
  const rest = places.slice(listed.length).reduce((sum, place) => sum + row[place]!, 0);
  const sources = listed.map((place) => ({
    ...{ place, label: label(ids[place]!), share: row[place]!, last: meanOf(place) },
  }));
  return { at, label: label(ids[at]!), sources, own: row[at]!, rest };
}

export function planeOf(spectra: Spectra, { embedding, label, info }: Opened): Plane | null {
  if (!embedding) return null;
  const { points, shares } = principalPlane(spectra, embedding, info.dModel);
  const labels = Array.from({ length: info.vocabulary }, (_, id) => label(id));
  return { points, labels, shares, width: info.dModel };
}

export function nearOf({ embedding, label, info }: Opened, id: number): Near | null {
  if (!embedding || id >= info.vocabulary) return null;
  const found = nearest(embedding, info.dModel, { of: id, count: NEIGHBOURS });
  const tokens = found.map((other) => ({ ...other, label: label(other.id) }));
  return { id, label: label(id), tokens };
}
