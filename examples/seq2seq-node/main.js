// A GRU with attention learns to spell words backwards (Bahdanau et al. 2015). Where its decoder looked in the source while it said each
// letter is the alignment: for a reversal, the other diagonal.
import { init, random } from 'qkv/train';

const letters = 'abcdefghij';
const [start, end] = [letters.length, letters.length + 1];
const [shortest, longest] = [3, 8];
const batch = 32;

const qkv = await init({ deterministic: true }); // a seed gives the same weights, bit for bit, everywhere
const trainer = qkv.seq2seq(
  { kind: 'gru_attention', vocabulary: letters.length + 2, dModel: 32, maxLength: longest + 1 },
  { learningRate: 1e-2, deviation: 0.1, seed: 1 },
);

/** Words of 3 to 8 random letters, and the same from their end. */
function words(seed) {
  const { data } = random([batch, longest + 1], seed); // numbers from -1 to 1
  const made = { source: [], sourceLengths: [], ids: [], targets: [], batch };
  for (let row = 0; row < batch; row += 1) {
    const below = (place, n) =>
      Math.min(n - 1, Math.floor(((data[row * (longest + 1) + place] + 1) / 2) * n));
    const count = shortest + below(longest, longest - shortest + 1);
    const word = Array.from({ length: count }, (_, t) => below(t, letters.length));
    const said = [...word].reverse();
    const rest = Array(longest - count);
    made.source.push(...word, ...rest.fill(end));
    made.sourceLengths.push(count);
    made.ids.push(start, ...said, ...rest.fill(end)); // what the decoder reads
    made.targets.push(...said, end, ...rest.fill(-1)); // what it should say next; -1 does not count
  }
  return made;
}

const heldOut = words(1_000_000); // no step gets this far

console.log(`${trainer.parameterCount} parameters`);
for (let step = 1; step <= 600; step += 1) {
  const { loss } = trainer.step(words(step));
  if (step % 50 > 0) continue;
  const { accuracy } = trainer.evaluate(heldOut);
  console.log(`step ${step}: loss ${loss.toFixed(3)}, ${(100 * accuracy).toFixed(0)} % right`);
  if (accuracy === 1) break;
}

const word = 'fabjedig';
const source = Array.from(word, (letter) => letters.indexOf(letter));
const { ids, weights } = trainer.model.translate(source, { start, end, maxLength: longest + 1 });
const said = Array.from(ids[0], (id) => letters[id] ?? '?').join('');
console.log(`${word} backwards: ${said}`);

// The weights of one layer and one head, [1, 1, letters said and the end, letters read], in tenths; a point is less than half of one. The
// state of a letter has read the letters before it, which is why the decoder may look a place further, too.
const { data, shape } = weights[0];
const width = shape[3];
console.log(`    ${[...word].join(' ')}`);
for (const [t, letter] of [...said].entries()) {
  const read = Array.from(data.subarray(t * width, (t + 1) * width), (w) => Math.round(10 * w));
  console.log(
    `${letter} | ${read.map((tenths) => (tenths === 0 ? '.' : Math.min(9, tenths))).join(' ')}`,
  );
}

trainer.dispose();
