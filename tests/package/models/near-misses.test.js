// @build any
// What load() says of models that it nearly reads: the field, what it is, what it may be, and which family is near.
import { test } from 'node:test';
import { expectRejects } from '../../support/js/check.js';
import { models } from './support/bundle.js';
import { families, otherFamilies } from './support/families.js';
import { ggufFile, gguf, safetensors } from './support/files.js';
import { ggufOthers } from './support/gguf-models.js';

const { openModel } = models;
const all = Object.keys(families);

const refused = (family, changes, code, ...says) => {
  const { config, tensors } = families[family]();
  const source = { config: { ...config, ...changes }, weights: safetensors(tensors) };
  return expectRejects(openModel(source), 'load', code, ...says);
};

for (const [given, near] of [
  ['lama', 'llama'],
  ['qwen2_', 'qwen2'],
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
    { model_type: 'perceiver' },
    'unsupported',
    'model_type is "perceiver", expected ',
    ...all,
  );
});

for (const [type, reason] of [
  ['mamba2', 'state spaces'],
  ['rwkv', 'a recurrence in place of attention'],
  ['lfm2', 'convolutions or recurrences'],
  ['qwen3_5', 'gated delta nets'],
  ['falcon_h1', 'state spaces beside attention'],
  ['deberta-v2', 'disentangled attention'],
  ['mixtral', 'experts'],
]) {
  test(`${type} is refused with the reason`, async () => {
    await refused('llama', { model_type: type }, 'unsupported', `is "${type}"`, reason);
    const weights = ggufFile([['general.architecture', gguf.text('mamba')]], {});
    const says = ['general.architecture is "mamba", whose layers have state spaces'];
    await expectRejects(openModel({ weights }), 'load', 'unsupported', ...says);
  });
}

test('gptj: without a number of rotated dimensions nothing is guessed', async () => {
  await refused('gptj', { rotary_dim: null }, 'invalid_argument', 'config.rotary_dim is null');
});

test('smollm3, exaone4: lists of layers that do not fit', async () => {
  const says = 'no_rope_layers has 1 layers, expected 2';
  await refused('smollm3', { no_rope_layers: [1] }, 'invalid_argument', says);
  const changes = { sliding_window_pattern: 'LX', layer_types: undefined };
  await refused(
    'exaone4',
    changes,
    'invalid_argument',
    'sliding_window_pattern is "LX"',
    'L and G',
  );
});

for (const [changes, ...says] of [
  [{ long_factor: undefined }, 'config.rope_scaling.long_factor is missing'],
  [{ short_factor: [1, 'x'] }, 'config.rope_scaling.short_factor has "x"'],
]) {
  test(`phi3: a longrope of which ${says[0]}`, async () => {
    const { config, tensors } = otherFamilies['phi3 of long contexts']();
    const rope_scaling = { ...config.rope_scaling, ...changes };
    const source = { config: { ...config, rope_scaling }, weights: safetensors(tensors) };
    await expectRejects(openModel(source), 'load', 'invalid_argument', ...says);
  });
}

test('phi3 in GGUF: factors of another length, or without the other list', async () => {
  const { metadata, tensors } = ggufOthers['phi3 of long contexts']();
  const short = 'rope_factors_short.weight';
  const opened = (changes) =>
    openModel({ weights: ggufFile(metadata, { ...tensors, ...changes }) });
  const values = new Float32Array(4).fill(1);
  await expectRejects(
    opened({ [short]: { shape: [4], values } }),
    ...['load', 'invalid_argument', `${short} is [4], expected [8]`],
  );
  const { [short]: _, ...lacking } = tensors;
  const weights = ggufFile(metadata, lacking);
  await expectRejects(openModel({ weights }), 'load', 'invalid_argument', `have no "${short}"`);
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
