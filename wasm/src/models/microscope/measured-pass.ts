// A pass of which the difference of two logits counts.

import type { OwnedArray } from '../../api/types.js';
import { Call } from '../../memory/call.js';
import { editFields, type SiteEdit } from '../edits.js';
import type { ModelState } from '../model-state.js';
import { type SiteName, shapeAt, SiteReadings } from '../../language/sites.js';

/** The logit of one token less that of another. */
export interface Measure {
  readonly answer: number;
  readonly instead: number;
}

/** What a measured pass reads, changes, and begins with. */
interface PassOptions {
  readonly read?: readonly { readonly site: SiteName; readonly layer: number }[];
  readonly edits?: readonly SiteEdit[];
  readonly begin?: { readonly layer: number; readonly stream: Float32Array } | undefined;
}

/** Passes over the same number of tokens, each row measured at its last token. */
export class MeasuredPass {
  readonly #fn: string;
  readonly #state: ModelState;
  readonly #measure: Measure;

  constructor(fn: string, state: ModelState, measure: Measure) {
    this.#fn = fn;
    this.#state = state;
    this.#measure = measure;
  }

  /** The measures of the rows of `batch`, all of these tokens, and what was read, in the order of `read`. */
  run(
    ids: Int32Array,
    batch: number,
    { read = [], edits = [], begin }: PassOptions,
  ): { readonly measures: readonly number[]; readonly arrays: readonly OwnedArray[] } {
    const { config } = this.#state.spec;
    const { vocabulary, dModel } = config;
    const call = new Call(this.#state.instance, this.#fn);
    const { length } = ids;
    const size = { batch, length, keys: length };
    const readings = new SiteReadings(
      call,
      read.map(({ site, layer }) => {
        const shape = shapeAt(site, config, size, length);
        return { site, layer, rows: [0, length] as const, shape, name: site };
      }),
    );
    const rows = new Int32Array(batch * length);
    for (let b = 0; b < batch; b += 1) rows.set(ids, b * length);
    const logits = call.output('logits', [batch, 1, vocabulary]);
    const stream = begin && {
      ...{ name: 'stream', shape: [batch, length, dModel], source: begin.stream },
    };
    call.run('forwardModel', {
      ...{ model: this.#state.live(this.#fn), logits },
      ids: call.input({ name: 'ids', shape: [batch, length], source: rows }),
      sites: { ...readings.fields(call), ...editFields(call, edits) },
      ...(begin && { begin: { stream: call.input(stream), layer: begin.layer } }),
    });
    const found = call.read(logits);
    const at = (b: number, id: number): number => found[b * vocabulary + id] ?? NaN;
    const { answer, instead } = this.#measure;
    return {
      measures: Array.from({ length: batch }, (_, b) => at(b, answer) - at(b, instead)),
      arrays: readings.arrays(call).map(({ array }) => array),
    };
  }
}
