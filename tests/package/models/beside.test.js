// @build any
// What stands beside the weights, and what GGUF files say of the same: tokens that end a text, and how a vector is made of one.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { expectRejects } from '../../support/js/check.js';
import { unreadable } from '../../support/js/unreadable.js';
import { models } from './support/bundle.js';
import { families } from './support/families.js';
import { gguf, ggufFile, safetensors } from './support/files.js';
import { ggufModels } from './support/gguf-models.js';
import { ownMetadata, ownModel } from './support/own.js';

const { openModel } = models;
const folder = mkdtempSync(join(tmpdir(), 'qkv-beside-'));
after(() => rmSync(folder, { recursive: true }));
const put = (name, value) => {
  writeFileSync(join(folder, name), JSON.stringify(value));
  return join(folder, name);
};

const llama = families.llama();
const file = safetensors(llama.tensors);
const { text, u32, i32, list } = gguf;

async function opened(given, config = llama.config) {
  const model = await openModel({ config, weights: file, ...given });
  model.close();
  return model;
}
const ends = async (given, config) => (await opened(given, config)).endTokens;

describe('load: tokens that end a text, of the hub', () => {
  const config = { ...llama.config, eos_token_id: 3 };
  test('those of generation_config.json go before those of config.json', async () => {
    assert.deepEqual(await ends({}, config), [3]);
    assert.deepEqual(await ends({ generation: { eos_token_id: [5, 7] } }, config), [5, 7]);
    assert.deepEqual(await ends({ generation: { eos_token_id: 5 } }, config), [5]);
    for (const generation of [{}, { eos_token_id: null }, { temperature: 0.7 }])
      assert.deepEqual(await ends({ generation }, config), [3]);
  });

  test('it may be where it is', async () => {
    const path = put('generation_config.json', { eos_token_id: [5, 7] });
    assert.deepEqual(await ends({ generation: path }), [5, 7]);
    assert.deepEqual(await ends({ generation: pathToFileURL(path) }), [5, 7]);
    const none = ends({ generation: join(folder, 'none.json') });
    await expectRejects(none, 'load', 'load_failed', 'none.json');
  });

  test('it counts with files that have a config of their own', async () => {
    const own = { config: undefined, weights: safetensors(ownModel().tensors, ownMetadata()) };
    assert.deepEqual(await ends(own), []);
    assert.deepEqual(await ends({ ...own, generation: { eos_token_id: 4 } }), [4]);
  });

  test('what is none is refused', async () => {
    const proxy = unreadable();
    for (const [generation, ...says] of [
      [7, 'generation is 7', 'generation_config.json'],
      [[], 'generation is an array', 'an object'],
      [{ eos_token_id: 'x' }, 'generation.eos_token_id is "x"', 'a list of tokens'],
      [{ eos_token_id: [1, -1] }, 'generation.eos_token_id is an array'],
      [{ eos_token_id: proxy }, 'generation.eos_token_id is an object that cannot be read'],
      [proxy, 'generation cannot be read', 'plain values'],
    ]) {
      await expectRejects(opened({ generation }), 'load', 'invalid_argument', ...says);
    }
  });
});

describe('load: tokens that end a text, of GGUF', () => {
  const { tensors, metadata } = ggufModels.llama();
  const own = (pairs) => pairs.map(([name, value]) => [`tokenizer.ggml.${name}`, value]);
  const endsOf = (...pairs) =>
    ends({ config: undefined, weights: ggufFile([...metadata, ...own(pairs)], tensors) });
  const words = (...all) => ['tokens', list(all.map((word) => text(word)))];
  const types = (...all) => ['token_type', list(all.map((type) => i32(type)))];

  test('those that it names by number', async () => {
    const named = ['eos', 'eot', 'eom'].map((name, i) => [`${name}_token_id`, u32(5 + i)]);
    assert.deepEqual(await endsOf(...named), [5, 6, 7]);
    assert.deepEqual(await endsOf(named[0], ['eot_token_id', u32(5)]), [5]);
  });

  test('those whose text says so, where they are control tokens', async () => {
    // As the first files of Llama 3, which name <|end_of_text|> alone.
    const vocabulary = [
      'a',
      '<|end_of_text|>',
      '<|eot_id|>',
      '<|eom_id|>',
      '</s>',
      '<|python_tag|>',
    ];
    const control = types(1, 3, 3, 3, 1, 3);
    const told = ['eos_token_id', u32(1)];
    assert.deepEqual(await endsOf(told, words(...vocabulary), control), [1, 2, 3]);
    // Files without types of tokens have no other sign.
    assert.deepEqual(await endsOf(told, words(...vocabulary)), [1, 2, 3, 4]);
  });

  for (const end of ['<|im_end|>', '<|end|>', '<end_of_turn>', '<|endoftext|>', '<EOT>', '[EOT]', '<｜end▁of▁sentence｜>', '<end_of_utterance>']) {
    test(`${end} is one`, async () => assert.deepEqual(await endsOf(words('a', end), types(1, 3)), [1]));
  } // prettier-ignore

  test('<|end|> is none where <|return|> and <|call|> are', async () => {
    const vocabulary = words('<|end|>', '<|return|>', '<|call|>');
    assert.deepEqual(await endsOf(vocabulary, types(3, 3, 3)), [1, 2]);
  });
});

