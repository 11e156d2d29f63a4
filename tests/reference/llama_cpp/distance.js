// The cases of models.js, what llama.cpp makes of them, and how far that may be from others.
import { readFileSync } from 'node:fs';
import { decode, encode } from '../../support/js/gguf.js';
import { forward } from './forward.js';
import { families, tokens, weights } from './models.js';

export const fixture = JSON.parse(
  readFileSync(new URL('fixtures/logits.json', import.meta.url), 'utf8'),
);

/**
 * How far llama.cpp may be from float64, in logits of up to 7, measured (in brackets). It computes in float32 [1.6e-6]; takes
 * GELU from a table of float16 [1.2e-3]; and rounds the inputs of products to the format of the weights.
 */
const bounds = { F32: 4e-6, F16: 4e-3, BF16: 4e-2, Q8_0: 0.1 };
const tabled = /^(gemma|gpt|bert)/;
export const boundOf = ({ family, format }) => (tabled.test(family) ? 3e-3 : bounds[format]);

/** Weights as the file of a case has them. */
const stored = ({ family, format }) =>
  Object.fromEntries(
    Object.entries(weights(family)).map(([name, { shape, data }]) => {
      const type = shape.length === 1 ? 'F32' : format;
      return [name, { shape, data: decode(type, encode(type, data)) }];
    }),
  );

/** In float64; `changed` as forward() takes it. */
export const exactOf = (each, changed) =>
  forward(each.family, {
    ...{ weights: stored(each), tokens, sizes: families[each.family].sizes, changed },
  }).flat();

/** llama.cpp's. */
export const valuesOf = (each) =>
  fixture.cases.find(({ family, format }) => family === each.family && format === each.format)
    .values;

/** The largest difference of two lists of the same length. */
export function distance(a, b) {
  if (a.length !== b.length) return Infinity;
  return a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0);
}
