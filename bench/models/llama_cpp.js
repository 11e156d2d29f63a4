// llama.cpp natively, the program of node-llama-cpp that fits the processor best. Calls go to its batches, below the
// interface that chooses tokens, so that a step is a pass and its logits and nothing else.
import { PROMPT, contextIds, decodedIds, promptIds, shapes } from './shapes.js';

/** Of the copy that llama_builds.js makes of a build, or of what was installed. */
const at = (path, build = '') =>
  new URL(`../../build/peers/${build}/node_modules/${path}`, import.meta.url).href;

/** A context with its one sequence. */
async function open(model, { shape, threads, flashAttention }) {
  const context = await model.createContext({
    ...{ contextSize: shapes[shape].contextLength, batchSize: PROMPT, flashAttention },
    threads: { ideal: threads, min: threads },
  });
  const { _ctx: inner } = context;
  if (inner.getThreads() !== threads) throw new Error(`${inner.getThreads()} threads`);
  const read = async (tokens, place) => {
    inner.initBatch(tokens.length);
    inner.addToBatch(0, place, Uint32Array.from(tokens), Uint32Array.of(tokens.length - 1));
    await inner.decodeBatch();
  };
  const keep = (length) => inner.removeTokenCellsFromSequence(0, length, -1);
  const start = async (tokens) => {
    keep(0);
    const begin = performance.now();
    for (let from = 0; from < tokens.length; from += PROMPT) {
      await read(tokens.slice(from, from + PROMPT), from);
    }
    return performance.now() - begin;
  };
  return {
    context,
    clear: () => keep(0),
    prompt: () => start(promptIds),
    fill: (length) => start(contextIds(length)),
    async decode(length) {
      keep(length);
      const begin = performance.now();
      for (const [i, id] of decodedIds.entries()) await read([id], length + i);
      return performance.now() - begin;
    },
  };
}

/** Of two ways, the one whose best of three is faster. */
async function faster(ways, what, argument) {
  const best = ways.map(() => Infinity);
  for (let round = 0; round < 3; round += 1) {
    for (const [i, way] of ways.entries()) best[i] = Math.min(best[i], await way[what](argument));
  }
  return ways[best[0] <= best[1] ? 0 : 1];
}

export async function llamaCpp({ path, shape, threads, build }) {
  const { getLlama, LlamaLogLevel } = await import(at('node-llama-cpp/dist/index.js', build));
  const llama = await getLlama({
    ...{ gpu: false, build: 'never', skipDownload: true, maxThreads: 0 },
    logLevel: LlamaLogLevel.error,
  });
  const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 });
  const ways = [];
  for (const flashAttention of [false, true]) {
    ways.push(await open(model, { shape, threads, flashAttention }));
  }
  const chosen = {};
  const timed = async (what, argument) => {
    const key = [what, argument].join(' ').trim();
    chosen[key] ??= await faster(ways, what, argument);
    return chosen[key][what](argument);
  };
  return {
    prompt: () => timed('prompt'),
    async fill(context) {
      for (const way of ways) await way.fill(context);
    },
    decode: (context) => timed('decode', context),
    about: () =>
      Object.entries(chosen)
        .map(([what, way]) => `${what}: ${way === ways[0] ? 'separate' : 'fused'} attention`)
        .join('; '),
    async next() {
      const [{ context, clear }] = ways;
      clear();
      const [last] = promptIds.slice(-1);
      const wanted = [...promptIds.slice(0, -1), [last, { generateNext: { token: true } }]];
      const results = await context.getSequence().controlledEvaluate(wanted);
      return results.at(-1).next.token;
    },
  };
}
