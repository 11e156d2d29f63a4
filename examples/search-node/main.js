// Searches by meaning: which sentences are nearest to a query, by an encoder of sentences of the BERT family.
//
//   node main.js FOLDER QUERY [FILE] [--pooling mean|cls|last] [--top 5]
//
// FOLDER has config.json, model.safetensors and tokenizer.json, and of an encoder of sentence-transformers
// 1_Pooling/config.json, which says how it makes a vector. FILE is a text; without one the sentences below are searched.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { init } from 'qkv';
import { load } from 'qkv/models';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    pooling: { type: 'string' }, // as the encoder was trained; default as its files say
    top: { type: 'string', default: '5' },
  },
});
const [folder, query, file] = positionals;
if (!query) throw new Error('expected the folder of an encoder, and a query');

const ownText = `The cat sleeps on the sofa. A dog runs after a ball in the park. The bank raised its interest rates.
  Heavy rain is expected in the north. She baked a cake for his birthday. The train to the coast leaves at noon.
  He plays the violin in an orchestra. The team won the game in the last minute.`;
const given = file ? readFileSync(file, 'utf8') : ownText;
const segments = new Intl.Segmenter('en', { granularity: 'sentence' }).segment(given);
const sentences = Array.from(segments, ({ segment }) => segment.trim()).filter(Boolean);

const qkv = await init({ threads: 'auto' });
const place = (name) => join(folder, name);
const told = place('1_Pooling/config.json');
const model = await load(qkv, {
  config: place('config.json'),
  weights: place('model.safetensors'),
  tokenizer: place('tokenizer.json'),
  pooling: existsSync(told) ? told : undefined,
});

/** The vectors of texts, [texts, dModel], all of length 1. Of a text that is too long, the beginning is read. */
function embed(texts) {
  const { data, shape } = model.embed(texts, { pooling: values.pooling, truncate: true });
  return texts.map((_, row) => data.subarray(row * shape[1], (row + 1) * shape[1]));
}

// The cosine of the angle between vectors of length 1 is their product.
const [asked] = embed([query]);
const found = embed(sentences).map((vector, place) => ({
  cosine: vector.reduce((sum, x, i) => sum + x * asked[i], 0),
  sentence: sentences[place],
}));
found.sort((a, b) => b.cosine - a.cosine);
for (const { cosine, sentence } of found.slice(0, Number(values.top))) {
  console.log(`${cosine.toFixed(3)}  ${sentence}`);
}

qkv.dispose();
