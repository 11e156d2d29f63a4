// Activation patching by this library, in a page and in Node: a sweep of the stream over all layers and tokens of a prompt of 16, a plain pass
// over such a prompt, and the attribution of a logit to all parts.
import { ids } from './shapes.js';

export const TOKENS = 16;
/** Prompts that differ in one token. */
export const clean = ids(4, TOKENS);
export const corrupt = clean.map((id, t) => (t === 5 ? id + 1 : id));

const at = (path) => new URL(`../../dist/${path}`, import.meta.url).href;

async function timed(run) {
  const begin = performance.now();
  const result = await run();
  return { ms: performance.now() - begin, result };
}

/** `weights` is an address or a path. */
export async function patching({ weights, threads }) {
  const [{ init }, { load }] = await Promise.all([import(at('index.js')), import(at('models.js'))]);
  const engine = await init({ variant: threads > 1 ? 'relaxed-threads' : 'relaxed', threads });
  if (engine.info.threads !== threads) throw new Error(`${engine.info.threads} threads`);
  const model = await load(engine, { weights });
  const measure = { answer: 0, instead: 1 };
  return {
    pass: async () => (await timed(() => model.forward(clean, { rows: 'last' }))).ms,
    attribute: async () => (await timed(() => model.attribute(clean, measure))).ms,
    async sweep() {
      const options = { clean, corrupt, ...measure, site: 'residual' };
      const { ms, result } = await timed(() => model.sweep(options));
      return { ms, differences: Array.from(result.grid.data, (x) => x * (result.clean - result.corrupt) + result.corrupt) }; // prettier-ignore
    },
  };
}
