// What restoring one activation of a clean pass into a corrupt one does.

import { QkvError } from '../../api/errors.js';
import type { Sweep, SweepOptions } from '../../api/inspect-types.js';
import { checkChoice, checkInteger } from '../../arguments/numbers.js';
import { checkSignal, throwIfAborted } from '../../arguments/signal.js';
import { describe, takeOptions } from '../../arguments/values.js';
import type { Config } from '../../language/config.js';
import { editsIn, editsOf, type Operand, type SiteEdit } from '../edits.js';
import type { ModelState } from '../model-state.js';
import { checkProgress } from '../../arguments/progress.js';
import { Pause } from '../../platform/pause.js';
import { checkSite } from '../../language/places.js';
import { checkAlike } from '../../language/prompts.js';
import { checkAlone, tokensOf } from '../text.js';
import { MeasuredPass } from './measured-pass.js';
import { checkHead } from './one-pass.js';
import { type Patch, patchesOf, standInOf, type SweepPlace } from './patches.js';

const fn = 'LanguageModel.sweep';
const names = [
  ...(['clean', 'corrupt', 'answer', 'instead', 'site', 'layer', 'block', 'with'] as const),
  ...(['edit', 'signal', 'onProgress'] as const),
] as const;
const sitesOf = ['residual', 'attention', 'feedForward', 'z', 'neurons'] as const;
/** Most tokens of a pass: enough to share the weights that it reads, and few enough for the page to stay awake. */
const mostTokens = 512;

/** The request of sweep(), checked. */
interface Request {
  readonly clean: Int32Array;
  readonly corrupt: Int32Array;
  readonly passes: MeasuredPass;
  readonly place: SweepPlace;
  /** 'clean', 'zero', or the tokens over which the mean is taken. */
  readonly stands: 'clean' | 'zero' | Int32Array;
  /** The caller's changes, of all passes. */
  readonly edits: readonly SiteEdit[];
  readonly signal: AbortSignal | undefined;
  readonly onProgress: SweepOptions['onProgress'];
}

/** `layer` and `block`, which neurons alone have. */
function placeOf(taken: SweepOptions, config: Config): SweepPlace {
  const { site, layer, block } = taken;
  checkSite(fn, 'site', site, { among: sitesOf, config });
  if (site === 'neurons') {
    const { dFeedForward, numLayers } = config;
    checkInteger(fn, 'layer', layer, 0, numLayers - 1);
    const size = block === undefined ? Math.ceil(dFeedForward / 16) : block;
    checkInteger(fn, 'block', size, 1, dFeedForward);
    return { site, layers: [layer], block: size };
  }
  for (const [name, value] of Object.entries({ layer, block })) {
    if (value === undefined) continue;
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(value)}, expected none: site is '${site}', of all layers`,
    );
  }
  return { site, layers: Array.from({ length: config.numLayers }, (_, i) => i), block: 0 };
}

function standsOf(given: unknown, state: ModelState): Request['stands'] {
  if (given === undefined || given === 'clean' || given === 'zero') return given ?? 'clean';
  if (typeof given === 'string') checkChoice(fn, 'with', given, ['clean', 'zero']);
  const { mean } = takeOptions(fn, 'with', given as { mean: unknown }, ['mean']);
  return tokensOf(fn, 'with.mean', mean, state.spec).source;
}

function requestOf(state: ModelState, given: SweepOptions): Request {
  const { spec } = state;
  const taken = takeOptions(fn, 'options', given, names);
  checkHead(fn, spec);
  checkAlone(fn, spec, 'a model without one');
  const { answer, instead, signal, onProgress } = taken;
  const last = spec.config.vocabulary - 1;
  checkInteger(fn, 'answer', answer, 0, last);
  checkInteger(fn, 'instead', instead, 0, last);
  if (answer === instead) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: instead is ${instead}, as answer is, expected another token`,
    );
  }
  checkSignal(fn, signal);
  checkProgress(fn, onProgress);
  const place = placeOf(taken, spec.config);
  const { source: clean } = tokensOf(fn, 'clean', taken.clean, spec);
  const { source: corrupt } = tokensOf(fn, 'corrupt', taken.corrupt, spec);
  checkAlike(fn, clean, corrupt);
  const stands = standsOf(taken.with, state);
  // Of the text of a mean the tokens are others, so that changes are checked as those of a generation are.
  const size = { batch: 1, length: clean.length, keys: clean.length };
  const isOpen = typeof stands !== 'string';
  const edits = editsOf(fn, taken.edit, spec.config, { ...size, isOpen });
  const passes = new MeasuredPass(fn, state, { answer, instead });
  return { ...{ clean, corrupt, place, stands, passes, edits, signal }, onProgress };
}

