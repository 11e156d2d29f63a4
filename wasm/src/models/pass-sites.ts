// What a pass reads and changes besides its results: `inspect`, `read` and `edit` of a call.

import type { Activations, Read, Site } from '../api/inspect-types.js';
import type { Inspect, LayerReadings } from '../api/model-types.js';
import { ReadActivations } from '../arguments/activations.js';
import type { Config } from '../language/config.js';
import type { Call } from '../memory/call.js';
import { editFields, editsOf, type SiteEdit } from './edits.js';
import { Inspection } from './inspection.js';
import { checkOnce, readsOf } from '../language/reads.js';
import { hasLayer, type PassSize, type SiteReading, SiteReadings } from '../language/sites.js';

/** What of the sites callers want to read and change; unknown until it is checked. */
export interface SiteOptions {
  readonly inspect?: Inspect | undefined;
  readonly read?: unknown;
  readonly edit?: unknown;
}

/** What it adds to the result of a call. */
interface SitesFound {
  readonly layers?: ReadonlyMap<number, LayerReadings>;
  readonly activations?: Activations;
}

/** A reading as the caller would write it. */
const readOf = ({ site, layer, rows }: SiteReading): Read => ({
  ...{ site: site as Site, rows },
  layers: hasLayer(site) ? [layer] : undefined,
});

export class PassSites {
  readonly #inspection: Inspection;
  readonly #readings: SiteReadings;
  readonly #edits: readonly SiteEdit[];
  /** `read` as it was when it was checked; undefined if it is not given. */
  readonly read: readonly Read[] | undefined;

  /** With `hasRows`, rows of the weights of `inspect` may be chosen. `edits` are more of them, checked already. */
  constructor(
    fn: string,
    call: Call,
    { inspect, read, edit }: SiteOptions,
    config: Config,
    pass: PassSize & { readonly hasRows?: boolean; readonly edits?: readonly SiteEdit[] },
  ) {
    this.#inspection = new Inspection(fn, inspect, config, pass);
    const own = readsOf(fn, read, config, pass);
    const reads = [...this.#inspection.readings, ...own];
    checkOnce(fn, reads);
    this.read = read === undefined ? undefined : own.map(readOf);
    const edits = [...editsOf(fn, edit, config, pass), ...(pass.edits ?? [])];
    this.#edits = [...this.#inspection.edits, ...edits];
    this.#readings = new SiteReadings(call, reads);
  }

  /** `inspect` as it was when it was checked. */
  get inspect(): Inspect | undefined {
    return this.#inspection.kept;
  }

  /** The fields of the operator. */
  fields(call: Call) {
    return { ...this.#readings.fields(call), ...editFields(call, this.#edits) };
  }

  /** What the call returns besides. */
  result(call: Call): SitesFound {
    const all = this.#readings.arrays(call);
    const count = this.#inspection.readings.length;
    const places = all.slice(count).map(({ site, layer, array }) => {
      return { site, ...(hasLayer(site) && { layer }), array };
    });
    return {
      ...this.#inspection.result(all.slice(0, count)),
      ...(this.read && { activations: ReadActivations.of(places) }),
    };
  }
}
