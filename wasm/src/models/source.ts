// What the encoder of a model reads for all tokens of a session, and what callers read and change in its layers.

import { QkvError } from '../api/errors.js';
import type { Activations } from '../api/inspect-types.js';
import type { SessionOptions } from '../api/model-types.js';
import { checkBoolean, checkInteger } from '../arguments/numbers.js';
import { describe } from '../arguments/values.js';
import type { Config } from '../language/config.js';
import { checkRows } from '../language/rows.js';
import { Call } from '../memory/call.js';
import type { Address } from '../memory/raw.js';
import type { ModelState } from './model-state.js';
import { PassSites } from './pass-sites.js';
import { idsOf } from './text.js';

/** The rows of a source, and the call that lets the encoder read them. */
interface SourceCall {
  /** Tokens of a row. */
  readonly length: number;
  /** Reads them into a session; returns what was requested with `read`. */
  run(session: Address): Activations | undefined;
}

/** The encoder as a model of its own: what has places there. */
const encoderOf = (config: Config): Config => ({
  ...config,
  ...{ numLayers: config.encoderLayers, encoderLayers: 0 },
});

/** What the encoder of a model is to read, checked; nothing of a model without an encoder. */
export function sourceOf(
  fn: string,
  model: ModelState,
  given: SessionOptions,
  batch: number,
): SourceCall | undefined {
  const { source, plain = false, read, edit } = given;
  const { spec } = model;
  const { encoderLayers, maxLength } = spec.config;
  checkBoolean(fn, 'plain', plain);
  if (encoderLayers === 0) {
    for (const [name, value] of Object.entries({ source, read, edit })) {
      if (value === undefined) continue;
      throw new QkvError(
        'invalid_argument',
        `${fn}: ${name} is ${describe(value)}, expected none: the model has no encoder that reads a source`,
      );
    }
    return undefined;
  }
  if (source === undefined) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: source is undefined, expected the text or the tokens that the model's encoder reads`,
    );
  }
  const ids = idsOf(fn, 'source', source, spec, { plain });
  if (typeof source === 'string') checkInteger(fn, 'the batch of a text', batch, 1, 1);
  const rows = checkRows(fn, 'source', ids, batch);
  const [, length] = rows.shape;
  checkInteger(fn, 'the tokens of source', length, 1, maxLength);
  const call = new Call(model.instance, fn);
  const pass = { batch, length, keys: length };
  const places = new PassSites(fn, call, { read, edit }, encoderOf(spec.config), pass);
  return {
    length,
    run(session) {
      const fields = { model: model.live(fn), source: call.input(rows), session };
      call.run('encodeSource', { ...fields, sites: places.fields(call) });
      return places.result(call).activations;
    },
  };
}
