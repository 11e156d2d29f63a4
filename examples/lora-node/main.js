// Teaches a language model a text, by adapters of low rank (LoRA): only they are trained, and the model stays as it is.
//
//   node main.js MODEL [TEXT] [--rank 8] [--steps 60] [--rate 0.01] [--save adapters] [--merged model.safetensors]
//
// MODEL is a file that load() of qkv/models reads with its tokenizer, and TEXT a file; without one a rhyme is learned. The last fifth of
// the text is held out. --save makes a folder with adapter_config.json and adapter_model.safetensors, as PEFT has them.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { load } from 'qkv/models';
import { init, random } from 'qkv/train';

const text = (value) => ({ type: 'string', default: value });
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ...{ rank: text('8'), steps: text('60'), rate: text('0.01') },
    ...{ save: text(), merged: text() },
  },
});
const [file, textFile] = positionals;
if (!file) throw new Error('expected the file of a model');
const rhyme =
  'Twinkle, twinkle, little star, how I wonder what you are! Up above the world so high, like a diamond in the sky. ';
const said = textFile ? readFileSync(textFile, 'utf8') : rhyme.repeat(5);

const engine = await init({ threads: 'auto' });
const model = await load(engine, { weights: file });
const ids = Array.from(model.encode(said));
const [rows, length] = [8, Math.min(64, model.config.maxLength)];
const learned = ids.slice(0, Math.floor(0.8 * ids.length));
if (learned.length <= length) throw new Error(`expected a text of more than ${length} tokens`);
const heldOut = ids.slice(learned.length).slice(0, model.config.maxLength + 1);

/** Rows of some tokens from these places on, and what follows each. */
const batchOf = (tokens, starts, count) => ({
  ids: starts.flatMap((start) => tokens.slice(start, start + count)),
  targets: starts.flatMap((start) => tokens.slice(start + 1, start + count + 1)),
  batch: starts.length,
});
const last = learned.length - length - 1;
const startsOf = (step) =>
  Array.from(random([rows], step).data, (x) => Math.floor(((x + 1) / 2) * (last + 1)));
const test = batchOf(heldOut, [0], heldOut.length - 1);

const lora = { rank: Number(values.rank), alpha: 16 };
const options = { lora, learningRate: Number(values.rate), seed: 1 };
const trainer = engine.languageModel.from(model, options);
const [all, trained] = [model, trainer].map((each) => each.parameterCount.toLocaleString('en'));
console.log(`${basename(file)}: ${all} parameters, ${model.format}; ${trained} in adapters`);
const before = trainer.evaluate(test).loss;
for (let step = 1; step <= Number(values.steps); step += 1) {
  const { loss } = trainer.step(batchOf(learned, startsOf(step), length));
  if (step === 1 || step % 20 === 0) console.log(`step ${step}: loss ${loss.toFixed(3)}`);
}
const after = trainer.evaluate(test).loss;
console.log(`held-out loss: ${before.toFixed(3)}, with adapters ${after.toFixed(3)}`);

const adapters = trainer.saveAdapters();
if (values.save) {
  mkdirSync(values.save, { recursive: true });
  for (const [name, bytes] of Object.entries(adapters))
    writeFileSync(join(values.save, name), bytes);
}
if (values.merged) writeFileSync(values.merged, trainer.save({ merged: true }));
const tuned = model.withAdapters(adapters);
const beginning = said.slice(0, 16);
for (const [name, each] of [
  ['the model', model],
  ['with adapters', tuned],
]) {
  const more = await each.generate(beginning, { maxTokens: 40 }).text();
  console.log(`${name}: ${beginning}${more}`);
}
engine.dispose();
