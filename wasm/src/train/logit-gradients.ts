// The difference of two logits, and its gradients by activations.

import type { GradientSite, LogitGradients } from '../api/logit-types.js';
import { ReadActivations } from '../arguments/activations.js';
import { checkInteger } from '../arguments/numbers.js';
import { takeOptions } from '../arguments/values.js';
import type { Config } from '../language/config.js';
import { checkOnce, listedReads } from '../language/reads.js';
import { checkRows, found } from '../language/rows.js';
import { hasLayer, type SiteArray, type SiteReading, SiteReadings } from '../language/sites.js';
import { Call } from '../memory/call.js';
import type { TrainerState } from './trainer-state.js';

/** Places that trainers keep. */
export const kept = [
  ...(['embed', 'q', 'k', 'v', 'z', 'attention', 'middle', 'neurons', 'feedForward'] as const),
  ...(['residual', 'final'] as const),
] satisfies GradientSite[];

/** What counts: the logit of one token less that of another, after token `row` or the last. */
export interface Measure {
  readonly answer: number;
  readonly instead?: number | undefined;
  readonly row?: number | undefined;
}

/** The measure of one row of tokens, and what was read of its pass: activations, and as many gradients if they are wanted. */
export function measure(
  fn: string,
  state: TrainerState,
  ids: Int32Array,
  { answer, instead = -1, row = -1 }: Measure,
  wanted: { readonly read: readonly SiteReading[]; readonly isBack: boolean },
): { value: number; activations: SiteArray[]; gradients: SiteArray[] } {
  const call = new Call(state.instance, fn);
  const activations = new SiteReadings(call, wanted.read);
  const gradients = new SiteReadings(call, wanted.isBack ? wanted.read : []);
  const slot = call.output('found', [2]);
  call.run('differentiateLogit', {
    trainer: state.live(fn),
    ids: call.input({ name: 'ids', shape: [1, ids.length], source: ids }),
    ...{ row, answer, instead, found: slot },
    activations: activations.fields(call),
    gradients: gradients.fields(call),
  });
  return {
    value: found(call, slot)[0] ?? NaN,
    activations: activations.arrays(call),
    gradients: gradients.arrays(call),
  };
}

/** Arrays by the names of their places. */
const byPlace = (all: readonly SiteArray[]): ReadActivations =>
  ReadActivations.of(
    all.map(({ site, layer, array }) => ({ site, ...(hasLayer(site) && { layer }), array })),
  );

export function gradients(
  state: TrainerState,
  config: Config,
  ids: ArrayLike<number>,
  given: unknown,
): LogitGradients {
  const fn = 'TrainedModel.gradients';
  const names = ['answer', 'instead', 'row', 'read'] as const;
  const taken = takeOptions(fn, 'options', given as Record<(typeof names)[number], unknown>, names);
  const { answer, instead, row } = taken;
  const last = config.vocabulary - 1;
  checkInteger(fn, 'answer', answer, 0, last);
  if (instead !== undefined) checkInteger(fn, 'instead', instead, 0, last);
  const { source, shape } = checkRows(fn, 'ids', ids, 1);
  const [batch, length] = shape;
  if (row !== undefined) checkInteger(fn, 'row', row, 0, length - 1);
  const size = { batch, length, keys: length };
  const read = listedReads(fn, taken.read, config, size, kept);
  checkOnce(fn, read);
  const made = measure(
    fn,
    state,
    source as Int32Array,
    { answer, instead, row },
    { read, isBack: true },
  );
  return {
    value: made.value,
    activations: byPlace(made.activations),
    gradients: byPlace(made.gradients),
  };
}
