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
import { load, nearest } from 'qkv/models';

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
const pooling = place('1_Pooling/config.json');
const model = await load(qkv, {
  config: place('config.json'),
  weights: place('model.safetensors'),
  tokenizer: place('tokenizer.json'),
  pooling: existsSync(pooling) ? pooling : undefined,
});

// Vectors, [texts, dModel]. Of a text that is too long, the beginning is read.
const options = { pooling: values.pooling, truncate: true };
const vectors = await model.embed(sentences, options);
for (const place of vectors.truncated) {
  console.error(`only the beginning was read: ${sentences[place].slice(0, 60)}`);
}
const vector = await model.embed([query], options);
for (const { index, similarity } of nearest(vectors, vector, Number(values.top))) {
  console.log(`${similarity.toFixed(3)}  ${sentences[index]}`);
}

qkv.dispose();
