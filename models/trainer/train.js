// npm run train -- <recipe> [--variant <name>] [--seeds 1,2,3] [--steps <n>] [--threads <n>] [--publish] [--short]
//
// Trains the models of a recipe natively. Writes build/train/<recipe>/<variant>-<seed>.csv, a row for every so many steps, and the
// weights as <variant>-<seed>.safetensors beside it, and prints what each run came to. Ends with code 1 where a run misses what its recipe expects. With --publish nothing is trained: what
// the last run left goes to models/<recipe>. With --short it prints the hashes that short runs end with.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../../tools/environment.js';
import { must } from '../../tools/run.js';
import { recipes } from '../recipes/index.js';
import { modelFile } from './file.js';
import { buildTrainer } from './native.js';
import { publish } from './publish.js';
import { csv, dataOf, lineOf, shortRun, trainOnce } from './run.js';

const bounds = {
  atLeast: (bound, { heldOutAccuracy }) => [heldOutAccuracy >= bound, `accuracy >= ${bound}`],
  atMost: (bound, { heldOutAccuracy }) => [heldOutAccuracy <= bound, `accuracy <= ${bound}`],
  lossAtMost: (bound, { heldOutLoss }) => [heldOutLoss <= bound, `loss <= ${bound}`],
};

/** Whether the end of a run is what was expected of it, and what that was. */
function judged(expect, last) {
  const all = Object.entries(expect).map(([name, bound]) => bounds[name](bound, last));
  return { fine: all.every(([met]) => met), wants: all.map(([, words]) => words).join(', ') };
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      variant: { type: 'string' },
      seeds: { type: 'string', default: '1' },
      steps: { type: 'string' },
      threads: { type: 'string', default: '1' },
      publish: { type: 'boolean', default: false },
      short: { type: 'boolean', default: false },
    },
  });
  const [name] = positionals;
  const recipe = recipes[name];
  if (!recipe)
    throw new Error(`unknown recipe ${name}, expected ${Object.keys(recipes).join(', ')}`);
  const chosen = Object.entries(recipe.variants).filter(
    ([variant]) => values.variant === undefined || variant === values.variant,
  );
  if (chosen.length === 0) {
    const known = Object.keys(recipe.variants).join(', ');
    throw new Error(`unknown variant ${values.variant}, expected ${known}`);
  }
  await buildTrainer();
  if (values.publish) {
    await publish(name, recipe);
    return true;
  }
  if (values.short) {
    for (const [variantName, variant] of chosen) {
      console.log(`${name}, ${variantName}: ${await shortRun(recipe, variant)}`);
    }
    return true;
  }
  const commit = (await must('git', ['rev-parse', '--short', 'HEAD'])).stdout.trim();
  const folder = join(root, 'build/train', name);
  mkdirSync(folder, { recursive: true });
  let good = true;
  for (const [variantName, variant] of chosen) {
    for (const seed of values.seeds.split(',').map(Number)) {
      const steps = values.steps === undefined ? variant.steps : Number(values.steps);
      const { config } = variant;
      const file = join(folder, `${variantName.replaceAll(' ', '-')}-${seed}`);
      const run = await trainOnce(recipe, variant, {
        ...{ seed, steps, threads: Number(values.threads) },
        onRow: recipe.data && ((row) => console.log(lineOf(row))),
        // Runs on texts take long enough to be interrupted.
        ...(recipe.data && { checkpoint: `${file}.checkpoint` }),
      });
      const { heldOutAccuracy, heldOutLoss } = run.log.at(-1);
      const { fine, wants } = judged(variant.expect, run.log.at(-1));
      good &&= fine;
      writeFileSync(`${file}.csv`, csv(run, { name, variantName, config, commit }));
      const { tokenizer } = await dataOf(recipe);
      const bytes = await modelFile({ config, weights: run.weights, tokenizer });
      writeFileSync(`${file}.safetensors`, bytes);
      console.log(
        [
          `${name}, ${variantName}, seed ${seed}: ${run.parameterCount} parameters, ${steps} steps`,
          `in ${run.seconds.toFixed(1)} s: accuracy ${heldOutAccuracy.toFixed(3)},`,
          `loss ${heldOutLoss.toFixed(3)} (expected ${wants}${fine ? '' : ', MISSED'})`,
          run.reached === undefined ? '' : `; reached at step ${run.reached}`,
        ].join(' '),
      );
      for (const line of run.found) console.log(`    ${line}`);
    }
  }
  return good;
}

main().then(
  (good) => (process.exitCode = good ? 0 : 1),
  (error) => {
    console.error(error.message);
    process.exitCode = 1;
  },
);
