// @run full, or after changes in examples/circuit-node examples/generate-node examples/heads-node examples/search-node wasm/src/models wasm/src/language
// @build any
// The programs of examples/ that run models of files, with the commands of their README, beside the package as packed: they say what the
// package says, whose numbers have tests of their own.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { init } from 'qkv';
import { llama2cTokenizer, load } from 'qkv/models';
import { families } from '../package/models/support/families.js';
import { gguf, ggufFile, llama2cTokens, safetensors } from '../package/models/support/files.js';
import { ggufModels } from '../package/models/support/gguf-models.js';
import { checkpoint, checkpointConfig } from '../support/js/checkpoints.js';
import { read, root, text } from '../support/js/files.js';
import { encoder, ofHub, sentences, wordTokenizer } from './encoder.js';
import { argumentsOf, installExamples } from './examples.js';

const file = 'models/austen/austen.safetensors';
const names = 'models/names/names.safetensors';
const qkv = await init();
after(() => qkv.dispose());
let installed;
before(async () => {
  installed = await installExamples();
  for (const each of [file, names]) cpSync(join(root, each), join(installed.project, each));
});
after(() => installed?.remove());

/** What a command of Node prints in the project. */
const runs = (...args) => installed.inProject(process.execPath, ...args);
/** What such a command says when it fails, as it should. */
async function fails(...args) {
  const { code, output } = await installed.attempt(process.execPath, ...args);
  assert.equal(code, 1, output);
  return output;
}
const write = (folder, files) => {
  mkdirSync(join(installed.project, folder), { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const isText = typeof content === 'string' || content instanceof Uint8Array;
    const path = join(installed.project, folder, name);
    writeFileSync(path, isText ? content : JSON.stringify(content));
  }
};

/** The files of a model of families.js with this tokenizer, and the model. */
const filesOf = ({ config, tensors }) => ({
  ...{ 'config.json': config, 'model.safetensors': safetensors(tensors), ...wordTokenizer },
});
const loadHub = ({ config, tensors }) =>
  load(qkv, { config, weights: safetensors(tensors), tokenizer: ofHub() });

describe('examples: generate-node', () => {
  const [program, , prompt] = argumentsOf('generate-node');

  /** A prompt and the likeliest tokens after it, by the package; and how many these are, of which special ones say nothing. */
  async function likeliest(model, begin, maxTokens) {
    let [said, count] = [begin, 0];
    for await (const { text: more } of model.generate(begin, { maxTokens, temperature: 0 })) {
      said += more;
      count += 1;
    }
    return { said: `${said}\n`, count };
  }

  test('draws what its model finds likely, and the same again', async () => {
    const model = await load(qkv, { weights: read(file) });
    const [one, other, third] = await Promise.all([
      runs(...argumentsOf('generate-node')),
      runs(...argumentsOf('generate-node')),
      runs(...argumentsOf('generate-node'), '--seed', '1'),
    ]);
    const said = one.stdout.slice(0, -1);
    assert.ok(said.startsWith(prompt), said);
    assert.equal(said.length, prompt.length + 200);
    assert.equal(other.stdout, one.stdout);
    assert.notEqual(third.stdout, one.stdout);
    // Letters by chance have ln 78 = 4.4 nats, and its own novels 1.1.
    const loss = model.loss(said);
    assert.ok(loss > 0.1 && loss < 1.5, `${loss} nats of ${said}`);
    const parameters = model.parameterCount.toLocaleString('en');
    const told = one.output.replace(one.stdout, '').trim();
    assert.ok(told.startsWith(`austen.safetensors: qkv/train, ${parameters} parameters, `), told);
    assert.match(told, /, int8\n200 tokens, \d+ per second, the prompt included$/);
    model.dispose();
  });

  test('says the likeliest letters', async () => {
    const model = await load(qkv, { weights: read(file) }, { format: 'f32' });
    const expected = await likeliest(model, prompt, 40);
    model.dispose();
    const how = ['--format', 'f32', '--tokens', '40', '--temperature'];
    const few = [...how, '1', '--top-p', '1e-6']; // so few that it is one
    for (const options of [[...how, '0'], few])
      assert.equal((await runs(...argumentsOf('generate-node'), ...options)).stdout, expected.said);
  });

  const letters = Array.from('abcdefgh');
  /** Files, what is given to the program beside their name, the package's source of the same, and a prompt. */
  const formats = {
    'a model of the hub with its tokenizer': () => {
      const model = families.llama();
      write('own', filesOf(model));
      const source = { config: model.config, weights: safetensors(model.tensors) };
      return ['own/model.safetensors', [], { ...source, tokenizer: ofHub() }, 'the dog'];
    },
    'a llama2.c checkpoint with its tokenizer.bin': async () => {
      const sizes = { numLayers: 2, dModel: 16, numHeads: 4, dFeedForward: 24, maxLength: 24 };
      const config = checkpointConfig({ ...sizes, vocabulary: 4 + letters.length });
      const pieces = ['<unk>', '\n<s>\n', '\n</s>\n', ' ', ...letters].map((said) => [said, 0]);
      const weights = new Uint8Array(await checkpoint(config).arrayBuffer());
      const table = llama2cTokens(pieces);
      write('own', { 'model.bin': weights, 'tokenizer.bin': table });
      const how = ['--tokenizer', 'own/tokenizer.bin'];
      return ['own/model.bin', how, { weights, tokenizer: llama2cTokenizer(table) }, 'abad'];
    },
    'a GGUF file with what is in it': () => {
      const { tensors, metadata } = ggufModels.llama();
      const pieces = ['<unk>', '<s>', '</s>', '\u2581', ...letters.slice(0, 7)];
      const list = (values, kind) => gguf.list(values.map(gguf[kind]));
      const types = pieces.map((_, id) => [2, 3, 3][id] ?? 1);
      const tokenizer = {
        ...{ model: gguf.text('llama'), tokens: list(pieces, 'text') },
        ...{ scores: list(Array(pieces.length).fill(0), 'f32'), token_type: list(types, 'i32') },
        ...{ bos_token_id: gguf.u32(1), eos_token_id: gguf.u32(2) },
      };
      const more = Object.entries(tokenizer).map(([key, said]) => [`tokenizer.ggml.${key}`, said]);
      const weights = ggufFile([...metadata, ...more], tensors);
      write('own', { 'model.gguf': weights });
      return ['own/model.gguf', [], { weights }, 'bad'];
    },
  };
  for (const [name, make] of Object.entries(formats)) {
    test(`reads ${name}`, async () => {
      const [path, how, source, begin] = await make();
      const model = await load(qkv, source);
      const { stdout, output } = await runs(
        ...[program, path, begin, ...how, '--temperature', '0', '--tokens', '8'],
      );
      const { said, count } = await likeliest(model, begin, 8);
      assert.ok(count > 0);
      assert.equal(stdout, said);
      const about = /model\.\w+: llama, [\d,]+ parameters, [\d,]+ bytes, f32\n[^]*^(\d+) tokens, /m;
      assert.equal(Number(about.exec(output)[1]), count);
      model.dispose();
    });
  }

  test('refuses what it cannot do', async () => {
    assert.match(await fails(program), /expected the file of a model, and a prompt/);
    assert.match(await fails(program, file, 'an é'), /invalid_argument|the text has/);
    assert.match(await fails(program, file, 'It', '--format', 'int5'), /format is/);
  });
});

describe('examples: search-node', () => {
  const [program, place, query] = argumentsOf('search-node');
  const bert = encoder();
  let model;

  before(async () => {
    write('encoder', { ...filesOf(bert), 'text.txt': `${sentences.join(' ')}\n` });
    model = await loadHub(bert);
  });

  /** What it should print: sentences by their cosines to a query. */
  async function nearest(asked, pooling) {
    const { data, shape } = await model.embed([asked, ...sentences], { pooling, truncate: true });
    const row = (i) => data.subarray(i * shape[1], (i + 1) * shape[1]);
    const all = sentences.map((sentence, i) => [
      row(i + 1).reduce((sum, x, d) => sum + x * row(0)[d], 0),
      sentence,
    ]);
    all.sort(([a], [b]) => b - a);
    assert.ok(all[0][0] - all[3][0] > 0.01, 'sentences that differ');
    return all.map(([cosine, sentence]) => `${cosine.toFixed(3)}  ${sentence}\n`);
  }

  for (const pooling of ['mean', 'cls']) {
    test(`finds the sentences of a file by their ${pooling}, the nearest first`, async () => {
      const asked = 'the dog in the park';
      const how = ['--pooling', pooling, '--top', '4'];
      const { stdout, output } = await runs(program, 'encoder', asked, 'encoder/text.txt', ...how);
      const cut = 'only the beginning was read: A dog in a park in the park in a park.\n';
      assert.equal(output, `${cut}${stdout}`);
      assert.equal(stdout, (await nearest(asked, pooling)).slice(0, 4).join(''));
    });
  }

  test('pools as the files of sentence-transformers say', async () => {
    const told = { word_embedding_dimension: 64, pooling_mode_cls_token: true };
    write('pooled', { ...filesOf(bert), 'text.txt': sentences.join(' ') });
    write('pooled/1_Pooling', { 'config.json': told });
    const { stdout } = await runs(program, 'pooled', query, 'pooled/text.txt', '--top', '6');
    assert.equal(stdout, (await nearest(query, 'cls')).join(''));
  });

  test('has sentences of its own', async () => {
    const args = argumentsOf('search-node').map((word) => (word === place ? 'encoder' : word));
    assert.match((await runs(...args)).stdout, /^(-?\d\.\d{3} {2}.+\n){5}$/);
    assert.match(await fails(program, 'encoder'), /expected the folder of an encoder, and a query/);
  });
});

describe('examples: heads-node', () => {
  const [program] = argumentsOf('heads-node');

  test('has 40 lines', () => {
    const lines = text(program).split('\n');
    const code = lines.filter((line) => !/^\s*(\/\/.*)?$/.test(line));
    assert.ok(code.length <= 40, `${code.length}`);
  });

  test('tells what each head reads, and the loss without the strongest', async () => {
    const model = await load(qkv, { weights: read(file) }, { format: 'f32' });
    const { numLayers, numHeads } = model.config;
    const sentence = 'Emma was very fond of Emma. ';
    const { stdout, output } = await runs(...argumentsOf('heads-node'), sentence);
    assert.equal(output, stdout);
    const [head, ...lines] = stdout.trimEnd().split('\n');
    assert.match(head, /^head +previous +first +induction +entropy$/);
    const heads = lines.splice(0, numLayers * numHeads).map((line) => line.split(/ +/));
    const names = heads.map(([name]) => name);
    assert.deepEqual(
      names,
      names.map((_, i) => `${Math.floor(i / numHeads)}.${i % numHeads}`),
    );
    const strength = ([, ...shares]) => Math.max(...shares.slice(0, 3).map(Number));
    const [strongest] = heads.toSorted((a, b) => strength(b) - strength(a));
    assert.equal(lines.shift(), `where ${strongest[0]}, the strongest, looks back most:`);
    const last = lines.pop();
    assert.equal(lines.length, 5);
    for (const line of lines)
      assert.match(line, /^[01]\.\d{3} {2}from the end of ".+" to the end of ".+"$/);

    const ablate = [strongest[0].split('.').map(Number)];
    const loss = (inspect) => model.loss(sentence + sentence, { inspect }).toFixed(3);
    assert.equal(last, `loss ${loss({})}; without ${strongest[0]} ${loss({ ablate })}`);
    model.dispose();
  });
});

describe('examples: circuit-node', () => {
  /** What it should say of two sentences and two answers, by plain passes. */
  function expected(model, [clean, corrupt, right, wrong]) {
    const [ids, others] = [clean, corrupt].map((sentence) => model.tokenizer.encode(sentence));
    const [answer, instead] = [right, wrong].map((word) => model.tokenizer.encode(clean + word).at(-1)); // prettier-ignore
    const difference = (tokens, edit) => {
      const { data } = model.forward(tokens, { rows: 'last', edit }).logits;
      return data[answer] - data[instead];
    };
    const { activations } = model.forward(ids, { read: [{ site: 'z' }] });
    const [high, low] = [difference(ids), difference(others)];
    const { numLayers, numHeads } = model.config;
    const heads = Array.from({ length: numLayers * numHeads }, (_, i) => {
      const [layer, head] = [Math.floor(i / numHeads), i % numHeads];
      const { data } = activations.get('z', layer);
      const size = data.length / numHeads;
      const value = data.slice(head * size, (head + 1) * size);
      const edit = [{ site: 'z', layer, head, value }];
      return (difference(others, edit) - low) / (high - low);
    });
    const best = heads.indexOf(Math.max(...heads));
    const [layer, head] = [Math.floor(best / numHeads), best % numHeads];
    const without = difference(ids, [{ site: 'z', layer, head, value: 0 }]);
    return { high, low, heads, name: `${layer}.${head}`, without };
  }

  const english = [
    '\nWhen Mary and John went to the shop, John gave a book to',
    '\nWhen Mary and John went to the shop, Mary gave a book to',
    ...[' Mary', ' John'],
  ];
  const chinese = ['\n玛丽和约翰去商店，约翰把书送给了', '\n玛丽和约翰去商店，玛丽把书送给了', '玛丽', '约翰']; // prettier-ignore

  for (const [language, sentences, given] of [
    ['English, its own', english, []],
    ['Chinese', chinese, chinese],
  ]) {
    test(`finds the heads that plain passes find, in sentences in ${language}`, async () => {
      const model = await load(qkv, { weights: read(names) }, { format: 'f32' });
      const { high, low, heads, name, without } = expected(model, sentences);
      model.dispose();
      const { stdout, output } = await runs(...argumentsOf('circuit-node'), ...given);
      assert.equal(output, stdout);
      const lines = stdout.trimEnd().split('\n');
      const near = (text, number) => assert.ok(Math.abs(Number(text) - number) < 0.011, `${text}, ${number}`); // prettier-ignore
      const [, ...measures] = /: (-?\d+\.\d\d); corrupt (-?\d+\.\d\d)$/.exec(lines[0]);
      near(measures[0], high);
      near(measures[1], low);
      const first = lines.indexOf('head   back   gives  copies  reads most') + 1;
      assert.ok(first > 2, stdout);
      for (const [i, back] of heads.entries()) near(lines[first + i].split(/ +/)[1], back);
      const [, best, after, before] = /^without (\d\.\d): (\S+) instead of (\S+)$/.exec(lines.at(-1)); // prettier-ignore
      assert.equal(best, name);
      near(after, without);
      near(before, high);
    });
  }
});
