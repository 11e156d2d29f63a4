// llama.cpp natively, the program of node-llama-cpp that fits the processor best. Calls go to its batches, below the
// interface that chooses tokens, so that a step is a pass and its logits and nothing else.
import { BEFORE, CONTEXT, DECODED, PROMPT, ids } from './shapes.js';

const at = (path) => new URL(`../../build/peers/node_modules/${path}`, import.meta.url).href;

/** A context with its one sequence. */
async function open(model, { threads, flashAttention }) {
  const context = await model.createContext({
    ...{ contextSize: CONTEXT, batchSize: PROMPT, flashAttention },
    threads: { ideal: threads, min: threads },
  });
  const { _ctx: inner } = context;
  if (inner.getThreads() !== threads) throw new Error(`${inner.getThreads()} threads`);
  const read = async (tokens, place) => {
    inner.initBatch(tokens.length);
    inner.addToBatch(0, place, Uint32Array.from(tokens), Uint32Array.of(tokens.length - 1));
    await inner.decodeBatch();
  };
  const start = async (tokens) => {
    inner.removeTokenCellsFromSequence(0, 0, -1);
    const begin = performance.now();
    await read(tokens, 0);
    return performance.now() - begin;
  };
  return {
    context,
    clear: () => inner.removeTokenCellsFromSequence(0, 0, -1),
    prompt: () => start(ids(1, PROMPT)),
    async decode() {
      await start(ids(2, BEFORE));
      const tokens = ids(3, DECODED);
      const begin = performance.now();
      for (let i = 0; i < DECODED; i += 1) await read([tokens[i]], BEFORE + i);
      return performance.now() - begin;
    },
  };
}

/** Of two ways, the one whose best of three is faster. */
async function faster(ways, what) {
  const best = ways.map(() => Infinity);
  for (let round = 0; round < 3; round += 1) {
    for (const [i, way] of ways.entries()) best[i] = Math.min(best[i], await way[what]());
  }
  return ways[best[0] <= best[1] ? 0 : 1];
}

export async function llamaCpp({ path, threads }) {
  const { getLlama, LlamaLogLevel } = await import(at('node-llama-cpp/dist/index.js'));
  const llama = await getLlama({
    ...{ gpu: false, build: 'never', skipDownload: true, maxThreads: 0 },
    logLevel: LlamaLogLevel.error,
  });
  const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 });
  const ways = [];
  for (const flashAttention of [false, true]) {
    ways.push(await open(model, { threads, flashAttention }));
  }
  const chosen = {};
  const timed = async (what) => {
    chosen[what] ??= await faster(ways, what);
    return chosen[what][what]();
  };
  return {
    prompt: () => timed('prompt'),
    decode: () => timed('decode'),
    async next() {
      const [{ context, clear }] = ways;
      clear();
      const tokens = ids(1, PROMPT);
      const wanted = [...tokens.slice(0, -1), [tokens.at(-1), { generateNext: { token: true } }]];
      const results = await context.getSequence().controlledEvaluate(wanted);
      return results.at(-1).next.token;
    },
  };
}
