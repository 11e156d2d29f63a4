// Attention over four tokens: what each token reads, and how spread its reading is.
import { init, random, toNested } from 'qkv';

const qkv = await init();
const x = random([1, 1, 4, 8], 1); // batch, heads, tokens, width; and a seed
const { weights, entropy } = qkv.attention(x, x, x, {
  causal: true, // a token reads itself and what came before
  returnWeights: true,
  returnEntropy: true,
});

console.log('weights, one row for each token:');
for (const row of toNested(weights)[0][0]) console.log(row.map((w) => w.toFixed(3)).join('  '));
// The row of token t has t + 1 keys to choose from. Its entropy is 0 where it reads one alone, and log(t + 1) where it reads all
// alike.
const most = Array.from(entropy.data, (_, t) => Math.log(t + 1).toFixed(3));
console.log('entropy, in nats: ', Array.from(entropy.data, (h) => h.toFixed(3)).join('  '));
console.log('at most:          ', most.join('  '));
