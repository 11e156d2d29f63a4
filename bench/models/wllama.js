// wllama: llama.cpp as WebAssembly.
import { BEFORE, CONTEXT, DECODED, PROMPT, characterOf, ids } from './shapes.js';

const at = (path) =>
  new URL(`../../build/peers/node_modules/@wllama/wllama/esm/${path}`, import.meta.url).href;

/** The text of these ids: the tokenizer has a token for each of their characters, and merges none. */
const textOf = (tokens) => tokens.map(characterOf).join('');

/**
 * Its interface takes texts and gives texts, and says how long each part took: `prompt_ms` to the first token,
 * `predicted_ms` from there to the last. Sampling is greedy, without any step that is not needed.
 */
export async function wllama({ url, threads, flash }) {
  const { Wllama } = await import(at('index.js'));
  const silent = () => undefined;
  const instance = new Wllama(
    { default: at('wasm/wllama.wasm') },
    {
      suppressNativeLog: true,
      logger: { debug: silent, log: silent, warn: silent, error: console.error },
    },
  );
  const blob = await (await fetch(url)).blob();
  await instance.loadModel([blob], {
    ...{ n_ctx: CONTEXT, n_batch: PROMPT, n_ubatch: PROMPT, n_threads: threads, n_parallel: 1 },
    ...{ n_gpu_layers: 0, warmup: false, flash_attn: flash },
  });
  async function complete(tokens, count) {
    const { timings } = await instance.createCompletion({
      ...{ prompt: textOf(tokens), n_predict: count, max_tokens: count, cache_prompt: false },
      ...{ temperature: 0, top_k: 1, samplers: ['top_k'], ignore_eos: true, stream: false },
    });
    if (timings.prompt_n !== tokens.length || timings.predicted_n !== count) {
      throw new Error(`wllama read ${timings.prompt_n} and wrote ${timings.predicted_n} tokens`);
    }
    return timings;
  }
  return {
    prompt: async () => (await complete(ids(1, PROMPT), 1)).prompt_ms,
    decode: async () => (await complete(ids(2, BEFORE), DECODED + 1)).predicted_ms,
  };
}
