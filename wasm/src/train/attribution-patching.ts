// What a sweep would measure, to first order.

import { QkvError } from '../api/errors.js';
import type { Sweep } from '../api/inspect-types.js';
import type { AttributionPatchingOptions } from '../api/logit-types.js';
import { checkInteger } from '../arguments/numbers.js';
import { takeOptions } from '../arguments/values.js';
import type { Config } from '../language/config.js';
import { checkAlike } from '../language/prompts.js';
import { checkSite } from '../language/places.js';
import { checkRows } from '../language/rows.js';
import { shapeAt, type SiteArray } from '../language/sites.js';
import { measure } from './logit-gradients.js';
import type { TrainerState } from './trainer-state.js';

const fn = 'TrainedModel.attributionPatching';
const names = ['clean', 'corrupt', 'answer', 'instead', 'site'] as const;
const sites = ['residual', 'attention', 'feedForward', 'z'] as const;
const none = new Float32Array();

/** Sums of (x' - x) g over each of `count` parts of equal size. */
function estimates(clean: Float32Array, x: Float32Array, g: Float32Array, count: number) {
  const sums = new Float64Array(count);
  const size = x.length / count;
  x.forEach((number, i) => {
    const part = Math.floor(i / size);
    sums[part] = (sums[part] ?? 0) + ((clean[i] ?? NaN) - number) * (g[i] ?? NaN);
  });
  return sums;
}

export function attributionPatching(
  state: TrainerState,
  config: Config,
  given: AttributionPatchingOptions,
): Sweep {
  const { site, ...taken } = takeOptions(fn, 'options', given, names);
  const { answer, instead } = taken;
  const { vocabulary, numLayers, numHeads } = config;
  checkInteger(fn, 'answer', answer, 0, vocabulary - 1);
  checkInteger(fn, 'instead', instead, 0, vocabulary - 1);
  checkSite(fn, 'site', site, { among: sites, config });
  const clean = checkRows(fn, 'clean', taken.clean, 1).source as Int32Array;
  const corrupt = checkRows(fn, 'corrupt', taken.corrupt, 1).source as Int32Array;
  checkAlike(fn, clean, corrupt);
  const { length } = clean;
  const shape = shapeAt(site, config, { batch: 1, length, keys: length }, length);
  const read = Array.from({ length: numLayers }, (_, layer) => {
    return { site, layer, rows: [0, length] as const, shape, name: 'site' };
  });
  const counted = { answer, instead };
  const whole = measure(fn, state, clean, counted, { read, isBack: false });
  const base = measure(fn, state, corrupt, counted, { read, isBack: true });
  const span = whole.value - base.value;
  if (!Number.isFinite(span) || span === 0) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: the measure is ${whole.value} of clean and ${base.value} of corrupt, expected two numbers that differ`,
    );
  }
  const columns = site === 'z' ? numHeads : length;
  const grid = new Float32Array(numLayers * columns);
  const data = (of: readonly SiteArray[], layer: number): Float32Array =>
    of[layer]?.array.data ?? none;
  for (let layer = 0; layer < numLayers; layer += 1) {
    const x = data(base.activations, layer);
    const sums = estimates(data(whole.activations, layer), x, data(base.gradients, layer), columns);
    grid.set(
      sums.map((sum) => sum / span),
      layer * columns,
    );
  }
  return {
    grid: { data: grid, shape: [numLayers, columns] },
    clean: whole.value,
    corrupt: base.value,
  };
}
