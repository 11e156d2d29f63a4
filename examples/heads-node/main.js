// Looks at every head of a language model of characters while it reads a sentence twice, and then takes the strongest head away.
import { init } from 'qkv';
import { load } from 'qkv/models';

const [, , file, sentence = 'Mr. Bingley danced with Miss Fitzhugh at Rosings. '] = process.argv;
const qkv = await init();
const model = await load(qkv, { weights: file }, { format: 'f32' }); // exact: int8 rounds inputs
const { tokenizer } = model; // that of the file
const ids = tokenizer.encode(sentence + sentence);
const [T, once] = [ids.length, ids.length / 2];
const { layers } = model.forward(ids, { inspect: { weights: true, entropy: true } });

const heads = [];
console.log('head  previous  first  induction  entropy');
for (const [layer, { weights, entropy }] of layers) {
  for (let head = 0; head < model.config.numHeads; head += 1) {
    const row = (t) => weights.data.subarray((head * T + t) * T, (head * T + t + 1) * T);
    const mean = (from, of) =>
      ids.slice(from).reduce((sum, _, i) => sum + of(from + i), 0) / (T - from);
    const previous = mean(1, (t) => row(t)[t - 1]);
    const first = mean(1, (t) => row(t)[0]);
    // In the second reading, what followed this place in the first one (Olsson et al. 2022).
    const induction = mean(once, (t) => row(t)[t - once + 1]);
    const spread = mean(0, (t) => entropy.data[head * T + t]); // in nats
    const cells = [previous, first, induction, spread].map((x) => x.toFixed(3));
    console.log(`${layer}.${head}   ${cells.join('     ')}`);
    heads.push({ layer, head, row, strength: Math.max(previous, first, induction) });
  }
}

// The strongest head has the largest of the first three numbers.
const { layer, head, row } = heads.reduce((a, b) => (b.strength > a.strength ? b : a));
const cells = Array.from(ids, (_, t) => Array.from(row(t), (weight, key) => ({ t, key, weight })));
const back = cells.flat().filter(({ t, key }) => key < t);
back.sort((a, b) => b.weight - a.weight);
console.log(`where ${layer}.${head}, the strongest, looks back most:`);
const upTo = (t) => JSON.stringify(tokenizer.decode(ids.slice(Math.max(0, t - 9), t + 1)));
for (const { t, key, weight } of back.slice(0, 5))
  console.log(`${weight.toFixed(3)}  from the end of ${upTo(t)} to the end of ${upTo(key)}`);

const loss = (ablate) => model.loss(ids, { inspect: { ablate } });
const [whole, without] = [loss([]), loss([[layer, head]])].map((nats) => nats.toFixed(3));
console.log(`loss ${whole}; without ${layer}.${head} ${without}`);
qkv.dispose();
