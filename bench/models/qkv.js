// This library in a page: `qkv/models` on the relaxed build.
import { BEFORE, CONTEXT, DECODED, PROMPT, ids } from './shapes.js';

const at = (path) => new URL(`../../dist/${path}`, import.meta.url).href;
const kept = { F32: 'f32', Q8_0: 'int8' };

export async function qkv({ url, format, threads }) {
  const [{ init }, { load }] = await Promise.all([import(at('index.js')), import(at('models.js'))]);
  const engine = await init({ variant: threads > 1 ? 'relaxed-threads' : 'relaxed', threads });
  if (engine.info.threads !== threads) throw new Error(`${engine.info.threads} threads`);
  // What a file of F16 becomes is the library's choice.
  const model = await load(engine, { weights: url }, kept[format] ? { format: kept[format] } : {});
  const session = model.session({ capacity: CONTEXT });
  const read = (tokens) => model.forward(tokens, { rows: 'last', session }).logits.data;
  const start = (tokens) => {
    session.truncate(0);
    const begin = performance.now();
    const logits = read(tokens);
    return { ms: performance.now() - begin, logits };
  };
  return {
    prompt: () => start(ids(1, PROMPT)).ms,
    decode() {
      start(ids(2, BEFORE));
      const begin = performance.now();
      for (const id of ids(3, DECODED)) read([id]);
      return performance.now() - begin;
    },
    next() {
      const { logits } = start(ids(1, PROMPT));
      return logits.indexOf(Math.max(...logits));
    },
  };
}
