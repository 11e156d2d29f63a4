// Places that callers name, checked against what the model has.

import { QkvError } from '../api/errors.js';
import type { Site } from '../api/inspect-types.js';
import { checkChoice } from '../arguments/numbers.js';
import type { Config } from './config.js';

/** What can be read. */
export const readable = [
  ...(['embed', 'q', 'k', 'v', 'scores', 'weights', 'z', 'heads', 'attention', 'middle'] as const),
  ...(['neurons', 'feedForward', 'residual', 'final', 'cross'] as const),
] satisfies Site[];
/** What something in the pass reads. */
export const editable = readable.filter((site) => site !== 'heads' && site !== 'final');

/** Why a model has no such place. */
function lackOf(
  site: Site,
  { parallelResidual, dFeedForward, numExperts, encoderLayers }: Config,
): string | undefined {
  const feeds = dFeedForward > 0;
  const isOfFeeds = ['middle', 'neurons', 'feedForward'].includes(site);
  if (isOfFeeds && !feeds) return "the model's layers are attention alone";
  if (site === 'middle' && parallelResidual) return 'both sub-layers of the model read one stream';
  if (site === 'neurons' && numExperts > 0) return 'the model has experts, each with its neurons';
  return site === 'cross' && encoderLayers === 0 ? 'the model has no encoder' : undefined;
}

/** One of these places, which the model has. */
export function checkSite(
  fn: string,
  name: string,
  site: Site,
  { among, config }: { readonly among: readonly Site[]; readonly config: Config },
): void {
  checkChoice(fn, name, site, among);
  const why = lackOf(site, config);
  if (why === undefined) return;
  const others = among.filter((other) => lackOf(other, config) === undefined);
  throw new QkvError(
    'unsupported',
    `${fn}: ${name} is '${site}', expected one of ${others.join(', ')}: ${why}`,
  );
}
