// The numbers of the page that an exercise can ask for: as the panels show them, from the same frames and studies.
import { entropyOf } from '../../../domain/softmax';
import { mean } from '../../../domain/averages';
import type { View } from '../../panel';
import type { BlockView } from '../../block/worker/frame_feature';
import { TAPS, type TapId } from '../../block/shared/constants';
import { coverShare } from '../../bounds/shared/capacity';
import { beta } from '../../bounds/shared/stability';
import { boundsRequest, boundsRowsOf } from '../../bounds/state';
import { bytesOf, evenLength, passFlops } from '../../cost/page/operation_count';
import { sharpBound } from '../../fragility/shared/bounds';
import { fragilityRequest } from '../../fragility/state';
import { taskOf } from '../../learn/shared/tasks';
import { costOf } from '../../linear/shared/counts';
import { linearSizes } from '../../linear/state';
import { softAnswer } from '../../lookup/shared/readings';
import { lookupOf } from '../../lookup/state';
import { TOKENS as DIGITS } from '../../recurrence/shared/task';
import { objective } from '../../simplex/shared/objective';
import { simplexPointOf, simplexRequest } from '../../simplex/state';
import { knownWords } from '../../words/page/word_source';
import { bagsOf, cellOf, termOf } from '../../words/shared/counts';
import { answerOf, cosineOf } from '../../words/shared/similarity';
import { analogyText, shownWords } from '../../words/page/shown_words';

/** Undefined or null: the page has not computed it, or there is no such place. */
type Read = (view: View, a: number, b: number) => number | null | undefined;

function maskRow({ frame }: View, row: number): Float32Array | null {
  const masks = frame?.masks;
  const count = masks?.tokens.length ?? 0;
  return masks && row < count ? masks.weights.subarray(row * count, (row + 1) * count) : null;
}

const widthOf = ({ studies, state }: View) =>
  studies.scale?.sample === state.sample
    ? studies.scale.results.find(({ width }) => width === state.width)
    : undefined;

function allowedPairs({ frame }: View): number | null {
  const masks = frame?.masks;
  return masks ? masks.mask.reduce((sum, one) => sum + one, 0) : null;
}

/** The largest weight of the selected query on the sentence that is read. */
function crossLargest({ frame, query }: View): number | null {
  const cross = frame?.block?.cross;
  const count = cross?.cols.length ?? 0;
  const row = cross?.weights.subarray(query * count, (query + 1) * count) ?? [];
  return row.length > 0 ? Math.max(...row) : null;
}

const lengthAt = (block: BlockView, tap: TapId) => mean(block.norms[tap]?.norms ?? []);

function streamGrowth({ frame }: View): number | null {
  const block = frame?.block;
  const end = block && block.path.at(-1);
  return end ? lengthAt(block, end) / lengthAt(block, 'input') : null;
}

function meanSurprise({ model }: View): number | null {
  const { reading } = model.answers;
  return reading ? mean(reading.surprisal.filter(Number.isFinite)) : null;
}

/** How much of the difference comes back with the clean output of a head. */
function restored({ model }: View, layer: number, head: number): number | null | undefined {
  const map = model.microscope.maps?.maps.find(({ site }) => site === 'z');
  return map && head < map.columns ? map.values[layer * map.columns + head] : null;
}

/** The largest weight of the token that the picture of the pass follows, in a head. */
function readsMost({ model }: View, layer: number, head: number): number | null {
  const { pass } = model.microscope;
  const count = pass?.labels.length ?? 0;
  const row = pass?.layers[layer]?.weights.subarray(head * count, (head + 1) * count) ?? [];
  return row.length > 0 ? Math.max(...row) : null;
}

/** TF-IDF of the word that the panel works out, in a document. */
function wordsTfidf({ state }: View, document: number): number | null {
  const { text, term } = shownWords(state);
  const bags = bagsOf(text);
  return document < bags.documents.length
    ? cellOf(bags, 'tfidf', termOf(bags, term), document)
    : null;
}

function wordsCosine({ state }: View): number | null {
  const table = knownWords();
  const { near, other } = shownWords(state);
  const value = table ? cosineOf(table, near, other) : NaN;
  return Number.isNaN(value) ? null : value;
}

/** The cosine of the answer to the analogy of the panel. */
function wordsAnswer({ state }: View): number | null {
  const table = knownWords();
  const [a = '', b = '', c = ''] = analogyText(shownWords(state).analogy).split(' ');
  return (table && answerOf(table, [a, b, c], 1)?.nearest[0]?.cosine) ?? null;
}