describe('load: how a text becomes a vector', () => {
  const poolingOf = async (pooling) => (await opened({ pooling })).pooling;
  // As 1_Pooling/config.json of sentence-transformers says it.
  const modes = {
    ...{ word_embedding_dimension: 64, pooling_mode_cls_token: false, pooling_mode_mean_tokens: false },
    ...{ pooling_mode_max_tokens: false, pooling_mode_mean_sqrt_len_tokens: false },
    ...{ pooling_mode_weightedmean_tokens: false, pooling_mode_lasttoken: false, include_prompt: true },
  }; // prettier-ignore

  test('as sentence-transformers says it', async () => {
    assert.equal(await poolingOf(undefined), undefined);
    assert.equal(await poolingOf({ ...modes, pooling_mode_mean_tokens: true }), 'mean');
    assert.equal(await poolingOf({ ...modes, pooling_mode_cls_token: true }), 'cls');
    assert.equal(await poolingOf({ ...modes, pooling_mode_lasttoken: true }), 'last');
    assert.equal(await poolingOf({ embedding_dimension: 64, pooling_mode: 'lasttoken' }), 'last');
    const path = put('pooling.json', { ...modes, pooling_mode_cls_token: true });
    assert.equal(await poolingOf(path), 'cls');
  });

  for (const [what, pooling, code, ...says] of [
    ['no way', modes, 'invalid_argument', 'pooling has no pooling_mode_... that is true'],
    ['two ways', { ...modes, pooling_mode_cls_token: true, pooling_mode_mean_tokens: true }, 'unsupported', 'pooling has pooling_mode_mean_tokens and pooling_mode_cls_token'],
    ['the greatest', { ...modes, pooling_mode_max_tokens: true }, 'unsupported', 'pooling.pooling_mode_max_tokens is true'],
    ['a mean with weights', { ...modes, pooling_mode_weightedmean_tokens: true }, 'unsupported', 'pooling_mode_weightedmean_tokens is true'],
    ['a word that nobody knows', { pooling_mode: 'max' }, 'unsupported', 'pooling.pooling_mode is "max"', 'mean, cls, lasttoken'],
    ['another width', { ...modes, word_embedding_dimension: 32, pooling_mode_cls_token: true }, 'unsupported', 'pooling.word_embedding_dimension is 32', '64'],
    ['a field that nobody knows', { ...modes, pooling_mode_cls_token: true, pooling_mode_new: true }, 'unsupported', 'pooling.pooling_mode_new is true'],
    ['a field by the name of a prototype', { ...modes, pooling_mode_cls_token: true, valueOf: true }, 'unsupported', 'pooling.valueOf is true'],
    ['a number', 3, 'invalid_argument', 'pooling is 3', '1_Pooling/config.json'],
  ]) {
    test(`${what} is refused`, () => expectRejects(opened({ pooling }), 'load', code, ...says));
  } // prettier-ignore

  test('as GGUF says it', async () => {
    const { tensors, metadata } = ggufModels.bert();
    const of = (...more) => ({ config: undefined, weights: ggufFile([...metadata, ...more], tensors) });
    assert.equal((await opened(of())).pooling, undefined);
    for (const [number, word] of ['none', 'mean', 'cls', 'last', 'rank'].entries()) {
      const { pooling } = await opened(of(['bert.pooling_type', u32(number)]));
      assert.equal(pooling, word);
    }
    const both = { ...of(['bert.pooling_type', u32(1)]), pooling: { pooling_mode: 'cls' } };
    assert.equal((await opened(both)).pooling, 'cls');
  }); // prettier-ignore
});
