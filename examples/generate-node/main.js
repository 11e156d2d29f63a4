// Goes on with a text, by a language model from a file:
//
//   node main.js FILE PROMPT [--tokens 200] [--temperature 0.8] [--top-p 1] [--seed 0] [--format f32|f16|bf16|int8|int4] [--tokenizer FILE]
//
// FILE is safetensors (of the hub, with its config.json and tokenizer.json beside it, also the index of shards; or of qkv/train), GGUF,
// or a llama2.c checkpoint, whose tokenizer.bin is --tokenizer. The text goes to standard output, and what is said of the model to standard
// error.
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { init } from 'qkv';
import { llama2cTokenizer, load } from 'qkv/models';

const text = (value) => ({ type: 'string', default: value });
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tokens: text('200'),
    temperature: text('0.8'),
    'top-p': text('1'),
    seed: text('0'),
    format: text(),
    tokenizer: text(),
  },
});
const [file, prompt] = positionals;
if (!prompt) throw new Error('expected the file of a model, and a prompt');

const beside = (name) => join(dirname(file), name);
const isOfHub = /\.safetensors(\.index\.json)?$/.test(file) && existsSync(beside('config.json'));

/** The tokenizer: GGUF files and ours have their own, which load() finds. */
const tokenizer = values.tokenizer
  ? llama2cTokenizer(readFileSync(values.tokenizer))
  : isOfHub
    ? beside('tokenizer.json')
    : undefined;

const qkv = await init({ threads: 'auto' });
const config = isOfHub ? beside('config.json') : undefined;
const model = await load(qkv, { config, weights: file, tokenizer }, { format: values.format });
const family = model.config.family || 'qkv/train';
const [parameters, bytes] = [model.parameterCount, model.bytes].map((n) => n.toLocaleString('en'));
console.error(
  `${basename(file)}: ${family}, ${parameters} parameters, ${bytes} bytes, ${model.format}`,
);

process.stdout.write(prompt);
const start = performance.now();
let count = 0;
const [maxTokens, seed] = [Number(values.tokens), Number(values.seed)];
const [temperature, topP] = [Number(values.temperature), Number(values['top-p'])];
for await (const token of model.generate(prompt, { maxTokens, temperature, topP, seed })) {
  process.stdout.write(token.text);
  count += 1;
}
const seconds = (performance.now() - start) / 1000;
process.stdout.write('\n');
console.error(`${count} tokens, ${(count / seconds).toFixed(0)} per second, the prompt included`);
qkv.dispose();
