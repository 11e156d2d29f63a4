// What wrote the files of this folder, with the package of version 0.2.0: node make.js path/to/dist/train.js. Files of a version are never
// written again; those of a later one go beside them, in a folder of its name.
import { writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const folder = dirname(fileURLToPath(import.meta.url));

/** Ten digits, round and round. */
const count = (from) => Array.from({ length: 12 }, (_, t) => (from + t) % 10);
const digits = Array.from({ length: 10 }, (_, i) => i);
const batch = {
  ids: digits.flatMap(count),
  targets: digits.flatMap((i) => count(i + 1)),
  batch: 10,
};

/** Three letters of four, to be said from their end: 4 begins, 5 ends. */
const words = Array.from({ length: 64 }, (_, i) => [i % 4, (i >> 2) % 4, i >> 4]);
const turned = words.map((word) => [...word].reverse());
const pairs = {
  ...{ source: words.flat(), sourceLengths: words.map(() => 3), batch: 64 },
  ids: turned.flatMap((word) => [4, ...word]),
  targets: turned.flatMap((word) => [...word, 5]),
};

export const config = {
  ...{ vocabulary: 10, numLayers: 1, dModel: 16, numHeads: 2, dFeedForward: 32, maxLength: 12 },
};
export const seq2seqConfig = { kind: 'gru_attention', vocabulary: 6, dModel: 16, maxLength: 5 };
export { batch, count, pairs, turned, words };

async function main(path) {
  const { init } = await import(pathToFileURL(resolve(path)).href);
  const qkv = await init({ deterministic: true });
  const write = (name, bytes) => writeFileSync(join(folder, `${name}.safetensors`), bytes);
  const counts = qkv.languageModel(config, { seed: 1, learningRate: 1e-2 });
  for (let step = 0; step < 100; step += 1) counts.step(batch);
  write('counts', counts.save({ optimizer: true }));
  write('counts-bf16', counts.save({ format: 'bf16' }));
  write('counts-int8', counts.save({ format: 'int8' }));
  const turns = qkv.seq2seq(seq2seqConfig, { seed: 1, learningRate: 1e-2, deviation: 0.1 });
  for (let step = 0; step < 200; step += 1) turns.step(pairs);
  write('turns', turns.save({ optimizer: true }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv[2]);
