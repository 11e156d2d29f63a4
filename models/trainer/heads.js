// What the heads of a language model attend to, and what it is without one of them.

/** The queries of a row whose token came before, each with the keys right after its earlier places. */
function matchesOf(ids) {
  return ids.map((id, query) =>
    Array.from({ length: query }, (_, i) => i + 1).filter((key) => ids[key - 1] === id),
  );
}

/** Every head by its name, "layer.head" from 0. */
export const headNames = ({ numLayers, numHeads }) =>
  Array.from({ length: numLayers * numHeads }, (_, i) => [Math.floor(i / numHeads), i % numHeads]);

/**
 * Of every head, over one row: `previous` is the mean weight on the token before the query; `induction` that on all tokens that came
 * right after an earlier place of the query's token (prefix matching, Olsson et al. 2022).
 */
export async function headScores(trainer, ids) {
  const layers = Array.from({ length: trainer.config.numLayers }, (_, layer) => layer);
  const { weights } = await trainer.forward(ids, { layers });
  const length = ids.length;
  const matches = matchesOf(ids);
  const matched = matches.filter((keys) => keys.length > 0).length;
  return headNames(trainer.config).map(([layer, head]) => {
    const at = (query, key) => weights[layer][(head * length + query) * length + key];
    const previous = ids.reduce((sum, _, query) => sum + (query > 0 ? at(query, query - 1) : 0), 0);
    const found = matches.map((keys, query) => keys.reduce((sum, key) => sum + at(query, key), 0));
    const induction = found.reduce((a, b) => a + b) / matched;
    return { name: `${layer}.${head}`, previous: previous / (length - 1), induction };
  });
}

/** What `measure` finds in the model while the outputs of these heads, [layer, head], are zero: their rows of W_O are. */
export async function withoutHeads(trainer, heads, measure) {
  const { numHeads, dModel } = trainer.config;
  const size = (dModel / numHeads) * dModel;
  const kept = new Map();
  for (const [layer, head] of heads) {
    const name = `layers.${layer}.attention.wo`;
    const index = trainer.arrays.findIndex((array) => array.name === name);
    if (index < 0) throw new Error(`there is no array ${name}`);
    const weights = await trainer.read(index);
    if (!kept.has(index)) kept.set(index, weights.slice());
    await trainer.write(index, 'value', weights.fill(0, head * size, (head + 1) * size));
  }
  const found = await measure();
  for (const [index, weights] of kept) await trainer.write(index, 'value', weights);
  return found;
}
