// Training by this library, in a page and in Node: a step of all weights of a model, or of adapters over weights that stay as they are.
import { ids } from './shapes.js';

const at = (path) => new URL(`../../dist/${path}`, import.meta.url).href;

/** `weights` is an address or a path; `lora` the adapters for languageModel.from(), none for a step of all weights. */
export async function adapters({ weights, threads, tokens, lora }) {
  const [{ init }, { load }] = await Promise.all([import(at('train.js')), import(at('models.js'))]);
  const engine = await init({ variant: threads > 1 ? 'relaxed-threads' : 'relaxed', threads });
  if (engine.info.threads !== threads) throw new Error(`${engine.info.threads} threads`);
  const model = await load(engine, { weights });
  const modelBytes = engine.memory().usedBytes;
  const trainer = engine.languageModel.from(model, lora && { lora });
  if (!lora) model.dispose(); // the trainer has copies of its weights
  const row = ids(5, tokens + 1);
  const batch = { ids: row.slice(0, tokens), targets: row.slice(1), batch: 1 };
  return {
    /** The loss before the first step. */
    loss: () => trainer.evaluate(batch).loss,
    /** Milliseconds of a step. */
    step() {
      const begin = performance.now();
      trainer.step(batch);
      return performance.now() - begin;
    },
    /** Numbers that are trained; bytes of the model, where it stays, and of the trainer, gradients, moments and the memory of a step included. */
    sizes: () => ({
      ...{ parameters: trainer.parameterCount, modelBytes: lora ? modelBytes : 0 },
      trainerBytes: engine.memory().usedBytes - (lora ? modelBytes : 0),
    }),
  };
}
