// This library in a page: `qkv/models` on the relaxed build.
import { contextIds, decodedIds, promptIds, shapes } from './shapes.js';

const at = (path) => new URL(`../../dist/${path}`, import.meta.url).href;

/** Weights are kept as the package chooses to keep those of such a file. */
export async function qkv({ url, shape, threads }) {
  const [{ init }, { load }] = await Promise.all([import(at('index.js')), import(at('models.js'))]);
  const engine = await init({ variant: threads > 1 ? 'relaxed-threads' : 'relaxed', threads });
  if (engine.info.threads !== threads) throw new Error(`${engine.info.threads} threads`);
  const model = await load(engine, { weights: url });
  const session = model.session({ capacity: shapes[shape].contextLength });
  const read = (tokens) => model.forward(tokens, { rows: 'last', session }).logits.data;
  const start = (tokens) => {
    session.truncate(0);
    const begin = performance.now();
    const logits = read(tokens);
    return { ms: performance.now() - begin, logits };
  };
  return {
    prompt: () => start(promptIds).ms,
    fill: (context) => void start(contextIds(context)),
    decode(context) {
      session.truncate(context);
      const begin = performance.now();
      for (const id of decodedIds) read([id]);
      return performance.now() - begin;
    },
    next() {
      const { logits } = start(promptIds);
      return logits.indexOf(logits.reduce((a, b) => Math.max(a, b)));
    },
  };
}