function softLookup({ state }: View) {
  const { question, temperature } = lookupOf(state);
  return softAnswer(question, temperature);
}

function flowNumber({ frame }: View): number | null {
  const flow = frame?.flow;
  return flow?.x[flow.part] ?? null;
}

/** How many labelings of so many rows the heads of the panel fit, as the share that was found by trying. */
const labelingsFitted = ({ frame }: View, rows: number) =>
  frame?.bounds?.capacity.points[rows - 1]?.share;

/** By name; those that need a place take it after a colon: `weight:3`, `maskWeight:4,0`. Places count from 0. */
const QUANTITIES = {
  // the row of the query
  tokens: ({ list }) => list.tokens.length,
  weight: ({ frame }, key) => frame?.query?.weights[key],
  score: ({ frame }, key) => frame?.query?.scores[key],
  largest: ({ frame }) => frame?.query?.weights[frame.query.largest],
  largestKey: ({ frame }) => frame?.query?.largest,
  entropy: ({ frame }) => frame?.query?.entropy,
  // the panels of the look-up and of q, k and v
  lookupAnswer: (view) => softLookup(view).answer,
  lookupWeight: (view, key) => softLookup(view).weights[key],
  flowNumber,
  flowWeight: ({ frame }) => frame?.flow && Math.max(...frame.flow.keys.map((key) => key.weight)),
  flowScore: ({ frame }) => frame?.flow && Math.max(...frame.flow.keys.map((key) => key.score)),
  // the panel of one row
  rowProduct: ({ frame }, key) => frame?.row?.products[key],
  rowScaled: ({ frame }, key) => frame?.row?.scaled[key],
  rowExp: ({ frame }, key) => frame?.row?.exps[key],
  rowSum: ({ frame }) => frame?.row?.sum,
  rowWeight: ({ frame }, key) => frame?.row?.weights[key],
  rowOutput: ({ frame }, part) => frame?.row?.output[part],
  // the panel of the temperature
  tauEntropy: ({ frame }) => frame?.temperature?.entropy,
  tauLargest: ({ frame }) => frame?.temperature?.largest,
  tauTheory: ({ frame }) => frame?.temperature?.theory,
  tauCritical: ({ frame }) => frame?.temperature?.of.critical,
  tauVariance: ({ frame }) => frame?.temperature?.of.cumulants[2],
  tauGradient: ({ frame }) => frame?.temperature?.gradient,
  // the panel of the width
  scaleVariance: (view) => widthOf(view)?.[view.state.divided ? 'scaled' : 'plain'].variance,
  scaleBefore: (view) => widthOf(view)?.plain.entropy,
  scaleAfter: (view) => widthOf(view)?.scaled.entropy,
  // the panel of the masks
  maskPairs: allowedPairs,
  maskWeight: (view, row, col) => maskRow(view, row)?.[col],
  maskEntropy: (view, row) => {
    const weights = maskRow(view, row);
    return weights && entropyOf(weights);
  },
  maskEmpty: ({ frame }) => frame?.masks?.empty.length,
  swapFree: ({ frame }) => frame?.masks?.swaps?.without.free,
  swapMasked: ({ frame }) => frame?.masks?.swaps?.without.masked,
  swapPlaced: ({ frame }) => frame?.masks?.swaps?.sinusoidal?.free,
  // the panel of the positions
  encoding: ({ frame }, place, part) => {
    const encoding = frame?.positions?.encoding;
    if (!encoding || place >= encoding.length) return null;
    return encoding.data[place * (encoding.data.length / encoding.length) + part];
  },
  alibiSlope: ({ frame }, head) => frame?.positions?.slopes[head],
  schemeValue: ({ frame }, row, col) => {
    const values = frame?.positions?.scheme.values;
    const count = Math.sqrt(values?.length ?? 0);
    return row < count && col < count ? values?.[row * count + col] : null;
  },
  rotaryScore: ({ frame }) => frame?.positions?.rotary.score,
  // the panel of the block; a place is that of a tap in TAPS
  blockLength: ({ frame }, place) => {
    const tap = TAPS[place];
    return frame?.block && tap ? lengthAt(frame.block, tap) : null;
  },
  blockGrowth: streamGrowth,
  blockParts: ({ frame }) =>
    frame?.block &&
    (frame.block.heads.length * mean(frame.block.heads.map(mean))) /
      lengthAt(frame.block, 'attention'),
  crossLargest,
  crossPairs: ({ frame }) => frame?.block?.cross.weights.length,
  // the panel of the cost
  costShare: ({ state }) => {
    const { scores, values, total } = passFlops(state.costShape);
    return (scores + values) / total;
  },
  costEven: ({ state }) => Math.ceil(evenLength(state.costShape)),
  costCache: ({ state }) => bytesOf(state.costShape).cache / 1e6,
  costSaving: ({ state }) => {
    const { square, streaming } = bytesOf(state.costShape);
    return square / streaming;
  },
  // the panel of linear attention
  linearRatio: ({ state }) => {
    const sizes = linearSizes(state);
    return costOf('softmax', sizes).operations / costOf('linear', sizes).operations;
  },
  linearKept: ({ state }) => costOf('linear', linearSizes(state)).kept,
  windowKept: ({ state }) => costOf('window', linearSizes(state)).kept,
  linearError: ({ frame }) => frame?.linear?.errors.linear,
  windowError: ({ frame }) => frame?.linear?.errors.window,
  // the panels of the theory
  simplexHere: ({ state }) => {
    const { scores, temperature } = simplexRequest(state);
    return objective(simplexPointOf(state), scores, temperature);
  },
  simplexBest: ({ frame }) => frame?.simplex?.value,
  simplexWeight: ({ frame }, key) => frame?.simplex?.best[key],
  fragilityFlips: ({ frame }) => frame?.fragility?.flips,
  fragilityLargest: ({ frame }) => frame?.fragility?.here.largest,
  fragilityBound: ({ state }) => {
    const { shake, temperature } = fragilityRequest(state);
    return sharpBound(shake, temperature);
  },
  capacityCover: ({ state }, rows) => coverShare(rows, boundsRequest(state).heads),
  capacityFitted: labelingsFitted,
  stabilityBeta: ({ state }) => beta(boundsRequest(state).norms, boundsRowsOf(state)),
  // the panel of the checks
  checkHeads: ({ report }) => report?.check?.heads,
  // what is known of models before they are trained
  recurrenceChance: () => 1 / DIGITS,
  recurrencePath: ({ state }) => state.recurrenceSource.length - 1,
  learnChance: ({ state: { learnTask } }) =>
    learnTask === 'characters' ? null : Math.log(taskOf(learnTask, '').vocabulary),
  // the panel of words: its documents, its words, its analogy
  wordsTfidf,
  wordsCosine,
  wordsAnswer,
  // the trained model, when it is there
  modelLikelihood: (view) => {
    const loss = meanSurprise(view);
    return loss === null ? null : Math.exp(-loss);
  },
  modelScore: ({ model: { answers } }) => answers.scores && Math.max(...answers.scores.previous),
  modelNext: ({ model: { answers } }, place) => answers.next?.bars[place]?.temperature,
  // the microscope: its two prompts, what a head restores, gives and reads, and the answer with the cuts
  microscopeMeasure: ({ model }, prompt) => model.microscope.prompts?.measures[prompt],
  microscopeRestored: restored,
  microscopeShare: ({ model }, layer, head) =>
    model.microscope.shares?.parts.find((part) => part.layer === layer && part.head === head)
      ?.value,
  microscopeReads: readsMost,
  microscopeAnswer: ({ model: { microscope } }) => {
    const { prompts, cut } = microscope;
    return cut?.rows.find(({ id }) => id === prompts?.answer?.id)?.after;
  },
} satisfies Readonly<Record<string, Read>>;

export type QuantityName = keyof typeof QUANTITIES;
export const QUANTITY_NAMES = Object.keys(QUANTITIES) as readonly QuantityName[];

const FORM = /^(\w{1,20})(?::(\d{1,4})(?:,(\d{1,4}))?)?$/;

export const isQuantity = (name: string): boolean => {
  const found = FORM.exec(name)?.[1];
  return found !== undefined && QUANTITY_NAMES.some((known) => known === found);
};

/** What the page has computed under this name for the state that is on the screen; null: nothing yet. */
export function quantity(name: string, view: View): number | null {
  const [, id, a = '0', b = '0'] = FORM.exec(name) ?? [];
  const known = QUANTITY_NAMES.find((one) => one === id);
  if (known === undefined) return null;
  const read: Read = QUANTITIES[known];
  const value = read(view, Number(a), Number(b));
  return value === undefined || value === null || !Number.isFinite(value) ? null : value;
}
