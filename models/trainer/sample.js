// What language models say.
import { randomOf } from '../recipes/random.js';

/** A token by its probability: that of softmax(logits / temperature). `drawn` is in [0, 1). */
export function draw(logits, temperature, drawn) {
  const peak = logits.reduce((most, x) => Math.max(most, x), -Infinity);
  const weights = Float64Array.from(logits, (x) => Math.exp((x - peak) / temperature));
  let left = drawn * weights.reduce((sum, weight) => sum + weight, 0);
  return Math.max(
    0,
    weights.findIndex((weight) => (left -= weight) < 0),
  );
}

/**
 * `count` continuations of one prompt, each up to the token `end` or `most` tokens with the prompt; tokens without the prompt and
 * without `end`. The same seed gives the same ones.
 */
export async function sample(trainer, { prompt, count, most, end, temperature, seed }) {
  const random = randomOf(seed);
  const { vocabulary } = trainer.config;
  const rows = Array.from({ length: count }, () => [...prompt]);
  let open = rows;
  while (open.length > 0 && open[0].length < most) {
    const length = open[0].length;
    const { logits } = await trainer.forward(open.flat(), { batch: open.length });
    for (const [row, ids] of open.entries()) {
      const from = (row * length + length - 1) * vocabulary;
      const drawn = random.below(2 ** 32) / 2 ** 32;
      ids.push(draw(logits.subarray(from, from + vocabulary), temperature, drawn));
    }
    open = open.filter((ids) => ids.at(-1) !== end);
  }
  return rows.map((ids) => ids.slice(prompt.length, ids.at(-1) === end ? -1 : undefined));
}
