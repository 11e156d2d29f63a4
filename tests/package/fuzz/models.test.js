// @build any
// Files of strangers: whatever is in them, reading them ends in a typed error, or in arrays that have every element once.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { QkvError } from 'qkv';
import { blockTypes } from '../../support/js/blocks.js';
import { checkpoint, checkpointConfig } from '../../support/js/checkpoints.js';
import { countInRun } from '../../support/js/full.js';
import { models } from '../models/support/bundle.js';
import { charMap } from '../models/support/char-map.js';
import { families } from '../models/support/families.js';
import { gguf, ggufFile, llama2cTokens, safetensors } from '../models/support/files.js';
import { blockFile, savedModel } from '../models/support/block-models.js';
import { ggufModels } from '../models/support/gguf-models.js';
import { ownMetadata, ownModel } from '../models/support/own.js';
import { apply, changes, textOf } from './support/bytes.js';
import { anyJson, jsonOf, oddNames } from './support/json.js';
import { isRead } from './support/reading.js';
import { about, settings, watchdog } from './support/settings.js';

const { expressionOf, jsonTokenizer, llama2cTokenizer } = models;
const usual = countInRun(75, 30, 'changes of each file');
const watch = watchdog();
after(watch.stop);

const llama = families.llama();
const own = ownModel({ format: 'int8' });
const model = ggufModels.qwen2();
const tokens = ['a', 'b', 'ab'].map(gguf.text);
const tokenizer = [
  ...[['model', gguf.text('llama')], ['tokens', gguf.list(tokens)]],
  ...[['scores', gguf.list([1, 2, 3].map(gguf.f32))], ['token_type', gguf.list([1, 1, 1].map(gguf.i32))]],
].map(([key, value]) => [`tokenizer.ggml.${key}`, value]); // prettier-ignore
const sizes = checkpointConfig({
  ...{ vocabulary: 9, numLayers: 2, dModel: 8, numHeads: 2, numKvHeads: 1, dFeedForward: 12 },
  maxLength: 5,
});
const files = {
  safetensors: { weights: safetensors(llama.tensors), config: llama.config },
  'safetensors of ours': { weights: safetensors(own.tensors, ownMetadata()) },
  'safetensors of a saved model': { weights: await savedModel() },
  'gguf of blocks': { weights: blockFile(Object.keys(blockTypes)).weights },
  gguf: { weights: ggufFile([...model.metadata, ...tokenizer], model.tensors) },
  'llama2.c': { weights: new Uint8Array(await checkpoint(sizes).arrayBuffer()) },
};

for (const [name, source] of Object.entries(files)) {
  test(`fuzz: ${name} with anything in it`, async (t) => {
    t.diagnostic(about(usual));
    let read = 0;
    assert.ok(await isRead(source));
    await fc.assert(
      fc.asyncProperty(changes, async (all) => {
        watch.note(`${name}: ${textOf(all)}`);
        const weights = all.reduce(apply, source.weights);
        read += Number(await isRead({ ...source, weights }));
      }),
      settings(usual),
    );
    t.diagnostic(`${read} were read`);
    // Most changes of an element leave a file that can be read.
    assert.ok(read > settings(usual).numRuns / 20, `${read}`);
  });
}

test('fuzz: any config', async (t) => {
  t.diagnostic(about(usual));
  const keys = Object.keys({
    ...families.gemma2().config,
    ...families.gpt2().config,
    ...llama.config,
    ...families.bert().config,
  });
  const change = fc.dictionary(
    fc.oneof(fc.constantFrom(...keys), fc.constantFrom(...oddNames)),
    anyJson,
    {
      maxKeys: 3,
    },
  );
  const family = fc.constantFrom(...Object.keys(families));
  const weights = Object.fromEntries(
    Object.entries(families).map(([name, make]) => {
      const { tensors, config } = make();
      return [name, { weights: safetensors(tensors), config }];
    }),
  );
  await fc.assert(
    fc.asyncProperty(family, change, async (name, own2) => {
      watch.note(`${name}: ${JSON.stringify(own2)}`);
      const { weights: file, config } = weights[name];
      const odd = Object.entries(own2).map(([key, value]) => [key, jsonOf(value)]);
      await isRead({ weights: file, config: { ...config, ...Object.fromEntries(odd) } });
    }),
    settings(usual),
  );
});

