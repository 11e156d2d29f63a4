// One run of a recipe, and its log.
import { batches } from '../recipes/random.js';
import { trainerOf } from './native.js';

/** Rows that no run is trained on: their seeds are far from those of runs. */
const HELD_OUT_SEED = 0x7fffffff;
const HELD_OUT_BATCHES = 8;
const LOG_ROWS = 50;

/** Loss and accuracy over several batches. */
async function judge(trainer, held) {
  const found = [];
  for (const batch of held) found.push(await trainer.evaluate(batch));
  const mean = (key) => found.reduce((sum, each) => sum + each[key], 0) / found.length;
  return { loss: mean('loss'), accuracy: mean('accuracy') };
}

/** One run: the rows of its log, how it ended, and what the recipe found in the model, in lines. */
export async function trainOnce(recipe, variant, { seed, steps, threads }) {
  const { config, options } = variant;
  const settings = { ...recipe.options, ...options, seed };
  const trainer = await trainerOf(config, settings, { threads });
  const next = batches({ seed, batch: recipe.batch, row: recipe.row });
  const held = batches({ seed: HELD_OUT_SEED, batch: recipe.batch, row: recipe.row });
  const heldOut = Array.from({ length: HELD_OUT_BATCHES }, () => held());
  const every = Math.max(1, Math.round(steps / LOG_ROWS));
  const log = [];
  let reached;
  let seconds = 0;
  for (let n = 1; n <= steps; ++n) {
    const start = performance.now();
    const result = await trainer.step(next());
    seconds += (performance.now() - start) / 1000;
    if (n % every > 0 && n < steps) continue;
    const { loss, accuracy } = await judge(trainer, heldOut);
    if (accuracy >= (variant.expect.atLeast ?? Infinity)) reached ??= n;
    log.push({ ...result, heldOutLoss: loss, heldOutAccuracy: accuracy, seconds });
  }
  const { parameterCount, isa } = trainer;
  const found = (await recipe.report?.(trainer)) ?? [];
  trainer.dispose();
  return { log, reached, seconds, parameterCount, isa, settings, found };
}

const columns = [
  'step',
  'loss',
  'accuracy',
  'heldOutLoss',
  'heldOutAccuracy',
  'gradientNorm',
  'learningRate',
  'seconds',
];

/** The log as CSV, with what it takes to repeat the run in comments above. */
export function csv({ log, settings, isa, found }, { name, variantName, config, commit }) {
  const head = [
    `# recipe ${name}, ${variantName}; commit ${commit}; ${isa}`,
    `# config ${JSON.stringify(config)}`,
    `# options ${JSON.stringify(settings)}`,
    ...found.map((line) => `# ${line}`),
  ];
  const rows = log.map((row) => columns.map((key) => Number(row[key].toPrecision(6))).join());
  return `${[...head, columns.join(), ...rows].join('\n')}\n`;
}
