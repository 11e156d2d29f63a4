// npm run train -- <recipe> --publish: what a run left in build/train goes to models/<recipe>: the weights in int8, the log, what was
// measured of the weights, and what they say.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'oxfmt';
import { root } from '../../tools/environment.js';
import { modelFile, readModel } from './file.js';
import { trainerOf } from './native.js';
import { dataOf, judge } from './run.js';

const SEED = 1;
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
const rounded = (x) => Number(x.toPrecision(5));

/** A trainer with the weights of a file. */
export async function trainerWith({ config, weights }) {
  const trainer = await trainerOf(config);
  for (const [i, { name }] of trainer.arrays.entries()) {
    await trainer.write(i, 'value', weights.get(name).data);
  }
  return trainer;
}

/** The first line of a log: how the run was made. */
function runOf(log) {
  const [about, , options, ...rows] = log.trim().split('\n');
  const [, commit, isa] = /; commit (\w+); (\w+)$/.exec(about);
  const [steps, , , , , , , seconds] = rows.at(-1).split(',').map(Number);
  const { seed } = JSON.parse(options.replace('# options ', ''));
  return { commit, instructionSet: isa, seed, steps, seconds: Math.round(seconds) };
}

/** One variant: its files, and its part of the card. */
async function publishVariant(recipe, { name, variantName, data }) {
  const from = join(root, 'build/train', name, `${variantName}-${SEED}`);
  const to = join(root, 'models', name);
  const trained = await readModel(readFileSync(`${from}.safetensors`));
  const { config } = recipe.variants[variantName];
  const bytes = await modelFile({ ...trained, config, tokenizer: data.tokenizer }, 'int8');
  const file = `${variantName}.safetensors`;
  writeFileSync(join(to, file), bytes);
  copyFileSync(`${from}.csv`, join(to, `${variantName}.csv`));

  const float = await trainerWith({ config, weights: trained.weights });
  const judged = [...(recipe.judged?.(data) ?? data.heldOut)];
  const { loss } = await judge(float, judged);
  float.dispose();
  const { weights } = await readModel(bytes);
  const trainer = await trainerWith({ config, weights });
  const kept = await judge(trainer, judged);
  const { figures, samples } = await recipe.measure(trainer, data);
  const { parameterCount } = trainer;
  trainer.dispose();
  const circuit = await recipe.circuit?.(bytes);
  return {
    samples,
    card: {
      file: { name: file, bytes: bytes.length, sha256: sha256(bytes) },
      parameters: parameterCount,
      config,
      run: runOf(readFileSync(`${from}.csv`, 'utf8')),
      heldOut: { loss: rounded(kept.loss), lossOfFloats: rounded(loss) },
      ...figures,
      ...(circuit && { circuit }),
    },
  };
}

/** Writes the folder of a recipe's models. */
export async function publish(name, recipe) {
  const data = await dataOf(recipe);
  const folder = join(root, 'models', name);
  mkdirSync(folder, { recursive: true });
  const models = {};
  for (const variantName of Object.keys(recipe.variants)) {
    const { card, samples } = await publishVariant(recipe, { name, variantName, data });
    models[variantName] = card;
    if (samples) writeFileSync(join(folder, `${variantName}.txt`), samples);
    console.log(`${name}, ${variantName}: ${JSON.stringify(card.heldOut)}`);
  }
  const card = {
    ...{ name, about: recipe.about, license: 'MIT' },
    data: recipe.archives,
    ...(recipe.baseline && { baseline: recipe.baseline(data) }),
    models,
  };
  const { code: text } = await format('card.json', JSON.stringify(card), { printWidth: 100 });
  writeFileSync(join(folder, 'card.json'), text);
}