test('fuzz: tokenizers of llama2.c with anything in them', () => {
  const file = llama2cTokens([
    ['a', 1],
    ['b', 2],
    ['ab', 3],
    ['<0x0A>', 0],
    ['中', 1],
  ]);
  let read = 0;
  fc.assert(
    fc.property(changes, fc.string({ unit: 'binary' }), (all, text) => {
      watch.note(`tokenizer: ${text}`);
      try {
        const made = llama2cTokenizer(all.reduce(apply, file));
        made.decode([...made.encode(text)]);
        read += 1;
      } catch (error) {
        if (!(error instanceof QkvError)) throw error;
      }
    }),
    settings(usual),
  );
  assert.ok(read > 0);
});

/** A tokenizer.json with a part of every kind. */
const tokenizerJson = {
  version: '1.0',
  added_tokens: [{ id: 9, content: '<x>', special: true, lstrip: true, rstrip: true }],
  normalizer: { type: 'Sequence', normalizers: [{ type: 'NFC' }, { type: 'Precompiled', precompiled_charsmap: charMap({ é: 'ab' }) }] },
  pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Split', pattern: { Regex: '\\s+|\\p{L}+' }, behavior: 'Isolated' }, { type: 'Metaspace' }] },
  post_processor: { type: 'BertProcessing', cls: ['a', 0], sep: ['b', 1] },
  decoder: { type: 'Sequence', decoders: [{ type: 'ByteFallback' }, { type: 'Replace', pattern: { String: '_' }, content: ' ' }] },
  model: { type: 'BPE', unk_token: '?', vocab: { a: 0, b: 1, ab: 2, '?': 3 }, merges: ['a b'] },
}; // prettier-ignore

/** The paths of all that is in a value. */
const pathsOf = (value) =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, part]) => [[key], ...pathsOf(part).map((path) => [key, ...path])]) // prettier-ignore
    : [];
const paths = pathsOf(tokenizerJson);

test('fuzz: tokenizer.json with anything in it', () => {
  let read = 0;
  const change = fc.tuple(fc.constantFrom(...paths), fc.oneof(anyJson, fc.constantFrom('Sequence', 'Unigram', 'WordPiece', 'ByteLevel', -1).map((value) => ({ value })))); // prettier-ignore
  fc.assert(
    fc.property(fc.array(change, { maxLength: 2 }), fc.string({ unit: 'binary' }), (all, text) => {
      const json = structuredClone(tokenizerJson);
      for (const [path, value] of all) {
        const of = path.slice(0, -1).reduce((part, key) => part?.[key], json);
        // What cannot be printed is frozen.
        if (of instanceof Object && Object.isExtensible(of)) of[path.at(-1)] = jsonOf(value);
      }
      watch.note(`tokenizer.json: ${JSON.stringify(all)} ${text}`);
      try {
        const made = jsonTokenizer(json);
        made.decode([...made.encode(text), ...made.encodePlain(text)]);
        read += 1;
      } catch (error) {
        if (!(error instanceof QkvError)) throw error;
      }
    }),
    settings(usual),
  );
  assert.ok(read > 0);
});

test('fuzz: patterns of tokenizer.json are refused, or find in a text what is in it', () => {
  const part = fc.constantFrom(...'ab()[]{}|*+?^$.-&,1', '\\p{L}', '\\s', '\\S', '(?i:', '(?:', '(?=', '(?!', '{1,3}', '\\b', '\\w', "'"); // prettier-ignore
  let read = 0;
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (all) => {
      watch.note(`pattern: ${all.join('')}`);
      try {
        const expression = expressionOf('a', all.join(''));
        const text = `${'ab '.repeat(30)}'S 1`;
        for (const { index, 0: found } of text.matchAll(expression))
          assert.equal(text.slice(index, index + found.length), found);
        read += 1;
      } catch (error) {
        if (!(error instanceof QkvError)) throw error;
      }
    }),
    settings(4 * usual),
  );
  assert.ok(read > 0);
});
