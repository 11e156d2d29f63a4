// Models as safetensors files, as Trainer.save of qkv/train writes them, with the tokenizer beside the config.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { root } from '../../tools/environment.js';

let loaded;

/** The modules of the package that read and write such files, in a bundle that Node can load. */
export function formats() {
  loaded ??= (async () => {
    const outfile = join(root, 'build/models', `formats-${process.pid}.mjs`);
    mkdirSync(join(root, 'build/models'), { recursive: true });
    const source = ['safetensors', 'stored-numbers'].map((name) => `export * from './${name}.ts';`);
    await build({
      stdin: { contents: source.join('\n'), resolveDir: join(root, 'wasm/src/formats') },
      ...{ bundle: true, format: 'esm', outfile, logLevel: 'warning' },
    });
    const modules = await import(pathToFileURL(outfile).href);
    rmSync(outfile);
    return modules;
  })();
  return loaded;
}

/** What a language model is where its config does not say; as in wasm/src/train/language-model.ts. */
const languageModel = ({ numHeads, dModel, normType = 'layer' }) => ({
  ...{ numKvHeads: numHeads, dK: dModel / numHeads, causal: true, norm: 'pre', normType },
  ...{ epsilon: 1e-5, activation: 'gelu', positions: 'learned', rotary: {}, qkNorm: false },
  ...{ parallelResidual: false, tiedEmbeddings: false, biases: normType === 'layer' },
  ...{ embeddingScale: 1, window: null, attentionSoftcap: 0 },
});
const seq2seq = { numHeads: 1, numLayers: 1, dFeedForward: 0, score: 'additive' };

/** The config with every default, in the order of names, as text: so that files of one model say the same. */
function configText(config) {
  const whole = { ...(config.kind ? seq2seq : languageModel(config)), ...config };
  return JSON.stringify(
    Object.fromEntries(Object.entries(whole).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
}

/** Tables have blocks along their rows, linear maps down their columns; as in wasm/src/train/checkpoint.ts. */
const axisOf = (name) => (name === 'embedding' || name === 'positions' ? 1 : 0);

/** The bytes of a file with these weights: a Map of { shape, data } by name. */
export async function modelFile({ config, weights, tokenizer }, format = 'f32') {
  const { encode, scaleOf, writeSafetensors } = await formats();
  const metadata = new Map([
    ['format', 'qkv'],
    ['kind', config.kind ? 'seq2seq' : 'language_model'],
    ['config', configText(config)],
  ]);
  if (tokenizer) metadata.set('tokenizer', JSON.stringify(tokenizer.json));
  const arrays = new Map();
  for (const [name, { shape, data }] of weights) {
    const kept = shape.length === 2 ? format : 'f32';
    const stored = encode(data, shape, kept, axisOf(name));
    arrays.set(name, stored.array);
    if (stored.scales) arrays.set(scaleOf(name), stored.scales);
  }
  return writeSafetensors({ metadata, arrays });
}

/** What is in such a file: { config, tokenizer, weights }, the first two as JSON. */
export async function readModel(bytes) {
  const { decode, readSafetensors, scaleOf } = await formats();
  const { metadata, arrays } = readSafetensors('models', bytes);
  const weights = new Map();
  for (const [name, stored] of arrays) {
    if (name.endsWith('.scale')) continue;
    const data = new Float32Array(stored.shape.reduce((product, extent) => product * extent, 1));
    decode(stored, arrays.get(scaleOf(name)), data);
    weights.set(name, { shape: stored.shape, data });
  }
  const json = (key) => metadata.has(key) && JSON.parse(metadata.get(key));
  return { config: json('config'), tokenizer: json('tokenizer'), weights };
}
