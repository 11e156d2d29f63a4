// @build any
// What load() says of models that it nearly reads: the field, what it is, what it may be, and which family is near.
import { test } from 'node:test';
import { expectRejects } from '../../support/js/check.js';
import { models } from './support/bundle.js';
import { families } from './support/families.js';
import { ggufFile, gguf, safetensors } from './support/files.js';

const { openModel } = models;
const all = Object.keys(families);

const refused = (family, changes, code, ...says) => {
  const { config, tensors } = families[family]();
  const source = { config: { ...config, ...changes }, weights: safetensors(tensors) };
  return expectRejects(openModel(source), 'load', code, ...says);
};

for (const [given, near] of [
  ['lama', 'llama'],
  ['qwen2_moe', 'qwen2'],
  ['xlm-roberta-xl', 'xlm-roberta'],
  ['gpt_bigcod', 'gpt_bigcode'],
  ['bert-generation', 'bert'],
]) {
  test(`the model_type ${given} is near ${near}`, async () => {
    const says = [`config.model_type is "${given}", expected "${near}" or another of `, ...all];
    await refused('llama', { model_type: given }, 'unsupported', ...says);
  });
}

test('of a model_type that is near none the message has all that load', async () => {
  await refused(
    'llama',
    { model_type: 'rwkv' },
    'unsupported',
    'model_type is "rwkv", expected ',
    ...all,
  );
});

test('an architecture of GGUF that is near another', async () => {
  const weights = ggufFile([['general.architecture', gguf.text('starcoder3')]], {});
  const says = ['general.architecture is "starcoder3", expected "starcoder', 'gptneox', 'bloom'];
  await expectRejects(openModel({ weights }), 'load', 'unsupported', ...says);
});

test('opt-350m is refused by the width of its embeddings', async () => {
  const says = ['config.word_embed_proj_dim is 32, expected 64'];
  await refused('opt', { word_embed_proj_dim: 32 }, 'unsupported', ...says);
});

for (const [kinds, says] of [
  [[[['global', 'local'], 2]], 'attention_types has more layers, expected 2'],
  [[[[], 1e9]], 'attention_types has 0 layers, expected 2'],
  [[['global', 2]], 'attention_types has an array, expected [[kind, ...], how often]'],
  [undefined, 'attention_types has more layers, expected 2'],
]) {
  test(`gpt_neo: attention_types of ${JSON.stringify(kinds)}`, async () => {
    await refused('gpt_neo', { attention_types: kinds }, 'invalid_argument', says);
  });
}

test('gpt_neo: a kind of attention that is none', async () => {
  const changes = { attention_types: [[['global', 'random'], 1]] };
  await refused(
    'gpt_neo',
    changes,
    'unsupported',
    'attention_types has "random", expected global, local',
  );
});

test('bloom: two names of one size that differ', async () => {
  const says = ['config.n_head is 4 and config.num_attention_heads is 8'];
  await refused('bloom', { num_attention_heads: 8 }, 'invalid_argument', ...says);
});