/** The passes before all patches: both measures, what stands in, and the streams from which the patches begin. */
function firstPasses(
  { clean, corrupt, place, stands, passes, edits: all }: Request,
  config: Config,
) {
  const { site, layers } = place;
  const read = layers.map((layer) => ({ site, layer }));
  const isClean = stands === 'clean';
  const editsOver = ({ length }: Int32Array) => editsIn(all, 0, { batch: 1, length, keys: length });
  const edits = editsOver(clean);
  const whole = passes.run(clean, 1, { ...(isClean && { read }), edits });
  const streams = [
    { site: 'embed', layer: 0 } as const,
    ...layers.map((layer) => ({ site: 'residual', layer }) as const),
  ];
  const before = place.site === 'neurons' ? neuronStreams(place) : streams;
  const base = passes.run(corrupt, 1, { read: before, edits });
  const arrays = isClean
    ? whole.arrays
    : stands === 'zero'
      ? undefined
      : passes.run(stands, 1, { read, edits: editsOver(stands) }).arrays;
  const [cleanMeasure = NaN] = whole.measures;
  const [corruptMeasure = NaN] = base.measures;
  const span = cleanMeasure - corruptMeasure;
  if (!Number.isFinite(span) || span === 0) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: the measure is ${cleanMeasure} of clean and ${corruptMeasure} of corrupt, expected two numbers that differ`,
    );
  }
  const stream = new Map(before.map((at, i) => [levelOf(at), base.arrays[i]?.data] as const));
  const stand = standInOf(place, config, arrays, { isMean: !isClean });
  return { cleanMeasure, corruptMeasure, stream, stand, edits };
}

/** Before which layer a stream stands. */
const levelOf = ({ site, layer }: { site: 'embed' | 'residual'; layer: number }): number =>
  site === 'embed' ? 0 : layer + 1;

/** The one stream before the layer of the neurons. */
const neuronStreams = ({ layers: [layer = 0] }: SweepPlace) =>
  layer === 0
    ? [{ site: 'embed', layer: 0 } as const]
    : [{ site: 'residual', layer: layer - 1 } as const];

/** A change of one row of a batch, of `count` rows that are alike. */
function ofAll(edit: SiteEdit, count: number): SiteEdit {
  const repeated = (operand: Operand | undefined): Operand | undefined => {
    if (operand?.kind !== 3) return operand;
    const { length } = operand.numbers;
    const numbers = new Float32Array(count * length);
    for (let b = 0; b < count; b += 1) numbers.set(operand.numbers, b * length);
    return { kind: 3, numbers };
  };
  return {
    ...edit,
    batch: undefined,
    value: repeated(edit.value),
    add: repeated(edit.add),
  };
}

/**
 * A batch of patches of one layer: where it begins, its streams one after another, and its edits: the caller's that are not in the
 * streams already, then the patches.
 */
function batchOf(
  patches: readonly Patch[],
  { stream, stand, edits: own }: ReturnType<typeof firstPasses>,
  { dModel, numLayers }: Config,
) {
  const [{ layer, site } = { layer: 0, site: 'z' }] = patches;
  // The stream after a layer is the one before the next, so that nothing of this layer is computed again.
  const isNext = site === 'residual' && layer + 1 < numLayers;
  const level = isNext ? layer + 1 : layer;
  const one = stream.get(level) ?? new Float32Array();
  const all = new Float32Array(patches.length * one.length);
  const edits = own
    .filter((edit) => edit.site !== 'embed' && edit.layer >= level)
    .map((edit) => ofAll(edit, patches.length));
  patches.forEach((patch, b) => {
    all.set(one, b * one.length);
    const value = stand(patch);
    if (!isNext) edits.push({ ...patch, batch: [b, b + 1], value });
    else {
      const [token = 0] = patch.rows ?? [];
      const at = b * one.length + token * dModel;
      if (value.kind === 1) all.fill(value.numbers[0] ?? 0, at, at + dModel);
      else all.set(value.numbers, at);
    }
  });
  return { edits, begin: { layer: level, stream: all } };
}

export async function sweep(state: ModelState, given: SweepOptions): Promise<Sweep> {
  const request = requestOf(state, given);
  const { corrupt, place, passes, signal, onProgress } = request;
  const { config } = state.spec;
  throwIfAborted(signal);
  const pause = new Pause();
  const first = firstPasses(request, config);
  const { cleanMeasure, corruptMeasure } = first;
  const { rows, columns, patches } = patchesOf(place, config, corrupt.length);
  const data = new Float32Array(rows * columns);
  const atOnce = Math.max(1, Math.floor(mostTokens / corrupt.length));
  let done = 0;
  for (const ofLayer of patches) {
    for (let begin = 0; begin < ofLayer.length; begin += atOnce) {
      await pause.maybe();
      throwIfAborted(signal);
      const some = ofLayer.slice(begin, begin + atOnce);
      const options = batchOf(some, first, config);
      for (const measure of passes.run(corrupt, some.length, options).measures) {
        // Of -0 it makes 0.
        data[done] = (measure - corruptMeasure) / (cleanMeasure - corruptMeasure) + 0;
        done += 1;
      }
      onProgress?.({ done, of: data.length });
    }
  }
  return { grid: { data, shape: [rows, columns] }, clean: cleanMeasure, corrupt: corruptMeasure };
}
