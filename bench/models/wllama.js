// wllama: llama.cpp as WebAssembly. Its newest version, and the last one that has an interface of single steps.
import {
  DECODED,
  PROMPT,
  characterOf,
  contextIds,
  decodedIds,
  idOf,
  promptIds,
  shapes,
} from './shapes.js';

const at = (path) => new URL(`../../build/peers/node_modules/${path}`, import.meta.url).href;

/** The text of these ids: the tokenizer has a token for each of their characters, and merges none. */
const textOf = (tokens) => tokens.map(characterOf).join('');

const silent = () => undefined;
const quiet = {
  suppressNativeLog: true,
  logger: { debug: silent, log: silent, warn: silent, error: console.error },
};
const load = async (instance, { url, shape }, options) => {
  const { contextLength } = shapes[shape];
  await instance.loadModel([await (await fetch(url)).blob()], { n_ctx: contextLength, ...options });
};

/**
 * Its interface takes texts and gives texts, and says how long each part took: `prompt_ms` to the first token,
 * `predicted_ms` from there to the last. Sampling is greedy, without any step that is not needed. A context that was read stays
 * in its cache but for the last token, which is read again.
 */
export async function wllama({ url, shape, threads }) {
  const { Wllama } = await import(at('@wllama/wllama/esm/index.js'));
  const instance = new Wllama({ default: at('@wllama/wllama/esm/wasm/wllama.wasm') }, quiet);
  await load(
    instance,
    { url, shape },
    {
      ...{ n_batch: PROMPT, n_ubatch: PROMPT, n_threads: threads, n_parallel: 1 },
      ...{ n_gpu_layers: 0, warmup: false },
    },
  );
  async function complete(tokens, count, cached = false) {
    const { timings, choices } = await instance.createCompletion({
      ...{ prompt: textOf(tokens), max_tokens: count, cache_prompt: cached, ignore_eos: true },
      ...{ temperature: 0, top_k: 1, samplers: ['top_k'], stream: false },
    });
    if (!(cached || timings.prompt_n === tokens.length) || timings.predicted_n !== count) {
      throw new Error(`wllama read ${timings.prompt_n} and wrote ${timings.predicted_n} tokens`);
    }
    return { ...timings, text: choices[0].text };
  }
  return {
    prompt: async () => (await complete(promptIds, 1)).prompt_ms,
    fill: async (context) => void (await complete(contextIds(context), 1, true)),
    decode: async (context) =>
      (await complete(contextIds(context), DECODED + 1, true)).predicted_ms,
    next: async () => idOf((await complete(promptIds, 1)).text),
  };
}

/** The older one reads ids, and computes logits without choosing from them. */
export async function wllama2({ url, shape, threads }) {
  const { Wllama } = await import(at('wllama2/esm/index.js'));
  const [single, multi] = ['single-thread', 'multi-thread'].map((kind) => `${kind}/wllama.wasm`);
  const paths = { [single]: at(`wllama2/esm/${single}`), [multi]: at(`wllama2/esm/${multi}`) };
  const instance = new Wllama(paths, quiet);
  await load(instance, { url, shape }, { n_batch: PROMPT, n_threads: threads });
  const start = async (tokens) => {
    await instance.kvClear();
    const begin = performance.now();
    for (let from = 0; from < tokens.length; from += PROMPT) {
      await instance.decode(tokens.slice(from, from + PROMPT), {});
    }
    return performance.now() - begin;
  };
  return {
    prompt: () => start(promptIds),
    fill: async (context) => void (await start(contextIds(context))),
    async decode(context) {
      await instance.kvRemove(context, -1);
      const begin = performance.now();
      for (const id of decodedIds) await instance.decode([id], {});
      return performance.now() - begin;
    },
    async next() {
      await start(promptIds);
      const [{ token }] = await instance.getLogits(1);
      return token;
    },
  };
}
