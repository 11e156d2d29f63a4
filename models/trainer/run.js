// One run of a recipe, and its log.
import { createHash } from 'node:crypto';
import { batches } from '../recipes/random.js';
import { readCheckpoint, removeCheckpoint, writeCheckpoint } from './checkpoint.js';
import { trainerOf } from './native.js';

/** Rows that no run is trained on: their seeds are far from those of runs. */
const HELD_OUT_SEED = 0x7fffffff;
const HELD_OUT_BATCHES = 8;
const LOG_ROWS = 50;

/** What a recipe without data of others makes its rows from. */
function made({ batch, row, tokenizer }) {
  const held = batches({ seed: HELD_OUT_SEED, batch, row });
  return {
    tokenizer,
    batches: (seed, sizes) => batches({ seed, batch, row, ...sizes }),
    heldOut: Array.from({ length: HELD_OUT_BATCHES }, () => held()),
  };
}

/** The data of a recipe: { batches(seed, sizes), heldOut }, and a tokenizer where it is text. */
export const dataOf = (recipe) => recipe.data?.() ?? made(recipe);

const counted = ({ targets }) => targets.reduce((sum, target) => sum + (target >= 0 ? 1 : 0), 0);

/** Loss and accuracy over several batches: means over all targets that count. */
export async function judge(trainer, held) {
  const sums = { loss: 0, accuracy: 0, counts: 0 };
  for (const batch of held) {
    const [count, { loss, accuracy }] = [counted(batch), await trainer.evaluate(batch)];
    sums.counts += count;
    sums.loss += count * loss;
    sums.accuracy += count * accuracy;
  }
  return { loss: sums.loss / sums.counts, accuracy: sums.accuracy / sums.counts };
}

/** All arrays of a trainer by name: { shape, data }. */
export async function weightsOf(trainer) {
  const weights = new Map();
  for (const [i, { name, shape }] of trainer.arrays.entries()) {
    weights.set(name, { shape, data: await trainer.read(i) });
  }
  return weights;
}

/** Steps of a run from where it stands, each row of its log told and written down. */
async function steps(trainer, { recipe, variant, data, how, about }) {
  const { seed, steps: count, onRow = () => {}, checkpoint } = how;
  const next = data.batches(seed);
  const every = Math.max(1, Math.round(count / LOG_ROWS));
  const kept = checkpoint ? await readCheckpoint(checkpoint, trainer, about) : null;
  const { log, step, ...so } = kept ?? { log: [], seconds: 0, step: 0 };
  if (!kept) await recipe.begin?.(trainer, seed);
  for (let n = 0; n < step; ++n) next();
  for (let n = step + 1; n <= count; ++n) {
    const start = performance.now();
    const { gradientNorm, learningRate, ...result } = await trainer.step(next());
    so.seconds += (performance.now() - start) / 1000;
    if (n % every > 0 && n < count) continue;
    const held = await judge(trainer, data.heldOut);
    if (held.accuracy >= (variant.expect?.atLeast ?? Infinity)) so.reached ??= n;
    log.push({
      ...{ step: n, loss: result.loss, accuracy: result.accuracy, gradientNorm, learningRate },
      ...{ heldOutLoss: held.loss, heldOutAccuracy: held.accuracy, seconds: so.seconds },
    });
    onRow(log.at(-1));
    if (checkpoint) await writeCheckpoint(checkpoint, trainer, { run: about, log, step: n, ...so });
  }
  if (checkpoint) removeCheckpoint(checkpoint);
  const found = (await recipe.report?.(trainer, data)) ?? [];
  return { log, found, ...so };
}

/**
 * One run: the rows of its log, how it ended, its weights, and what the recipe found in the model, in lines. `onRow` is told each row
 * when there is one. With the path of a `checkpoint` the run is written there with every row, and resumes from there.
 */
export async function trainOnce(recipe, variant, how) {
  const { config, options } = variant;
  const settings = { ...recipe.options, ...options, seed: how.seed };
  const data = await dataOf(recipe);
  const trainer = await trainerOf(config, settings, { threads: how.threads });
  try {
    const about = { config, settings, steps: how.steps };
    const ended = await steps(trainer, { recipe, variant, data, how, about });
    const { parameterCount, isa } = trainer;
    return { ...ended, parameterCount, isa, settings, weights: await weightsOf(trainer) };
  } finally {
    trainer.dispose();
  }
}

/** Steps of a short run, its seed, and the instruction set whose arithmetic is the same everywhere: four lanes, two roundings. */
const SHORT = { steps: 50, seed: 1, isa: 'sse4' };

/** The SHA-256 of all weights after a short run of a recipe, whose batches are smaller. */
export async function shortRun(recipe, { config, options }) {
  const { steps, seed, isa } = SHORT;
  const data = await dataOf(recipe);
  const trainer = await trainerOf(config, { ...recipe.options, ...options, seed }, { isa });
  await recipe.begin?.(trainer, seed, recipe.short.first);
  const next = data.batches(seed, recipe.short);
  for (let n = 0; n < steps; ++n) await trainer.step(next());
  const hash = createHash('sha256');
  for (const { data: numbers } of (await weightsOf(trainer)).values()) {
    hash.update(new Uint8Array(numbers.buffer));
  }
  trainer.dispose();
  return hash.digest('hex');
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

/** A row of a log as a line. */
export const lineOf = (row) => columns.map((key) => Number(row[key].toPrecision(6))).join();

/** The log as CSV, with what it takes to repeat the run in comments above. */
export function csv({ log, settings, isa, found }, { name, variantName, config, commit }) {
  const head = [
    `# recipe ${name}, ${variantName}; commit ${commit}; ${isa}`,
    `# config ${JSON.stringify(config)}`,
    `# options ${JSON.stringify(settings)}`,
    ...found.map((line) => `# ${line}`),
  ];
  return `${[...head, columns.join(), ...log.map(lineOf)].join('\n')}\n`;
}
