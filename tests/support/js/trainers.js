// Small trainers for tests of qkv/worker, and what they are to have reached.
import { init } from 'qkv/train';

export const config = {
  ...{ vocabulary: 11, numLayers: 2, dModel: 12, numHeads: 3, dFeedForward: 20, maxLength: 16 },
};
export const how = {
  ...{ seed: 5, dropout: 0.1, deviation: 0.1 },
  learningRate: { peak: 1e-2, warmup: 10, steps: 200, final: 1e-3 },
};

/** The batch of a step: rows that go on with the same distance, which differs from step to step. */
export function batchOf(step, vocabulary = config.vocabulary) {
  const [rows, length] = [2, 8];
  const ids = Array.from({ length: rows * length }, (_, i) => (i * (step % 5) + step) % vocabulary);
  return { ids, targets: ids.map((id) => (id + (step % 5)) % vocabulary), batch: rows };
}

export const translating = {
  ...{ kind: 'transformer', vocabulary: 9, dModel: 8, numHeads: 2, dFeedForward: 12, maxLength: 6 },
};

/** A batch for it. */
export const pairsOf = (step) => ({
  ...batchOf(step, translating.vocabulary),
  ids: batchOf(step, translating.vocabulary).ids.slice(0, 10),
  targets: batchOf(step, translating.vocabulary).targets.slice(0, 10),
  source: batchOf(step + 1, translating.vocabulary).ids.slice(0, 12),
});

/** A trainer of this thread, after `steps` calls of step(batches(step)). */
export async function trainedHere(steps, batches = batchOf, options = how) {
  const trainer = (await init()).languageModel(config, options);
  for (let step = 1; step <= steps; ++step) trainer.step(batches(step));
  return trainer;
}

/** Everything that steps change, after `steps` steps on this thread. */
export async function stateAfter(steps, batches, options) {
  const trainer = await trainedHere(steps, batches, options);
  const state = trainer.save({ optimizer: true });
  trainer.dispose();
  return state;
}

/** The slope of a trainer's loss along a way of one of its arrays, by a central difference of steps of h. */
export function slopeAlong(trainer, batch, name, way, h) {
  const { value, set } = trainer.parameters();
  const start = value(name);
  const at = (step) => {
    set(name, { ...start, data: start.data.map((x, i) => x + step * way[i]) });
    return trainer.evaluate(batch).loss;
  };
  const slope = (at(h) - at(-h)) / (2 * h);
  set(name, start);
  return slope;
}
