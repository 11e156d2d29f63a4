// How far the logits of small models of every family are from the formulas in float64, or the hidden states of encoders.
//
//   node tests/package/models/support/logits.js      prints the table
import { pathToFileURL } from 'node:url';
import { init } from 'qkv';
import { load } from 'qkv/models';
import { modelForward } from '../../../support/js/model-oracle.js';
import { rowsOf, sizeIn } from '../../../support/js/model-kinds.js';
import { families, otherFamilies } from './families.js';
import { ggufFile, safetensors } from './files.js';
import { ggufModels, ggufOthers } from './gguf-models.js';

/** The models of each: what load() takes, what they are, and their arrays. */
export const loadable = [
  ...Object.entries({ ...families, ...otherFamilies }).map(([type, make]) => ({
    ...{ type, format: 'safetensors', make },
    source: ({ config, tensors }) => ({ config, weights: safetensors(tensors) }),
  })),
  ...Object.entries({ ...ggufModels, ...ggufOthers }).map(([type, make]) => ({
    ...{ type, format: 'GGUF', make },
    source: ({ metadata, tensors }) => ({ weights: ggufFile(metadata, tensors) }),
  })),
];

/** The largest error and the largest number of a model's result for a row of tokens as long as it reads. */
export async function measure(engine, { make, source }) {
  const made = make();
  const { expected: config, truth } = made;
  const model = await load(engine, source(made));
  const ids = rowsOf(config, config.maxLength);
  const read = config.encoderLayers > 0 ? rowsOf(config, 7, 5) : undefined;
  const found = model.forward(ids, {
    hidden: true,
    session: read && model.session({ source: read }),
  });
  const exact = modelForward(config, truth.arrays, ids, { source: read });
  model.dispose();
  const name = config.head === false ? 'hidden' : 'logits';
  const [actual, expected] = [found[name].data, exact[name]];
  const error = sizeIn(Array.from(expected, (x, i) => x - actual[i]));
  return { config, error, size: sizeIn(expected) };
}

async function print() {
  const engine = await init();
  const errors = new Map();
  for (const each of loadable) {
    const { config, error, size } = await measure(engine, each);
    const { family } = config;
    const type = each.format === 'GGUF' && !(each.type in ggufOthers) ? family : each.type;
    errors.set(type, { ...errors.get(type), [each.format]: (error / size).toExponential(1) });
  }
  engine.dispose();
  console.log('| model_type | safetensors | GGUF |\n| --- | --- | --- |');
  for (const [type, { safetensors: one = '-', GGUF: other = '-' }] of errors)
    console.log(`| ${type} | ${one} | ${other} |`);
  console.log(`\n${errors.size} of them; the largest error of a logit / the largest logit`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await print();
