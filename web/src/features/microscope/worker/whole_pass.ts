import type { Qkv } from 'qkv';
import type { Activations, Edit, Read } from 'qkv/models';
import type { Opened } from '../../model/worker/open_model';
import type {
  Added,
  Choice,
  CutHead,
  HeadPass,
  PassLayer,
  Prompts,
  WholePass,
} from '../shared/protocol';
import { choicesOf, softmax } from './answers';

/** Tokens that are shown as those that may follow. */
const NEXT = 5;

/** Lengths of the rows of an array. */
function norms(data: Float32Array, count: number): Float32Array {
  const width = data.length / count;
  return Float32Array.from({ length: count }, (_, i) => {
    let sum = 0;
    for (const x of data.subarray(i * width, (i + 1) * width)) sum += x * x;
    return Math.sqrt(sum);
  });
}
const norm = (data: Float32Array): number => norms(data, 1)[0]!;

const part = (data: Float32Array, index: number, count: number): Float32Array => {
  const size = data.length / count;
  return data.slice(index * size, (index + 1) * size);
};

/** Everything of one pass that the picture shows at the token `at`. */
function readsOf({ model: { config } }: Opened, at: number, head: CutHead | null): readonly Read[] {
  const rows = [at, at + 1] as const;
  const own = (['weights', 'heads', 'attention', 'final'] as const).filter(
    (site) => site !== 'weights' || head === null,
  );
  const reads: Read[] = [{ site: 'embed' }, { site: 'residual' }];
  for (const site of own) reads.push({ site, rows });
  if (config.dFeedForward > 0) reads.push({ site: 'feedForward', rows });
  if (config.encoderLayers > 0) reads.push({ site: 'cross', rows });
  if (head === null) return reads;
  // The whole map of the head that is zoomed to, and with it the rows of all others.
  reads.push({ site: 'weights' });
  for (const site of ['q', 'k', 'v', 'z'] as const) reads.push({ site, layers: [head[0]], rows });
  return reads;
}

/** [H, T] of a layer: what the token at `at` reads. `weights` are [H, 1, T], or [H, T, T]. */
function rowsOf(weights: Float32Array, at: number, [heads, count]: readonly [number, number]) {
  if (weights.length === heads * count) return weights.slice();
  const rows = new Float32Array(heads * count);
  for (let head = 0; head < heads; head++) {
    const from = (head * count + at) * count;
    rows.set(weights.subarray(from, from + count), head * count);
  }
  return rows;
}

function headPass({ model: { config }, info }: Opened, read: Activations, head: CutHead): HeadPass {
  const [layer, place] = head;
  const { numHeads } = info;
  const own = Math.floor((place * config.numKvHeads) / numHeads);
  const of = (site: 'q' | 'z' | 'weights') => part(read.get(site, layer).data, place, numHeads);
  const shared = (site: 'k' | 'v') => part(read.get(site, layer).data, own, config.numKvHeads);
  return { head, map: of('weights'), q: of('q'), k: shared('k'), v: shared('v'), z: of('z') };
}

/** The pass over the clean prompt, with these edits, as the picture shows it. */
export function wholePass(
  qkv: Qkv,
  of: Opened,
  { clean: { ids, labels }, answer, instead }: Prompts,
  request: {
    readonly at: number | null;
    readonly head: CutHead | null;
    readonly edit: readonly Edit[];
  },
): WholePass {
  const { model, info } = of;
  const { numLayers, numHeads } = info;
  const count = ids.length;
  const at = Math.min(request.at ?? Infinity, count - 1);
  const wanted = request.head;
  const head = wanted && wanted[0] < numLayers && wanted[1] < numHeads ? wanted : null;
  const { edit } = request;
  const { logits, activations: read } = model.forward(ids, { edit, read: readsOf(of, at, head) });
  const given = model.attribute(ids, { answer: answer!.id, instead: instead!.id, row: at, edit });
  const gives = (name: string) => given.parts.find(({ part: one }) => one === name)?.value ?? 0;
  const layers = Array.from({ length: numLayers }, (_, layer): PassLayer => {
    const heads = norms(read.get('heads', layer).data, numHeads);
    const lengthOf = (name: string, place: number | undefined): number | null => {
      if (name === 'head') return heads[place!]!;
      if (name === 'feedForward' || name === 'cross') return norm(read.get(name, layer).data);
      return null;
    };
    const parts = given.parts
      .filter((one) => one.layer === layer)
      .map(({ part: name, head: place, value }): Added => {
        return { part: name, layer, head: place ?? null, value, norm: lengthOf(name, place) };
      });
    return {
      parts,
      attention: norm(read.get('attention', layer).data),
      streams: norms(read.get('residual', layer).data, count),
      weights: rowsOf(read.get('weights', layer).data, at, [numHeads, count]),
    };
  });
  const vocabulary = logits.data.length / count;
  const row = logits.data.slice(at * vocabulary, (at + 1) * vocabulary);
  const next: readonly Choice[] = choicesOf(of, softmax(qkv, row), NEXT);
  return {
    ...{ at, labels, layers, next },
    embed: { streams: norms(read.get('embed').data, count), value: gives('embed') },
    ...{ bias: gives('bias'), final: norm(read.get('final').data), total: given.total },
    head: head && headPass(of, read, head),
  };
}
