// A language model of two attention layers learns induction: its rows repeat a few tokens in an order made up for each row, so the only
// way to tell the next token is to find where the present one stood before and to read what followed (Olsson et al. 2022).
import { init, random } from 'qkv/train';

const vocabulary = 24;
const length = 24;
const batch = 32;

const qkv = await init({ deterministic: true }); // a seed gives the same weights, bit for bit, everywhere
const trainer = qkv.languageModel(
  { vocabulary, numLayers: 2, dModel: 64, numHeads: 4, dFeedForward: 0, maxLength: length },
  { learningRate: 3e-3, deviation: 0.08, seed: 1 },
);

/** A batch of rows that repeat 6 to 12 different tokens. A target of -1 does not count: nobody can know it. */
function rows(seed) {
  const { data } = random([batch, vocabulary], seed); // numbers from -1 to 1
  const ids = [];
  const targets = [];
  for (let row = 0; row < batch; row += 1) {
    const dice = data.subarray(row * vocabulary, (row + 1) * vocabulary);
    const tokens = Array.from(dice, (_, token) => token).sort((a, b) => dice[a] - dice[b]);
    const period = 6 + Math.min(6, Math.floor(3.5 * (dice[0] + 1)));
    for (let t = 0; t < length; t += 1) {
      ids.push(tokens[t % period]);
      targets.push(t + 1 < period ? -1 : tokens[(t + 1) % period]);
    }
  }
  return { ids, targets, batch };
}

const heldOut = rows(1_000_000); // no step gets this far

console.log(`${trainer.parameterCount} parameters`);
for (let step = 1; step <= 400; step += 1) {
  const { loss } = trainer.step(rows(step));
  if (step % 20 > 0) continue;
  const { accuracy } = trainer.evaluate(heldOut);
  const percent = `${(100 * accuracy).toFixed(0)} %`.padStart(5);
  const bar = '#'.repeat(Math.round(15 * loss));
  console.log(`step ${String(step).padStart(3)}  loss ${loss.toFixed(2)}  ${percent}  ${bar}`);
  if (accuracy >= 0.99) break;
}

// The model goes on with a row that it has never seen, given a bit more than one period of it.
const row = [3, 14, 1, 5, 9, 2, 6, 3, 14];
const given = row.length;
while (row.length < length) {
  const { logits } = trainer.model.forward(row);
  const last = logits.data.subarray(-vocabulary);
  row.push(last.indexOf(Math.max(...last)));
}
console.log(`given: ${row.slice(0, given).join(' ')}`);
console.log(`said:  ${row.slice(given).join(' ')}`);

trainer.dispose();
