// What the picture of a pass tells, row by row from the first that is added to the last.
import { digits, percent } from '../../../ui/numbers';
import { t } from '../feature';
import type { Added, PassLayer, WholePass, Zoom } from '../shared/protocol';
import { headText, partName, signed } from './names';

/** Length of a vector. */
export const lengthText = (norm: number): string => digits(norm, 3);

export interface PassRow {
  readonly name: string;
  /** The same as a sentence, with what it adds and gives. */
  readonly says: string;
  readonly value: number;
  readonly note: string;
  /** What a layer consists of. */
  readonly parts: readonly Added[];
  /** Of the parts the head that gives most: its weights are the arcs. */
  readonly strongest: Added | null;
  /** What the token reads; null: nothing of other tokens. */
  readonly weights: Float32Array | null;
  /** Lengths of the streams below and above. */
  readonly streams: readonly [before: Float32Array, after: Float32Array];
  /** Whether there is something inside. */
  readonly opens: boolean;
}

const sumOf = (parts: readonly Added[]) => parts.reduce((sum, { value }) => sum + value, 0);

/** The head that gives most, in either direction. */
export function strongestOf(parts: readonly Added[]): Added | null {
  const heads = parts.filter(({ head }) => head !== null);
  return heads.reduce<Added | null>(
    (most, one) => (most && Math.abs(most.value) >= Math.abs(one.value) ? most : one),
    null,
  );
}

const weightsOf = ({ weights, parts }: PassLayer, head: number): Float32Array => {
  const heads = parts.filter((one) => one.head !== null).length;
  const count = weights.length / heads;
  return weights.subarray(head * count, (head + 1) * count);
};

/** The streams before a layer. */
export const streamsBefore = ({ embed, layers }: WholePass, layer: number): Float32Array =>
  layers[layer - 1]?.streams ?? embed.streams;

function layerRow(pass: WholePass, layer: number): PassRow {
  const of = pass.layers[layer]!;
  const strongest = strongestOf(of.parts);
  const value = sumOf(of.parts);
  const stream = lengthText(of.streams[pass.at] ?? NaN);
  return {
    ...{ name: t('microscope.layer', { layer }), value, parts: of.parts, strongest },
    says: t('microscope.pass.layerSays', {
      ...{ layer, gives: signed(value), attention: lengthText(of.attention), stream },
      name: headText([layer, strongest?.head ?? 0]),
      most: signed(strongest?.value ?? 0),
    }),
    note: t('microscope.pass.streamNote', { stream }),
    weights: strongest ? weightsOf(of, strongest.head ?? 0) : null,
    streams: [streamsBefore(pass, layer), of.streams],
    opens: true,
  };
}

/** Where most of a row of weights is, as positions with their tokens. */
export function readsMost({ labels }: WholePass, weights: Float32Array): string {
  const places = Array.from(weights.keys()).sort((a, b) => weights[b]! - weights[a]! || a - b);
  return places
    .slice(0, 3)
    .filter((place) => weights[place]! > 0)
    .map((place) => `${place} “${labels[place] ?? ''}” ${percent(weights[place]!)}`)
    .join(t('microscope.pass.comma'));
}

function partRow(pass: WholePass, layer: number, part: Added): PassRow {
  const of = pass.layers[layer]!;
  const { head, value, norm } = part;
  const weights = head === null ? null : weightsOf(of, head);
  const before = streamsBefore(pass, layer);
  const name = partName(part);
  const values = { name, gives: signed(value), length: lengthText(norm ?? NaN) };
  const says = () => {
    if (weights)
      return t('microscope.pass.headSays', { ...values, reads: readsMost(pass, weights) });
    return t(norm === null ? 'microscope.pass.biasSays' : 'microscope.pass.partSays', values);
  };
  return {
    ...{ name, value, weights, says: says(), parts: [], strongest: null, opens: head !== null },
    note: norm === null ? '' : t('microscope.pass.addsNote', values),
    streams: [before, before],
  };
}

/** The rows at a place: the layers of the whole model, the parts of a layer, or the one head. */
export function passRows(pass: WholePass, [layer, head]: Zoom): readonly PassRow[] {
  if (layer === undefined) return pass.layers.map((_, at) => layerRow(pass, at));
  const { parts } = pass.layers[layer]!;
  const shown = parts.filter((part) =>
    head === undefined
      ? part.head !== null || part.norm !== null || part.value !== 0
      : part.head === head,
  );
  const rows = shown.map((part) => partRow(pass, layer, part));
  return head === undefined ? rows : rows.map((row) => ({ ...row, opens: false }));
}

/** The row that gives most. */
export const largestRow = (rows: readonly PassRow[]): number =>
  rows.reduce(
    (most, { value, opens }, at) =>
      opens && Math.abs(value) > Math.abs(rows[most]?.value ?? 0) ? at : most,
    0,
  );

/** The largest share that any part of the model has: its square is full. */
export const largestShare = ({ layers }: WholePass): number =>
  Math.max(1e-9, ...layers.flatMap(({ parts }) => parts.map(({ value }) => Math.abs(value))));

/** The longest of all vectors of the stream. */
export const longestStream = ({ embed, layers }: WholePass): number =>
  [embed, ...layers].reduce(
    (most, { streams }) => streams.reduce((longest, x) => Math.max(longest, x), most),
    1e-9,
  );
