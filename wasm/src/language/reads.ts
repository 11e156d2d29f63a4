// `read` of a pass: what callers want of it, as the operators take it.

import { QkvError } from '../api/errors.js';
import type { Read, Site } from '../api/inspect-types.js';
import { rangeOf } from '../arguments/ranges.js';
import { describe, listOf, takeOptions } from '../arguments/values.js';
import type { Config } from './config.js';
import { layersOf } from './readings.js';
import { checkSite, readable } from './places.js';
import { hasLayer, type PassSize, shapeAt, type SiteReading } from './sites.js';

/** Most places of a list. */
export const mostPlaces = 2 ** 16;

/** The layers of a place. */
function placesOf(fn: string, name: string, { site, layers }: Read, { numLayers }: Config) {
  if (hasLayer(site)) return layersOf(fn, layers, numLayers, `${name}.layers`);
  if (layers === undefined) return [0];
  throw new QkvError(
    'invalid_argument',
    `${fn}: ${name}.layers is ${describe(layers)}, expected none: '${site}' is of no layer`,
  );
}

/** Refuses a place that is read already. */
export function checkOnce(fn: string, readings: readonly SiteReading[]): void {
  const known = new Map<string, string>();
  for (const { site, layer, name } of readings) {
    const place = hasLayer(site) ? `'${site}' of layer ${layer}` : `'${site}'`;
    const before = known.get(place);
    if (before !== undefined) {
      throw new QkvError(
        'invalid_argument',
        `${fn}: ${name} asks for ${place}, which ${before} asks for, expected each once`,
      );
    }
    known.set(place, name);
  }
}

/** What is read, if something is. */
export const readsOf = (
  fn: string,
  given: unknown,
  config: Config,
  pass: PassSize,
): readonly SiteReading[] => (given === undefined ? [] : listedReads(fn, given, config, pass));

/** What is read of places `among` these. */
export function listedReads(
  fn: string,
  given: unknown,
  config: Config,
  pass: PassSize,
  among: readonly Site[] = readable,
): readonly SiteReading[] {
  const list = listOf(fn, 'read', given, mostPlaces);
  if (!list) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: read is ${describe(given)}, expected an array of { site, layers, rows }`,
    );
  }
  return list.flatMap((each, i) => {
    const name = `read[${i}]`;
    const taken = takeOptions(fn, name, each as Read, ['site', 'layers', 'rows']);
    const { site } = taken;
    checkSite(fn, `${name}.site`, site, { among, config });
    const rows = rangeOf(fn, `${name}.rows`, taken.rows, pass.length);
    const shape = shapeAt(site, config, pass, rows[1] - rows[0]);
    return placesOf(fn, name, taken, config).map((layer) => ({ site, layer, rows, shape, name }));
  });
}
