// Finds the circuit of an answer: two sentences that differ in one word, and which heads of a language model make the difference.
import { init } from 'qkv';
import { load } from 'qkv/models';

const [
  ,
  ,
  file,
  clean = '\nWhen Mary and John went to the shop, John gave a book to',
  corrupt = '\nWhen Mary and John went to the shop, Mary gave a book to',
  right = ' Mary',
  wrong = ' John',
] = process.argv;
const qkv = await init();
const model = await load(qkv, { weights: file }, { format: 'f32' }); // exact: int8 rounds inputs
const { tokenizer, config } = model;
const ids = tokenizer.encode(clean);
/** The token that goes on with a sentence so: pieces of a text need what stands before them. */
const after = (word) => tokenizer.encode(clean + word).at(-1);
const [answer, instead] = [after(right), after(wrong)];
const show = (x) => (Math.round(x * 100) / 100 + 0).toFixed(2).padStart(7);
const shown = (t) => JSON.stringify(tokenizer.decode([ids[t]]));

/** What comes back of the answer when one activation of the clean pass is put into the corrupt one. */
const sweep = (site) => model.sweep({ clean, corrupt, answer, instead, site });
const { grid: tokens, clean: high, corrupt: low } = await sweep('attention');
const measure = `logit of ${JSON.stringify(right)} less that of ${JSON.stringify(wrong)}`;
console.log(`${measure}: ${high.toFixed(2)}; corrupt ${low.toFixed(2)}`);
console.log('layer and token of attention that bring it back by a tenth and more:');
for (const [at, back] of tokens.data.entries()) {
  const [layer, t] = [Math.floor(at / ids.length), at % ids.length];
  if (Math.abs(back) >= 0.1) console.log(`${layer} ${shown(t)} (${t})${show(back)}`);
}

const { grid: heads } = await sweep('z');
const { parts } = model.attribute(ids, { answer, instead });
const scores = model.headScores({ text: clean });
const rows = [ids.length - 1, ids.length];
const { activations } = model.forward(ids, { read: [{ site: 'weights', rows }] });
console.log('head   back   gives  copies  reads most');
for (const [i, { layer, head, copying }] of scores.entries()) {
  const gives = parts.find((part) => part.layer === layer && part.head === head).value;
  const from = head * ids.length;
  const weights = activations.get('weights', layer).data.subarray(from, from + ids.length);
  const most = weights.indexOf(Math.max(...weights));
  const reads = `${shown(most)} (${most}) ${weights[most].toFixed(2)}`;
  console.log(`${layer}.${head}${[heads.data[i], gives, copying].map(show).join('')}  ${reads}`);
}

// The head that brings back most is what makes the difference: without it, what is likeliest?
const best = heads.data.indexOf(Math.max(...heads.data));
const [layer, head] = [Math.floor(best / config.numHeads), best % config.numHeads];
const difference = (edit) => {
  const { data } = model.forward(ids, { rows: 'last', edit }).logits;
  return (data[answer] - data[instead]).toFixed(2);
};
const without = difference([{ site: 'z', layer, head, value: 0 }]);
console.log(`without ${layer}.${head}: ${without} instead of ${difference([])}`);
qkv.dispose();
