// Rounds of a long run with models and trainers: loaded, asked, trained, saved, given up in the middle and disposed, after which
// the memory is what it was. For Node and for pages.
import { checkpoint, checkpointConfig } from './checkpoints.js';
import { until } from './patience.js';
import { answerSeveral, converse, learnOn, patch } from './soak-uses.js';

const rounds = 4;
const config = checkpointConfig({
  ...{ vocabulary: 50, numLayers: 2, dModel: 32, numHeads: 4, dFeedForward: 48, maxLength: 300 },
});
const weights = checkpoint(config);
const ids = Array.from({ length: 9 }, (_, i) => (7 * i) % 50);
const inspect = { weights: true, entropy: true, residuals: true, logitLens: true };
const formats = ['f32', 'bf16', 'int8'];

/** Loads that are given up after some messages of their progress, and leave nothing. */
async function givenUp(load, after) {
  const stop = new AbortController();
  let messages = 0;
  const onProgress = () => {
    messages += 1;
    if (messages > after % 8) stop.abort();
  };
  const loaded = await load({ weights }, { signal: stop.signal, onProgress }).then(
    () => true,
    ({ name }) => name !== 'AbortError',
  );
  if (loaded) throw new Error('a load that was given up ended otherwise');
}

/** What all models are asked, here and in workers: passes, a conversation, one that is broken off. The number of calls. */
async function ask(model, i) {
  await model.forward(ids, { inspect });
  await model.loss(ids);
  await model.embed([ids, [3]]);
  const session = await model.session({ format: i % 2 === 0 ? 'f32' : 'bf16' });
  let tokens = 0;
  for await (const { id } of model.generate(ids, { session, temperature: 1, seed: i, inspect })) {
    tokens += Number(id >= 0);
    if (tokens === 20) break;
  }
  // The prompt is read in two pieces.
  const long = Array.from({ length: 270 }, (_, n) => n % 50);
  for await (const { id } of model.generate(long, { maxTokens: 5 })) tokens += Number(id >= 0);
  await session.truncate(4);
  await session.dispose();
  return 5 + tokens;
}

/** Memory as the first round left it. */
class Watch {
  #first;
  same({ usedBytes, handles }, what) {
    const now = `${usedBytes} bytes, ${handles} handles`;
    this.#first ??= now;
    if (now !== this.#first) throw new Error(`${what}: ${now}, and ${this.#first} before`);
  }
}

/** Models of this thread. */
export async function talk({ init, load }, i) {
  const engine = await init({ deterministic: true });
  const watch = new Watch();
  let calls = 0;
  for (let n = 0; n < rounds; ++n) {
    const model = await load(engine, { weights }, { format: formats[i % 3] });
    calls += await ask(model, i);
    // Nobody ends it.
    await model.generate(ids)[Symbol.asyncIterator]().return();
    await givenUp((...given) => load(engine, ...given), i + n);
    model.dispose();
    watch.same(engine.memory(), 'models');
  }
  const { heapBytes } = engine.memory();
  // One is left for dispose() to end in the middle.
  const model = await load(engine, { weights });
  await model.generate(ids)[Symbol.asyncIterator]().next();
  engine.dispose();
  return { calls, heapBytes };
}

const rows = { ids, targets: ids.map((id) => (id + 1) % 50), batch: 3 };
const trained = { ...config, maxLength: 9 };
const translator = { kind: 'gru_attention', vocabulary: 50, dModel: 24, maxLength: 9 };

/** Trainers of both kinds, one of which goes on from the file of another. */
export async function learn({ initTrain }, i) {
  const engine = await initTrain({ deterministic: true });
  const watch = new Watch();
  let calls = 0;
  for (let n = 0; n < rounds; ++n) {
    const [one, other] = [i, i + 1].map((seed) => engine.languageModel(trained, { seed }));
    for (let step = 0; step < 5; ++step) one.step(rows);
    other.load(one.save({ optimizer: true }));
    if (other.step(rows).loss !== one.step(rows).loss) throw new Error('it went on otherwise');
    one.model.forward(ids, { batch: 3, inspect: { weights: true } });
    one.evaluate(rows);
    const third = engine.seq2seq(translator, { seed: i });
    third.step({ ...rows, source: ids });
    third.model.translate(ids, { batch: 3, start: 0, end: 1, maxLength: 4 });
    for (const trainer of [one, other, third]) trainer.dispose();
    watch.same(engine.memory(), 'trainers');
    calls += 13;
  }
  const { heapBytes } = engine.memory();
  engine.languageModel(trained).step(rows);
  engine.dispose();
  return { calls, heapBytes };
}

/** Models in a worker, which is ended while one is loaded and another one talks. */
export async function talkAway({ initWorkers }, i) {
  const engine = await initWorkers({ workers: 1, models: true });
  const watch = new Watch();
  let calls = 0;
  for (let n = 0; n < rounds; ++n) {
    const model = await engine.loadModel({ weights }, { format: formats[i % 3] });
    calls += await ask(model, i);
    await givenUp(engine.loadModel, i + n);
    await model.dispose();
    // The worker may still be about what was given up.
    await until(async () => (await engine.memory()).handles === 0);
    watch.same(await engine.memory(), 'models in a worker');
  }
  const { heapBytes } = await engine.memory();
  const model = await engine.loadModel({ weights });
  const tokens = model.generate(ids);
  await tokens.next();
  const left = Promise.allSettled([engine.loadModel({ weights }), tokens.next()]);
  await engine.dispose();
  for (const { status } of await left) {
    if (status !== 'rejected') throw new Error('answered after the end');
  }
  return { calls, heapBytes };
}

/** Conversations, answers side by side, patches and adapters that learn; the number of calls. */
async function use(engine, model, i) {
  const calls = [await converse(model, i), await answerSeveral(model, i), await patch(model)];
  return calls.reduce((sum, count) => sum + count, await learnOn(engine, model, i));
}

/** Models that are talked to, patched, and learn: `load` loads one, and `settled` resolves to the memory once nothing of it is left. */
async function studied(engine, { load, settled }, i) {
  const watch = new Watch();
  let calls = 0;
  for (let n = 0; n < rounds; ++n) {
    const model = await load({ format: formats[i % 3] });
    calls += await use(engine, model, i);
    await model.dispose();
    const memory = await settled();
    // What the engine keeps for its calls has its largest size after the second round.
    if (n > 0) watch.same(memory, 'models in use');
  }
  const { heapBytes } = await engine.memory();
  await engine.dispose();
  return { calls, heapBytes };
}

/** Models of this thread in use. */
export async function study({ initTrain, load, chatFiles }, i) {
  const engine = await initTrain();
  const how = {
    load: (options) => load(engine, chatFiles, options),
    settled: () => engine.memory(),
  };
  return studied(engine, how, i);
}

/** The same in a worker, which may still be about what was given up. */
export async function studyAway({ initWorkers, chatFiles }, i) {
  const engine = await initWorkers({ workers: 1, models: true, train: true });
  const settled = async () => {
    await until(async () => (await engine.memory()).handles === 0);
    return engine.memory();
  };
  return studied(engine, { load: (options) => engine.loadModel(chatFiles, options), settled }, i);
}
