import { init } from 'qkv/train';
import { charactersTokenizer, load } from 'qkv/models';

const engine = await init({ deterministic: true }); // the same numbers on every machine
const trainer = engine.languageModel(
  { vocabulary: 10, numLayers: 2, dModel: 32, numHeads: 2, dFeedForward: 64, maxLength: 24 },
  { seed: 1, learningRate: 1e-2 },
);
const rows = Array.from({ length: 10 }, (_, row) => Array.from({ length: 13 }, (_, t) => (row + t) % 10));
const batch = {
  ids: rows.flatMap((row) => row.slice(0, 12)),
  targets: rows.flatMap((row) => row.slice(1)),
  batch: 10,
};
while (trainer.step(batch).loss > 0.01);
const file = new Blob([trainer.save()]);
trainer.dispose();

const tokenizer = charactersTokenizer(Array.from('0123456789'));
const model = await load(engine, { weights: file, tokenizer });
console.log(model.parameterCount, model.config.activation, model.config.maxLength);

console.log('@@0');
const read = [];
const again = await load(engine, { weights: file }, {
  format: 'int8',
  onProgress: ({ loaded, total }) => read.push(loaded / total),
});
console.log(read.at(-1), again.format, (again.bytes / model.bytes).toFixed(2));
again.dispose();

console.log('@@1');
let said = '';
for await (const { text, logProbability } of model.generate('3', { maxTokens: 9 })) {
  said += text;
  if (logProbability < -0.1) said += '?';
}
console.log(said);

console.log('@@2');
const texts = [];
for await (const { text } of model.generate('3', { stop: ['78'] })) texts.push(text);
console.log(texts);

console.log('@@3');
const session = model.session({ capacity: 16 });
for await (const { id } of model.generate('12', { session, maxTokens: 4 })) if (id === 5) break;
console.log(session.length); // 1 2 3 4 5
session.truncate(2);
const { logits } = model.forward([3], { session, rows: 'last' });
console.log(logits.data.indexOf(Math.max(...logits.data)), session.length, session.bytes);
session.dispose();

console.log('@@4');
const ids = [4, 5, 6, 7];
const { layers } = model.forward(ids, { inspect: { weights: true, logitLens: true } });
const { weights, logits: early } = layers.get(0);
console.log(weights.shape, early.shape);
const whole = model.loss([...ids, 8]);
const without = model.loss([...ids, 8], { inspect: { ablate: [[0, 0], [0, 1], [1, 0], [1, 1]] } });
console.log(whole < 0.02, without < 0.02); // the next digit follows from the last one alone

console.log('@@5');
const vectors = model.embed(['123', '124', '789']);
const dot = (a, b) =>
  vectors.data
    .subarray(32 * a, 32 * a + 32)
    .reduce((sum, x, i) => sum + x * vectors.data[32 * b + i], 0);
console.log(vectors.shape, dot(0, 1) > dot(0, 2));

console.log('@@6');
model.dispose();
console.log(engine.memory().handles);

console.log('@@7');
