// @build any
// The programs of examples/ that run models of files, with the commands of their README, beside the package as packed: what they say is
// what the formulas say in float64.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { families } from '../package/models/support/families.js';
import { gguf, ggufFile, llama2cTokens } from '../package/models/support/files.js';
import { ggufModels } from '../package/models/support/gguf-models.js';
import { checkpoint, checkpointConfig } from '../support/js/checkpoints.js';
import { root, text } from '../support/js/files.js';
import { modelForward, randomWeights } from '../support/js/model-oracle.js';
import {
  filesOf,
  greedy,
  likelihoods,
  lossOf,
  published,
  wordIds,
  words,
} from './example-models.js';
import { argumentsOf, installExamples } from './examples.js';

const file = 'models/austen/austen.safetensors';
let installed;
before(async () => {
  installed = await installExamples();
  cpSync(join(root, file), join(installed.project, file));
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

const bare = (said) => said.replace(/\s/g, '');

/** The programs have the tokenizers of the hub from here on. */
const addTokenizers = () => {
  const path = 'node_modules/@huggingface/tokenizers';
  cpSync(join(root, path), join(installed.project, path), { recursive: true });
};

test('examples: without @huggingface/tokenizers they say how to install it', async () => {
  write('none', filesOf(families.bert()));
  const how = /npm install @huggingface\/tokenizers/;
  assert.match(await fails(argumentsOf('search-node')[0], 'none', 'a dog'), how);
  const generate = argumentsOf('generate-node')[0];
  assert.match(await fails(generate, 'none/model.safetensors', 'a dog'), how);
});

describe('examples: generate-node', () => {
  const [program, , prompt] = argumentsOf('generate-node');

  test('draws what its model finds likely, and the same again', async () => {
    const { config, weights, tokens } = published(file);
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
    const loss = lossOf(
      likelihoods(
        config,
        weights,
        Array.from(said, (letter) => tokens.indexOf(letter)),
      ),
    );
    // Letters by chance have ln 78 = 4.4 nats, and its own novels 1.1.
    assert.ok(loss > 0.1 && loss < 1.5, `${loss} nats of ${said}`);
    const parameters = Object.values(weights).reduce((sum, { data }) => sum + data.length, 0);
    const told = one.output.replace(one.stdout, '').trim();
    assert.ok(
      told.startsWith(
        `austen.safetensors: qkv/train, ${parameters.toLocaleString('en')} parameters, `,
      ),
      told,
    );
    assert.match(told, /, int8\n200 tokens, \d+ per second, the prompt included$/);
  });

  test('says the likeliest letters', async () => {
    const { config, weights, tokens } = published(file);
    const how = ['--format', 'f32', '--temperature', '0', '--tokens', '40'];
    const { stdout } = await runs(...argumentsOf('generate-node'), ...how);
    const ids = Array.from(stdout.slice(0, -1), (letter) => tokens.indexOf(letter));
    assert.equal(ids.length, prompt.length + 40);
    for (const { id, own, most } of likelihoods(config, weights, ids).slice(prompt.length - 1)) {
      assert.ok(most - own < 1e-4, `${tokens[id]} is ${most - own} below the likeliest`);
    }
    // So few of the likeliest letters that it is one.
    const few = [...how.slice(0, 2), '--temperature', '1', '--top-p', '1e-6', '--tokens', '40'];
    assert.equal((await runs(...argumentsOf('generate-node'), ...few)).stdout, stdout);
  });

  test('reads a model of the hub with its tokenizer', async () => {
    addTokenizers();
    const model = families.llama();
    write('llama', filesOf(model));
    const how = ['--temperature', '0', '--tokens', '5'];
    const { stdout, output } = await runs(program, 'llama/model.safetensors', 'the dog', ...how);
    const said = greedy(model.expected, model.truth.arrays, wordIds('the dog'), 5);
    const shown = said.filter((id) => id > 2).map((id) => words[id]);
    assert.equal(bare(stdout), bare(`the dog${shown.join('')}`));
    assert.match(output, /model\.safetensors: llama, [\d,]+ parameters, [\d,]+ bytes, f32\n/);
  });

  const letters = Array.from('abcdefgh');
  test('reads a llama2.c checkpoint with its tokenizer.bin', async () => {
    const sizes = { numLayers: 2, dModel: 16, numHeads: 4, dFeedForward: 24, maxLength: 24 };
    const config = checkpointConfig({ ...sizes, vocabulary: 4 + letters.length });
    const weights = randomWeights(config, 3);
    const pieces = ['<unk>', '\n<s>\n', '\n</s>\n', ' ', ...letters].map((said) => [said, 0]);
    const bytes = new Uint8Array(await checkpoint(config, weights).arrayBuffer());
    write('llama2c', { 'model.bin': bytes, 'tokenizer.bin': llama2cTokens(pieces) });
    const how = ['--tokenizer', 'llama2c/tokenizer.bin', '--temperature', '0', '--tokens', '12'];
    const { stdout } = await runs(program, 'llama2c/model.bin', 'abad', ...how);
    const given = [1, 3, ...Array.from('abad', (letter) => 4 + letters.indexOf(letter))];
    const said = greedy(config, weights, given, 12, [1, 2]);
    assert.ok(said.length > 1, `${said}`);
    assert.equal(stdout, `abad${said.map((id) => pieces[id][0]).join('')}\n`);
  });

  test('reads a GGUF file with what is in it', async () => {
    const { truth, tensors, metadata, expected } = ggufModels.llama();
    const pieces = ['<unk>', '<s>', '</s>', '\u2581', ...letters.slice(0, 7)];
    const list = (values, kind) => gguf.list(values.map(gguf[kind]));
    const types = pieces.map((_, id) => [2, 3, 3][id] ?? 1);
    const tokenizer = {
      ...{ model: gguf.text('llama'), tokens: list(pieces, 'text') },
      ...{ scores: list(Array(pieces.length).fill(0), 'f32'), token_type: list(types, 'i32') },
      ...{ bos_token_id: gguf.u32(1), eos_token_id: gguf.u32(2) },
    };
    const more = Object.entries(tokenizer).map(([key, said]) => [`tokenizer.ggml.${key}`, said]);
    write('gguf', { 'model.gguf': ggufFile([...metadata, ...more], tensors) });
    const how = ['--temperature', '0', '--tokens', '4'];
    const { stdout, output } = await runs(program, 'gguf/model.gguf', 'bad', ...how);
    const given = [1, 3, ...Array.from('bad', (letter) => pieces.indexOf(letter))];
    const said = greedy(expected, truth.arrays, given, 4, [2]);
    assert.ok(said.length > 1, `${said}`);
    const shown = said.filter((id) => id > 1).map((id) => pieces[id].replace('\u2581', ' '));
    assert.equal(stdout, `bad${shown.join('')}\n`);
    assert.match(output, /model\.gguf: llama, /);
  });

  test('refuses what it cannot do', async () => {
    assert.match(await fails(program), /expected the file of a model, and a prompt/);
    assert.match(await fails(program, file, 'an é'), /invalid_argument|the text has/);
    assert.match(await fails(program, file, 'It', '--format', 'int4'), /format is/);
  });
});

describe('examples: search-node', () => {
  const [program, place, query] = argumentsOf('search-node');
  const model = families.bert();
  // Without what all vectors have in common the words tell: files and formulas have the same arrays.
  for (const [name, { data }] of Object.entries(model.truth.arrays))
    if (/beta$|\.b[qkvo12]$|^tokenTypes/.test(name)) data.fill(0);
  const sentences = [
    'The dog sleeps.',
    'A cat in the park.',
    'The cat sleeps in the park.',
    'A dog in a park in the park in a park.',
    'Park.',
    'The cat.',
  ];

  /** The vector of a text, of length 1: of the mean of its rows, or of the first. */
  function exactly(said, pooling) {
    const { dModel, maxLength } = model.expected;
    const all = wordIds(said);
    // What ends every text stays where one is cut.
    const ids = all.length > maxLength ? [...all.slice(0, maxLength - 1), all.at(-1)] : all;
    const { hidden } = modelForward(model.expected, model.truth.arrays, ids);
    const rows = pooling === 'cls' ? 1 : ids.length;
    const sum = Array.from({ length: dModel }, (_, i) => {
      let total = 0;
      for (let row = 0; row < rows; ++row) total += hidden[row * dModel + i];
      return total;
    });
    const length = Math.hypot(...sum);
    return sum.map((x) => x / length);
  }
  const cosine = (one, other, pooling) => {
    const b = exactly(other, pooling);
    return exactly(one, pooling).reduce((sum, x, i) => sum + x * b[i], 0);
  };
  const found = (stdout) =>
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => {
        const [, shown, sentence] = /^(-?\d\.\d{3}) {2}(.+)$/.exec(line);
        return { shown: Number(shown), sentence };
      });
  const expectCosines = (asked, all, pooling) => {
    for (const { shown, sentence } of all) {
      // Half of the last digit, and the rounding of float32.
      const exact = cosine(asked, sentence, pooling);
      assert.ok(Math.abs(shown - exact) < 5.1e-4, `${sentence} has ${shown}, not ${exact}`);
    }
  };

  before(() => {
    addTokenizers();
    write('encoder', { ...filesOf(model), 'text.txt': `${sentences.join(' ')}\n` });
  });

  for (const pooling of ['mean', 'cls']) {
    test(`finds the sentences of a file by their ${pooling}, the nearest first`, async () => {
      const asked = 'the dog in the park';
      const how = ['--pooling', pooling, '--top', '4'];
      const { stdout, output } = await runs(program, 'encoder', asked, 'encoder/text.txt', ...how);
      assert.equal(output, stdout);
      const all = found(stdout);
      const nearest = sentences
        .map((sentence) => ({ sentence, exact: cosine(asked, sentence, pooling) }))
        .sort((a, b) => b.exact - a.exact);
      assert.deepEqual(
        all.map(({ sentence }) => sentence),
        nearest.slice(0, 4).map(({ sentence }) => sentence),
      );
      expectCosines(asked, all, pooling);
      assert.ok(nearest[0].exact - nearest[3].exact > 0.01, 'sentences that differ');
    });
  }

  test('pools as the files of sentence-transformers say', async () => {
    const told = { word_embedding_dimension: 64, pooling_mode_cls_token: true };
    write('pooled', filesOf(model));
    write('pooled/1_Pooling', { 'config.json': told });
    const { stdout } = await runs(program, 'pooled', query);
    expectCosines(query, found(stdout), 'cls');
  });

  test('has sentences of its own', async () => {
    const args = argumentsOf('search-node').map((word) => (word === place ? 'encoder' : word));
    const { stdout } = await runs(...args);
    const all = found(stdout);
    assert.equal(all.length, 5);
    expectCosines(query, all, 'mean');
    for (const [i, { shown }] of all.entries()) assert.ok(i === 0 || shown <= all[i - 1].shown);
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
    const { config, weights, tokens } = published(file);
    const sentence = 'Emma was very fond of Emma. ';
    const { stdout, output } = await runs(...argumentsOf('heads-node'), sentence);
    assert.equal(output, stdout);
    const [head, ...lines] = stdout.trimEnd().split('\n');
    assert.match(head, /^head +previous +first +induction +entropy$/);

    const ids = Array.from(sentence + sentence, (letter) => tokens.indexOf(letter));
    const { layers } = modelForward(config, weights, ids);
    const [T, once] = [ids.length, sentence.length];
    const { numHeads, numLayers } = config;
    const all = layers.flatMap(({ weights: own, entropy }, layer) =>
      Array.from({ length: numHeads }, (_, h) => {
        const weight = (t, key) => own[(h * T + t) * T + key];
        const mean = (from, of) => {
          let sum = 0;
          for (let t = from; t < T; ++t) sum += of(t);
          return sum / (T - from);
        };
        const scores = [
          mean(1, (t) => weight(t, t - 1)),
          mean(1, (t) => weight(t, 0)),
          mean(once, (t) => weight(t, t - once + 1)),
        ];
        return { layer, h, weight, scores, entropy: mean(0, (t) => entropy[h * T + t]) };
      }),
    );
    assert.equal(all.length, numLayers * numHeads);
    const near = (shown, exact, what) =>
      assert.ok(Math.abs(shown - exact) < 6e-4, `${what} is ${shown}, not ${exact}`);
    for (const [i, { layer, h, scores, entropy }] of all.entries()) {
      const [name, ...cells] = lines[i].split(/ +/);
      assert.equal(name, `${layer}.${h}`);
      assert.equal(cells.length, 4);
      [...scores, entropy].forEach((exact, c) => near(Number(cells[c]), exact, `${name}, ${c}`));
    }

    const strongest = all.reduce((a, b) => (Math.max(...b.scores) > Math.max(...a.scores) ? b : a));
    const name = `${strongest.layer}.${strongest.h}`;
    const [said, ...looks] = lines.slice(all.length, -1);
    assert.equal(said, `where ${name}, the strongest, looks back most:`);
    const most = ids
      .flatMap((_, t) =>
        ids.slice(0, t).map((__, key) => ({ t, key, w: strongest.weight(t, key) })),
      )
      .sort((a, b) => b.w - a.w);
    assert.equal(looks.length, 5);
    const upTo = (t) => ids.slice(Math.max(0, t - 9), t + 1).map((id) => tokens[id]);
    for (const [i, look] of looks.entries()) {
      const [, shown, from, to] =
        /^(\d\.\d{3}) {2}from the end of (".+") to the end of (".+")$/.exec(look);
      near(Number(shown), most[i].w, look);
      // Of equal weights any may come first.
      const isSo = ({ t, key, w }) =>
        Math.abs(w - most[i].w) < 1e-3 &&
        from === JSON.stringify(upTo(t).join('')) &&
        to === JSON.stringify(upTo(key).join(''));
      assert.ok(most.some(isSo), look);
    }

    const [, whole, own, without] = /^loss (\d\.\d{3}); without (\d\.\d) (\d\.\d{3})$/.exec(
      lines.at(-1),
    );
    assert.equal(own, name);
    near(Number(whole), lossOf(likelihoods(config, weights, ids)), 'the loss');
    const ablate = [[strongest.layer, strongest.h]];
    const exact = lossOf(likelihoods(config, weights, ids, { ablate }));
    near(Number(without), exact, 'the loss without the head');
    assert.notEqual(without, whole);
  });
});
