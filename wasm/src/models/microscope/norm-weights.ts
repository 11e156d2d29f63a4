// Weights of attention by what they bring.

import type { NormWeightsOptions } from '../../api/inspect-types.js';
import type { OwnedArray, Shape3 } from '../../api/types.js';
import { checkInteger } from '../../arguments/numbers.js';
import { rangeOf } from '../../arguments/ranges.js';
import { takeOptions } from '../../arguments/values.js';
import type { ModelState } from '../model-state.js';
import { shapeAt, SiteReadings } from '../../language/sites.js';
import { onePass } from './one-pass.js';

const fn = 'LanguageModel.normWeights';
const names = ['layer', 'rows', 'session'] as const;

export function normWeights(
  state: ModelState,
  ids: unknown,
  given: NormWeightsOptions,
): OwnedArray<Shape3> {
  const { config } = state.spec;
  const taken = takeOptions(fn, 'options', given, names);
  const { layer } = taken;
  checkInteger(fn, 'layer', layer, 0, config.numLayers - 1);
  const pass = onePass(fn, state, ids, taken.session);
  const { call, size } = pass;
  const rows = rangeOf(fn, 'rows', taken.rows, size.length);
  const shape = shapeAt('normWeights', config, size, rows[1] - rows[0]);
  const readings = new SiteReadings(call, [{ site: 'normWeights', layer, rows, shape, name: fn }]);
  const fields = { ...pass.fields(), sites: readings.fields(call) };
  pass.run(() => call.run('forwardModel', fields));
  const [, heads = 0, queries = 0, keys = 0] = shape;
  const data = readings.arrays(call)[0]?.array.data ?? new Float32Array();
  return { data, shape: [heads, queries, keys] };
}
